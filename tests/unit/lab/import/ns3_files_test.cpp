#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/experiment_load.h"
#include "lab/import/ns3_experiment.h"
#include "lab/import/ns3_flows.h"
#include "lab/import/ns3_topology.h"

namespace eddy::lab {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

// Two leaves with two hosts each, two spines.
constexpr const char* kFabric =
    "8 4 8\n4 5 6 7\n0 4 100Gbps 1us 0\n1 4 100Gbps 1us 0\n2 5 100Gbps 1us 0\n3 5 100Gbps 1us 0\n"
    "4 6 100Gbps 1us 0\n4 7 100Gbps 1us 0.25\n5 6 100Gbps 1us 0\n5 7 400Gbps 0.001ms 0\n";

struct Fabric {
  explicit Fabric(const std::string& text) : file("t", text) {
    topology = read_ns3_topology(file, "t", report);
  }
  ImportReport report;
  WordLines file;
  std::optional<Ns3Topology> topology;
};

TEST(Ns3Topology, IsMadeOver) {
  Fabric fabric(std::string(kFabric) + "\nFirst line: nodes\n");
  ASSERT_TRUE(fabric.topology) << fabric.file.problems().front();
  EXPECT_THAT(fabric.topology->text,
              HasSubstr("4 7 100Gbps 1us 0\n5 6 100Gbps 1us 0\n5 7 400Gbps 1us 0\n"));
  EXPECT_EQ(fabric.topology->plan.hosts.size(), 4u);
  EXPECT_EQ(fabric.topology->most_ports(), 4u);
  EXPECT_EQ(fabric.topology->host_link_rate, BitRate::gbps(100));
  ASSERT_EQ(fabric.report.findings().size(), 1u);
  EXPECT_EQ(fabric.report.findings()[0].line, 12);
}

TEST(Ns3Topology, LinksHaveTheNamesOfFaults) {
  const Fabric fabric(kFabric);
  EXPECT_EQ(fabric.topology->target(7, 4)->name, "switch4-switch7");
  EXPECT_EQ(fabric.topology->target(3, 5)->name, "switch5.host2");
  EXPECT_TRUE(fabric.topology->target(3, 5)->is_host);
  EXPECT_FALSE(fabric.topology->target(4, 5));
}

// 2 x 4 us and four packets of 80 ns; what 100 Gb/s carry in it.
TEST(Ns3Topology, ReachIsWhatThosePrograms) {
  const Fabric fabric(kFabric);
  const Ns3Reach reach = ns3_reach(fabric.topology->plan, Bytes(1'000));
  EXPECT_EQ(reach.rtt.ns(), 8'320);
  EXPECT_EQ(reach.bdp.count(), 104'000);
  EXPECT_EQ(reach.between_leaves.ns(), 2'000);
}

TEST(Ns3Topology, HostsWithSeveralLinksHaveOne) {
  const Fabric fabric(
      "4 2 5\n2 3\n0 2 25Gbps 1us 0\n0 3 25Gbps 1us 0\n1 2 25Gbps 1us 0\n1 3 25Gbps 1us 0\n2 3 "
      "1Gbps 1us 0\n");
  EXPECT_EQ(fabric.topology->text,
            "4 2 3\n2 3\n0 2 50Gbps 1us 0\n1 3 50Gbps 1us 0\n2 3 1Gbps 1us 0\n");
  EXPECT_EQ(fabric.topology->host_link_rate, BitRate::gbps(25));
  EXPECT_TRUE(fabric.topology->target(0, 3)->is_joined);
  EXPECT_FALSE(fabric.topology->target(0, 2)->is_joined);
}

TEST(Ns3Topology, AllProblemsAtOnce) {
  EXPECT_THAT(Fabric("").file.problems(), ElementsAre(HasSubstr("t:1:1: the first line says")));
  EXPECT_THAT(Fabric("3 1 x\n").file.problems(), ElementsAre(HasSubstr("t:1:5: 'x'")));
  EXPECT_THAT(Fabric("3 2 2\n1\n1 2\n").file.problems(),
              ElementsAre(HasSubstr("t:3:3: the first line says that there are 2 switches")));
  EXPECT_THAT(
      Fabric("4 1 4\n3\n0 1 1Gbps 1us 0\n1 1 1Gbps 1us 0\n2 3 1Gbps 1us 2\n9 3 y z w\n")
          .file.problems(),
      ElementsAre("t:3:1: a link between two hosts, one end must be a switch",
                  "t:4:3: a link from a node to itself", HasSubstr("t:5:15: '2' is no error rate"),
                  HasSubstr("t:6:1: '9'"), HasSubstr("t:6:5: 'y'"), HasSubstr("t:6:7: 'z'"),
                  HasSubstr("t:6:9: 'w'")));
  EXPECT_THAT(Fabric("2 1 1\n1\n0 1 0Gbps 1us 0\n").file.problems(),
              ElementsAre("t:3:5: '0Gbps' is too slow, at least 1Mbps would be valid"));
  EXPECT_THAT(Fabric("4 1 2\n3\n0 3 1Gbps 1us 0\n1 3 1Gbps 1us 0\n").file.problems(),
              ElementsAre("t:1:1: host 2 has no link"));
}

struct Flows {
  explicit Flows(std::string_view text, Ns3Dialect dialect = Ns3Dialect::hpcc) : fabric(kFabric) {
    flows = read_ns3_flows({"f", text}, dialect, *fabric.topology, report, problems);
  }
  Fabric fabric;
  ImportReport report;
  Problems problems;
  std::optional<Ns3Flows> flows;
};

TEST(Ns3Flows, AreMadeOverInOrder) {
  const Flows read("3 \n0 3 3 100 0 2.5\n1 2 4 99 7 2.000000001\n\n2 0 3 1 8 2.5\nnotes\n");
  ASSERT_TRUE(read.flows) << read.problems.front();
  EXPECT_EQ(read.flows->text, "3\n1 2 3 99 7 2.000000001\n0 3 3 100 1 2.5\n2 0 3 1 8 2.5\n");
  EXPECT_EQ(read.flows->first.ns(), 2'000'000'001);
  std::vector<std::string> said;
  for (const ImportFinding& finding : read.report.findings()) said.push_back(finding.what);
  EXPECT_THAT(said, ElementsAre("3 flows", "1 lines from here on", "1 flows", "1 flows",
                                "1 flows with pg 4"));
}

TEST(Ns3Flows, ConweavesHaveNoPort) {
  const Flows read("1\n0 3 3 100 2.000000500\n", Ns3Dialect::conweave);
  ASSERT_TRUE(read.flows);
  EXPECT_EQ(read.flows->text, "1\n0 3 3 100 2.0000005\n");
}

TEST(Ns3Flows, AllProblemsAtOnce) {
  EXPECT_THAT(Flows("").problems, ElementsAre(HasSubstr("f:1: is empty")));
  EXPECT_THAT(Flows("many\n").problems, ElementsAre(HasSubstr("f:1: 'many' is not the number")));
  EXPECT_THAT(Flows("5\n0 4 3 1 1 2\n0 0 3 1 1 2\n0 9 8 70000 -1 x\n0 1\n").problems,
              ElementsAre("f:2: node 4 is a switch in the topology file, flows are between hosts",
                          "f:3: a flow from host 0 to itself", HasSubstr("f:4: '9' is no host"),
                          HasSubstr("f:4: '8' is not a priority"), HasSubstr("f:4: '70000'"),
                          HasSubstr("f:4: '-1' is not a size"), "f:4: 'x' is no start in seconds",
                          HasSubstr("f:5: 2 words, a flow of HPCC's simulator has 6"),
                          HasSubstr("f:5: the file ends 1 flows before the 5")));
  EXPECT_THAT(Flows("1\n0 1 3 5 2\n").problems,
              ElementsAre(HasSubstr("(eddylab import conweave reads 5)")));
}

TEST(Ns3Flows, NoMoreProblemsThanPeopleRead) {
  std::string text = "1000\n";
  for (int i = 0; i < 1'000; ++i) text += "x y\n";
  EXPECT_EQ(Flows(text).problems.size(), WordLines::kMaxProblems);
}

// What of all the keys is not told would be dropped in silence.
TEST(Ns3Experiment, EveryKeyIsTold) {
  for (const Ns3Dialect dialect : {Ns3Dialect::hpcc, Ns3Dialect::conweave})
    for (const char* mode : {"1", "3", "7", "8"}) {
      std::string config;
      for (const std::string_view key : Ns3Config::keys(dialect)) {
        std::string value = key.ends_with("_MAP")          ? "2 100000000000 1 400000000000 1"
                            : key == "LINK_DOWN"           ? "0 0 0"
                            : key == "CC_MODE"             ? mode
                            : key == "EWMA_GAIN"           ? "0.5"
                            : key == "SIMULATOR_STOP_TIME" ? "4"
                            : key == "PACKET_PAYLOAD_SIZE" ? "1000"
                            : key.ends_with("RATE_AI") || key == "RATE_HAI" || key == "MIN_RATE"
                                ? "40Mb/s"
                                : "0";
        if (key == "FAST_RECOVERY_TIMES" || key == "BUFFER_SIZE" || key == "SW_MONITORING_INTERVAL")
          value = "1";
        config += std::string(key) + " " + value + "\n";
      }
      const std::string flow = dialect == Ns3Dialect::hpcc ? "0 3 3 1 5 2" : "0 3 3 5 2";
      const auto made =
          import_ns3({{"c", config}, {"t", kFabric}, {"f", "1\n" + flow + "\n"}}, dialect, "x");
      ASSERT_TRUE(made) << made.problems().front();
      std::map<int, int> told;
      for (const ImportFinding& finding : made.value().report.findings())
        if (finding.file == "c") ++told[finding.line];
      const auto keys = Ns3Config::keys(dialect);
      for (size_t i = 0; i < keys.size(); ++i)
        EXPECT_GE(told[static_cast<int>(i) + 1], 1) << keys[i] << ", CC_MODE " << mode;
    }
}

constexpr const char* kSameMaps =
    "KMIN_MAP 2 100Gbps 30 400Gbps 30\nKMAX_MAP 2 100Gbps 30 400Gbps 30\n"
    "PMAX_MAP 2 100Gbps 1 400Gbps 1\n";

Result<Imported> with_maps(Ns3Dialect dialect, const std::string& config,
                           const char* fabric = kFabric) {
  const char* flow = dialect == Ns3Dialect::hpcc ? "1\n0 3 3 1 5 2\n" : "1\n0 3 3 5 2\n";
  return import_ns3({{"c", config}, {"t", fabric}, {"f", flow}}, dialect, "x");
}

config::Experiment loaded(const Imported& made) {
  const auto loaded = config::load_experiment_text("x.yaml", made.files[0].text);
  EXPECT_TRUE(loaded) << loaded.problems().front() << "\n" << made.files[0].text;
  return loaded ? loaded.value().runs[0].experiment : config::Experiment{};
}

// The fabric has one link of 400 Gb/s, all others have 100 Gb/s, as hosts have.
TEST(Ns3Experiment, PortsOfAnotherRateHaveThatRatesThresholds) {
  const auto made = with_maps(Ns3Dialect::hpcc,
                              "CC_MODE 8\nKMIN_MAP 2 100Gbps 100 400Gbps 400\n"
                              "KMAX_MAP 2 400Gbps 1600 100Gbps 400\nPMAX_MAP 2 100Gbps 0.2 "
                              "400Gbps 0.2\n");
  ASSERT_TRUE(made) << made.problems().front();
  const std::string report = made.value().report.text();
  EXPECT_THAT(report, HasSubstr("taken         c:2  KMIN_MAP 2 100Gbps 100 400Gbps 400: "
                                "wred.default.kmin: 100kB, of ports of 400Gbps 400kB\n"));
  EXPECT_THAT(report, HasSubstr("wred.default.kmax: 400kB, of ports of 400Gbps 1600kB\n"));
  EXPECT_THAT(report, HasSubstr("wred.default.pmax: 0.2\n"));
  EXPECT_THAT(report, Not(HasSubstr("approximated  c:2")));
  const config::FabricSwitchConfig switches = loaded(made.value()).switches;
  const config::WredProfile slow{true, Bytes(100'000), Bytes(400'000), 0.2,
                                 config::WredMark::dequeue};
  const config::WredProfile fast{true, Bytes(400'000), Bytes(1'600'000), 0.2,
                                 config::WredMark::dequeue};
  EXPECT_TRUE(switches.buffer.wred.at("default") == slow);
  EXPECT_TRUE(switches.buffer.wred.at("of_400Gbps") == fast);
  ASSERT_EQ(switches.by_rate.size(), 1u);
  EXPECT_TRUE(switches.by_rate[0] ==
              (config::PortsOfRate{BitRate::gbps(400), "of_400Gbps", "of_400Gbps"}));
}

// 1/8 of the free buffer at 100 Gb/s is 1/4 at 200 and 1/2 at 400; a slower port has 1/8, too.
TEST(Ns3Experiment, PfcOfFasterPortsHasItsShareDoubled) {
  const auto made = with_maps(Ns3Dialect::hpcc, std::string("CC_MODE 8\n") + kSameMaps);
  ASSERT_TRUE(made) << made.problems().front();
  const config::FabricSwitchConfig switches = loaded(made.value()).switches;
  ASSERT_EQ(switches.by_rate.size(), 1u);
  EXPECT_EQ(switches.by_rate[0].wred, std::nullopt) << "the same as at 100Gbps";
  EXPECT_EQ(switches.by_rate[0].lossless, "of_400Gbps");
  config::BufferProfile expected = switches.buffer.profiles.at("lossless");
  EXPECT_EQ(expected.dynamic_th, -3);
  expected.dynamic_th = -1;
  EXPECT_TRUE(switches.buffer.profiles.at("of_400Gbps") == expected);
}

TEST(Ns3Experiment, ConWeavesPfcIsTheSameAtEachRate) {
  const auto made =
      with_maps(Ns3Dialect::conweave, std::string("RATE_AI 1Gbps\nRATE_HAI 1Gbps\n") + kSameMaps);
  ASSERT_TRUE(made) << made.problems().front();
  EXPECT_THAT(loaded(made.value()).switches.by_rate, IsEmpty());
}

// What depends on the topology is not told where that cannot be read.
TEST(Ns3Experiment, ProblemsOfAllThreeFilesAtOnce) {
  const auto made = import_ns3({{"c",
                                 "CC_MODE 99\nRATE_AI 1Mb/s\nRATE_HAI fast\nBUFFER_SIZE "
                                 "99999999999\nKMIN_MAP 1 1Gbps 1\nKMAX_MAP 1 "
                                 "2Gbps 2\nLINK_DOWN 5 0 7\n"},
                                {"t", "2 1 1\n1\n0 1 x 1us 0\n"},
                                {"f", "2\n0 0 3 1 1 2\n5 6 3 1 -1 2\n"}},
                               Ns3Dialect::hpcc, "x");
  EXPECT_THAT(made.problems(),
              testing::UnorderedElementsAre(
                  HasSubstr("t:3:5: 'x' is no rate"), "f:2: a flow from host 0 to itself",
                  HasSubstr("f:3: '-1' is not a size"), HasSubstr("c:1:9: CC_MODE 99, valid are"),
                  HasSubstr("c:4:13: BUFFER_SIZE '99999999999' is no whole number"),
                  HasSubstr("c:3:10: 'fast' is no rate"),
                  HasSubstr("c:7:1: PMAX_MAP is missing, such as 'PMAX_MAP 1 100000000000 ...'")));
}

TEST(Ns3Experiment, ARateWithoutAThresholdIsAProblem) {
  const auto made = with_maps(Ns3Dialect::hpcc,
                              "CC_MODE 8\nKMIN_MAP 1 100Gbps 30\nKMAX_MAP 1 400Gbps 30\nPMAX_MAP "
                              "2 100Gbps 1 400Gbps x\n");
  ASSERT_FALSE(made);
  EXPECT_THAT(made.problems(),
              ElementsAre("c:2:10: KMIN_MAP has no value for 400Gbps, the rate of links",
                          "c:3:10: KMAX_MAP has no value for 100Gbps, the rate of hosts' links",
                          "c:4:30: 'x' is no number, such as 0.2 would be valid"));
}

TEST(Ns3Experiment, ThresholdsThatAreNoneAreProblemsOfTheirPlace) {
  const auto made =
      with_maps(Ns3Dialect::hpcc,
                "CC_MODE 8\nKMIN_MAP 2 100Gbps -1 400Gbps 500\nKMAX_MAP 2 100Gbps 3e9 400Gbps 400\n"
                "PMAX_MAP 2 100Gbps 1.5 400Gbps 1\n");
  ASSERT_FALSE(made);
  EXPECT_THAT(made.problems(),
              ElementsAre("c:2:20: KMIN_MAP '-1' is no number from 0 to 1000000",
                          "c:3:20: KMAX_MAP '3e9' is no number from 0 to 1000000",
                          "c:3:32: KMAX_MAP '400' of 400Gbps is below KMIN_MAP's 500",
                          "c:4:20: PMAX_MAP '1.5' is no number from 0 to 1"));
}

TEST(Ns3Experiment, ThresholdsMayHaveFractionsAndExponents) {
  const auto made = with_maps(Ns3Dialect::hpcc,
                              "CC_MODE 8\nKMIN_MAP 2 100Gbps 1e2 400Gbps 0.5\nKMAX_MAP 2 100Gbps "
                              "100.25 400Gbps 1e3\nPMAX_MAP 2 100Gbps 2e-1 400Gbps .5\n");
  ASSERT_TRUE(made) << made.problems().front();
  const auto wred = loaded(made.value()).switches.buffer.wred;
  EXPECT_EQ(wred.at("default").kmin, Bytes(100'000));
  EXPECT_EQ(wred.at("default").kmax, Bytes(100'250));
  EXPECT_DOUBLE_EQ(wred.at("default").pmax, 0.2);
  EXPECT_EQ(wred.at("of_400Gbps").kmin, Bytes(500));
  EXPECT_DOUBLE_EQ(wred.at("of_400Gbps").pmax, 0.5);
}

// Two links of 50 Gb/s a host become one of 100 Gb/s, which is also the rate between switches.
TEST(Ns3Experiment, JoinedLinksHaveWhatLinksOfTheirRateHave) {
  constexpr const char* kJoined =
      "4 2 5\n2 3\n0 2 50Gbps 1us 0\n0 3 50Gbps 1us 0\n1 2 50Gbps 1us 0\n1 3 50Gbps 1us 0\n2 3 "
      "100Gbps 1us 0\n";
  const std::string maps =
      "KMIN_MAP 2 50Gbps 50 100Gbps 100\nKMAX_MAP 2 50Gbps 50 100Gbps 100\n"
      "PMAX_MAP 2 50Gbps 1 100Gbps 1\n";
  const auto made =
      import_ns3({{"c", "CC_MODE 8\n" + maps}, {"t", kJoined}, {"f", "1\n0 1 3 1 5 2\n"}},
                 Ns3Dialect::hpcc, "x");
  ASSERT_TRUE(made) << made.problems().front();
  EXPECT_THAT(made.value().report.text(),
              HasSubstr("approximated  -    ports of 100Gbps to hosts with several links: have"));
  const config::FabricSwitchConfig switches = loaded(made.value()).switches;
  EXPECT_EQ(switches.buffer.wred.at("default").kmin, Bytes(50'000));
  ASSERT_EQ(switches.by_rate.size(), 1u);
  EXPECT_EQ(switches.buffer.profiles.at("of_100Gbps").dynamic_th, -2);
}

TEST(Ns3Experiment, TimelyHasTheRatesOfItsKeys) {
  const auto made = with_maps(
      Ns3Dialect::hpcc,
      std::string("CC_MODE 7\nRATE_AI 50Mb/s\nRATE_HAI 0.5Gb/s\nRP_TIMER 300\n") + kSameMaps);
  ASSERT_TRUE(made) << made.problems().front();
  const std::string report = made.value().report.text();
  EXPECT_THAT(report, HasSubstr("taken         c:1  CC_MODE 7: host.congestion_control: timely, "));
  EXPECT_THAT(report,
              HasSubstr("taken         c:2  RATE_AI 50Mb/s: host.timely.additive_increase"));
  EXPECT_THAT(report, HasSubstr("ignored       c:4  RP_TIMER 300: of DCQCN, "));
  const config::HostConfig host = loaded(made.value()).host;
  EXPECT_EQ(host.congestion_control, "timely");
  EXPECT_THAT(host.law_parameters,
              testing::UnorderedElementsAre(testing::Pair("timely.additive_increase", 50'000'000),
                                            testing::Pair("timely.hyper_increase", 500'000'000),
                                            testing::Pair("timely.hyper_below_low", 1),
                                            testing::Pair("timely.min_rate", 100'000'000)));
}

TEST(Ns3Experiment, ASmallLossIsWrittenAsExperimentsReadIt) {
  const auto made =
      import_ns3({{"c", std::string("CC_MODE 8\nERROR_RATE_PER_LINK 1e-9\n") + kSameMaps},
                  {"t", kFabric},
                  {"f", "1\n0 3 3 1 5 2\n"}},
                 Ns3Dialect::hpcc, "x");
  ASSERT_TRUE(made) << made.problems().front();
  EXPECT_THAT(made.value().files[0].text, HasSubstr("probability: 0.000000001}"));
  EXPECT_FALSE(loaded(made.value()).faults.empty());
}

TEST(Ns3Experiment, LossOfALinkIsAFault) {
  const auto made = import_ns3(
      {{"c", std::string("CC_MODE 8\n") + kSameMaps}, {"t", kFabric}, {"f", "1\n0 3 3 1 5 2\n"}},
      Ns3Dialect::hpcc, "x");
  ASSERT_TRUE(made) << made.problems().front();
  EXPECT_THAT(
      made.value().files[0].text,
      HasSubstr(
          "faults:\n  - {type: random_drop, links: [\"switch4-switch7\"], probability: 0.25}\n"));
  EXPECT_THAT(made.value().report.text(),
              HasSubstr("approximated  c:1  CC_MODE 8: host.congestion_control: dctcp"));
}

}  // namespace
}  // namespace eddy::lab
