#include "lab/fabric/topology.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "switch/dataplane/state/snapshot.h"
#include "tests/unit/lab/fabric/fabrics.h"

namespace eddy {
namespace {

using config::Experiment;
using lab::Topology;
using namespace test;
using testing::ElementsAre;

TEST(LeafSpine, HasItsSwitchesHostsAndLinks) {
  const Topology topology = built(leaf_spine_of(3, 2, 4));
  EXPECT_EQ(topology.name, "leaf_spine");
  ASSERT_EQ(topology.switches.size(), 5u);
  EXPECT_EQ(topology.switches[2].name, "leaf3");
  EXPECT_EQ(topology.switches[2].leaf, LeafId(3));
  EXPECT_EQ(topology.switches[3].name, "spine1");
  EXPECT_TRUE(topology.switches[3].leaf.is_none());
  EXPECT_EQ(topology.switches[3].id, SwitchId(4));
  ASSERT_EQ(topology.hosts.size(), 12u);
  EXPECT_EQ(topology.hosts[5].name, "leaf2.host2");
  EXPECT_EQ(topology.hosts[5].switch_index, 1u);
  EXPECT_EQ(topology.hosts[5].port, PortId(1));
  EXPECT_EQ(to_string(topology.hosts[5].address), "10.0.2.2");
  EXPECT_EQ(to_string(topology.hosts[5].mac), "02:aa:00:02:00:02");
  EXPECT_THAT(link_names(topology), ElementsAre("leaf1-spine1", "leaf1-spine2", "leaf2-spine1",
                                                "leaf2-spine2", "leaf3-spine1", "leaf3-spine2"));
}

TEST(LeafSpine, PortsAreHostsThenLinksAndKnowTheirPeers) {
  const Topology topology = built(leaf_spine_of(2, 2, 1, 2));
  std::vector<std::string> names;
  for (const config::PortConfig& port : topology.switches[0].ports) names.push_back(port.name);
  EXPECT_THAT(names, ElementsAre("host1", "spine1", "spine1.2", "spine2", "spine2.2"));
  EXPECT_THAT(link_names(topology),
              ElementsAre("leaf1-spine1", "leaf1-spine1.2", "leaf1-spine2", "leaf1-spine2.2",
                          "leaf2-spine1", "leaf2-spine1.2", "leaf2-spine2", "leaf2-spine2.2"));
  for (const Topology::Link& link : topology.links) {
    const config::SwitchConfig& a = topology.switches[link.a.switch_index];
    const config::SwitchConfig& b = topology.switches[link.b.switch_index];
    EXPECT_EQ(a.ports[link.a.port.index()].peer_mac, port_mac(b, link.b.port.index()));
    EXPECT_EQ(b.ports[link.b.port.index()].peer_mac, port_mac(a, link.a.port.index()));
  }
}

TEST(LeafSpine, EveryHostReachesEveryOther) {
  const Topology topology = built(leaf_spine_of(3, 2, 2, 2));
  expect_everyone_reaches_everyone(topology);
  const Walker walker(topology);
  const Walker::Ways far = walker.between(topology.hosts[0], topology.hosts[2]);
  EXPECT_EQ(far.count, 8u);  // 2 spines, 2 links up, 2 links down
  EXPECT_EQ(far.least, 4u);
  EXPECT_EQ(far.most, 4u);
  EXPECT_EQ(walker.between(topology.hosts[0], topology.hosts[1]).least, 2u);
}

TEST(LeafSpine, PacketsArrive) {
  expect_packets_arrive(built(leaf_spine_of(3, 2, 2, 2)));
}

TEST(LeafSpine, SettingsOfTheSwitchesReachEveryPort) {
  Experiment experiment = leaf_spine_of(2, 2, 1);
  experiment.topology.host_rate = 10_Gbps;
  experiment.topology.fabric_rate = 100_Gbps;
  experiment.topology.host_delay = 1_us;
  experiment.topology.fabric_delay = 3_us;
  experiment.switches.mtu = 4'096;
  experiment.switches.pfc_port.quanta = 100;
  experiment.switches.watchdog.enabled = false;
  experiment.switches.dre = {.period = 40_us, .alpha = 0.25, .q = 4};
  experiment.load_balancer.scheme = "letflow";
  const Topology topology = built(experiment);
  for (const config::SwitchConfig& config : topology.switches) {
    EXPECT_EQ(config.load_balancer.scheme, "letflow");
    EXPECT_TRUE(config.dre == experiment.switches.dre);
    for (const config::PortConfig& port : config.ports) {
      const bool host = port.role == config::PortRole::host;
      EXPECT_EQ(port.speed, host ? 10_Gbps : 100_Gbps);
      EXPECT_EQ(port.cable_delay, host ? 1_us : 3_us);
      EXPECT_EQ(port.mtu, 4'096);
      EXPECT_EQ(port.pfc.quanta, 100);
      EXPECT_TRUE(port.pfc.tx);
      EXPECT_FALSE(port.watchdog.enabled);
    }
  }
  EXPECT_EQ(topology.hosts[0].rate, 10_Gbps);
  EXPECT_EQ(topology.hosts[0].delay, 1_us);
  EXPECT_EQ(topology.links[0].rate, 100_Gbps);
  EXPECT_EQ(topology.links[0].delay, 3_us);
}

TEST(LeafSpine, QueuesAreThoseOfEveryPort) {
  Experiment experiment = leaf_spine_of(2, 2, 1);
  experiment.switches.queues[4].weight = 30;
  const Topology topology = built(experiment);
  for (const config::SwitchConfig& config : topology.switches)
    for (const config::PortConfig& port : config.ports) {
      EXPECT_EQ(port.queues[4].weight, 30);
      EXPECT_EQ(port.queues[3], config::default_port("").queues[3]);
    }
  expect_all_can_be_made(topology);
}

// Hosts have 10 Gb/s, links 100 Gb/s, one of them is degraded to 40 Gb/s.
TEST(LeafSpine, PortsOfARateHaveItsProfiles) {
  Experiment experiment = leaf_spine_of(2, 2, 1);
  experiment.topology.host_rate = 10_Gbps;
  experiment.topology.fabric_rate = 100_Gbps;
  experiment.topology.degraded = {{{"leaf1-spine2"}, 0, 40_Gbps}};
  experiment.switches.buffer = config::default_switch("").buffer;
  experiment.switches.buffer.size = 256_MiB;
  experiment.switches.buffer.wred["fast"] = {.kmin = Bytes(1'000'000), .kmax = Bytes(2'000'000)};
  experiment.switches.buffer.profiles["big"] = {
      .lossless = true, .mode = config::BufferMode::dynamic, .dynamic_th = -1};
  experiment.switches.by_rate = {{100_Gbps, "fast", "big"}, {40_Gbps, std::nullopt, "big"}};
  const Topology topology = built(experiment);
  std::vector<std::string> found;
  for (const config::SwitchConfig& config : topology.switches)
    for (const config::PortConfig& port : config.ports) {
      EXPECT_EQ(port.queues[3].wred, port.queues[4].wred);
      EXPECT_EQ(port.queues[1].wred, std::nullopt);
      EXPECT_EQ(port.pg_profiles[1], "lossy");
      found.push_back(config.name + " " + port.name + ": " + *port.queues[3].wred + " " +
                      port.pg_profiles[3]);
    }
  EXPECT_THAT(found, ElementsAre("leaf1 host1: default lossless", "leaf1 spine1: fast big",
                                 "leaf1 spine2: default big", "leaf2 host1: default lossless",
                                 "leaf2 spine1: fast big", "leaf2 spine2: fast big",
                                 "spine1 leaf1: fast big", "spine1 leaf2: fast big",
                                 "spine2 leaf1: default big", "spine2 leaf2: fast big"));
  expect_all_can_be_made(topology);
}

TEST(LeafSpine, WithoutPfcNothingIsSentOrObeyed) {
  Experiment experiment = leaf_spine_of(1, 1, 1);
  experiment.switches.pfc = false;
  for (const config::SwitchConfig& config : built(experiment).switches)
    for (const config::PortConfig& port : config.ports) {
      EXPECT_FALSE(port.pfc.tx);
      EXPECT_EQ(port.pfc.rx, config::PfcRx::ignore);
      EXPECT_EQ(port.pg_profiles[3], "lossless");
    }
}

TEST(LeafSpine, SwitchesCanBeMade) {
  expect_all_can_be_made(built(leaf_spine_of(12, 12, 24)));
}

TEST(Topology, MistakesAreToldTogether) {
  EXPECT_THAT(refused(leaf_spine_of(0, -1, 0, 0)),
              ElementsAre("topology.leaves: 0, at least 1 would be valid",
                          "topology.spines: -1, at least 1 would be valid",
                          "topology.hosts_per_leaf: 0, at least 1 would be valid",
                          "topology.parallel_links: 0, at least 1 would be valid"));
}

TEST(Topology, ABufferTooSmallIsRefusedOrOvercommitted) {
  Experiment experiment = leaf_spine_of(12, 12, 24);
  experiment.switches.buffer.size = 9_MiB;
  const Problems problems = refused(experiment);
  ASSERT_EQ(problems.size(), 1u);  // the same for all leaves; spines have a third of the ports
  EXPECT_THAT(problems[0], testing::StartsWith("switches.buffer: leaf1: buffer: 36 lossless PGs"));
  EXPECT_THAT(problems[0], testing::HasSubstr("buffer.size is 9437184 octets"));
  EXPECT_THAT(problems[0],
              testing::EndsWith("; or allow_overcommit: true, to run it all the same"));
  experiment.switches.allow_overcommit = true;
  const Topology topology = built(experiment);
  ASSERT_EQ(topology.warnings.size(), 1u);
  EXPECT_THAT(topology.warnings,
              testing::Contains(testing::StartsWith(
                  "switches.allow_overcommit: leaf1: buffer: 36 lossless PGs need ")));
  expect_all_can_be_made(topology);
}

TEST(Topology, TooManyPortsAndPathsAreToldWithTheSwitch) {
  EXPECT_THAT(
      refused(leaf_spine_of(2, 8, 250)),
      ElementsAre("switch leaf1: 258 ports (250 hosts, 8 links), at most 256 would be valid",
                  "switch leaf2: 258 ports (250 hosts, 8 links), at most 256 would be valid"));
  EXPECT_THAT(refused(leaf_spine_of(2, 65, 1)),
              ElementsAre("switch leaf2: 65 paths to leaf1, at most 64 would be valid",
                          "switch leaf1: 65 paths to leaf2, at most 64 would be valid"));
}

TEST(Topology, ASchemeThatDoesNotCoverItIsRefused) {
  Experiment dragonfly = dragonfly_of(2, 2, 1, 1);
  EXPECT_TRUE(lab::build_topology(dragonfly).ok());
  for (const std::string scheme : {"hula", "plb"}) {
    dragonfly.load_balancer.scheme = scheme;
    EXPECT_THAT(refused(dragonfly),
                ElementsAre("load_balancer.scheme: '" + scheme +
                            "' is for fabrics with tiers, and this topology (dragonfly) has none; "
                            "leaf_spine and fat_tree would be valid"));
  }
}

// At every switch, or at the leaf for the whole path.
TEST(Topology, ASchemeThatCannotHaveItsPathsPinnedOrMustIsRefused) {
  Experiment tree = fat_tree_of(4);
  tree.load_balancer.scheme = "hula";
  EXPECT_TRUE(lab::build_topology(tree).ok());
  tree.topology.pinned = true;
  EXPECT_THAT(refused(tree),
              ElementsAre("load_balancer.scheme: 'hula' chooses at every switch, so that paths "
                          "cannot be pinned; topology.pinned: false would be valid"));
  tree.load_balancer.scheme = "plb";
  EXPECT_TRUE(lab::build_topology(tree).ok());
  tree.topology.pinned = false;
  EXPECT_THAT(refused(tree),
              ElementsAre("load_balancer.scheme: 'plb' is told of single paths, which in three "
                          "tiers have to be pinned; topology.pinned: true would be valid"));
}

TEST(Links, FailedOnesAreDownAndLeftOut) {
  Experiment experiment = leaf_spine_of(3, 3, 1);
  experiment.topology.failed.push_back({{"leaf1-spine2"}, 0, {}});
  const Topology topology = built(experiment);
  for (const Topology::Link& link : topology.links) EXPECT_EQ(link.up, link.name != "leaf1-spine2");
  const Walker walker(topology);
  EXPECT_THAT(walker.set("leaf1", LeafId(2)), ElementsAre("spine1", "spine3"));
  EXPECT_THAT(walker.set("leaf2", LeafId(1)), ElementsAre("spine1", "spine3"));
  EXPECT_THAT(walker.set("leaf2", LeafId(3)), ElementsAre("spine1", "spine2", "spine3"));
  EXPECT_TRUE(walker.set("spine2", LeafId(1)).empty());                        // never up again
  EXPECT_EQ(topology.switches[0].leaves[0].paths[1].path_id, PathId(0x02ff));  // of spine3
  expect_everyone_reaches_everyone(topology);
  expect_packets_arrive(topology);
}

TEST(Links, DegradedOnesHaveTheirRateAtBothEnds) {
  Experiment experiment = leaf_spine_of(2, 2, 1);
  experiment.topology.degraded.push_back({{"leaf2-spine1"}, 0, 10_Gbps});
  const Topology topology = built(experiment);
  EXPECT_EQ(topology.links[2].rate, 10_Gbps);
  EXPECT_EQ(topology.switches[1].ports[1].speed, 10_Gbps);
  EXPECT_EQ(topology.switches[2].ports[1].speed, 10_Gbps);
  EXPECT_EQ(topology.links[0].rate, 40_Gbps);
  EXPECT_EQ(topology.switches[2].ports[0].speed, 40_Gbps);
}

TEST(Links, WeightedOnesWeighInThePathsOfBothEnds) {
  Experiment experiment = leaf_spine_of(2, 2, 1);
  experiment.topology.weighted.push_back({{"leaf1-spine2"}, 0, {}, 49});
  const Topology topology = built(experiment);
  const auto weights = [&](size_t node) {
    std::vector<int> result;
    for (const config::LeafConfig& leaf : topology.switches[node].leaves)
      for (const config::PathConfig& path : leaf.paths) result.push_back(path.weight);
    return result;
  };
  EXPECT_THAT(weights(0), ElementsAre(1, 49));  // leaf1, to leaf2
  EXPECT_THAT(weights(1), ElementsAre(1, 1));   // leaf2, to leaf1
  EXPECT_THAT(weights(3), ElementsAre(49, 1));  // spine2, to leaf1 and leaf2
}

std::vector<std::string> degraded_names(const Topology& topology) {
  std::vector<std::string> names;
  for (const Topology::Link& link : topology.links)
    if (link.rate == 10_Gbps) names.push_back(link.name);
  return names;
}

TEST(Links, AFractionIsSoManyOfThemByTheSeed) {
  Experiment experiment = leaf_spine_of(12, 12, 1);
  experiment.topology.degraded.push_back({{}, 0.2, 10_Gbps});
  const std::vector<std::string> first = degraded_names(built(experiment));
  EXPECT_EQ(first.size(), 29u);  // 28.8 of 144
  EXPECT_EQ(degraded_names(built(experiment)), first);
  experiment.run.seeds = {77};
  EXPECT_EQ(degraded_names(built(experiment)), first);
  experiment.topology.seed = 2;
  const std::vector<std::string> second = degraded_names(built(experiment));
  EXPECT_EQ(second.size(), 29u);
  EXPECT_NE(second, first);
}

TEST(Links, EveryOneIsDrawnAboutEquallyOften) {
  Experiment experiment = leaf_spine_of(4, 4, 1);
  experiment.topology.degraded.push_back({{}, 0.25, 10_Gbps});
  std::map<std::string, int> drawn;
  constexpr int kSeeds = 400;
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    experiment.topology.seed = seed;
    for (const std::string& name : degraded_names(built(experiment))) ++drawn[name];
  }
  ASSERT_EQ(drawn.size(), 16u);
  for (const auto& [name, times] : drawn) {  // 100 expected, standard deviation 8.7
    EXPECT_GT(times, 60) << name;
    EXPECT_LT(times, 140) << name;
  }
}

TEST(Links, WrongChoicesAreTold) {
  Experiment experiment = leaf_spine_of(2, 2, 1);
  experiment.topology.failed = {{{"leaf1-spine9", "core1-spine1"}, 0, {}}, {{}, 1.5, {}}, {}};
  experiment.topology.degraded = {{{"leaf1-spine1"}, 0, {}}};
  EXPECT_THAT(refused(experiment),
              ElementsAre("topology.failed.0.links.0: no link \"leaf1-spine9\"; there are 2 from "
                          "leaf1-spine1 to leaf1-spine2",
                          "topology.failed.0.links.1: no link \"core1-spine1\"; there are 4 from "
                          "leaf1-spine1 to leaf2-spine2",
                          "topology.failed.1.fraction: must be within 0..1",
                          "topology.failed.2: chooses no link, give links by name or a fraction",
                          "topology.degraded.0.rate: a degraded link needs a rate above 0"));
}

TEST(Links, FailuresThatCutHostsOffAreRefused) {
  Experiment experiment = leaf_spine_of(3, 2, 2);
  experiment.topology.failed = {{{"leaf1-spine1", "leaf2-spine2"}, 0, {}}};
  EXPECT_THAT(refused(experiment),
              ElementsAre("topology.failed: no path is left from leaf1.host1 to leaf1.host2 to "
                          "leaf2.host1 to leaf2.host2",
                          "topology.failed: no path is left from leaf2.host1 to leaf2.host2 to "
                          "leaf1.host1 to leaf1.host2"));
}

TEST(Links, OfManyHostsThatAreCutOffSomeAreNamed) {
  Experiment experiment = leaf_spine_of(9, 1, 1);
  experiment.topology.failed = {{{"leaf1-spine1"}, 0, {}}};
  const Problems problems = refused(experiment);
  ASSERT_EQ(problems.size(), 9u);
  EXPECT_EQ(problems[0],
            "topology.failed: no path is left from leaf1.host1 to leaf2.host1, leaf3.host1, "
            "leaf4.host1, leaf5.host1 and the hosts of 4 more switches");
  EXPECT_THAT(problems[8], testing::EndsWith("from leaf9.host1 to leaf1.host1"));
}

}  // namespace
}  // namespace eddy
