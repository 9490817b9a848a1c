// When a packet waits for its path, for how long, and what ends it: Algorithm 1 and its limits.
#include "lb/waiting.h"

#include <gtest/gtest.h>

#include "tests/support/paths.h"

namespace eddy::lb {
namespace {

using namespace eddy::literals;
using test::make_packet;
using test::make_set;
using test::Paths;

TEST(Waiting, RoundsThatFitBeforeThePauseAreTheGoldenOnes) {
  constexpr int64_t kXoff = 262'144;
  constexpr int64_t kSlope = 4'667'000;  // 4.667 octets a nanosecond
  EXPECT_EQ(rounds_that_fit({200'000, kXoff, kSlope}, 1_us, 100), 13u);
  EXPECT_EQ(rounds_that_fit({200'000, kXoff, kSlope}, 1_us, 8), 8u);
  EXPECT_EQ(rounds_that_fit({250'000, kXoff, kSlope}, 1_us, 8), 2u);
  EXPECT_EQ(rounds_that_fit({kXoff, kXoff, kSlope}, 1_us, 8), 0u);
  EXPECT_EQ(rounds_that_fit({kXoff + 1, kXoff, 0}, 1_us, 8), 0u);
  EXPECT_EQ(rounds_that_fit({200'000, kXoff, 0}, 1_us, 8), 8u);
  EXPECT_EQ(rounds_that_fit({200'000, kXoff, -5}, 1_us, 8), 8u);
}

TEST(Waiting, PacketsThatFitLeaveRoomForWhatComesMeanwhile) {
  EXPECT_EQ(packets_that_fit({200'000, 262'144, 4'667'000}, 1_us, 1'000), 57u);
  EXPECT_EQ(packets_that_fit({258'000, 262'144, 4'667'000}, 1_us, 1'000), 0u);
  EXPECT_EQ(packets_that_fit({258'000, 262'144, -4'667'000}, 1_us, 1'000), 4u);
}

TEST(Waiting, ARoundTakesTheLatencyAndTheQueueBeforeIt) {
  EXPECT_EQ(round_behind(Bytes(20'000), LineRate(BitRate::gbps(40)), 1_us), 5_us);
  EXPECT_EQ(round_behind(Bytes(0), LineRate(BitRate::gbps(40)), 1_us), 1_us);
}

class Loop final : public WaitingRoom {
 public:
  Duration round(Instant) const override { return 1_us; }
  uint32_t rounds_left(const Packet&, Instant) override { return most; }
  void enter(Packet*, const Trip& trip) override { entered = trip; }
  Company join(Packet*) override { return {}; }

  uint32_t most = 64;
  std::optional<Trip> entered;
};

struct Rig {
  explicit Rig(const config::RlbConfig& with = {.preset = config::RlbPreset::standard},
               size_t members = 3, std::string_view scheme = "ecmp")
      : rlb(with), paths({one_leaf(members)}), table(paths.sets(), members) {
    selector = test::make(scheme, paths, {}, {.rlb_config = &rlb});
    home = select();
    entered();
    other = static_cast<MemberIndex>((home + 1) % members);
  }
  static PathSet one_leaf(size_t members) {
    PathSet set = make_set(members);
    set.leaf = LeafId(5);
    return set;
  }
  void warn(MemberIndex member, uint8_t severity = 20) {
    table.mark({.port = PortId(member),
                .leaf = LeafId(5),
                .queue = QueueId(3),
                .severity = severity,
                .sequence = ++sequence,
                .source = 100u + member,
                .origin = 200u + member,
                .expiry = Instant::at(10_s)});
  }
  void delays(Duration at_home, Duration elsewhere) {
    for (MemberIndex m = 0; m < paths.sets()[0].count; ++m)
      paths.measure(0, m, m == home ? at_home : elsewhere, now);
  }
  PathView view() {
    return paths.view_with(now, {.warnings = &table, .paths = &paths.measured(), .loop = &loop});
  }
  MemberIndex select() {
    const PathView at = view();
    const MemberIndex member = test::select_one(*selector, at, packet);
    return at.away() != 0 ? kWait : member;
  }
  Trip entered() { return std::exchange(loop.entered, std::nullopt).value_or(Trip{}); }

  config::RlbConfig rlb;
  Paths paths;
  WarningTable table;
  Loop loop;
  Instant now = Instant::at(1_ms);
  uint32_t sequence = 0;
  Packet packet = make_packet(1);
  std::unique_ptr<Selector> selector;
  MemberIndex home = 0;
  MemberIndex other = 0;
};

// Golden vector I-10, first row.
// What is said of the guests of a room is what it says of each packet.
TEST(Waiting, GuestsAreOfPacketsThatCameInSinceTheRoomWasEmpty) {
  class Room final : public WaitingRoom {
   public:
    Duration round(Instant) const override { return 1_us; }
    uint32_t rounds_left(const Packet&, Instant) override { return 1; }
    void enter(Packet* packet, const Trip&) override { count_in(*packet); }
    Company join(Packet*) override { return {}; }
    void leave() { --occupants_; }
  };
  Room room;
  Packet one{}, other{}, near{}, between{};
  one.order_hash = 5;
  other.order_hash = 64 + 6;
  near.order_hash = 128 + 5;
  between.order_hash = 64 + 5;
  EXPECT_EQ(room.guests(), WaitingRoom::Guests{});
  room.enter(&one, {});
  EXPECT_FALSE(WaitingRoom::is_strange(one, room.guests()));
  EXPECT_TRUE(WaitingRoom::is_strange(other, room.guests()));
  EXPECT_TRUE(room.is_strange(near)) << "by the other word";
  EXPECT_TRUE(room.is_strange(between));
  room.enter(&other, {});
  EXPECT_FALSE(room.is_strange(other));
  EXPECT_FALSE(room.is_strange(between)) << "both bits are set, if by two flows";
  room.leave();
  room.leave();
  EXPECT_EQ(room.guests(), WaitingRoom::Guests{});
  EXPECT_TRUE(room.is_strange(one));
  room.enter(&other, {});
  EXPECT_TRUE(room.is_strange(one)) << "forgotten since it was empty";
}

TEST(Waiting, APacketWaitsAsLongAsTheOtherPathIsSlowerAndNoLonger) {
  Rig rig;
  rig.delays(10_us, 15_us);
  rig.warn(rig.home);
  ASSERT_EQ(rig.select(), kWait);
  Trip trip = rig.entered();
  EXPECT_EQ(trip.allowance, 5_us);
  EXPECT_EQ(trip.member, rig.home);
  EXPECT_EQ(trip.rounds, 1);
  for (uint8_t round = 1; round < 5; ++round) {
    rig.now = rig.now + 1_us;
    trip.spent += 1_us;
    ASSERT_EQ(rig.selector->again(rig.view(), rig.packet, 0, trip), kWait) << int{round};
    EXPECT_EQ(trip.rounds, round + 1);
  }
  trip.spent += 1_us;
  const PathView last = rig.view();
  const MemberIndex taken = rig.selector->again(last, rig.packet, 0, trip);
  EXPECT_NE(taken, kWait);
  EXPECT_NE(taken, rig.home) << "suboptimal";
  EXPECT_EQ(last.decisions(Decision::forced), 1u);
}

TEST(Waiting, ItTakesItsPathAsSoonAsThatIsNoLongerWarned) {
  Rig rig;
  rig.delays(10_us, 15_us);
  rig.warn(rig.home);
  ASSERT_EQ(rig.select(), kWait);
  Trip trip = rig.entered();
  rig.warn(rig.home, 0);
  trip.spent += 1_us;
  EXPECT_EQ(rig.selector->again(rig.view(), rig.packet, 0, trip), rig.home);
  EXPECT_EQ(rig.packet.egress_port, PortId(rig.home));
}

// Golden vector I-10, second row.
TEST(Waiting, AnotherPathThatCostsLessThanARoundIsTaken) {
  Rig rig;
  rig.delays(10_us, 10'500_ns);
  rig.warn(rig.home);
  const MemberIndex taken = rig.select();
  EXPECT_NE(taken, rig.home);
  EXPECT_NE(taken, kWait);
}

// Golden vector I-10, third row.
TEST(Waiting, OfTwoWarnedPathsTheLeastBadIsTaken) {
  Rig rig({.preset = config::RlbPreset::standard}, 2);
  rig.delays(10_us, 15_us);
  rig.warn(rig.home, 40);
  rig.warn(rig.other, 5);
  EXPECT_EQ(rig.select(), rig.other);
}

TEST(Waiting, NothingWaitsForADelayThatNobodyMeasured) {
  Rig rig;
  rig.warn(rig.home);
  EXPECT_NE(rig.select(), kWait);
}

TEST(Waiting, ALimitOrAFullLoopEndsIt) {
  Rig rig;
  rig.delays(10_us, 15_us);
  rig.warn(rig.home);
  rig.loop.most = 0;
  EXPECT_NE(rig.select(), kWait);
  rig.loop.most = 1;
  ASSERT_EQ(rig.select(), kWait);
  Trip trip = rig.entered();
  EXPECT_NE(rig.selector->again(rig.view(), rig.packet, 0, trip), kWait);
}

TEST(Waiting, ThePaperGoesBackToTheWarnedPathAndHasNoCumulativeLimit) {
  config::RlbConfig paper{.preset = config::RlbPreset::paper};
  paper.recirculation.cumulative = false;
  paper.recirculation.on_exceed = config::OnExceed::optimal;
  Rig rig(paper);
  rig.delays(10_us, 12_us);
  rig.warn(rig.home);
  ASSERT_EQ(rig.select(), kWait);
  Trip trip = rig.entered();
  int rounds = 1;
  while (rig.selector->again(rig.view(), rig.packet, 0, trip) == kWait) ++rounds;
  EXPECT_EQ(rounds, 64);
  EXPECT_EQ(rig.packet.member, rig.home);
}

TEST(Waiting, WhenAllAreWarnedAPacketMayWaitOnce) {
  config::RlbConfig once{.preset = config::RlbPreset::standard};
  once.all_warned = config::AllWarned::wait_once;
  Rig rig(once);
  for (MemberIndex m = 0; m < 3; ++m) rig.warn(m);
  ASSERT_EQ(rig.select(), kWait);
  Trip trip = rig.entered();
  EXPECT_EQ(rig.selector->again(rig.view(), rig.packet, 0, trip), rig.home);
}

// The loop is full: a severest warning stands for 24 us of pause, one of 20 for a third of that.
TEST(Waiting, WhenALimitIsHitTheLeastBadHasTheSmallerDelayAndPause) {
  struct Case {
    config::OnExceed on_exceed;
    Duration there;
    bool stays;
  };
  using enum config::OnExceed;
  for (const Case& one : {Case{optimal, 12_us, true}, Case{suboptimal, 30_us, false},
                          Case{least_bad, 17_us, false}, Case{least_bad, 18_us, true}}) {
    config::RlbConfig rlb{.preset = config::RlbPreset::standard};
    rlb.recirculation.on_exceed = one.on_exceed;
    Rig rig(rlb);
    rig.delays(10_us, one.there);
    rig.warn(rig.home, 20);
    rig.loop.most = 0;
    EXPECT_EQ(rig.select() == rig.home, one.stays) << one.there.ns();
  }
}

TEST(Waiting, AfterTheOneRoundTheLeastBadIsTakenUnlessTheOptimalIsAskedFor) {
  for (const auto on_exceed : {config::OnExceed::optimal, config::OnExceed::suboptimal}) {
    config::RlbConfig once{.preset = config::RlbPreset::standard};
    once.all_warned = config::AllWarned::wait_once;
    once.recirculation.on_exceed = on_exceed;
    Rig rig(once, 2);
    rig.warn(rig.home, 40);
    rig.warn(rig.other, 5);
    ASSERT_EQ(rig.select(), kWait);
    Trip trip = rig.entered();
    const bool optimal = on_exceed == config::OnExceed::optimal;
    EXPECT_EQ(rig.selector->again(rig.view(), rig.packet, 0, trip), optimal ? rig.home : rig.other);
  }
}

TEST(Waiting, WhereAllAreWarnedTheScoreWeighsDelayAndPause) {
  for (const bool score : {false, true}) {
    config::RlbConfig rlb{.preset = config::RlbPreset::standard};
    if (score) rlb.all_warned = config::AllWarned::score;
    Rig rig(rlb, 2);
    rig.delays(10_us, 40_us);
    rig.warn(rig.home, 40);  // 15 us of pause
    rig.warn(rig.other, 5);
    EXPECT_EQ(rig.select(), score ? rig.home : rig.other);
    rig.delays(10_us, 15_us);
    EXPECT_EQ(rig.select(), rig.other);
  }
}

// What was moved to the other path takes 0.2 us a packet of 40 Gb/s, until it is measured.
TEST(Waiting, WhatWasMovedToAPathCountsUntilItIsMeasured) {
  for (const bool credit : {false, true}) {
    config::RlbConfig rlb{.preset = config::RlbPreset::standard};
    rlb.reroute_credit = credit;
    Rig rig(rlb, 2);
    rig.delays(10_us, 10'500_ns);
    rig.warn(rig.home);
    int moved = 0;
    while (moved < 100 && rig.select() != kWait) ++moved;
    EXPECT_EQ(moved, credit ? 3 : 100) << "more than a round of 1 us is 10.5 us and 3 packets";
    rig.paths.measured().use(0, rig.other).measured();
    EXPECT_EQ(rig.select(), rig.other);
  }
}

TEST(Waiting, RoceRepliesNeverWait) {
  Rig rig;
  rig.delays(10_us, 15_us);
  for (MemberIndex m = 0; m < 2; ++m) rig.warn(m);
  rig.packet.set(kPacketRoceControl);
  EXPECT_NE(rig.select(), kWait);
}

// New flows under hermes on congested paths draw. Each waits first, and meanwhile a flow that draws
// nothing is chosen for: the draw is taken all the same, or all new flows would take one path.
TEST(Waiting, APacketThatIsBackTakesTheDrawThatWasMadeForIt) {
  constexpr MemberIndex kSlow = 15;
  Rig rig({.preset = config::RlbPreset::standard}, kSlow + 1, "hermes");
  for (MemberIndex m = 0; m <= kSlow; ++m) {
    rig.paths.measure(0, m, m == kSlow ? 300_us : 100_us, rig.now);
    rig.paths.measured().at(0, m).marked = 65'535;
  }
  MemberMask taken = 0;
  for (uint64_t flow = 2; flow < 34; ++flow) {
    for (MemberIndex m = 0; m < kSlow; ++m) rig.warn(m);
    rig.packet = make_packet(flow);
    if (rig.select() != kWait) continue;  // it drew the slow one
    Trip trip = rig.entered();
    for (MemberIndex m = 0; m < kSlow; ++m) rig.warn(m, 0);
    rig.packet = make_packet(1);
    EXPECT_EQ(rig.select(), rig.home);
    rig.packet = make_packet(flow);
    taken |= bit_of(rig.selector->again(rig.view(), rig.packet, 0, trip));
  }
  EXPECT_GT(count_of(taken), 8u);
}

// Whatever was chosen for before the follower: a flow that draws nothing, or one that draws.
TEST(Waiting, AFollowersDrawIsItsOwn) {
  const auto taken = [](bool known_last, bool followed) {
    Rig rig({.preset = config::RlbPreset::standard}, 16, "hermes");
    for (MemberIndex m = 0; m < 16; ++m) {
      rig.paths.measure(0, m, 100_us, rig.now);
      rig.paths.measured().at(0, m).marked = 65'535;
    }
    std::vector<MemberIndex> members;
    const auto send = [&](uint64_t flow) {
      rig.packet = make_packet(flow);
      members.push_back(rig.select());
    };
    for (uint64_t flow = 2; flow < 66; flow += 2) {
      for (const uint64_t one :
           known_last ? std::array{flow, uint64_t{1}} : std::array{uint64_t{1}, flow})
        send(one);
      if (!followed) continue;
      rig.packet = make_packet(flow + 1);
      const PathView view = rig.view();
      rig.selector->follow(view, rig.packet, 0, 3);
      EXPECT_EQ(rig.packet.member, 3);
      EXPECT_EQ(view.ties(), 0u);
    }
    std::erase(members, rig.home);
    return members;
  };
  const std::vector<MemberIndex> after_new = taken(false, true);
  EXPECT_GT(after_new.size(), 20u);
  EXPECT_EQ(after_new, taken(true, true));
  EXPECT_NE(after_new, taken(true, false)) << "a follower that is new has taken no draw";
}

// Some flows heed a mild warning; more a severe one, and those that heeded the mild one among them.
TEST(Waiting, TheMilderTheWarningTheFewerHeedIt) {
  config::RlbConfig shy{.preset = config::RlbPreset::standard};
  shy.reaction = 0.5;
  Rig rig(shy);
  std::array<int, 3> left{};
  const std::array<uint8_t, 3> severities = {1, 32, 63};
  for (uint64_t flow = 0; flow < 900; ++flow) {
    rig.packet = make_packet(flow);
    for (MemberIndex m = 0; m < 3; ++m) rig.warn(m, 0);
    const MemberIndex home = rig.select();
    bool before = false;
    for (size_t i = 0; i < 3; ++i) {
      rig.warn(home, severities[i]);
      const bool leaves = rig.select() != home;
      EXPECT_GE(leaves, before);
      before = leaves;
      left[i] += leaves ? 1 : 0;
    }
  }
  EXPECT_NEAR(left[0], 457, 60);
  EXPECT_NEAR(left[1], 678, 60);
  EXPECT_EQ(left[2], 900);
}

}  // namespace
}  // namespace eddy::lb
