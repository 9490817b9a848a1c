#include "lab/fabric/fabric_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "lab/fabric/fabric_paths.h"
#include "tests/unit/lab/fabric/fabrics.h"

namespace eddy {
namespace {

using lab::FabricPlan;
using lab::FabricRouting;
using lab::Topology;
using namespace test;
using testing::ElementsAre;

Result<FabricPlan> ours(const std::string& text) {
  config::TopologyConfig config;
  config.kind = config::TopologyKind::file;
  return lab::parse_fabric("f.topo", text, config);
}

Result<FabricPlan> hpcc(const std::string& text) {
  config::TopologyConfig config;
  config.kind = config::TopologyKind::hpcc;
  return lab::parse_fabric("t.txt", text, config);
}

Problems problems_of(const Result<FabricPlan>& plan) {
  if (plan.ok()) return {};
  return plan.problems();
}

TEST(FabricFile, SaysWhatIsThereAndTheExperimentTheRest) {
  const auto plan = ours(
      "# two leaves\n"
      "switch a b  # and a spine\n"
      "switch s\n"
      "hosts a count=2 rate=10Gbps delay=1us\n"
      "hosts b\n"
      "\n"
      "link s a count=2 rate=25Gbps\n"
      "link b s delay=3us\n");
  ASSERT_TRUE(plan.ok()) << plan.problems()[0];
  EXPECT_EQ(plan.value().name, "f.topo");
  EXPECT_EQ(plan.value().routing, FabricRouting::up_down);
  ASSERT_EQ(plan.value().hosts.size(), 3u);
  EXPECT_EQ(plan.value().hosts[1].rate, 10_Gbps);
  EXPECT_EQ(plan.value().hosts[1].delay, 1_us);
  EXPECT_EQ(plan.value().hosts[2].rate, 40_Gbps);
  ASSERT_EQ(plan.value().cables.size(), 3u);
  EXPECT_EQ(plan.value().cables[0].name, "a-s");  // from below, however it was written
  EXPECT_EQ(plan.value().cables[1].name, "a-s.2");
  EXPECT_EQ(plan.value().cables[1].rate, 25_Gbps);
  EXPECT_EQ(plan.value().cables[1].delay, 2_us);
  EXPECT_EQ(plan.value().cables[2].delay, 3_us);
}

TEST(FabricFile, NamesOfSwitchesArePlain) {
  EXPECT_THAT(problems_of(ours("switch ../../x /tmp \x1b[2J ok_1\nhosts ok_1\n")),
              ElementsAre("f.topo:1:8: '../../x' is no name, write letters, digits and '_'",
                          "f.topo:1:16: '/tmp' is no name, write letters, digits and '_'",
                          "f.topo:1:21: '\\x1b[2J' is no name, write letters, digits and '_'"));
}

TEST(FabricFile, MistakesHaveTheirPlace) {
  EXPECT_THAT(problems_of(ours("switch a a b-c\n"
                               "hosts\n"
                               "hosts x\n"
                               "hosts a count=0 speed=1Gbps\n"
                               "link a\n"
                               "link a a rate=100\n"
                               "  lnik a b\n"
                               "link a a\n"
                               "link a y rate=1kbps\n")),
              ElementsAre("f.topo:1:10: switch 'a' stands twice",
                          "f.topo:1:12: 'b-c' is no name, write letters, digits and '_'",
                          "f.topo:2:1: a switch is missing, write 'hosts SWITCH'",
                          "f.topo:3:7: no switch 'x', write 'switch x' above",
                          "f.topo:4:15: '0' is no whole number from 1 to 255",
                          "f.topo:4:17: unknown 'speed=1Gbps', valid are count=, rate=, delay=",
                          "f.topo:5:1: two switches are needed, write 'link SWITCH SWITCH'",
                          testing::StartsWith("f.topo:6:15: '100' has no unit"),
                          "f.topo:7:3: unknown 'lnik', valid are switch, hosts, link",
                          "f.topo:8:8: a link from 'a' to itself",
                          "f.topo:9:8: no switch 'y', write 'switch y' above",
                          "f.topo:9:15: '1kbps' is too slow, at least 1Mbps would be valid",
                          "f.topo:9:1: no hosts, write 'hosts SWITCH'"));
}

TEST(FabricFile, RoutesByTheShortestWaysWhereThereAreNoTiers) {
  const auto plan = ours("switch a b c d\nhosts a\nhosts d\nlink a b\nlink b c\nlink c d\n");
  ASSERT_TRUE(plan.ok());
  EXPECT_EQ(plan.value().routing, FabricRouting::shortest);  // b and c are equally high
}

TEST(FabricFile, RoutesByTheShortestWaysWhereUpAndDownDoesNotReachAll) {
  const auto plan = ours(
      "switch a b c d e\nhosts a\nhosts c\nhosts e\n"
      "link a b\nlink b c\nlink c d\nlink d e\n");
  ASSERT_TRUE(plan.ok());
  EXPECT_EQ(plan.value().routing, FabricRouting::shortest);  // a to e goes down to c and up again
}

TEST(FabricFile, ThePapersFabricsCanBeBuilt) {
  struct Row {
    const char* file;
    size_t switches, hosts, links;
    FabricRouting routing;
  };
  for (const Row& row : {Row{"letflow_1a", 5, 18, 5, FabricRouting::up_down},
                         Row{"letflow_1b", 4, 32, 4, FabricRouting::up_down},
                         Row{"letflow_13", 12, 288, 48, FabricRouting::up_down},
                         Row{"letflow_17", 5, 18, 6, FabricRouting::up_down},
                         Row{"plb_1", 5, 25, 5, FabricRouting::up_down},
                         Row{"rlb_2", 42, 210, 80, FabricRouting::up_down},
                         Row{"three_tiers", 10, 32, 16, FabricRouting::up_down}}) {
    config::Experiment experiment = small_experiment();
    experiment.topology.kind = config::TopologyKind::file;
    experiment.topology.file =
        std::string(EDDY_SOURCE_DIR) + "/config/experiments/topologies/" + row.file + ".topo";
    const auto plan = lab::read_fabric(experiment.topology);
    ASSERT_TRUE(plan.ok()) << plan.problems()[0];
    EXPECT_EQ(plan.value().routing, row.routing) << row.file;
    const Topology topology = built(experiment);
    EXPECT_EQ(topology.switches.size(), row.switches) << row.file;
    EXPECT_EQ(topology.hosts.size(), row.hosts) << row.file;
    EXPECT_EQ(topology.links.size(), row.links) << row.file;
    EXPECT_THAT(topology.warnings, testing::IsEmpty()) << row.file;
    if (row.hosts > 100) continue;
    expect_all_can_be_made(topology);
    expect_everyone_reaches_everyone(topology);
    expect_packets_arrive(topology);
  }
}

TEST(FabricFile, LetFlowsLeafHasOneWayWhereItsLinkIsMissing) {
  config::Experiment experiment = small_experiment();
  experiment.topology.kind = config::TopologyKind::file;
  experiment.topology.file =
      std::string(EDDY_SOURCE_DIR) + "/config/experiments/topologies/letflow_1a.topo";
  const Topology topology = built(experiment);
  const Walker walker(topology);
  EXPECT_THAT(walker.set("leaf1", LeafId(3)), ElementsAre("spine1"));
  EXPECT_THAT(walker.set("leaf2", LeafId(3)), ElementsAre("spine1", "spine2"));
  EXPECT_THAT(walker.set("leaf2", LeafId(1)), ElementsAre("spine1"));
}

TEST(FabricFile, AMissingFileIsTold) {
  config::Experiment experiment = small_experiment();
  experiment.topology.kind = config::TopologyKind::file;
  EXPECT_THAT(refused(experiment),
              ElementsAre("topology.file: missing, a topology file is needed"));
  experiment.topology.file = "no/such.topo";
  EXPECT_THAT(refused(experiment), ElementsAre("topology.file: no/such.topo: cannot be read"));
}

const std::string kSmallHpcc =
    "7 3 6\n"
    "4 5 6\n"
    "0 4 100Gbps 1us 0\n"
    "1 4 100Gbps 1000ns 0.000000\n"
    "5 2 100Gbps 0.001ms 0\n"
    "3 5 100Gbps 1us 0\n"
    "4 6 400Gbps 1.5us 0\n"
    "6 5 400Gbps 1us 0\n";

// What follows a host's rate follows the file's, not topology.host_rate of 40 Gb/s.
TEST(Hpcc, ItsRatesAreThoseOfTheBdpAndOfDcqcn) {
  const std::string file = testing::TempDir() + "eddy_rates.hpcc";
  std::ofstream(file) << kSmallHpcc;
  config::Experiment experiment = small_experiment();
  experiment.topology.kind = config::TopologyKind::hpcc;
  experiment.topology.file = file;
  experiment.host.dcqcn = config::dcqcn_preset(config::DcqcnPreset::vendor);
  const Topology topology = built(experiment);
  // 2 x 4.5 us, and 1,000 octets twice at 100 and twice at 400 Gb/s: 9.2 us of 100 Gb/s.
  EXPECT_EQ(lab::FabricPaths(topology).largest_bdp(Bytes(1'000)), Bytes(115'000));
  EXPECT_THAT(lab::describe_topology(experiment, topology),
              testing::HasSubstr("DCQCN of 4 hosts of 100Gbps: R_AI 20Mbps, R_HAI 200Mbps, at "
                                 "least 1Gbps\n"));
  std::filesystem::remove(file);
}

TEST(Hpcc, ReadsItsTopologyFiles) {
  const auto plan = hpcc(kSmallHpcc);
  ASSERT_TRUE(plan.ok()) << plan.problems()[0];
  ASSERT_EQ(plan.value().switches.size(), 3u);
  EXPECT_EQ(plan.value().switches[1].name, "switch5");
  EXPECT_EQ(plan.value().switches[1].number, 5u);
  EXPECT_EQ(plan.value().routing, FabricRouting::up_down);
  ASSERT_EQ(plan.value().hosts.size(), 4u);
  EXPECT_EQ(plan.value().hosts[2].at, 1u);
  EXPECT_EQ(plan.value().hosts[2].number, 2u);
  EXPECT_EQ(plan.value().hosts[2].delay, 1_us);
  ASSERT_EQ(plan.value().cables.size(), 2u);
  EXPECT_EQ(plan.value().cables[0].name, "switch4-switch6");
  EXPECT_EQ(plan.value().cables[0].rate, 400_Gbps);
  EXPECT_EQ(plan.value().cables[0].delay, 1'500_ns);
}

TEST(Hpcc, MistakesHaveTheirPlace) {
  EXPECT_THAT(problems_of(hpcc("")),
              ElementsAre("t.txt:1:1: the first line says how many: nodes switches links"));
  EXPECT_THAT(problems_of(hpcc("4 x 1\n")),
              ElementsAre("t.txt:1:3: 'x' is no whole number from 1 to 65534"));
  EXPECT_THAT(problems_of(hpcc("4 1 1\n")),
              ElementsAre("t.txt:1:1: the second line gives the numbers of the switches"));
  EXPECT_THAT(
      problems_of(hpcc("5 2 9\n"
                       "3 3 9\n"
                       "0 3 100Gbps 1us 0.1\n"
                       "0 3 100Gbps 1us 0\n"
                       "1 2 100Gbps 1us 0\n"
                       "1 3 100Gbps 1us\n"
                       "1 3 100 1us 0\n"
                       "3 3 100Gbps 1us 0\n"
                       "1 7 100Gbps -1us 0\n")),
      ElementsAre("t.txt:2:1: 3 switches, the first line says 2",
                  "t.txt:2:3: switch 3 stands twice",
                  "t.txt:2:5: '9' is no whole number from 0 to 4",
                  "t.txt:3:17: error rate 0.1, 0 would be valid; faults of the experiment drop "
                  "packets",
                  "t.txt:4:1: host 0 has a second link, it may have one",
                  "t.txt:5:1: a link between two hosts, one end must be a switch",
                  "t.txt:6:1: 4 words, a link has 5: source destination rate delay error-rate",
                  testing::StartsWith("t.txt:7:5: '100' has no unit"),
                  "t.txt:8:3: a link from a node to itself",
                  "t.txt:9:3: '7' is no whole number from 0 to 4",
                  testing::StartsWith("t.txt:9:13: '-1us'"),
                  "t.txt:1:5: there are 7 lines of links, not 9"));
}

TEST(Hpcc, HostsWithoutALinkAreTold) {
  EXPECT_THAT(problems_of(hpcc("3 1 1\n2\n0 2 1Gbps 1us 0\n")),
              ElementsAre("t.txt:1:1: 2 hosts, but 1 have a link"));
}

}  // namespace
}  // namespace eddy
