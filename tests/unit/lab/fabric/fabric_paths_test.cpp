#include "lab/fabric/fabric_paths.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/lab/fabric/fabrics.h"

namespace eddy {
namespace {

using lab::FabricPaths;
using lab::Topology;
using namespace test;
using testing::HasSubstr;

config::Experiment fast(config::Experiment experiment) {
  experiment.topology.host_rate = 100_Gbps;
  experiment.topology.fabric_rate = 100_Gbps;
  experiment.topology.host_delay = 1_us;
  experiment.topology.fabric_delay = 1_us;
  return experiment;
}

TEST(FabricPaths, IdealCompletionIsTheReferences) {
  const Topology topology = built(fast(leaf_spine_of(2, 2, 2)));
  const FabricPaths paths(topology);
  EXPECT_EQ(paths.base_rtt(0, 2, 1'000_B), 8'320_ns);
  EXPECT_EQ(paths.ideal_fct(0, 2, 1'000'000_B, {1'000_B, 48_B}), 92'160_ns);
  EXPECT_EQ(paths.base_rtt(0, 1, 1'000_B), 4'160_ns);  // under one leaf
  EXPECT_EQ(paths.path(0, 1).links, 2);
  EXPECT_EQ(paths.path(0, 1).ways, 1u);
  EXPECT_EQ(paths.path(0, 2).links, 4);
  EXPECT_EQ(paths.path(0, 2).ways, 2u);
  EXPECT_EQ(paths.path(0, 2).delay, 4_us);
}

TEST(FabricPaths, TakeTheFastestOfTheShortestWays) {
  config::Experiment experiment = fast(leaf_spine_of(2, 2, 1));
  experiment.topology.degraded = {{{"leaf1-spine1"}, 0, 10_Gbps}};
  const Topology one = built(experiment);
  EXPECT_EQ(FabricPaths(one).path(0, 1).bottleneck, 100_Gbps);
  EXPECT_EQ(FabricPaths(one).base_rtt(0, 1, 1'000_B), 8'320_ns);
  experiment.topology.degraded = {{{"leaf1-spine1", "leaf2-spine2"}, 0, 10_Gbps}};
  const Topology both = built(experiment);
  EXPECT_EQ(FabricPaths(both).path(0, 1).bottleneck, 10_Gbps);
  EXPECT_EQ(FabricPaths(both).base_rtt(0, 1, 1'000_B), 8'000_ns + 80_ns * 3 + 800_ns);
  EXPECT_EQ(FabricPaths(both).ideal_fct(0, 1, 10_B, {1'000_B, 48_B}), 9'040_ns + 46'400_ps);
}

TEST(FabricPaths, AgreeWithAWalkAlongThePathSets) {
  for (const config::Experiment& experiment :
       {leaf_spine_of(3, 2, 2, 2), fat_tree_of(4), dragonfly_of(3, 3, 2, 2)}) {
    const Topology topology = built(experiment);
    const FabricPaths paths(topology);
    const Walker walker(topology);
    for (uint32_t from = 0; from < topology.hosts.size(); ++from)
      for (uint32_t to = 0; to < topology.hosts.size(); ++to) {
        const Walker::Ways ways = walker.between(topology.hosts[from], topology.hosts[to]);
        EXPECT_EQ(static_cast<size_t>(paths.path(from, to).links), ways.least);
        EXPECT_EQ(paths.path(from, to).ways, ways.count);
      }
  }
}

TEST(TopologyReport, TellsSizesDistancesAndBuffers) {
  config::Experiment experiment = leaf_spine_of(12, 12, 24);
  experiment.switches.buffer.size = 9_MiB;
  experiment.switches.buffer.cell_bytes = 1;
  experiment.switches.allow_overcommit = true;
  experiment.switches.mtu = 1'086;
  experiment.topology.degraded = {{{}, 0.2, 10_Gbps}};
  experiment.load_balancer = {.scheme = "letflow", .parameters = {{"gap", "50us"}}};
  experiment.host.mtu = 1'000;
  const Topology topology = built(experiment);
  const std::string text = lab::describe_topology(experiment, topology);
  for (const char* part : {
           "leaf_spine: 24 switches (12 with hosts), 288 hosts, 144 links between switches\n",
           "  29 of 10Gbps, 2us one way\n",
           "  115 of 40Gbps, 2us one way\n",
           "  over 2 links: 8.4us\n",  // 4 x 2 us and 2 x 200 ns
           "  over 4 links: 16.8us\n",
           "paths between leaves: 12\n",
           "bandwidth-delay product of the longest: 84000 octets\n",
           ("  spine1 and 11 like it (12 ports): need at most 3526656 octets of 9437184 octets: "
            "380928 octets set aside, 9056256 octets shared\n"),
           "; overcommitted\n",
           "  host ports of 40Gbps, 2us: ",
           "(cable 20000 + response 7552 + own frame 1160 + pause frame 84 + poll gap 5)",
           "xoff / (2 delay x rate), lossless, host ports of 40Gbps, 2us: 13.11\n",
           "kmin / bandwidth-delay product, default: 1.90\n",
           "flowlet gap / longest base RTT: 2.98\n",
           "warning: switches.allow_overcommit: ",
       })
    EXPECT_THAT(text, HasSubstr(part));
  experiment = leaf_spine_of(2, 2, 4);
  experiment.switches.buffer.profiles["lossless"] = {.lossless = true, .headroom = 1_KiB};
  EXPECT_THAT(lab::describe_topology(experiment, built(experiment)),
              testing::AllOf(HasSubstr("oversubscription of leaves: 2.00\n"),
                             HasSubstr("warning: profile lossless gives host ports of 40Gbps, 2us "
                                       "1024 octets of headroom, less than ")));
}

}  // namespace
}  // namespace eddy
