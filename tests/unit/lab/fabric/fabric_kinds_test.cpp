// Fat trees and dragonflies, some of them by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lab/fabric/deadlock.h"
#include "tests/unit/lab/fabric/fabrics.h"

namespace eddy {
namespace {

using lab::Topology;
using namespace test;
using testing::ElementsAre;

TEST(FatTree, OfFourPortsByHand) {
  const Topology topology = built(fat_tree_of(4));
  EXPECT_EQ(topology.switches.size(), 20u);
  EXPECT_EQ(topology.hosts.size(), 16u);
  EXPECT_EQ(topology.links.size(), 32u);
  for (const config::SwitchConfig& config : topology.switches) EXPECT_EQ(config.ports.size(), 4u);
  EXPECT_EQ(topology.switches[7].name, "leaf8");
  EXPECT_EQ(topology.switches[8].name, "agg1");
  EXPECT_EQ(topology.switches[16].name, "core1");
  const std::vector<std::string> links = link_names(topology);
  EXPECT_THAT(std::vector(links.begin(), links.begin() + 4),
              ElementsAre("leaf1-agg1", "leaf1-agg2", "leaf2-agg1", "leaf2-agg2"));
  EXPECT_THAT(std::vector(links.begin() + 16, links.begin() + 20),
              ElementsAre("agg1-core1", "agg1-core2", "agg2-core3", "agg2-core4"));
  const Walker walker(topology);
  EXPECT_THAT(walker.set("leaf1", LeafId(2)), ElementsAre("agg1", "agg2"));
  EXPECT_THAT(walker.set("leaf1", LeafId(8)), ElementsAre("agg1", "agg2"));
  EXPECT_THAT(walker.set("agg1", LeafId(2)), ElementsAre("leaf2"));
  EXPECT_THAT(walker.set("agg1", LeafId(8)), ElementsAre("core1", "core2"));
  EXPECT_THAT(walker.set("core2", LeafId(8)), ElementsAre("agg7"));
  EXPECT_THAT(walker.set("core3", LeafId(8)), ElementsAre("agg8"));
  const Walker::Ways pod = walker.between(topology.hosts[0], topology.hosts[2]);
  EXPECT_EQ(pod.count, 2u);
  EXPECT_EQ(pod.most, 4u);
  const Walker::Ways far = walker.between(topology.hosts[0], topology.hosts[15]);
  EXPECT_EQ(far.count, 4u);
  EXPECT_EQ(far.least, 6u);
  EXPECT_EQ(far.most, 6u);
}

TEST(FatTree, EveryHostReachesEveryOther) {
  const Topology topology = built(fat_tree_of(4, 2));
  EXPECT_EQ(topology.hosts.size(), 32u);  // two to one
  expect_everyone_reaches_everyone(topology);
  expect_packets_arrive(topology);
}

TEST(FatTree, AFailedLinkIsAvoidedFromTheBottom) {
  config::Experiment experiment = fat_tree_of(4);
  experiment.topology.failed = {{{"agg7-core1", "agg7-core2"}, 0, {}}};
  const Topology topology = built(experiment);
  const Walker walker(topology);
  EXPECT_THAT(walker.set("leaf1", LeafId(8)),
              ElementsAre("agg2"));  // agg1 has no way down any more
  EXPECT_TRUE(walker.set("agg1", LeafId(8)).empty());
  EXPECT_THAT(walker.set("leaf7", LeafId(8)), ElementsAre("agg7", "agg8"));
  expect_everyone_reaches_everyone(topology);
}

TEST(FatTree, MistakesAreToldTogether) {
  EXPECT_THAT(refused(fat_tree_of(5, 0)),
              ElementsAre("topology.k: 5 is odd, an even number would be valid",
                          "topology.oversubscription: 0, at least 1 would be valid"));
}

TEST(Dragonfly, OfTwoByTwoByHand) {
  const Topology topology = built(dragonfly_of(3, 2, 1, 1));
  EXPECT_THAT(link_names(topology), ElementsAre("leaf1-leaf2", "leaf3-leaf4", "leaf5-leaf6",
                                                "leaf1-leaf3", "leaf2-leaf5", "leaf4-leaf6"));
  const Walker walker(topology);
  EXPECT_THAT(walker.set("leaf1", LeafId(2)), ElementsAre("leaf2"));
  EXPECT_THAT(walker.set("leaf1", LeafId(3)), ElementsAre("leaf3"));
  EXPECT_THAT(walker.set("leaf1", LeafId(4)), ElementsAre("leaf3"));
  EXPECT_THAT(walker.set("leaf1", LeafId(6)), ElementsAre("leaf2"));  // which owns the link
  EXPECT_THAT(walker.set("leaf2", LeafId(6)), ElementsAre("leaf5"));
  // Two links by leaf4 would be shorter for no one, but longer ways through a third group exist.
  EXPECT_THAT(walker.set("leaf3", LeafId(5)), ElementsAre("leaf4"));
  const Walker::Ways far = walker.between(topology.hosts[2], topology.hosts[4]);
  EXPECT_EQ(far.count, 1u);
  EXPECT_EQ(far.least, 5u);  // host, local, global, local, host
}

TEST(Dragonfly, EveryHostReachesEveryOtherByOneGlobalLinkAtMost) {
  const Topology topology = built(dragonfly_of(4, 4, 8, 2));
  EXPECT_EQ(topology.switches.size(), 16u);
  EXPECT_EQ(topology.hosts.size(), 128u);
  EXPECT_EQ(topology.links.size(), 4u * 6 + 6 * 2);
  expect_everyone_reaches_everyone(topology);
  const Walker walker(topology);
  for (const Topology::Host& from : topology.hosts)
    for (const Topology::Host& to : topology.hosts)
      EXPECT_LE(walker.between(from, to).most, 5u) << from.name << " " << to.name;
  // leaf1 and leaf2 own the links to the second group: the others have the choice of the two.
  EXPECT_THAT(walker.set("leaf3", LeafId(5)), ElementsAre("leaf1", "leaf2"));
  EXPECT_THAT(walker.set("leaf1", LeafId(8)), ElementsAre("leaf5"));
}

TEST(Dragonfly, PacketsArrive) {
  expect_packets_arrive(built(dragonfly_of(3, 3, 2, 2)));
}

TEST(Dragonfly, WarnsOfDeadlockWhereItIsLossless) {
  config::Experiment experiment = dragonfly_of(3, 2, 1, 1);
  EXPECT_THAT(built(experiment).warnings,
              ElementsAre(testing::StartsWith(
                  "topology: lossless frames may wait for each other in a circle (deadlock): ")));
  experiment.switches.pfc = false;
  EXPECT_TRUE(built(experiment).warnings.empty());
  EXPECT_TRUE(built(fat_tree_of(4)).warnings.empty());
}

lab::FabricPlan ring(size_t switches) {
  const config::TopologyConfig config;
  lab::FabricPlan plan;
  plan.routing = lab::FabricRouting::shortest;
  for (size_t i = 0; i < switches; ++i)
    plan.add_hosts(plan.add_switch("s" + std::to_string(i), 0), 1, config);
  for (size_t i = 0; i < switches; ++i) plan.add_cable(i, (i + 1) % switches, config);
  return plan;
}

TEST(Deadlock, ARingWaitsForItselfOnceFramesCrossTwoLinks) {
  EXPECT_EQ(lab::waiting_circle(ring(3)), "");
  EXPECT_EQ(lab::circles_of(ring(3), {.isolates = true}).circle, "");
  EXPECT_NE(lab::circles_of(ring(5), {.isolates = true}).circle, "");
  EXPECT_EQ(lab::waiting_circle(ring(5)), "s0 > s1 > s2 > s3 > s4 > s0");
}

TEST(Fabrics, AllSwitchesCanBeMade) {
  expect_all_can_be_made(built(fat_tree_of(4)));
  expect_all_can_be_made(built(dragonfly_of(3, 3, 2, 1)));
}

}  // namespace
}  // namespace eddy
