#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lab/import/htsim_experiment.h"
#include "lab/import/htsim_matrix.h"
#include "lab/import/htsim_topology.h"

namespace eddy::lab {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr const char* kTwoTiers =
    "# small\nNodes 4\ntiers 2\nPodsize 4\n\nTier 0\nDownlink_speed_Gbps 100\nRadix_Down "
    "2\nRadix_Up 2\n"
    "Downlink_Latency_ns 1000\nSwitch_Latency_ns 200\nOversubscribed 1\n\nTier "
    "1\nDownlink_speed_Gbps 200\nRadix_Down 2\n"
    "Downlink_Latency_ns 500\nSwitch_Latency_ns 100\n";

struct ReadTopology {
  explicit ReadTopology(const std::string& text) : file("t", text) {
    topology = read_htsim_topology(file, "t", report);
  }
  ImportReport report;
  WordLines file;
  std::optional<HtsimTopology> topology;
};

// 1000 ns and half of 200 to a host; 500 and half of both between switches.
TEST(HtsimTopology, TwoTiers) {
  const ReadTopology read(kTwoTiers);
  ASSERT_TRUE(read.topology) << read.file.problems().front();
  EXPECT_EQ(read.topology->text,
            "8 4 8\n4 5 6 7\n0 4 100Gbps 1100ns 0\n1 4 100Gbps 1100ns 0\n2 5 100Gbps 1100ns 0\n3 5 "
            "100Gbps 1100ns 0\n"
            "4 6 200Gbps 650ns 0\n4 7 200Gbps 650ns 0\n5 6 200Gbps 650ns 0\n5 7 200Gbps 650ns 0\n");
}

// The shape of a public file: 432 hosts, bundles of three links to 12 cores.
TEST(HtsimTopology, ThreeTiersWithBundles) {
  const std::string tier =
      "Downlink_speed_Gbps 100\nRadix_Down 6\nRadix_Up 6\nDownlink_Latency_ns 1000\n";
  const ReadTopology read(
      "Nodes 432\nTiers 3\nPodsize 36\nTier 0\n" + tier + "Tier 1\n" + tier +
      "Tier 2\nDownlink_speed_Gbps 100\nRadix_Down 36\nDownlink_Latency_ns 600000\nBundle 3\n");
  ASSERT_TRUE(read.topology) << read.file.problems().front();
  EXPECT_EQ(read.topology->switches, 72 + 72 + 12);
  EXPECT_EQ(read.topology->links, 3 * 432);
  EXPECT_THAT(
      read.topology->text,
      HasSubstr(
          "504 576 100Gbps 600us 0\n504 576 100Gbps 600us 0\n504 576 100Gbps 600us 0\n504 582 "));
  EXPECT_EQ(read.topology->headroom.count(), 36 * 15'000'000);
}

TEST(HtsimTopology, AllProblemsAtOnce) {
  EXPECT_THAT(ReadTopology("").file.problems(),
              ElementsAre(HasSubstr("t:1:1: 'Nodes' is missing"), HasSubstr("'Tiers' is missing"),
                          HasSubstr("'Podsize' is missing")));
  EXPECT_THAT(
      ReadTopology("Nodes x\nTiers 4\nRadix_Up 3\nTier 0\nRadix_Up 1\nRadix_Up 1\nTier 0\nBundle\n")
          .file.problems(),
      ElementsAre(
          HasSubstr("t:1:7: 'x'"), HasSubstr("t:2:7: '4'"),
          HasSubstr("t:3:1: Radix_Up is of a tier"), HasSubstr("t:6:1: Radix_Up stands twice"),
          HasSubstr("t:7:1: tier 0 stands twice"), HasSubstr("t:8:1: a number is missing")));
  std::string uneven = kTwoTiers;
  uneven.replace(uneven.find("Radix_Down 2\nDownlink_Latency_ns 500"), 12, "Radix_Down 3");
  EXPECT_THAT(ReadTopology(uneven).file.problems(),
              ElementsAre(HasSubstr("radix_down 3 of tier 1, but a pod has 2 switches below")));
}

struct Matrix {
  explicit Matrix(const std::string& text) : file("m", text) {
    matrix = read_htsim_matrix(file, "m", 4, report);
  }
  ImportReport report;
  WordLines file;
  std::optional<HtsimMatrix> matrix;
};

TEST(HtsimMatrix, FlowsByStart) {
  const Matrix read(
      "Nodes 16\nConnections 3\nTriggers 1\nFailures 1\n# x\n0->3 id 1 start 2.5e6 size 7 prio "
      "3\n1->2 start 0 size 9\n"
      "2->1 id 2 trigger 1 size 5\ntrigger id 1 oneshot\nfailure switch_type TOR switch_id 0 "
      "link_id 1\n");
  ASSERT_TRUE(read.matrix) << read.file.problems().front();
  EXPECT_EQ(read.matrix->text, "2\n1 2 3 9 0.000000000000\n0 3 3 7 0.000002500000\n");
  EXPECT_EQ(read.matrix->last.ns(), 2'500);
  EXPECT_THAT(read.report.text(), HasSubstr("ignored       m:8   1 flows that start by a trigger"));
  EXPECT_THAT(read.report.text(), HasSubstr("ignored       m:10  1 failures"));
}

TEST(HtsimMatrix, AllProblemsAtOnce) {
  EXPECT_THAT(
      Matrix("Connections 2\n0->4 start 0 size 1\n1->1 start 0 size 1\n0->1 start x size 0\n0->1 "
             "size 5\n0->1 start 0\n"
             "0->1 start 0 size 5 speed 3\nhello\n0->1 start\n")
          .file.problems(),
      ElementsAre(
          HasSubstr("m:2:1: '0->4': hosts are 0 to 3"), "m:3:1: a flow from a host to itself",
          HasSubstr("m:4:12: 'x' is no number"), HasSubstr("m:4:19: a flow of size 0 has no end"),
          "m:5:1: a flow has 'start' or 'trigger'", HasSubstr("m:6:1: a flow without 'size'"),
          HasSubstr("m:7:21: 'speed' is nothing"), HasSubstr("m:8:1: 'hello' is nothing"),
          HasSubstr("m:9:6: a value is missing behind 'start'")));
  EXPECT_THAT(Matrix("Connections 2\n0->1 start 0 size 1\n").file.problems(),
              ElementsAre("m:1:13: Connections 2, but there are 1"));
  EXPECT_THAT(Matrix("Connections 1\nTriggers 1\n0->1 trigger 1 size 1\ntrigger id 1 oneshot\n")
                  .file.problems(),
              ElementsAre(HasSubstr("there is no flow that starts by itself")));
}

TEST(HtsimExperiment, ProblemsOfBothFilesAtOnce) {
  EXPECT_THAT(
      import_htsim({"m", "Connections 1\n900->3 start x size 1\n"}, {"t", "Nodes 4\n"}, "x")
          .problems(),
      ElementsAre(HasSubstr("t:1:1: 'Tiers' is missing"), HasSubstr("t:1:1: 'Podsize' is missing"),
                  HasSubstr("m:2:14: 'x' is no number")));
}

TEST(HtsimExperiment, TheMatrixComesFirst) {
  EXPECT_THAT(import_htsim({"t", "Nodes 4\nTiers 2\nPodsize 4\n"},
                           {"m", "Connections 1\n0->3 start 0 size 1\n"}, "x")
                  .problems(),
              ElementsAre("t: this is a topology; the connection matrix comes first"));
}

TEST(HtsimExperiment, SaysWhatIsNotInTheFiles) {
  const auto made =
      import_htsim({"m", "Connections 1\n0->3 start 0 size 1\n"}, {"t", kTwoTiers}, "x");
  ASSERT_TRUE(made) << made.problems().front();
  EXPECT_THAT(made.value().report.text(),
              HasSubstr("approximated  -     transport, path selection, ECN"));
  EXPECT_EQ(made.value().files.size(), 4u);
}

}  // namespace
}  // namespace eddy::lab
