// Dragonflies for schemes that have channels and detours: paths and priorities by hand, and circles
// of waiting among channels.
#include "lab/fabric/channels.h"
#include "lab/fabric/deadlock.h"
#include "lab/fabric/detours.h"
#include "lab/fabric/fabric_paths.h"
#include "lab/fabric/plan_fabric.h"
#include "tests/unit/lab/fabric/fabrics.h"

namespace eddy::test {
namespace {

using lab::Topology;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

config::Experiment with_scheme(const char* scheme, config::Experiment experiment) {
  experiment.load_balancer.scheme = scheme;
  return experiment;
}

// "leaf2 5 0 2", "leaf5 255 1 4 detour": port, second choice, hops.
std::vector<std::string> paths_of(const Topology& topology, size_t at, LeafId leaf) {
  std::vector<std::string> texts;
  for (const config::LeafConfig& set : topology.switches[at].leaves) {
    if (set.id != leaf) continue;
    for (const config::PathConfig& path : set.paths)
      texts.push_back(path.port + " " + std::to_string(path.path_id->index() & 0xff) + " " +
                      std::to_string(path.hops) + (path.detour ? " detour" : ""));
  }
  return texts;
}

// Three groups of two: leaf1-leaf3 and leaf2-leaf5 are the cables of the first, leaf4-leaf6 the
// last. Links to other switches are numbered from 0 on each, the one inside the group first.
TEST(DragonflyDetours, ByAThirdGroupByHand) {
  const Topology topology = built(with_scheme("ugal", dragonfly_of(3, 2, 1, 1)));
  EXPECT_THAT(paths_of(topology, 0, LeafId(3)), ElementsAre("leaf3 255 1", "leaf2 1 5 detour"));
  EXPECT_THAT(paths_of(topology, 0, LeafId(4)), ElementsAre("leaf3 255 2", "leaf2 1 4 detour"));
  EXPECT_THAT(paths_of(topology, 1, LeafId(4)), ElementsAre("leaf1 255 3", "leaf5 255 3 detour"));
  EXPECT_THAT(paths_of(topology, 0, LeafId(2)), ElementsAre("leaf2 255 1"));
  EXPECT_EQ(topology.switches[0].ports[1].reach, config::LinkReach::local);
  EXPECT_EQ(topology.switches[0].ports[2].reach, config::LinkReach::global);
}

TEST(DragonflyDetours, InsideAGroupByAnotherSwitch) {
  const Topology topology = built(with_scheme("valiant", dragonfly_of(3, 4, 1, 1)));
  EXPECT_THAT(paths_of(topology, 0, LeafId(2)),
              ElementsAre("leaf2 255 1", "leaf3 1 2 detour", "leaf4 1 2 detour"));
  EXPECT_THAT(paths_of(topology, 3, LeafId(3)),
              ElementsAre("leaf3 255 1", "leaf1 1 2 detour", "leaf2 1 2 detour"));
}

TEST(DragonflyDetours, AreNotForOtherSchemes) {
  for (const char* scheme : {"ecmp", "minimal", "drill"}) {
    const Topology topology = built(with_scheme(scheme, dragonfly_of(3, 2, 1, 1)));
    EXPECT_THAT(paths_of(topology, 0, LeafId(3)), ElementsAre("leaf3 255 0")) << scheme;
  }
}

TEST(DragonflyDetours, LeaveOutFailedCables) {
  config::Experiment experiment = with_scheme("ugal", dragonfly_of(3, 2, 1, 2));
  const Topology whole = built(experiment);
  EXPECT_THAT(paths_of(whole, 0, LeafId(3)),
              ElementsAre("leaf3 255 1", "leaf5 255 2 detour", "leaf2 2 4 detour"));
  experiment.topology.failed = {{.links = {"leaf1-leaf5"}}};
  EXPECT_THAT(paths_of(built(experiment), 0, LeafId(3)),
              ElementsAre("leaf3 255 1", "leaf2 2 4 detour"));
}

// Without the cable to leaf6, leaf5 has two ways to it; its paths are numbered by the port. So what
// leaf1 pins is one of these two, and packets go where it says.
TEST(PinnedDragonfly, SaysWhichCableTheSecondSwitchTakes) {
  config::Experiment experiment = with_scheme("ecmp", dragonfly_of(2, 4, 1, 1));
  experiment.topology.pinned = true;
  EXPECT_THAT(paths_of(built(experiment), 0, LeafId(6)), ElementsAre("leaf5 255 0"));
  experiment.topology.failed = {{.links = {"leaf5-leaf6"}}};
  const Topology topology = built(experiment);
  EXPECT_THAT(paths_of(topology, 0, LeafId(6)), ElementsAre("leaf5 1 0", "leaf5 2 0"));
  EXPECT_THAT(paths_of(topology, 4, LeafId(6)), ElementsAre("leaf7 255 0", "leaf8 255 0"));

  RealFabric real(topology);
  constexpr uint16_t kFlows = 64;
  for (uint16_t flow = 0; flow < kFlows; ++flow) real.send(0, 5, flow);
  real.fabric.run_until(Instant::at(1_ms));
  EXPECT_EQ(real.hosts[5]->received_count, kFlows);
  const Counters& counters = real.fabric.at(4).counters(ShardId(0));
  uint64_t deviated = 0;
  for (size_t port = 0; port < topology.switches[4].ports.size(); ++port) {
    deviated += counters[PortId(port)].port.read(PortCounter::path_deviated_packets);
    const std::string& name = topology.switches[4].ports[port].name;
    if (name == "leaf7" || name == "leaf8") {
      EXPECT_GT(counters[PortId(port)].port.read(PortCounter::tx_packets), kFlows / 4) << name;
    }
  }
  EXPECT_EQ(deviated, 0u);
}

// What is ideal is the shortest way.
TEST(DragonflyDetours, DoNotCountAsDistance) {
  const Topology plain = built(dragonfly_of(4, 3, 1, 2));
  const Topology detoured = built(with_scheme("ugal", dragonfly_of(4, 3, 1, 2)));
  const lab::FabricPaths ways(plain), same(detoured);
  for (uint32_t from = 0; from < plain.hosts.size(); ++from)
    for (uint32_t to = 0; to < plain.hosts.size(); ++to) {
      if (from == to) continue;
      EXPECT_EQ(ways.path(from, to).links, same.path(from, to).links);
      EXPECT_EQ(ways.path(from, to).ways, same.path(from, to).ways);
    }
}

TEST(DragonflyChannels, TakePrioritiesThatAreFree) {
  const auto plan = [](const char* scheme, std::vector<Priority> lossless, int channels) {
    config::Experiment experiment = with_scheme(scheme, dragonfly_of(3, 2, 1, 1));
    experiment.switches.lossless = std::move(lossless);
    return lab::plan_channels(experiment, channels);
  };
  const auto p = [](size_t n) { return Priority(n); };
  EXPECT_THAT(plan("ugal", {p(3)}, 3).value(), ElementsAre(ElementsAre(p(3), p(4), p(5))));
  EXPECT_THAT(plan("minimal", {p(3), p(4)}, 2).value(),
              ElementsAre(ElementsAre(p(3), p(5)), ElementsAre(p(4), p(0))));
  EXPECT_THAT(plan("ugal", {p(3), p(4)}, 3).value(),
              ElementsAre(ElementsAre(p(3), p(5), p(0)), ElementsAre(p(4), p(1), p(2))));
  EXPECT_THAT(plan("ugal", {}, 3).value(), IsEmpty());
  EXPECT_THAT(
      plan("ugal", {p(2), p(3), p(4)}, 3).problems(),
      ElementsAre("switches.lossless: 3 priorities of 3 virtual channels each (ugal) take 9 "
                  "priorities, at most 7 of the 8 would be valid, as one has to be lossy"));
  EXPECT_THAT(plan("minimal", {p(1), p(2), p(3), p(4)}, 2).problems(), testing::SizeIs(1));
  EXPECT_TRUE(plan("minimal", {p(2), p(3), p(4)}, 2).ok());
}

TEST(DragonflyChannels, HaveGroupsAndQueuesAsTheirFirst) {
  config::Experiment experiment = with_scheme("ugal", dragonfly_of(3, 2, 1, 1));
  const Topology topology = built(experiment);
  EXPECT_THAT(topology.warnings, IsEmpty());
  for (const config::SwitchConfig& config : topology.switches)
    for (const config::PortConfig& port : config.ports) {
      EXPECT_THAT(port.maps.channels_of(TrafficClass(3)),
                  ElementsAre(TrafficClass(3), TrafficClass(4), TrafficClass(5)));
      for (const size_t channel : {3, 4, 5}) {
        EXPECT_EQ(port.maps.tc_to_pg[channel], PriorityGroupId(channel));
        EXPECT_EQ(port.pg_profiles[channel], "lossless");
        EXPECT_EQ(port.queues[channel], port.queues[3]);
      }
      EXPECT_EQ(port.pg_profiles[6], "lossy");
    }
  const Topology plain = built(dragonfly_of(3, 2, 1, 1));
  EXPECT_EQ(plain.switches[0].ports[0].maps, config::QosMaps::sonic_defaults());
}

lab::Circles circles(const config::Experiment& experiment, const lab::ChannelUse& use) {
  return lab::circles_of(lab::plan_fabric(experiment.topology).value(), use);
}

TEST(DragonflyChannels, BreakEveryCircle) {
  for (const auto& experiment : {dragonfly_of(3, 2, 1, 1), dragonfly_of(4, 4, 8, 2),
                                 dragonfly_of(9, 4, 2, 1), dragonfly_of(5, 3, 1, 2)}) {
    EXPECT_NE(circles(experiment, {}).circle, "");
    EXPECT_NE(circles(experiment, {.detours = true}).circle, "");
    const lab::Circles two = circles(experiment, {.channels = 2});
    EXPECT_EQ(two.circle, "");
    EXPECT_EQ(two.beyond, "");
    const lab::Circles three = circles(experiment, {.channels = 3, .detours = true});
    EXPECT_EQ(three.circle, "");
    EXPECT_EQ(three.beyond, "");
    EXPECT_NE(circles(experiment, {.channels = 1}).beyond, "");
    EXPECT_NE(circles(experiment, {.channels = 2, .detours = true}).beyond, "");
  }
}

TEST(DragonflyChannels, AreTooFewWhereFailuresMakeWaysLonger) {
  config::Experiment experiment = with_scheme("minimal", dragonfly_of(3, 3, 1, 1));
  experiment.topology.failed = {{.links = {"leaf1-leaf2"}}};
  EXPECT_THAT(refused(experiment),
              ElementsAre(testing::AllOf(HasSubstr("topology.failed: from "),
                                         HasSubstr("needs more than 2 virtual channels"))));
  experiment.load_balancer.scheme = "ecmp";
  EXPECT_THAT(refused(experiment), IsEmpty());
}

TEST(DragonflySchemes, AreRefusedWhereTheyHaveNoPlace) {
  const auto says = [](const config::Experiment& experiment, const char* text) {
    EXPECT_THAT(refused(experiment), ElementsAre(HasSubstr(text)));
  };
  for (const char* scheme : {"minimal", "valiant", "ugal"}) {
    says(with_scheme(scheme, leaf_spine_of(2, 2, 2)),
         "is for fabrics of groups, and this topology (leaf_spine) has none; dragonfly would be "
         "valid");
    config::Experiment pinned = with_scheme(scheme, dragonfly_of(3, 2, 1, 1));
    pinned.topology.pinned = true;
    says(pinned, "topology.pinned: false would be valid");
    config::Experiment changed = with_scheme(scheme, dragonfly_of(3, 2, 1, 1));
    changed.faults = {{.set = {{"load_balancer.scheme", "ecmp"}}}};
    says(changed,
         "faults.0.set: load_balancer.scheme: the fabric's paths and channels are laid "
         "out for");
  }
  says(with_scheme("ugal", dragonfly_of(2, 2, 1, 1)), "topology.groups: at least 3 would be valid");
  EXPECT_THAT(refused(with_scheme("minimal", dragonfly_of(2, 2, 1, 1))), IsEmpty());
  config::Experiment rlb = with_scheme("ugal", dragonfly_of(3, 2, 1, 1));
  rlb.switches.rlb = config::rlb_preset(config::RlbPreset::standard);
  says(rlb, "rlb.preset: off would be valid");
  rlb.load_balancer.scheme = "minimal";
  EXPECT_THAT(refused(rlb), IsEmpty());
  EXPECT_THAT(refused(with_scheme("ugal", dragonfly_of(10, 9, 1, 9))),
              testing::Contains(HasSubstr("at most 64 would be valid")));
}

// Some switches may take a scheme that makes do with what is laid out.
TEST(DragonflySchemes, GoBesideEachOtherWhereTheFabricBearsIt) {
  const auto with_change = [](const char* from, const char* to) {
    config::Experiment experiment = with_scheme(from, dragonfly_of(3, 2, 1, 1));
    experiment.faults = {{.type = config::FaultType::reconfigure,
                          .switches = {"leaf1", "leaf2"},
                          .set = {{"load_balancer.scheme", to}}}};
    return experiment;
  };
  EXPECT_THAT(built(with_change("ugal", "valiant")).warnings, IsEmpty());
  EXPECT_THAT(built(with_change("minimal", "minimal")).warnings, IsEmpty());
  EXPECT_THAT(built(with_change("ugal", "minimal")).warnings,
              ElementsAre("faults.0.set: hosts of leaf1, leaf2 have shortest paths alone while "
                          "'minimal' is there; the others' go by 'ugal'"));
  EXPECT_THAT(refused(with_change("minimal", "ugal")),
              ElementsAre("faults.0.set: load_balancer.scheme: the fabric's paths and channels are "
                          "laid out for 'minimal', which 'ugal' cannot go by; minimal would be "
                          "valid"));
  EXPECT_THAT(
      refused(with_change("ugal", "drill")),
      ElementsAre(HasSubstr("'drill' cannot go by; minimal, valiant, ugal would be valid")));
  EXPECT_THAT(refused(with_change("ecmp", "ugal")),
              ElementsAre(HasSubstr("'ugal' cannot go by; schemes for any fabric would be valid")));
  EXPECT_THAT(
      refused(with_change("ecmp", "hula")),
      ElementsAre(HasSubstr("faults.0.set: load_balancer.scheme: 'hula' is for fabrics with "
                            "tiers")));
  EXPECT_THAT(refused(with_change("ecmp", "letflow")), IsEmpty());
  config::Experiment warned = with_change("ugal", "minimal");
  warned.faults[0].set = {{"rlb.preset", "default"}};
  EXPECT_THAT(refused(warned), ElementsAre(HasSubstr("faults.0.set: rlb.preset: the fabric's paths "
                                                     "are laid out for 'ugal'")));
}

TEST(DragonflySchemes, PacketsArrive) {
  for (const char* scheme : {"minimal", "valiant", "ugal"}) {
    const Topology topology = built(with_scheme(scheme, dragonfly_of(3, 3, 2, 2)));
    expect_all_can_be_made(topology);
    expect_packets_arrive(topology);
  }
}

}  // namespace
}  // namespace eddy::test
