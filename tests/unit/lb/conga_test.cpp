#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <set>

#include "tests/support/paths.h"

namespace eddy::lb {
namespace {

using namespace literals;
using test::make;
using test::make_packet;
using test::make_set;
using test::Paths;
using test::select_one;

constexpr Instant kStart = Instant() + 1_s;
constexpr Duration kPause = 200_us;  // ends any flowlet of the default gap

// Levels are of 3 bits: a share of 12.5 % each.
constexpr uint32_t percent_of(uint32_t level) {
  return level * 25 / 2 + 1;
}
constexpr uint8_t told_of(uint32_t level) {
  return static_cast<uint8_t>(level << 5);
}

// A leaf with some paths to one other, of which the test says how full they are.
class Leaf {
 public:
  explicit Leaf(size_t members, const ParameterMap& parameters = {}, test::Entity entity = {})
      : paths_({make_set(members)}), conga_(make("conga", paths_, parameters, entity)) {}

  void local(size_t port, uint32_t level) { paths_.load(port, percent_of(level), now_); }
  void remote(MemberIndex member, uint32_t level) {
    paths_.measured().at(0, member).take_congestion(told_of(level), now_);
  }
  MemberIndex send(uint64_t flow = 1) {
    Packet packet = make_packet(flow);
    const PathView view = paths_.measured_view(now_);
    const MemberIndex member = select_one(*conga_, view, packet);
    ties_ = view.ties();
    return member;
  }
  // The next flowlet of a flow.
  MemberIndex send_after(Duration pause, uint64_t flow = 1) {
    now_ = now_ + pause;
    return send(flow);
  }
  void wait(Duration time) { now_ = now_ + time; }
  Paths& paths() { return paths_; }
  uint32_t ties() const { return ties_; }  // of the last packet

