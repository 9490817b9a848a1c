// Traffic that may use some spines only.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lab/fabric/fabric_paths.h"
#include "tests/unit/lab/fabric/fabrics.h"

namespace eddy {
namespace {

using lab::Topology;
using namespace test;
using testing::ElementsAre;

config::TrafficConfig item(std::vector<std::string> sources, std::vector<std::string> destinations,
                           std::vector<std::string> paths) {
  config::TrafficConfig traffic;
  traffic.type = config::TrafficType::long_flow;
  traffic.sources = std::move(sources);
  traffic.destinations = std::move(destinations);
  traffic.paths = std::move(paths);
  return traffic;
}

TEST(PathLimits, ADestinationHasAPathSetOfItsOwn) {
  config::Experiment experiment = leaf_spine_of(2, 4, 3);
  experiment.traffic = {item({"leaf1.host1"}, {"leaf2.host3"}, {"spine2", "spine3"}),
                        item({"leaf1"}, {"leaf2.host1"}, {})};
  const Topology topology = built(experiment);
  const Walker walker(topology);
  EXPECT_THAT(walker.set("leaf1", LeafId(2)), ElementsAre("spine1", "spine2", "spine3", "spine4"));
  EXPECT_THAT(walker.set("leaf1", LeafId(3)), ElementsAre("spine2", "spine3"));
  EXPECT_TRUE(walker.set("spine1", LeafId(3)).empty());
  const RouteTarget& target = walker.target_of(topology.hosts[5].address);
  EXPECT_EQ(target.leaf, LeafId(2));
  EXPECT_EQ(target.via, LeafId(3));
  const lab::FabricPaths paths(topology);
  EXPECT_EQ(paths.path(0, 5).ways, 2u);
  EXPECT_EQ(paths.path(0, 4).ways, 4u);
  expect_packets_arrive(topology);
  expect_all_can_be_made(topology);
}

TEST(PathLimits, PacketsKeepToThem) {
  config::Experiment experiment = leaf_spine_of(2, 4, 1);
  experiment.traffic = {item({"leaf1"}, {"leaf2"}, {"spine4"})};
  experiment.load_balancer.scheme = "spray";
  const Topology topology = built(experiment);
  Fabric fabric;
  for (const config::SwitchConfig& config : topology.switches)
    fabric.add_switch(config, 1, topology.routes);
  for (size_t port = 0; port < topology.switches[0].ports.size(); ++port)
    fabric.set_link(0, PortId(port), true);
  for (uint16_t i = 0; i < 20; ++i) {
    UdpSpec spec;
    spec.destination_mac = port_mac(topology.switches[0], 0);
    spec.source = topology.hosts[0].address;
    spec.destination = topology.hosts[1].address;
    spec.source_port = i;
    fabric.inject(0, PortId(0), udp_frame(spec));
  }
  fabric.run_until(Instant::at(1_ms));
  for (size_t spine = 1; spine <= 4; ++spine)
    EXPECT_EQ(fabric.seen(0, PortId(spine)).size(), spine == 4 ? 20u : 0u) << spine;
}

TEST(PathLimits, ItemsMayShareADestinationWithTheSamePaths) {
  config::Experiment experiment = leaf_spine_of(3, 4, 2);
  experiment.traffic = {item({"leaf1"}, {"leaf3.host1"}, {"spine1", "spine2"}),
                        item({"leaf2"}, {"leaf3"}, {"spine2", "spine1"}),
                        item({"leaf3.host2"}, {"leaf3.host1"}, {})};  // never leaves the leaf
  const Topology topology = built(experiment);
  const Walker walker(topology);
  EXPECT_EQ(walker.target_of(topology.hosts[4].address).via, LeafId(4));
  EXPECT_EQ(walker.target_of(topology.hosts[5].address).via, LeafId(4));
  EXPECT_TRUE(walker.set("leaf1", LeafId(5)).empty());
}

TEST(PathLimits, ItemsThatContradictEachOtherAreRefused) {
  config::Experiment experiment = leaf_spine_of(2, 3, 2);
  experiment.traffic = {item({"leaf1"}, {"leaf2"}, {"spine1"}), item({"leaf1"}, {}, {}),
                        item({"leaf1"}, {"leaf2.host2"}, {"spine3", "spine2"})};
  EXPECT_THAT(refused(experiment),
              ElementsAre("traffic.1.paths: all paths to leaf2.host1, but traffic.0 has spine1 to "
                          "it; the same paths or other destinations would be valid",
                          "traffic.2.paths: spine2, spine3 to leaf2.host2, but traffic.0 has "
                          "spine1 to it; the same paths or other destinations would be valid"));
}

TEST(PathLimits, UnknownSwitchesAreTold) {
  config::Experiment experiment = leaf_spine_of(2, 3, 1);
  experiment.traffic = {item({"leaf1"}, {"leaf2"}, {"spine1", "spine9", "leaf1"})};
  EXPECT_THAT(refused(experiment),
              ElementsAre("traffic.0.paths.1: \"spine9\" is no switch between leaves; there are "
                          "spine1 to spine3",
                          "traffic.0.paths.2: \"leaf1\" is no switch between leaves; there are "
                          "spine1 to spine3"));
}

TEST(PathLimits, PathsThatFailedAreTold) {
  config::Experiment experiment = leaf_spine_of(2, 3, 1);
  experiment.topology.failed = {{{"leaf1-spine2"}, 0, {}}};
  experiment.traffic = {item({"leaf1"}, {"leaf2"}, {"spine2"})};
  EXPECT_THAT(refused(experiment),
              ElementsAre("traffic.0.paths: no path is left from leaf1 to leaf2"));
}

TEST(PathLimits, HoldThroughThreeTiers) {
  config::Experiment experiment = fat_tree_of(4);
  experiment.traffic = {item({"leaf1"}, {"leaf8.host1"}, {"core3"})};
  const Topology topology = built(experiment);
  const Walker walker(topology);
  EXPECT_THAT(walker.set("leaf1", LeafId(9)), ElementsAre("agg2"));
  EXPECT_THAT(walker.set("agg2", LeafId(9)), ElementsAre("core3"));
  EXPECT_EQ(walker.between(topology.hosts[0], topology.hosts[14]).count, 1u);
}

}  // namespace
}  // namespace eddy
