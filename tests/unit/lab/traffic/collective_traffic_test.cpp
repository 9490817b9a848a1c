// The flows of collectives and what they wait for.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "lab/fabric/build_topology.h"
#include "lab/traffic/traffic.h"
#include "tests/unit/lab/fabric/fabrics.h"

namespace eddy::lab {
namespace {

using config::CollectiveOp;
using config::TrafficConfig;
using testing::ElementsAre;
using testing::HasSubstr;
using namespace eddy::literals;

TrafficConfig collective(CollectiveOp op, Bytes size = 1'000_B, int chunks = 1) {
  TrafficConfig traffic{.type = config::TrafficType::collective, .size = size, .op = op};
  traffic.ranks = {"leaf1.host1-2", "leaf2.host1", "leaf2.host4"};
  traffic.chunks = chunks;
  return traffic;
}

Result<Trace> make(std::vector<TrafficConfig> traffic, uint64_t max_flows = 0) {
  config::Experiment experiment = test::leaf_spine_of(2, 2, 4);
  experiment.run.warmup = Duration{};
  experiment.run.duration = 1_ms;
  experiment.run.max_flows = max_flows;
  experiment.traffic = std::move(traffic);
  return make_traffic(experiment, build_topology(experiment).value(), 1, nullptr);
}
Trace collectives_of(std::vector<TrafficConfig> traffic) {
  auto trace = make(std::move(traffic));
  EXPECT_TRUE(trace.ok()) << trace.problems().front();
  return trace.ok() ? trace.value() : Trace{};
}
Problems problems_of(std::vector<TrafficConfig> traffic, uint64_t max_flows = 0) {
  const auto trace = make(std::move(traffic), max_flows);
  return trace.ok() ? Problems{} : trace.problems();
}

std::map<uint32_t, int64_t> octets_by(const Trace& trace, uint32_t Flow::*end) {
  std::map<uint32_t, int64_t> octets;
  for (const Flow& flow : trace.flows) octets[flow.*end] += flow.size.count();
  return octets;
}
size_t waiting(const Trace& trace) {
  return static_cast<size_t>(std::ranges::count(trace.flows, Instant::never(), &Flow::start));
}

// 2 (N - 1) steps of 1/N each; the first step waits for nothing.
TEST(Collective, ARingSendsEachPartOnAsItArrives) {
  const Trace trace = collectives_of({collective(CollectiveOp::all_reduce_ring)});
  ASSERT_EQ(trace.flows.size(), 24u);
  EXPECT_EQ(waiting(trace), 20u);
  for (const auto& [host, octets] : octets_by(trace, &Flow::source)) EXPECT_EQ(octets, 1'500);
  for (const auto& [host, octets] : octets_by(trace, &Flow::destination)) EXPECT_EQ(octets, 1'500);
  std::set<uint16_t> ports;
  std::set<uint32_t> hosts;
  for (const Flow& flow : trace.flows) {
    ports.insert(flow.source_port);
    hosts.insert(flow.source);
    EXPECT_EQ(flow.request, 0u);
  }
  EXPECT_THAT(hosts, ElementsAre(0, 1, 4, 7));
  EXPECT_EQ(ports.size(), 4u);  // one a connection
  for (const FlowWait& wait : trace.waits.flows) {
    EXPECT_LT(wait.on, wait.flow);
    const Flow& on = trace.flows[wait.on];
    EXPECT_EQ(wait.what == FlowWait::For::arrival ? on.destination : on.source,
              trace.flows[wait.flow].source);
  }
}

// 1,003 octets for 4 ranks and 3 chunks: parts of 251 and 250, chunks of 84 and 83.
TEST(Collective, OctetsAreDividedWithoutALoss) {
  const Trace trace = collectives_of({collective(CollectiveOp::all_gather, 1'003_B, 3)});
  EXPECT_EQ(trace.flows.size(), 36u);
  int64_t all = 0;
  for (const Flow& flow : trace.flows) {
    EXPECT_THAT(flow.size.count(), testing::AnyOf(83, 84));
    all += flow.size.count();
  }
  EXPECT_EQ(all, 3 * 1'003);
  EXPECT_EQ(trace.items[0].bytes.count(), 3 * 1'003);
}

TEST(Collective, AllToAllSendsEachRankItsPart) {
  const Trace trace = collectives_of({collective(CollectiveOp::all_to_all)});
  EXPECT_EQ(trace.flows.size(), 12u);
  EXPECT_EQ(waiting(trace), 8u);  // a rank sends to one after the other
  std::set<std::pair<uint32_t, uint32_t>> pairs;
  for (const Flow& flow : trace.flows) {
    EXPECT_EQ(flow.size, 250_B);
    pairs.emplace(flow.source, flow.destination);
  }
  EXPECT_EQ(pairs.size(), 12u);
}

// 1 and 2 hang under 0, 3 under 1.
TEST(Collective, ATreeGoesUpAndDown) {
  const Trace trace = collectives_of({collective(CollectiveOp::all_reduce_tree)});
  EXPECT_EQ(trace.flows.size(), 6u);
  EXPECT_EQ(waiting(trace), 4u);  // but for what leaves the leaves
  std::multiset<std::pair<uint32_t, uint32_t>> pairs;
  for (const Flow& flow : trace.flows) pairs.emplace(flow.source, flow.destination);
  EXPECT_EQ(pairs, (std::multiset<std::pair<uint32_t, uint32_t>>{
                       {0, 1}, {0, 4}, {1, 0}, {1, 7}, {4, 0}, {7, 1}}));
}

TEST(Collective, RepetitionsAreNumberedAndWait) {
  TrafficConfig traffic = collective(CollectiveOp::all_to_all);
  traffic.repeat = 3;
  traffic.start = 100_us;
  const Trace trace = collectives_of({traffic});
  ASSERT_EQ(trace.flows.size(), 36u);
  EXPECT_EQ(waiting(trace), 32u);
  EXPECT_EQ(trace.flows.front().start, Instant() + 100_us);
  EXPECT_EQ(std::ranges::count(trace.flows, 2u, &Flow::request), 12);
}

TEST(Collective, AfterAnotherItemNothingHasATime) {
  TrafficConfig first = collective(CollectiveOp::all_gather);
  TrafficConfig second = first;
  first.name = "first";
  second.name = "second";
  second.after = "first";
  second.start = 7_us;
  const Trace trace = collectives_of({second, first});
  EXPECT_EQ(waiting(trace), 20u);
  EXPECT_THAT(trace.waits.items, ElementsAre(ItemWait{.item = 0, .after = 1, .pause = 7_us}));
  second.start = 8_us;
  EXPECT_NE(trace.digest(), collectives_of({second, first}).digest());
}

// Another collective beside it changes no port of an item.
TEST(Collective, OthersShiftNothing) {
  const TrafficConfig traffic = collective(CollectiveOp::all_reduce_ring);
  TrafficConfig other = collective(CollectiveOp::all_to_all);
  other.name = "other";
  const Trace alone = collectives_of({traffic});
  const Trace both = collectives_of({traffic, other});
  std::vector<uint16_t> ports, with_other;
  for (const Flow& flow : alone.flows) ports.push_back(flow.source_port);
  for (const Flow& flow : both.flows)
    if (flow.traffic == 0) with_other.push_back(flow.source_port);
  EXPECT_EQ(ports, with_other);
}

TEST(CollectiveMistakes, AreOneLineEach) {
  const auto with = [](auto change) {
    TrafficConfig traffic = collective(CollectiveOp::all_reduce_ring);
    change(traffic);
    return problems_of({traffic});
  };
  EXPECT_THAT(with([](auto& t) { t.ranks = {"leaf1.host1"}; }),
              ElementsAre("traffic.0.ranks: a collective has at least 2 ranks, name more hosts"));
  EXPECT_THAT(with([](auto& t) {
                t.ranks = {"leaf1", "host3"};
              }),
              ElementsAre("traffic.0.ranks.1: leaf1.host3 is named twice"));
  EXPECT_THAT(with([](auto& t) {
                t.ranks = {"leaf7", "host3"};
              }),
              ElementsAre(HasSubstr("traffic.0.ranks.0: unknown host")));
  EXPECT_THAT(with([](auto& t) { t.size = 0_B; }),
              ElementsAre("traffic.0: no size, give the key 'size', such as 64KiB"));
  EXPECT_THAT(with([](auto& t) {
                t.size = 11_B;
                t.chunks = 3;
              }),
              ElementsAre("traffic.0.size: less than 1 octet for each flow, with 4 ranks and 3 "
                          "chunks it is at least 12 octets"));
  EXPECT_THAT(with([](auto& t) { t.chunks = 0; }),
              ElementsAre("traffic.0.chunks: no chunks, write 1 or more"));
  EXPECT_THAT(
      with([](auto& t) {
        t.size = 1'024_MiB;
        t.chunks = 65'535;
        t.repeat = 100;
      }),
      ElementsAre(HasSubstr("traffic.0: more than 16777216 flows, of which all are needed")));
  EXPECT_THAT(problems_of({collective(CollectiveOp::all_gather)}, 5),
              ElementsAre(HasSubstr("traffic.0: more than 5 flows, of which all are needed")));
}

TEST(CollectiveMistakes, OfWhatWaitsForWhat) {
  TrafficConfig a = collective(CollectiveOp::all_gather), b = a, c = a;
  a.name = "a";
  b.name = "b";
  c.name = "c";
  a.after = "d\n";
  EXPECT_THAT(problems_of({a, b}), ElementsAre(HasSubstr("traffic.0.after: no item is called ")));
  EXPECT_THAT(problems_of({a, b}).front(), HasSubstr("there are 'a', 'b'"));
  a.after = "a";
  EXPECT_THAT(problems_of({a}), ElementsAre("traffic.0.after: a circle, 'a' after itself: none of "
                                            "them can begin"));
  a.after = "b";
  b.after = "c";
  c.after = "a";
  EXPECT_THAT(
      problems_of({a, b, c}),
      ElementsAre("traffic.0.after: a circle, 'a' after 'b' after 'c' after itself: none of "
                  "them can begin"));
  c.after.clear();
  b.after.clear();
  c.name = "b";
  EXPECT_THAT(problems_of({a, b, c}), ElementsAre("traffic.0.after: 2 items are called 'b', give "
                                                  "each a name of its own"));
}

// 13 flows of a burst come first; then there is no room for all of the collective.
TEST(CollectiveMistakes, MaxFlowsCutsNone) {
  TrafficConfig burst{.type = config::TrafficType::all_to_all, .size = 10_B};
  EXPECT_THAT(problems_of({burst, collective(CollectiveOp::all_gather)}, 60),
              ElementsAre(HasSubstr("run.max_flows: cuts off flows of traffic.1, a collective")));
}

}  // namespace
}  // namespace eddy::lab