 private:
  Paths paths_;
  std::unique_ptr<Selector> conga_;
  Instant now_ = kStart;
  uint32_t ties_ = 0;
};

// Golden vector I-15: local 3 and remote 5 make 5; local 4 and remote 4 make 4.
TEST(Conga, TheFullerOfLineAndRestCounts) {
  Leaf leaf(2);
  leaf.local(0, 3);
  leaf.remote(0, 5);
  leaf.local(1, 4);
  leaf.remote(1, 4);
  EXPECT_EQ(leaf.send(), 1);
  EXPECT_EQ(leaf.ties(), 0u);
}

TEST(Conga, NothingIsBelowItsOwnLineNorBelowTheRest) {
  Leaf leaf(3);
  leaf.local(0, 6);   // 6
  leaf.remote(1, 5);  // 5
  leaf.local(2, 4);
  leaf.remote(2, 2);  // 4
  EXPECT_EQ(leaf.send(), 2);
}

// Golden vector I-15: moves only on a flowlet boundary and if strictly better.
TEST(Conga, MovesBetweenFlowletsOnly) {
  Leaf leaf(2);
  leaf.remote(1, 7);
  EXPECT_EQ(leaf.send(), 0);
  leaf.remote(0, 6);
  leaf.remote(1, 0);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(leaf.send_after(40_us), 0);
  EXPECT_EQ(leaf.send_after(kPause), 1);
}

TEST(Conga, OfEqualsTheLastMemberStays) {
  Leaf leaf(16);
  std::set<MemberIndex> used;
  for (uint64_t flow = 0; flow < 200; ++flow) {
    const MemberIndex first = leaf.send_after(1_us, flow);
    EXPECT_EQ(leaf.ties(), 1u);
    used.insert(first);
    EXPECT_EQ(leaf.send_after(kPause, flow), first);
    EXPECT_EQ(leaf.ties(), 1u);
  }
  EXPECT_EQ(used.size(), 16u);  // what has no last member draws one
}

TEST(Conga, ADrawIsEvenAmongTheLeast) {
  Leaf leaf(4);
  leaf.remote(2, 1);
  std::array<int, 4> count{};
  for (uint64_t flow = 0; flow < 3'000; ++flow) ++count[leaf.send(flow)];
  EXPECT_EQ(count[2], 0);
  for (const size_t member : {0, 1, 3}) EXPECT_NEAR(count[member], 1'000, 5 * 26);
}

// What is known holds for a quarter of the period of 20 us in which a register decays.
TEST(Conga, LooksFourTimesAPeriod) {
  Leaf leaf(2);
  leaf.local(1, 1);
  EXPECT_EQ(leaf.send(1), 0);
  leaf.local(0, 7);
  EXPECT_EQ(leaf.send_after(5_us - 1_ps, 2), 0);
  EXPECT_EQ(leaf.send_after(1_ps, 3), 1);
}

// A time of its own, whatever the period.
TEST(Conga, ALookHoldsAsLongAsItIsTold) {
  Leaf leaf(2, {{"hold", "30us"}});
  leaf.local(1, 1);
  EXPECT_EQ(leaf.send(1), 0);
  leaf.local(0, 7);
  EXPECT_EQ(leaf.send_after(30_us - 1_ps, 2), 0);
  EXPECT_EQ(leaf.send_after(1_ps, 3), 1);
}

// What a line has sent and what the other end has told counts for the next flowlet of that instant.
TEST(Conga, WithoutHoldEachFlowletLooksAnew) {
  Leaf leaf(3, {{"hold", "0s"}});
  leaf.local(1, 2);
  leaf.local(2, 3);
  EXPECT_EQ(leaf.send(1), 0);
  leaf.local(0, 4);
  EXPECT_EQ(leaf.send(2), 1);
  leaf.remote(1, 5);
  EXPECT_EQ(leaf.send(3), 2);
  leaf.local(2, 6);
  EXPECT_EQ(leaf.send(4), 0);
  EXPECT_EQ(leaf.send(1), 0) << "a flowlet that has begun stays";
}

TEST(Conga, HoldIsAutomaticUnlessGiven) {
  const SchemeInfo& conga = *find_scheme("conga");
  const auto hold = std::ranges::find(conga.parameters, "hold", &ParameterInfo::name);
  ASSERT_NE(hold, conga.parameters.end());
  EXPECT_EQ(value_text(*hold, hold->fallback), "auto");
  EXPECT_EQ(valid_text(*hold), "0ps to 10ms or auto");
  EXPECT_EQ(parse_value(*hold, "auto").value(), kAutomatic);
  EXPECT_EQ(parse_value(*hold, "0s").value(), 0);
  EXPECT_EQ(check_parameters("conga", {{"hold", "none"}}).size(), 1u);
  EXPECT_EQ(check_parameters("conga", {{"gap", "auto"}}).size(), 1u) << "it has no such value";
  Leaf leaf(2, {{"hold", "auto"}});
  leaf.local(1, 1);
  EXPECT_EQ(leaf.send(1), 0);
  leaf.local(0, 7);
  EXPECT_EQ(leaf.send_after(5_us - 1_ps, 2), 0);
  EXPECT_EQ(leaf.send_after(1_ps, 3), 1);
}

TEST(Conga, AnAlternativeIsTheNextLeast) {
  Paths paths({make_set(4)});
  paths.load(0, percent_of(3));
  paths.load(1, percent_of(1));
  paths.load(2, percent_of(2));
  paths.load(3, percent_of(7));
  WarningTable warnings(paths.sets(), kMaxPorts);
  const auto rlb = make("conga", paths, {}, {.rlb = true});
  constexpr std::array<MemberIndex, 4> kByLoad = {1, 2, 0, 3};
  for (uint64_t flow = 0; flow < 4; ++flow) {
    Packet packet = make_packet(flow);
    EXPECT_EQ(select_one(*rlb, paths.measured_view({}, &warnings), packet), kByLoad[flow]);
    (void)warnings.mark({.port = PortId(kByLoad[flow]),
                         .queue = QueueId(3),
                         .severity = 9,
                         .sequence = 1,
                         .source = static_cast<uint32_t>(flow + 1),
                         .origin = static_cast<uint32_t>(flow + 1),
                         .expiry = Instant::never()});
  }
}

// Reference A.8: a report that nothing renews decays to 0, here by half each quarter of 10 ms.
TEST(Conga, ReportsFade) {
  Leaf leaf(2);
  leaf.remote(0, 7);
  leaf.local(1, 2);
  leaf.wait(10_ms - 5_us);
  leaf.local(1, 6);
  EXPECT_EQ(leaf.send(1), 1);  // 7 against 6
  leaf.wait(5_us);
  leaf.local(1, 4);
  EXPECT_EQ(leaf.send(2), 0);  // 3 against 4
  leaf.wait(2'495_us);
  leaf.local(1, 2);
  EXPECT_EQ(leaf.send(3), 1);  // 3 against 2
  leaf.wait(5_us);
  leaf.local(1, 2);
  EXPECT_EQ(leaf.send(4), 0);  // 1 against 2
  leaf.wait(5_ms);
  leaf.local(1, 1);
  EXPECT_EQ(leaf.send(5), 0);  // 0 against 1
}

TEST(Conga, OfQBits) {
  for (const int q : {1, 3, 6}) {
    Leaf leaf(2, {{"q", std::to_string(q)}});
    leaf.paths().load(0, 60, kStart);
    leaf.paths().load(1, 65, kStart);
    (void)leaf.send();
    EXPECT_EQ(leaf.ties(), q == 6 ? 0u : q == 3 ? 0u : 1u) << q;  // 4 and 5 of 8; both 1 of 2
  }
}

// Golden vector I-2 at both ends of a decay: a full line is a full level.
TEST(Conga, AFullLineIsFull) {
  Leaf leaf(2);
  leaf.paths().port(0).dre_since_ps = kStart.ps() - kStart.ps() % (20_us).ps();
  leaf.paths().port(0).dre_bytes = 700'000;
  leaf.paths().port(1).dre_since_ps = kStart.ps() - kStart.ps() % (20_us).ps();
  leaf.paths().port(1).dre_bytes = 1'600'000;  // a burst beyond the line's rate
  (void)leaf.send();
  EXPECT_EQ(leaf.ties(), 1u);  // both 7 of 7
}

TEST(Conga, APausedLineLooksIdleUnlessToldOtherwise) {
  for (const bool full : {false, true}) {
    Leaf leaf(2, {{"paused_is_full", full ? "true" : "false"}});
    leaf.paths().port(0).paused_queues = 1 << 3;
    leaf.local(1, 6);
    EXPECT_EQ(leaf.send(1), full ? 1 : 0);
    leaf.paths().port(0).paused_queues = 1 << 4;  // of another queue
    EXPECT_EQ(leaf.send_after(5_us, 2), 0);
  }
}

// What was looked up for packets of a queue that PFC stops is not for those of another.
TEST(Conga, APausedLineIsFullForItsQueueOnly) {
  Paths paths({make_set(2)});
  const auto conga = make("conga", paths, {{"paused_is_full", "true"}});
  paths.port(0).paused_queues = 1 << 3;
  paths.load(1, percent_of(6), kStart);
  uint64_t flow = 0;
  const auto send = [&](size_t queue) {
    Packet packet = make_packet(++flow);
    packet.queue = QueueId(queue);
    return select_one(*conga, paths.measured_view(kStart), packet);
  };
  EXPECT_EQ(send(3), 1);
  EXPECT_EQ(send(4), 0);
  EXPECT_EQ(send(3), 1);
}

TEST(Conga, ADeadMembersFlowsMoveAndTheOthersStay) {
  Leaf leaf(8);
  std::vector<MemberIndex> before;
  for (uint64_t flow = 0; flow < 64; ++flow) before.push_back(leaf.send(flow));
  leaf.paths().live() &= ~bit_of(before[0]);
  leaf.wait(1_us);
  for (uint64_t flow = 0; flow < 64; ++flow) {
    const MemberIndex after = leaf.send(flow);
    EXPECT_NE(after, before[0]);
    EXPECT_TRUE(before[flow] == before[0] || after == before[flow]);
  }
}

TEST(Conga, AnEntrySharedByDifferentSetsDisturbsNeither) {
  Paths paths({make_set(64), make_set(2, 64)});
  for (uint64_t seed = 0; seed < 10; ++seed) {
    const auto conga = make("conga", paths, {}, {.seed = seed});
    Packet packet = make_packet(5);
    const MemberIndex large = select_one(*conga, paths.view(), packet, 0);
    const MemberIndex small = select_one(*conga, paths.view(), packet, 1);
    EXPECT_LT(small, 2);
    for (int i = 1; i < 100; ++i) {
      const PathView view = paths.view(Instant::at(10_us * i));
      EXPECT_EQ(select_one(*conga, view, packet, 0), large);
      EXPECT_EQ(select_one(*conga, view, packet, 1), small);
    }
  }
}

TEST(Conga, AsksForTheShimOnEveryPacket) {
  EXPECT_EQ(shim_need("conga", false), ShimNeed::every);
  EXPECT_EQ(shim_need("conga", true), ShimNeed::every);
}

}  // namespace
}  // namespace eddy::lb
