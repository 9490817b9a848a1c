#include "lab/traffic/traffic.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "lab/fabric/build_topology.h"
#include "lab/fabric/fabric_file.h"
#include "lab/traffic/traffic_files.h"
#include "lab/traffic/traffic_item.h"
#include "tests/unit/lab/fabric/fabrics.h"

namespace eddy::lab {
namespace {

using config::TrafficConfig;
using config::TrafficType;
using testing::ElementsAre;
using testing::IsEmpty;
using namespace eddy::literals;

// Two leaves of four hosts, two spines, 40 Gb/s: each leaf has 80 Gb/s of uplinks.
config::Experiment experiment(std::vector<TrafficConfig> traffic) {
  config::Experiment made = test::leaf_spine_of(2, 2, 4);
  made.run.warmup = 5_ms;
  made.run.duration = 20_ms;
  made.traffic = std::move(traffic);
  return made;
}
const Topology& fabric() {
  static const Topology topology = build_topology(experiment({})).value();
  return topology;
}

Result<Trace> make(const config::Experiment& experiment, uint64_t seed = 1) {
  return make_traffic(experiment, fabric(), seed, TrafficFiles("config/examples"));
}
Trace trace_of(std::vector<TrafficConfig> traffic, uint64_t seed = 1) {
  auto trace = make(experiment(std::move(traffic)), seed);
  EXPECT_TRUE(trace.ok()) << trace.problems().front();
  return trace.ok() ? trace.value() : Trace{};
}
Problems problems_of(const TrafficConfig& traffic) {
  const auto trace = make(experiment({traffic}));
  return trace.ok() ? Problems{} : trace.problems();
}

TrafficConfig poisson(double load = 0.6) {
  return {.type = TrafficType::poisson, .cdf = "solar", .load = load};
}
TrafficConfig sized(TrafficType type, Bytes size = 64_KiB) {
  return {.type = type, .size = size};
}

size_t leaf_of(uint32_t host) {
  return host / 4;
}

// What all flows cost on the line, in bits a second of the 25 ms in which they start.
double offered_bits(const Trace& trace) {
  const WireCost cost(1'024, 24, false);
  double octets = 0;
  for (const Flow& flow : trace.flows) octets += static_cast<double>(cost.of(flow.size));
  return octets * 8 / 0.025;
}

TEST(WireCost, IsOfHeadersPaddingAndTheLine) {
  // 58 of headers and ICRC a packet, 16 of the first.
  EXPECT_EQ(WireCost(1'024, 24, false).of(Bytes(2'058)), 16 + 3 * (58 + 24) + 2'060);
  EXPECT_EQ(WireCost(1'024, 24, true).of(Bytes(1'024)), 16 + 78 + 24 + 1'024);
  EXPECT_EQ(WireCost(1'001, 0, false).of(Bytes(2'003)), 16 + 3 * 58 + 2 * 1'004 + 4);
  EXPECT_EQ(WireCost(1'000, 0, false).of(Bytes(2'000)), 16 + 2 * 58 + 2'000);
}

TEST(Poisson, OffersTheLoadOfTheCore) {
  // 2 leaves of 2 uplinks of 40 Gb/s: 160 Gb/s, of which 60 %. 7,000 flows: 3 sigma is 4 %.
  const Trace trace = trace_of({poisson()});
  EXPECT_NEAR(offered_bits(trace) / 96e9, 1, 0.04);
  EXPECT_EQ(trace.items[0].reference, 160_Gbps);
  EXPECT_EQ(trace.items[0].offered, 96_Gbps);
  EXPECT_EQ(trace.items[0].cdf, "config/workloads/solar.csv");
  EXPECT_NEAR(trace.items[0].mean_size, 39'424, 1);
  // 38.6 packets of at most 1,024 octets, each 82 octets more; 16 once.
  EXPECT_NEAR(trace.items[0].mean_wire_size, 39'424 + 82 * 38.6 + 16, 2);
}

TEST(Poisson, OffersTheLoadOfTheHosts) {
  TrafficConfig traffic = poisson(0.3);
  traffic.reference = config::LoadReference::host;
  traffic.remote_only = false;
  const Trace trace = trace_of({traffic});
  EXPECT_EQ(trace.items[0].offered, 96_Gbps);  // 8 hosts of 40 Gb/s, 30 %
  EXPECT_NEAR(offered_bits(trace) / 96e9, 1, 0.04);
}

TEST(Poisson, FlowsThatStayOnALeafDoNotLoadTheCore) {
  TrafficConfig traffic = poisson(0.6);
  traffic.remote_only = false;
  const Trace trace = trace_of({traffic});
  // 4 of 7 destinations are on the other leaf: 7 / 4 of 96 Gb/s.
  EXPECT_EQ(trace.items[0].offered.bps() / 1'000'000, 168'000);
  size_t remote = 0;
  for (const Flow& flow : trace.flows)
    remote += leaf_of(flow.source) != leaf_of(flow.destination) ? 1 : 0;
  EXPECT_NEAR(static_cast<double>(remote) / static_cast<double>(trace.flows.size()), 4.0 / 7, 0.02);
}

TEST(Poisson, RateIsInsteadOfLoad) {
  TrafficConfig traffic = poisson();
  traffic.rate = 20_Gbps;
  traffic.sources = {"leaf1"};
  const Trace trace = trace_of({traffic});
  EXPECT_NEAR(offered_bits(trace) / 20e9, 1, 0.08);
  for (const Flow& flow : trace.flows) EXPECT_EQ(leaf_of(flow.source), 0u);
}

TEST(Poisson, FlowsAreSortedRemoteAndWithinTheirTime) {
  TrafficConfig traffic = poisson();
  traffic.start = 1_ms;
  traffic.stop = 3_ms;
  const Trace trace = trace_of({traffic});
  ASSERT_FALSE(trace.flows.empty());
  EXPECT_TRUE(std::ranges::is_sorted(trace.flows, {}, &Flow::start));
  std::set<uint32_t> hosts;
  for (const Flow& flow : trace.flows) {
    EXPECT_GE(flow.start, Instant::at(1_ms));
    EXPECT_LT(flow.start, Instant::at(3_ms));
    EXPECT_NE(leaf_of(flow.source), leaf_of(flow.destination));
    EXPECT_GE(flow.source_port, 49'152);
    EXPECT_EQ(flow.request, kNoRequest);
    hosts.insert({flow.source, flow.destination});
  }
  EXPECT_EQ(hosts.size(), 8u);
}

TEST(Poisson, TruncationShortensLongFlowsAndKeepsTheLoad) {
  TrafficConfig traffic = poisson();
  traffic.truncate = Bytes(20'000);
  const Trace trace = trace_of({traffic});
  for (const Flow& flow : trace.flows) EXPECT_LE(flow.size, Bytes(20'000));
  EXPECT_NEAR(offered_bits(trace) / 96e9, 1, 0.04);
}

TEST(Seeds, SameSeedSameTrace) {
  const std::vector<TrafficConfig> traffic = {poisson(), sized(TrafficType::permutation)};
  EXPECT_EQ(trace_of(traffic, 5).digest(), trace_of(traffic, 5).digest());
  EXPECT_NE(trace_of(traffic, 5).digest(), trace_of(traffic, 6).digest());
  EXPECT_EQ(trace_of(traffic, 5).digest(), 4548732495072930659u)
      << "the same on every compiler and machine";
}

std::vector<Flow> flows_of(const Trace& trace, uint16_t traffic) {
  std::vector<Flow> flows;
  for (const Flow& flow : trace.flows)
    if (flow.traffic == traffic) flows.push_back(flow);
  return flows;
}

TEST(Seeds, AnItemNeverShiftsTheDrawsOfAnother) {
  TrafficConfig incast = sized(TrafficType::incast);
  incast.degree = 3;
  incast.period = 100_us;
  const Trace one = trace_of({poisson()});
  const Trace two = trace_of({poisson(), incast});
  EXPECT_EQ(flows_of(two, 0), one.flows);
  TrafficConfig other_sizes = poisson();
  other_sizes.cdf = "web_search";
  const auto changed = flows_of(trace_of({other_sizes, incast}), 1);
  EXPECT_EQ(changed, flows_of(two, 1));
}

TEST(Seeds, TheSizesDoNotShiftThePairs) {
  TrafficConfig cut = poisson();
  cut.truncate = Bytes(10'000);
  const Trace all = trace_of({poisson()});
  const Trace shorter = trace_of({cut});
  ASSERT_GT(shorter.flows.size(), all.flows.size());
  for (size_t i = 0; i < all.flows.size(); ++i) {
    EXPECT_EQ(shorter.flows[i].source, all.flows[i].source);
    EXPECT_EQ(shorter.flows[i].destination, all.flows[i].destination);
  }
}

TEST(Incast, ManyAnswerOne) {
  TrafficConfig traffic = sized(TrafficType::incast, Bytes(10'001));
  traffic.degree = 4;
  traffic.period = 1_ms;
  traffic.start = 500_us;
  const Trace trace = trace_of({traffic});
  ASSERT_EQ(trace.flows.size(), 100u);  // 25 requests in 25 ms
  std::set<uint32_t> clients;
  for (size_t request = 0; request < 25; ++request) {
    std::set<uint32_t> senders;
    int64_t octets = 0;
    for (size_t i = 0; i < 4; ++i) {
      const Flow& flow = trace.flows[4 * request + i];
      EXPECT_EQ(flow.request, request);
      EXPECT_EQ(flow.start, Instant::at(500_us + 1_ms * static_cast<int64_t>(request)));
      EXPECT_EQ(flow.destination, trace.flows[4 * request].destination);
      EXPECT_NE(leaf_of(flow.source), leaf_of(flow.destination));
      senders.insert(flow.source);
      octets += flow.size.count();
    }
    EXPECT_EQ(senders.size(), 4u);
    EXPECT_EQ(octets, 10'001);
    clients.insert(trace.flows[4 * request].destination);
  }
  EXPECT_GT(clients.size(), 4u);
}

TEST(Incast, RequestsByRate) {
  TrafficConfig traffic = sized(TrafficType::incast, Bytes(40'960));
  traffic.degree = 4;
  traffic.rate = 40_Gbps;
  traffic.destinations = {"leaf2.host1"};
  const Trace trace = trace_of({traffic});
  EXPECT_NEAR(offered_bits(trace) / 40e9, 1, 0.08);
  traffic.repeat = 7;
  EXPECT_EQ(trace_of({traffic}).flows.size(), 28u);
}

TEST(Burst, EverySourceSendsCountFlows) {
  TrafficConfig traffic = sized(TrafficType::burst);
  traffic.sources = {"leaf2.host2-4"};
  traffic.destinations = {"leaf2.host1"};
  traffic.count = 40;
  traffic.start = 6_ms;
  traffic.period = 300_us;
  traffic.repeat = 2;
  const Trace trace = trace_of({traffic});
  ASSERT_EQ(trace.flows.size(), 240u);
  EXPECT_EQ(trace.flows[119].start, Instant::at(6_ms));
  EXPECT_EQ(trace.flows[120].start, Instant::at(6_ms + 300_us));
  EXPECT_EQ(trace.flows[0].source, 5u);
  EXPECT_EQ(trace.flows[0].destination, 4u);
  EXPECT_EQ(trace.items[0].bytes, 64_KiB * 240);
}

TEST(Permutation, EveryoneSendsOnceAndReceivesOnce) {
  std::set<std::vector<uint32_t>> pairings;
  for (uint64_t seed = 1; seed <= 20; ++seed)
    for (bool remote : {false, true}) {
      TrafficConfig traffic = sized(TrafficType::permutation, 8_MiB);
      traffic.remote_only = remote;
      const Trace trace = trace_of({traffic}, seed);
      ASSERT_EQ(trace.flows.size(), 8u);
      std::map<uint32_t, uint32_t> to;
      std::set<uint32_t> receivers;
      for (const Flow& flow : trace.flows) {
        EXPECT_NE(flow.source, flow.destination);
        EXPECT_FALSE(remote && leaf_of(flow.source) == leaf_of(flow.destination));
        to[flow.source] = flow.destination;
        receivers.insert(flow.destination);
      }
      EXPECT_EQ(to.size(), 8u);
      EXPECT_EQ(receivers.size(), 8u);
      std::vector<uint32_t> pairing;
      pairing.reserve(to.size());
      for (const auto& [source, destination] : to) pairing.push_back(destination);
      pairings.insert(pairing);
    }
  EXPECT_GT(pairings.size(), 35u);
}

TEST(Poisson, PairsTheListsUp) {
  TrafficConfig traffic = poisson();
  traffic.paired = true;
  traffic.sources = {"leaf1"};
  traffic.destinations = {"leaf2.host2", "leaf2.host4"};
  const Trace paired = trace_of({traffic});
  std::set<std::pair<uint32_t, uint32_t>> pairs;
  for (const Flow& flow : paired.flows) pairs.insert({flow.source, flow.destination});
  using Pair = std::pair<uint32_t, uint32_t>;
  EXPECT_THAT(pairs, ElementsAre(Pair{0, 5}, Pair{1, 7}, Pair{2, 5}, Pair{3, 7}));
  // Whom they send to is all that changes.
  traffic.paired = false;
  const Trace any = trace_of({traffic});
  ASSERT_EQ(any.flows.size(), paired.flows.size());
  for (size_t i = 0; i < any.flows.size(); ++i) {
    EXPECT_EQ(any.flows[i].start, paired.flows[i].start);
    EXPECT_EQ(any.flows[i].source, paired.flows[i].source);
    EXPECT_EQ(any.flows[i].size, paired.flows[i].size);
  }
  // A partner under the same leaf is none.
  traffic.paired = true;
  traffic.destinations = {"leaf1.host2", "leaf2.host1"};
  traffic.load = 0.4;  // what one receiver can take
  const Trace some = trace_of({traffic});
  EXPECT_THAT(some.warnings, ElementsAre(testing::HasSubstr("2 of 4 sources have no destination")));
  for (const Flow& flow : some.flows) EXPECT_EQ(flow.destination, 4u);
}

TEST(AllToAll, EveryPairOnceAndNobodyFirst) {
  const Trace trace = trace_of({sized(TrafficType::all_to_all)});
  ASSERT_EQ(trace.flows.size(), 56u);
  std::set<std::pair<uint32_t, uint32_t>> pairs;
  std::set<uint32_t> first;
  for (const Flow& flow : trace.flows) pairs.insert({flow.source, flow.destination});
  for (size_t i = 0; i < 8; ++i) first.insert(trace.flows[i].destination);
  EXPECT_EQ(pairs.size(), 56u);
  EXPECT_EQ(first.size(), 8u);
}

TEST(LongFlow, PairsTheListsUp) {
  TrafficConfig traffic = sized(TrafficType::long_flow, 1_MiB);
  traffic.sources = {"leaf1.host1-3"};
  traffic.destinations = {"host6", "leaf2.host3"};
  traffic.count = 2;
  const Trace trace = trace_of({traffic});
  std::vector<std::pair<uint32_t, uint32_t>> pairs;
  for (const Flow& flow : trace.flows) pairs.emplace_back(flow.source, flow.destination);
  using Pair = std::pair<uint32_t, uint32_t>;
  EXPECT_THAT(pairs,
              ElementsAre(Pair{0, 5}, Pair{0, 5}, Pair{1, 6}, Pair{1, 6}, Pair{2, 5}, Pair{2, 5}));
}

Result<Trace> from_file(const std::string& text, const TrafficConfig& traffic) {
  return make_traffic(experiment({traffic}), fabric(), 1, [&](const std::string& name) {
    return NamedText{name, text};
  });
}
// Times of the file stay, unless `start` says otherwise.
TrafficConfig from_trace(std::optional<Duration> start = Duration{}) {
  return {.type = TrafficType::trace, .start = start, .file = "t.csv"};
}

TEST(TraceFile, IsReadAndSorted) {
  const auto trace = from_file(
      "# a trace\nstart,source,destination,size\n"
      "2us, leaf1.host1, leaf2.host4, 64KiB\n1.5us,host2,host5,1B\n30ms,host1,host2,1B\n",
      from_trace());
  ASSERT_TRUE(trace.ok()) << trace.problems().front();
  ASSERT_EQ(trace.value().flows.size(), 2u);
  EXPECT_EQ(trace.value().flows[0].start, Instant::at(1500_ns));
  EXPECT_EQ(trace.value().flows[0].source, 1u);
  EXPECT_EQ(trace.value().flows[1].destination, 7u);
  EXPECT_EQ(trace.value().flows[1].size, 64_KiB);
  EXPECT_THAT(
      trace.value().warnings,
      ElementsAre("traffic.0.file: 1 of 3 flows start outside of the run and are left out",
                  "traffic.0: 2 of 2 flows start before run.warmup is over and are not measured"));
}

TEST(TraceFile, OfTheHpccSimulator) {
  const auto trace = from_file("2\n0 5 3 100 4000 0.002\n7 1 3 100 1 0.001\n", from_trace());
  ASSERT_TRUE(trace.ok()) << trace.problems().front();
  ASSERT_EQ(trace.value().flows.size(), 2u);
  EXPECT_EQ(trace.value().flows[0].source, 7u);
  EXPECT_EQ(trace.value().flows[1].size, Bytes(4'000));
  EXPECT_EQ(trace.value().flows[1].start, Instant::at(2_ms));
}

// Without a destination port, and at the times of its generator.
TEST(TraceFile, OfTheConweaveSimulator) {
  const auto trace =
      from_file("2 \n0 5 3 4000 2.000012345\n7 1 3 1 2.000002345\n", from_trace(std::nullopt));
  ASSERT_TRUE(trace.ok()) << trace.problems().front();
  ASSERT_EQ(trace.value().flows.size(), 2u);
  EXPECT_EQ(trace.value().flows[0].source, 7u);
  EXPECT_EQ(trace.value().flows[0].destination, 1u);
  EXPECT_EQ(trace.value().flows[0].start, Instant());
  EXPECT_EQ(trace.value().flows[0].file_port, 0);
  EXPECT_EQ(trace.value().flows[1].size, Bytes(4'000));
  EXPECT_EQ(trace.value().flows[1].start, Instant::at(10_us));
  EXPECT_EQ(trace.value().file_origin, 2'000'002'345_ns);
  EXPECT_THAT(trace.value().warnings, ElementsAre(testing::HasSubstr("before run.warmup is over")));
}

TEST(TraceFile, ItsLayoutIsKnownByTheNumberOfColumns) {
  const auto problems = [](const std::string& text) {
    return from_file(text, from_trace()).problems();
  };
  EXPECT_THAT(problems("1\n0 5 3 4000\n"),
              ElementsAre("t.csv:2: '0 5 3 4000' has 4 columns, valid are 5: src dst pg size "
                          "start, or 6: src dst pg dport size start"));
  EXPECT_THAT(problems("# flows\n2\n\n0 5 3 4000 0.001\n0 5 3 100 4000 0.001\n"),
              ElementsAre("t.csv:5: '0 5 3 100 4000 0.001' has 6 columns, line 4 has 5"));
  EXPECT_THAT(problems("3\n0 5 x 4000 0.001\n0 5 8 4000 0.001\n0 5 3 many -1\n"),
              ElementsAre("t.csv:2:5: 'x' is not a priority group, they are 0 to 7",
                          "t.csv:3:5: '8' is not a priority group, they are 0 to 7",
                          testing::StartsWith("t.csv:4:12: "), testing::StartsWith("t.csv:4:7: ")));
  EXPECT_THAT(problems("1\n0 5 3 65536 4000 0.001\n"),
              ElementsAre("t.csv:2:7: '65536' is not a port, they are 0 to 65535"));
}

TEST(TraceFile, StartsWithItsFirstFlowOrWhenItIsTold) {
  const std::string text = "3\n0 5 3 100 10 2.001\n1 6 3 200 10 2.030\n2 7 3 100 10 2.000\n";
  const auto starts = [&](std::optional<Duration> start) {
    std::vector<Duration> out;
    const auto trace = from_file(text, from_trace(start));
    EXPECT_TRUE(trace.ok());
    for (const Flow& flow : trace.value().flows) out.push_back(flow.start.since_zero());
    const size_t outside = 3 - out.size();
    const std::string said = "traffic.0.file: " + std::to_string(outside) +
                             " of 3 flows start outside of the run and are left out";
    EXPECT_EQ(trace.value().warnings.front(), said);
    return out;
  };
  // The run takes flows for 25 ms.
  EXPECT_THAT(starts(std::nullopt), ElementsAre(0_ms, 1_ms));
  EXPECT_THAT(starts(1'999_ms), ElementsAre(1_ms, 2_ms));
  EXPECT_THAT(starts(2'001_ms), ElementsAre(0_ms)) << "what is before the beginning is left out";
  EXPECT_THAT(starts(2'010_ms), ElementsAre(20_ms));
  EXPECT_THAT(starts(0_ms), IsEmpty());
  EXPECT_EQ(from_file(text, from_trace(2'010_ms)).value().flows[0].file_port, 200);
}

// A dilated experiment has dilated times, and so have the flows of its files.
TEST(TraceFile, IsDilatedWithItsExperiment) {
  config::Experiment slow = experiment({from_trace(2'000_ms)});
  slow.run.time_dilation = 100;
  slow = config::scaled(slow);
  const auto trace = make_traffic(slow, fabric(), 1, [](const std::string& name) {
    return NamedText{name, "2\n0 5 3 10 2.001\n1 6 3 10 2.024\n"};
  });
  ASSERT_TRUE(trace.ok()) << trace.problems().front();
  ASSERT_EQ(trace.value().flows.size(), 2u);
  EXPECT_EQ(trace.value().flows[0].start, Instant::at(100_ms));
  EXPECT_EQ(trace.value().flows[1].start, Instant::at(2'400_ms));
  EXPECT_EQ(trace.value().file_origin, 2'000_ms);
}

TEST(TraceFile, SaysThatAPriorityGroupIsNotTheHosts) {
  const auto trace = from_file("2\n0 5 3 10 0.001\n1 6 2 10 0.001\n", from_trace());
  ASSERT_TRUE(trace.ok());
  EXPECT_THAT(trace.value().warnings,
              ElementsAre("traffic.0.file: 1 of 2 flows name another priority group than "
                          "host.priority, which they have",
                          testing::HasSubstr("before run.warmup is over")));
}

// Switches are 1 and 3: hosts are 0, 2, 4 and 5, in that order.
TEST(TraceFile, OfTheHpccSimulatorNumbersNodesAsItsTopologyDoes) {
  config::TopologyConfig hpcc;
  hpcc.kind = config::TopologyKind::hpcc;
  const auto plan = parse_fabric("t.topo",
                                 "6 2 5\n1 3\n0 1 40Gbps 2us 0\n4 1 40Gbps 2us 0\n"
                                 "2 3 40Gbps 2us 0\n5 3 40Gbps 2us 0\n1 3 40Gbps 2us 0\n",
                                 hpcc);
  ASSERT_TRUE(plan.ok()) << plan.problems().front();
  Topology topology;
  topology.switches.resize(2);
  for (const FabricPlan::Host& host : plan.value().hosts)
    topology.hosts.push_back(
        {.name = "n" + std::to_string(host.number), .switch_index = host.at, .node = host.number});
  const auto read = [&](const std::string& rows) {
    return make_traffic(experiment({from_trace()}), topology, 1, [&](const std::string& name) {
      return NamedText{name, rows};
    });
  };
  const auto trace = read("2\n4 5 3 100 4000 0.002\n2 0 3 100 64 0.001\n");
  ASSERT_TRUE(trace.ok()) << trace.problems().front();
  ASSERT_EQ(trace.value().flows.size(), 2u);
  EXPECT_EQ(topology.hosts[trace.value().flows[0].source].name, "n2");
  EXPECT_EQ(topology.hosts[trace.value().flows[0].destination].name, "n0");
  EXPECT_EQ(topology.hosts[trace.value().flows[1].source].name, "n4");
  EXPECT_EQ(topology.hosts[trace.value().flows[1].destination].name, "n5");
  EXPECT_THAT(read("2\n4 3 3 100 4000 0.002\n  2  x 3 100 64 0.001\n").problems(),
              ElementsAre("t.csv:2:3: '3' is not the number of a host, they are 0, 2, 4 to 5",
                          "t.csv:3:6: 'x' is not the number of a host, they are 0, 2, 4 to 5"));
}

TEST(TraceFile, SaysWhatIsWrongInEachLine) {
  const auto trace = from_file(
      "start,source,destination,size\n"
      "2,host1,host2,64\n2us,host9,leaf2,1KiB\n2us,host1,leaf1.host1,1B\n2us,host1,host2,0B\n",
      from_trace());
  ASSERT_FALSE(trace.ok());
  EXPECT_THAT(trace.problems(),
              ElementsAre("t.csv:2:1: '2' has no unit: a duration is a number with one of ps ns us "
                          "ms s min h, such "
                          "as 50us",
                          "t.csv:2:15: '64' has no unit: a size is a number with one of B kB KiB "
                          "MB MiB GB GiB, such "
                          "as 64KiB",
                          "t.csv:3:5: unknown host 'host9', valid are all, host1 to host8, leaf1 "
                          "and other switches "
                          "with hosts, leaf1.host1 to leaf1.host4, ranges such as host1-2",
                          "t.csv:3:11: 'leaf2' is not one host",
                          "t.csv:4:11: a flow from leaf1.host1 to itself",
                          "t.csv:5:17: a flow has at least 1 octet"));
  const auto hpcc = from_file("3\n0 8 3 100 4000 0.002\n7 1 3 100 1\n", from_trace());
  ASSERT_FALSE(hpcc.ok());
  EXPECT_THAT(hpcc.problems(), ElementsAre("t.csv:3: '7 1 3 100 1' has 5 columns, line 2 has 6",
                                           "t.csv:2:3: '8' is not the number of a host, they "
                                           "are 0 to 7"));
  EXPECT_THAT(from_file("3\n0 1 3 100 4000 0.002\n", from_trace()).problems(),
              ElementsAre("t.csv:1: '3' is not the number of rows, 1 follow"));
}

struct Mistake {
  const char* name;
  TrafficConfig traffic;
  std::vector<std::string> problems;
};
void PrintTo(const Mistake& mistake, std::ostream* out) {
  *out << mistake.name;
}

class TrafficMistakes : public testing::TestWithParam<Mistake> {};
TEST_P(TrafficMistakes, AreNamed) {
  EXPECT_EQ(problems_of(GetParam().traffic), GetParam().problems);
}

// clang-format off
const Mistake kMistakes[] = {
    {"NoCdf", {}, {"traffic.0: no flow sizes, give the key 'cdf', such as web_search"}},
    {"NoLoad", poisson(0), {"traffic.0.load: a load is above 0 and at most 1"}},
    {"LoadOverOne", poisson(1.1), {"traffic.0.load: a load is above 0 and at most 1"}},
    {"NoSuchCdf", {.cdf = "./none.csv"},
     {"traffic.0.cdf: no file for './none.csv', looked for config/examples/none.csv"}},
    {"UnknownHosts", {.cdf = "solar", .sources = {"leaf3", "leaf1.host5"}, .destinations = {"leaf1.host3-1"}},
     {"traffic.0.sources.0: unknown host 'leaf3', valid are all, host1 to host8, leaf1 and other switches with hosts, leaf1.host1 to leaf1.host4, ranges such as host1-2",
      "traffic.0.sources.1: unknown host 'leaf1.host5', valid are all, host1 to host8, leaf1 and other switches with hosts, leaf1.host1 to leaf1.host4, ranges such as host1-2",
      "traffic.0.destinations.0: unknown host 'leaf1.host3-1', valid are all, host1 to host8, leaf1 and other switches with hosts, leaf1.host1 to leaf1.host4, ranges such as host1-2"}},
    {"NoDestination", {.cdf = "solar", .sources = {"leaf1"}, .destinations = {"leaf1"}},
     {"traffic.0: no source has a destination on another leaf, name other sources or destinations"}},
    {"OnlyItself", {.cdf = "solar", .remote_only = false, .sources = {"host1"}, .destinations = {"host1"}},
     {"traffic.0: no source has a destination but itself, name other sources or destinations"}},
    {"NothingCrosses", {.cdf = "solar", .remote_only = false, .sources = {"leaf1"}, .destinations = {"leaf1"}},
     {"traffic.0.reference: no flow crosses the core, write reference: host"}},
    {"MoreThanTheNic", {.cdf = "solar", .load = 0.8, .sources = {"host1"}},
     {"traffic.0.load: each of 1 sources would have to send 64Gbps, leaf1.host1 has 40Gbps"}},
    {"RateMoreThanTheNic", {.cdf = "solar", .sources = {"host1"}, .rate = 50_Gbps},
     {"traffic.0.rate: each of 1 sources would have to send 50Gbps, leaf1.host1 has 40Gbps"}},
    {"NoSize", {.type = TrafficType::burst}, {"traffic.0: no size, give the key 'size', such as 64KiB"}},
    {"NoDegree", {.type = TrafficType::incast, .size = 1_MiB}, {"traffic.0: no degree, give the key 'degree', such as 15"}},
    {"DegreeTooLarge", {.type = TrafficType::incast, .size = 1_MiB, .degree = 5},
     {"traffic.0.degree: there are 4 senders for host leaf1.host1, at most that many can answer a request"}},
    {"DegreeTooLargeForTheLast",
     {.type = TrafficType::incast, .sources = {"leaf2"}, .destinations = {"leaf1.host1", "leaf2.host1"}, .size = 1_MiB, .degree = 4},
     {"traffic.0.degree: there are 0 senders for host leaf2.host1, at most that many can answer a request"}},
    {"ShareBelowOneOctet", {.type = TrafficType::incast, .size = 3_B, .degree = 4},
     {"traffic.0.size: less than 1 octet for each of 'degree' senders"}},
    {"RateAndPeriod", {.type = TrafficType::incast, .size = 1_MiB, .degree = 2, .period = 1_ms, .rate = 1_Gbps},
     {"traffic.0.rate: both rate and period, give one of them"}},
    {"RepeatWithoutPeriod", {.type = TrafficType::burst, .size = 1_KiB, .repeat = 2},
     {"traffic.0.repeat: repeated without period, give it"}},
    {"NoFlows", {.type = TrafficType::all_to_all, .size = 1_KiB, .count = 0}, {"traffic.0.count: no flows, write 1 or more"}},
    {"StopsBeforeStart", {.cdf = "solar", .start = 2_ms, .stop = 1_ms}, {"traffic.0.stop: not after start, no flow would start"}},
    {"PermutationOfALeaf", {.type = TrafficType::permutation, .sources = {"leaf1"}, .size = 1_KiB},
     {"traffic.0: more than half of the sources hang on one leaf, they cannot all have a partner on another; write remote_only: false"}},
    {"PermutationOfOne", {.type = TrafficType::permutation, .remote_only = false, .sources = {"host1"}, .size = 1_KiB},
     {"traffic.0: a permutation needs at least 2 hosts"}},
    {"LongFlowToItself", {.type = TrafficType::long_flow, .size = 1_KiB},
     {"traffic.0: pair 1 is leaf1.host1 and itself, name other sources or destinations"}},
    {"NoTraceFile", {.type = TrafficType::trace}, {"traffic.0: no file, give the key 'file'"}},
};
// clang-format on
INSTANTIATE_TEST_SUITE_P(All, TrafficMistakes, testing::ValuesIn(kMistakes),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(Warnings, OfWhatIsProbablyNotMeant) {
  TrafficConfig late = sized(TrafficType::burst);
  late.start = 25_ms;
  EXPECT_THAT(trace_of({late}).warnings, ElementsAre("traffic.0: no flow starts"));
  EXPECT_THAT(trace_of({}).warnings, ElementsAre("traffic: there is none"));
  TrafficConfig to_one_leaf = poisson(0.4);
  to_one_leaf.destinations = {"leaf2.host1-2"};
  EXPECT_THAT(trace_of({to_one_leaf}).warnings,
              ElementsAre("traffic.0: 4 of 8 sources have no destination on another leaf and send "
                          "nothing"));
  to_one_leaf.sources = {"leaf1"};
  to_one_leaf.destinations = {"leaf2.host1"};
  to_one_leaf.load = 0.6;
  EXPECT_THAT(trace_of({to_one_leaf}).warnings,
              ElementsAre("traffic.0: leaf2.host1 is offered 48Gbps and has 40Gbps"));
  EXPECT_THAT(trace_of({poisson()}).warnings, IsEmpty());
}

TEST(TrafficMistakesTogether, AnItemWithoutAKeyDoesNotHideOthers) {
  TrafficConfig elsewhere = sized(TrafficType::burst);
  elsewhere.sources = {"leaf9"};
  const auto trace = make_traffic(experiment({{.type = TrafficType::burst}, elsewhere}), fabric(),
                                  1, [](const std::string&) { return NamedText{}; });
  ASSERT_FALSE(trace.ok());
  EXPECT_THAT(trace.problems(), testing::Contains(testing::StartsWith("traffic.0: no size")));
  EXPECT_THAT(trace.problems(), testing::Contains(testing::StartsWith("traffic.1.sources.0: ")));
}

// The window begins at 5 ms.
TEST(Warnings, OfFlowsThatStartBeforeTheWindow) {
  const auto trace = from_file(
      "start,source,destination,size\n1ms,host1,host2,1B\n2ms,host1,host2,1B\n6ms,host1,host2,1B\n",
      from_trace());
  ASSERT_TRUE(trace.ok()) << trace.problems().front();
  EXPECT_THAT(trace.value().warnings,
              ElementsAre("traffic.0: 2 of 3 flows start before run.warmup is over and are not "
                          "measured"));
  TrafficConfig early = sized(TrafficType::burst);
  EXPECT_THAT(trace_of({early}).warnings, ElementsAre(testing::HasSubstr("are not measured")));
  early.period = 1_ms;  // others follow within the window
  EXPECT_THAT(trace_of({early}).warnings, IsEmpty());
  early.period = Duration{};
  early.measured = false;
  EXPECT_THAT(trace_of({early}).warnings, IsEmpty());
}

TEST(Limits, MaxFlowsKeepsTheFirst) {
  config::Experiment limited = experiment({poisson(), sized(TrafficType::all_to_all)});
  const Trace all = make(limited).value();
  limited.run.max_flows = 100;
  const Trace first = make(limited).value();
  ASSERT_EQ(first.flows.size(), 100u);
  EXPECT_TRUE(std::equal(first.flows.begin(), first.flows.end(), all.flows.begin()));
  EXPECT_EQ(first.items[0].flows + first.items[1].flows, 100u);
  EXPECT_EQ(first.items[1].bytes, 64_KiB * 56);
  Bytes of_poisson;
  for (const Flow& flow : flows_of(first, 0)) of_poisson += flow.size;
  EXPECT_EQ(first.items[0].bytes, of_poisson);
}

TEST(Limits, MoreFlowsThanAnybodyHasMemoryForAreRefused) {
  TrafficConfig traffic = sized(TrafficType::all_to_all, 1_B);
  traffic.count = 1'000'000;
  EXPECT_THAT(problems_of(traffic),
              ElementsAre("traffic.0: more than 16777216 flows, lower the load or run.duration, or "
                          "set run.max_flows"));
}

}  // namespace
}  // namespace eddy::lab
