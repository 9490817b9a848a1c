#include <gtest/gtest.h>

#include <array>
#include <set>
#include <vector>

#include "tests/support/paths.h"

namespace eddy::lb {
namespace {

using namespace literals;
using test::make;
using test::make_packet;
using test::make_set;
using test::Paths;
using test::select_one;

// By packet, with lengths in levels of 16 KiB, but where the test says something else.
std::unique_ptr<Selector> by_packet(const Paths& paths, ParameterMap parameters = {}) {
  parameters.try_emplace("granularity", "packet");
  parameters.try_emplace("queue_unit", "16KiB");
  return make("adaptive", paths, parameters);
}

constexpr int kTries = 40;  // a draw between two members agrees by chance in one of 2^40 cases

MemberIndex port_for(Selector& adaptive, const Paths& paths, uint64_t flow = 1, Instant now = {},
                     uint16_t set = 0) {
  Packet packet = make_packet(flow);
  return select_one(adaptive, paths.view(now), packet, set);
}

// Every packet takes the member, and no draw decides it.
void expect_always(const Paths& paths, MemberIndex member, const ParameterMap& parameters = {}) {
  const auto adaptive = by_packet(paths, parameters);
  const PathView view = paths.view();
  for (int i = 0; i < kTries; ++i) {
    Packet packet = make_packet(static_cast<uint64_t>(i));
    EXPECT_EQ(select_one(*adaptive, view, packet), member);
  }
  EXPECT_EQ(view.ties(), 0u);
}

// The members that 40 packets take, which a draw decides.
std::set<MemberIndex> drawn_from(const Paths& paths, const ParameterMap& parameters = {}) {
  const auto adaptive = by_packet(paths, parameters);
  const PathView view = paths.view();
  std::set<MemberIndex> members;
  for (int i = 0; i < kTries; ++i) {
    Packet packet = make_packet(static_cast<uint64_t>(i));
    members.insert(select_one(*adaptive, view, packet));
  }
  EXPECT_EQ(view.ties(), static_cast<uint32_t>(kTries));
  return members;
}

// The first rung: member 1 has the longer queue and the busier line, and is not paused.
TEST(Adaptive, APausedPortComesLast) {
  Paths paths({make_set(2)});
  paths.port(0).paused_queues = 1 << 3;
  paths.queue(1, 1'000'000);
  paths.load(1, 100);
  expect_always(paths, 1);
}

// The second rung: member 1 has the busier line.
TEST(Adaptive, ThenTheShorterQueueWins) {
  Paths paths({make_set(2)});
  paths.queue(0, 16'384);
  paths.queue(1, 16'383);
  paths.load(1, 100);
  expect_always(paths, 1);
}

// The third rung.
TEST(Adaptive, ThenTheLineThatWasLeastBusy) {
  Paths paths({make_set(2)});
  paths.queue(0, 16'383);
  paths.load(0, 50);
  paths.load(1, 49);
  expect_always(paths, 1);
}

TEST(Adaptive, LengthsCountInFourLevels) {
  constexpr std::array<uint32_t, 9> kLengths = {0,      16'383, 16'384, 32'767,    32'768,
                                                49'152, 65'535, 65'536, 10'000'000};
  constexpr std::array<int, 9> kLevels = {0, 0, 1, 1, 2, 2, 2, 3, 3};
  for (size_t a = 0; a < kLengths.size(); ++a)
    for (size_t b = 0; b < kLengths.size(); ++b) {
      Paths paths({make_set(2)});
      paths.queue(0, kLengths[a]);
      paths.queue(1, kLengths[b]);
      SCOPED_TRACE(std::to_string(kLengths[a]) + " and " + std::to_string(kLengths[b]));
      if (kLevels[a] == kLevels[b])
        EXPECT_EQ(drawn_from(paths).size(), 2u);
      else
        expect_always(paths, kLevels[a] < kLevels[b] ? 0 : 1);
    }
}

TEST(Adaptive, ThePlaceOfTheLevelsIsAParameter) {
  Paths paths({make_set(2)});
  paths.queue(0, 999);
  paths.queue(1, 1'000);
  expect_always(paths, 0, {{"queue_unit", "1kB"}});
  EXPECT_EQ(drawn_from(paths, {{"queue_unit", "1001B"}}).size(), 2u);
}

TEST(Adaptive, ToTheOctetIfAsked) {
  Paths paths({make_set(2)});
  paths.queue(0, 1'000'001);
  paths.queue(1, 1'000'000);
  paths.load(1, 100);
  expect_always(paths, 1, {{"queue_unit", "0B"}});
  paths.queue(0, 1'000'000);
  expect_always(paths, 0, {{"queue_unit", "0B"}});
}

TEST(Adaptive, TheLineCountsInWholePercents) {
  Paths paths({make_set(2)});
  const int64_t full = paths.dre().capacity(Paths::kRate).count();  // 800,000 octets
  ASSERT_EQ(full, 800'000);
  const auto load = [&](size_t port, uint64_t octets) {
    paths.load(port, 0);
    paths.port(port).dre_bytes = octets;
  };
  load(0, 8'000);
  load(1, 15'999);
  EXPECT_EQ(drawn_from(paths).size(), 2u);
  load(0, 7'999);
  expect_always(paths, 0);
  load(0, 799'999);
  load(1, 800'000);
  expect_always(paths, 0);
  load(0, 5'000'000);  // more than it can come to: still full
  EXPECT_EQ(drawn_from(paths).size(), 2u);
}

TEST(Adaptive, WhatALineSentIsForgottenInTime) {
  Paths paths({make_set(2)});
  paths.load(0, 30);
  paths.load(1, 20, Instant::at(400_us));
  const auto adaptive = by_packet(paths);
  // After 20 periods, 7 % of the register are left.
  for (uint64_t flow = 0; flow < kTries; ++flow)
    EXPECT_EQ(port_for(*adaptive, paths, flow, Instant::at(400_us)), 0);
}

// The same octets fill a slow line sooner.
TEST(Adaptive, TheLineCountsByItsRate) {
  Paths paths({make_set(2)});
  const std::array<PortLine, 2> lines = {PortLine{.rate = 100_Gbps, .marking = {}},
                                         PortLine{.rate = 25_Gbps, .marking = {}}};
  const ParameterMap by_packet_alone = {{"granularity", "packet"}};
  const auto adaptive = make_selector("adaptive", {.sets = paths.sets(),
                                                   .seed = 1,
                                                   .switch_id = SwitchId(1),
                                                   .shard = ShardId(0),
                                                   .parameters = by_packet_alone,
                                                   .lines = lines,
                                                   .dre = paths.dre()});
  paths.load(0, 75);
  paths.load(1, 40);
  for (uint64_t flow = 0; flow < kTries; ++flow)
    EXPECT_EQ(port_for(*adaptive.value(), paths, flow), 0);
}

// A packet of queue 3: what is served before it or beside it makes it wait, what is below does not.
TEST(Adaptive, CountsTheQueuesServedBeforeItsOwn) {
  Paths paths({make_set(2)});
  paths.queue(0, 16'384, 6);
  paths.queue(1, 90'000, 1);
  expect_always(paths, 1);
  paths.queue(0, 0, 6);
  EXPECT_EQ(drawn_from(paths).size(), 2u);
}

TEST(Adaptive, OnlyItsOwnQueuesPauseMatters) {
  Paths paths({make_set(2)});
  paths.port(0).paused_queues = 0xFF & ~(1 << 3);
  EXPECT_EQ(drawn_from(paths).size(), 2u);
  const auto adaptive = by_packet(paths);
  for (uint64_t flow = 0; flow < kTries; ++flow) {
    Packet packet = make_packet(flow);
    packet.queue = QueueId(4);
    EXPECT_EQ(select_one(*adaptive, paths.view(), packet), 1);
  }
}

TEST(Adaptive, PausedEverywhereTheOthersDecide) {
  Paths paths({make_set(3)});
  for (size_t port = 0; port < 3; ++port) paths.port(port).paused_queues = 0xFF;
  EXPECT_EQ(drawn_from(paths).size(), 3u);
  paths.queue(0, 40'000);
  paths.load(1, 10);
  expect_always(paths, 2);
}

TEST(Adaptive, EqualPortsAreDrawnAlike) {
  for (const char* scan : {"full", "two"}) {
    Paths paths({make_set(5)});
    paths.queue(4, 1'000'000);
    const auto adaptive = by_packet(paths, {{"scan", scan}});
    std::array<int, 5> count{};
    for (uint64_t flow = 0; flow < 10'000; ++flow) ++count[port_for(*adaptive, paths, flow)];
    const double worst = scan[0] == 'f' ? 0 : 10'000 / 25.0;  // both draws
    EXPECT_NEAR(count[4], worst, scan[0] == 'f' ? 0 : 5 * 20);
    for (size_t i = 0; i < 4; ++i) EXPECT_NEAR(count[i], (10'000 - worst) / 4, 5 * 43);
  }
}

// Of 32 members one is better: it is found if one of two draws finds it.
TEST(Adaptive, TheScanOfTwoFindsTheBestByLuck) {
  Paths paths({make_set(32)});
  for (size_t port = 0; port < 32; ++port) paths.queue(port, port == 17 ? 1 : 100'000);
  expect_always(paths, 17);
  const auto adaptive = by_packet(paths, {{"scan", "two"}});
  int best = 0;
  for (uint64_t flow = 0; flow < 3'200; ++flow) best += port_for(*adaptive, paths, flow) == 17;
  EXPECT_NEAR(best, 3'200 * (1 - 31.0 * 31 / 32 / 32), 5 * 14);
}

TEST(Adaptive, TheScanOfTwoReportsATieOfTheTwo) {
  Paths paths({make_set(2)});
  const auto adaptive = by_packet(paths, {{"scan", "two"}});
  const auto ties_of_1000 = [&] {
    const PathView view = paths.view();
    for (uint64_t flow = 0; flow < 1'000; ++flow) {
      Packet packet = make_packet(flow);
      select_one(*adaptive, view, packet);
    }
    return static_cast<int>(view.ties());
  };
  EXPECT_NEAR(ties_of_1000(), 500, 5 * 16) << "half of the time both draws are the same member";
  paths.queue(1, 100'000);
  EXPECT_EQ(ties_of_1000(), 0);
}

TEST(Adaptive, WeightsDoNotMatter) {
  const std::array<uint16_t, 2> weights = {40, 1};
  Paths paths({make_set(weights)});
  paths.queue(0, 16'384);
  expect_always(paths, 1);
}

TEST(Adaptive, OnlyLiveMembersAreCompared) {
  Paths paths({make_set(4)});
  paths.queue(1, 100'000);
  paths.queue(3, 200'000);
  paths.load(3, 1);
  paths.live() = 0b1010;
  expect_always(paths, 3 - 2, {{"queue_unit", "50kB"}});
  for (const char* scan : {"full", "two"}) {
    const auto adaptive = by_packet(paths, {{"scan", scan}});
    for (uint64_t flow = 0; flow < kTries; ++flow)
      EXPECT_EQ(port_for(*adaptive, paths, flow) & 1, 1);
  }
}

// Two sets over the same lines, in another order: each has its own members.
TEST(Adaptive, EachSetHasItsOwnMembers) {
  PathSet turned = make_set(3);
  std::swap(turned.members[0], turned.members[2]);
  Paths paths({make_set(3), turned, make_set(2, 8)});
  for (const size_t port : {0u, 1u, 8u}) paths.queue(port, 100'000);
  const auto adaptive = by_packet(paths);
  for (uint64_t flow = 0; flow < kTries; ++flow) {
    EXPECT_EQ(port_for(*adaptive, paths, flow, {}, 0), 2);
    EXPECT_EQ(port_for(*adaptive, paths, flow, {}, 1), 0);
    EXPECT_EQ(port_for(*adaptive, paths, flow, {}, 2), 1);
  }
}

constexpr uint64_t kManyFlows = 1'000;
constexpr Instant kLast = Instant::at(1_ms);

// Flows that have sent at kLast all by member 0, the only one that lives then; from then on there
// are two.
class Flowlets {
 public:
  explicit Flowlets(ParameterMap parameters = {}) {
    parameters["granularity"] = "flowlet";
    adaptive_ = make("adaptive", paths, parameters);
    paths.live() = 0b01;
    EXPECT_EQ(moved(kLast), 0);
    paths.live() = 0b11;
  }
  // How many flows go by member 1.
  int moved(Instant now) {
    int count = 0;
    for (uint64_t flow = 0; flow < kManyFlows; ++flow)
      count += port_for(*adaptive_, paths, flow, now);
    return count;
  }

  Paths paths{{make_set(2)}};

 private:
  std::unique_ptr<Selector> adaptive_;
};

TEST(Adaptive, AFlowletKeepsItsPortWhateverHappensThere) {
  Flowlets flows;
  flows.paths.queue(0, 1'000'000);
  flows.paths.load(0, 100);
  flows.paths.port(0).paused_queues = 0xFF;
  EXPECT_EQ(flows.moved(kLast + 10_us), 0);
  EXPECT_EQ(flows.moved(kLast + 20_us), 0) << "the packet between has renewed it";
}

TEST(Adaptive, AFlowletEndsWhenTheSilenceExceedsTheGap) {
  Flowlets flows(ParameterMap{{"move_percent", "100"}});
  flows.paths.queue(0, 1'000'000);
  EXPECT_EQ(flows.moved(kLast + 10_us + 1_ps), kManyFlows);
}

TEST(Adaptive, TheGapIsAParameter) {
  for (const Duration silence : {70_us, 70_us + 1_ps}) {
    Flowlets flows(ParameterMap{{"move_percent", "100"}, {"gap", "70us"}});
    flows.paths.queue(0, 1'000'000);
    EXPECT_EQ(flows.moved(kLast + silence), silence > 70_us ? kManyFlows : 0);
  }
}

TEST(Adaptive, HalfOfTheFlowsLookForABetterPort) {
  Flowlets flows;
  flows.paths.queue(0, 1'000'000);
  const int first = flows.moved(kLast + 1_ms);
  EXPECT_NEAR(first, 500, 5 * 16);
  EXPECT_NEAR(flows.moved(kLast + 2_ms), first + (1'000 - first) / 2, 5 * 11);
}

TEST(Adaptive, TheChanceIsAParameter) {
  for (const int percent : {1, 10}) {
    Flowlets flows(ParameterMap{{"move_percent", std::to_string(percent)}});
    flows.paths.queue(0, 1'000'000);
    EXPECT_NEAR(flows.moved(kLast + 1_ms), 10 * percent, percent == 1 ? 5 * 3 : 5 * 10);
  }
  EXPECT_FALSE(check_parameters("adaptive", {{"move_percent", "0"}}).empty())
      << "a flow would never return to a member";
}

TEST(Adaptive, AnEqualPortIsNotBetter) {
  Flowlets flows(ParameterMap{{"move_percent", "100"}, {"queue_unit", "16KiB"}});
  EXPECT_EQ(flows.moved(kLast + 1_ms), 0);
  flows.paths.queue(0, 16'383);
  EXPECT_EQ(flows.moved(kLast + 2_ms), 0);
  flows.paths.load(0, 1, kLast + 3_ms);
  EXPECT_EQ(flows.moved(kLast + 3_ms), kManyFlows);
}

TEST(Adaptive, AFlowThatStaysReportsNoTie) {
  Paths paths({make_set(8)});
  const auto adaptive =
      make("adaptive", paths, {{"granularity", "flowlet"}, {"move_percent", "100"}});
  const PathView view = paths.view(kLast);
  Packet packet = make_packet(1);
  select_one(*adaptive, view, packet);
  EXPECT_EQ(view.ties(), 1u);
  for (const Instant now : {kLast, kLast + 1_ms}) {
    const PathView later = paths.view(now);
    Packet next = make_packet(1);
    EXPECT_EQ(select_one(*adaptive, later, next), packet.member);
    EXPECT_EQ(later.ties(), 0u);
  }
}

TEST(Adaptive, FlowsOfADeadMemberMoveAndTheOthersStay) {
  Paths paths({make_set(8)});
  const auto adaptive = make("adaptive", paths, {{"granularity", "flowlet"}});
  const auto send = [&](Instant now) {
    std::vector<MemberIndex> members;
    for (uint64_t flow = 0; flow < 200; ++flow)
      members.push_back(port_for(*adaptive, paths, flow, now));
    return members;
  };
  const auto before = send(kLast);
  paths.live() &= ~bit_of(before[0]);
  const auto after = send(kLast + 1_us);
  for (size_t i = 0; i < before.size(); ++i) {
    EXPECT_NE(after[i], before[0]);
    EXPECT_TRUE(before[i] == before[0] || after[i] == before[i]);
  }
  paths.live() = test::first_members(8);
  EXPECT_EQ(send(kLast + 2_us), after);
}

// A flow has one way to each leaf: what it has to one is nothing to go by towards another.
TEST(Adaptive, AFlowletIsOfItsSet) {
  Paths paths({make_set(2), make_set(2, 8)});
  const auto adaptive = make("adaptive", paths, {{"granularity", "flowlet"}});
  paths.queue(0, 1'000'000);
  paths.queue(9, 1'000'000);
  for (uint64_t flow = 0; flow < kTries; ++flow) {
    EXPECT_EQ(port_for(*adaptive, paths, flow, kLast, 0), 1);
    EXPECT_EQ(port_for(*adaptive, paths, flow, kLast + 1_us, 1), 0);
  }
}

TEST(Adaptive, AForgottenFlowIsNew) {
  Paths paths({make_set(2)});
  const auto adaptive = make("adaptive", paths, {{"granularity", "flowlet"}, {"flows", "64"}});
  paths.live() = 0b01;
  for (uint64_t flow = 0; flow < 10'000; ++flow) port_for(*adaptive, paths, flow);
  paths.live() = 0b11;
  paths.queue(0, 1'000'000);
  int stay = 0;
  for (uint64_t flow = 10'000; flow-- > 0;) stay += port_for(*adaptive, paths, flow) == 0;
  EXPECT_GT(stay, 16);
  EXPECT_LE(stay, 64);
}

TEST(Adaptive, ByPacketNoFlowIsRemembered) {
  Paths paths({make_set(2)});
  for (const bool by_flowlet : {false, true}) {
    const auto adaptive =
        make("adaptive", paths, {{"granularity", by_flowlet ? "flowlet" : "packet"}});
    for (uint64_t flow = 0; flow < 10; ++flow) port_for(*adaptive, paths, flow, kLast);
    const FlowTableUse use = adaptive->flow_table(kLast, 0, 1'000'000);
    EXPECT_EQ(use.places, by_flowlet ? 65'536u : 0u);
    EXPECT_EQ(use.used, by_flowlet ? 10u : 0u);
  }
}

// What a wrapper gets beside the best: the best of the rest.
TEST(Adaptive, TheSecondChoiceIsTheBestOfTheRest) {
  PathSet set = make_set(4);
  set.leaf = LeafId(5);
  Paths paths({set});
  WarningTable table(paths.sets(), 4);
  const std::array<uint32_t, 4> queues = {70'000, 0, 40'000, 20'000};
  for (size_t port = 0; port < 4; ++port) paths.queue(port, queues[port]);
  table.mark({.port = PortId(1),
              .leaf = LeafId(5),
              .queue = QueueId(3),
              .severity = 20,
              .sequence = 1,
              .source = 101,
              .origin = 201,
              .expiry = Instant::at(1_s)});
  const auto wrapped = make("adaptive", paths, {{"granularity", "packet"}}, {.rlb = true});
  for (uint64_t flow = 0; flow < kTries; ++flow) {
    const PathView view = paths.view(Instant::at(1_ms), &table);
    Packet packet = make_packet(flow);
    EXPECT_EQ(select_one(*wrapped, view, packet), 3);
    EXPECT_EQ(view.decisions(Decision::rerouted), 1u);
  }
}

}  // namespace
}  // namespace eddy::lb
