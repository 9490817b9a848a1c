// The order guard around real schemes: when a flow may leave its path.
#include "lb/rlb/order_guard.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>

#include "net/random.h"
#include "tests/support/paths.h"

namespace eddy::lb {
namespace {

using namespace eddy::literals;
using config::Granularity;
using config::GuardMode;
using config::GuardScope;
using test::make_packet;
using test::make_set;
using test::Paths;
using test::select_one;

constexpr size_t kMembers = 4;
constexpr LeafId kLeaf(5);

config::RlbConfig guarded(GuardMode mode, Granularity granularity = Granularity::packet) {
  config::RlbConfig rlb{.preset = config::RlbPreset::standard};
  rlb.guard.mode = mode;
  rlb.granularity = granularity;
  return rlb;
}

struct Rig {
  explicit Rig(const config::RlbConfig& with, const std::string& scheme = "ecmp")
      : rlb(with),
        flows(static_cast<size_t>(with.guard.flows)),
        selector(test::make(scheme, paths, {}, {.rlb_config = &rlb})) {}

  static Paths one_leaf() {
    PathSet set = make_set(kMembers);
    set.leaf = kLeaf;
    return Paths({set});
  }
  void warn(MemberIndex member, bool on = true) {
    table.mark({.port = PortId(member),
                .leaf = kLeaf,
                .queue = QueueId(3),
                .severity = static_cast<uint8_t>(on ? 20 : 0),
                .sequence = ++sequence,
                .source = 100u + member,
                .origin = 200u + member,
                .expiry = now + 10_s});
  }
  // The member that the flow's next packet takes.
  MemberIndex send(uint64_t flow, Duration later = 100_ns) {
    now = now + later;
    const PathView view = paths.view_with(
        now, {.warnings = &table, .paths = &paths.measured(), .flows = &flows, .slots = &slots});
    Packet packet = make_packet(flow);
    const MemberIndex member = select_one(*selector, view, packet);
    for (size_t i = 0; i < kGuardEvents; ++i) events[i] += view.guarded(static_cast<GuardEvent>(i));
    return member;
  }
  // The clock of the switch goes forward, or back again.
  void move_clock() {
    const Rebase rebase(now < Instant() + Rebase::kPeriod ? Rebase::Way::forward
                                                          : Rebase::Way::back);
    now = rebase(now);
    paths.rebase(rebase);
    table.rebase(rebase);
    selector->rebase(rebase);
  }
  uint32_t seen(GuardEvent event) const { return events[static_cast<size_t>(event)]; }
  void arrive(MemberIndex member) { paths.drained(0, member, now + 10_ns); }

  config::RlbConfig rlb;
  Paths paths = one_leaf();
  WarningTable table{paths.sets(), kMembers};
  FlowPaths flows;         // each by itself,
  FlowSlots slots{4'096};  // or where a strict guard guards all
  std::unique_ptr<Selector> selector;
  Instant now = Instant::at(1_ms);
  uint32_t sequence = 0;
  std::array<uint32_t, kGuardEvents> events{};
};

TEST(OrderGuard, WithoutAGuardEachPacketGoesByItself) {
  Rig rig(guarded(GuardMode::off));
  const MemberIndex home = rig.send(1);
  rig.warn(home);
  EXPECT_NE(rig.send(1), home);
  rig.warn(home, false);
  EXPECT_EQ(rig.send(1), home);
}

TEST(OrderGuard, AUnitStaysWhereItWasMovedWhenTheWarningEnds) {
  Rig rig(guarded(GuardMode::off, Granularity::unit));
  const MemberIndex home = rig.send(1);
  rig.warn(home);
  const MemberIndex away = rig.send(1);
  EXPECT_NE(away, home);
  rig.warn(home, false);
  for (int i = 0; i < 100; ++i) ASSERT_EQ(rig.send(1), away);
  rig.warn(away);
  const MemberIndex third = rig.send(1);
  EXPECT_NE(third, away);
  EXPECT_EQ(rig.send(1, 49_us), third) << "not long enough a pause";
  rig.warn(away, false);
  EXPECT_EQ(rig.send(1, 51_us), home);
}

TEST(OrderGuard, StrictLeavesAPathWhenItsLastPacketHasArrivedAndNotBefore) {
  Rig rig(guarded(GuardMode::strict));
  const MemberIndex home = rig.send(1);
  rig.warn(home);
  for (int i = 0; i < 10; ++i) ASSERT_EQ(rig.send(1), home);
  EXPECT_EQ(rig.seen(GuardEvent::stayed), 10u);
  rig.paths.drained(0, home, rig.now);  // all but the last packet
  EXPECT_EQ(rig.send(1), home);
  rig.arrive(home);
  const MemberIndex away = rig.send(1);
  EXPECT_NE(away, home);
  EXPECT_EQ(rig.seen(GuardEvent::moved), 1u);
  rig.warn(home, false);
  EXPECT_EQ(rig.send(1), away) << "the way back is a change of path, too";
  rig.arrive(away);
  EXPECT_EQ(rig.send(1), home);
}

TEST(OrderGuard, StrictLetsAFlowThatIsNewGoWhereItLikes) {
  Rig rig(guarded(GuardMode::strict));
  const MemberIndex home = rig.send(1);
  rig.warn(home);
  uint64_t alike = 2;  // another flow of that hash
  Rig bare(guarded(GuardMode::strict));
  while (bare.send(alike) != home) ++alike;
  EXPECT_NE(rig.send(alike), home);
}

TEST(OrderGuard, StrictHoldsSprayedPacketsTogether) {
  for (const char* scheme : {"drill", "presto", "spray", "letflow"}) {
    Rig rig(guarded(GuardMode::strict), scheme);
    const MemberIndex home = rig.send(1);
    for (int i = 0; i < 200; ++i) {
      rig.paths.queue(home, 1'000'000);
      ASSERT_EQ(rig.send(1, i % 10 == 9 ? 200_us : 100_ns), home) << scheme;
    }
    bool moved = false;
    for (int i = 0; i < 200 && !moved; ++i) {
      rig.arrive(home);
      moved = rig.send(1, 200_us) != home;
    }
    EXPECT_TRUE(moved) << scheme;
  }
}

TEST(OrderGuard, ScopeMovesLeavesTheSchemesOwnChangesAlone) {
  config::RlbConfig rlb = guarded(GuardMode::strict);
  rlb.guard.scope = GuardScope::moves;
  Rig rig(rlb, "drill");
  rig.warn(3);
  std::array<int, kMembers> got{};
  for (int i = 0; i < 400; ++i) {
    for (MemberIndex m = 0; m < kMembers; ++m)
      rig.paths.queue(m, static_cast<uint32_t>(mix64(static_cast<uint64_t>(i) * 8 + m) >> 44));
    ++got[rig.send(1)];
  }
  EXPECT_GT(std::min({got[0], got[1], got[2]}), 50);
}

// A flow that was there before anything was warned is not known, but may have packets on the way.
TEST(OrderGuard, ScopeMovesTakesAFlowForOldUntilThePathIsProvenEmpty) {
  config::RlbConfig rlb = guarded(GuardMode::strict);
  rlb.guard.scope = GuardScope::moves;
  Rig rig(rlb);
  const MemberIndex home = rig.send(1);
  rig.warn(home);
  EXPECT_EQ(rig.send(1), home);
  EXPECT_EQ(rig.send(1), home);
  rig.paths.drained(0, home, rig.now);
  EXPECT_EQ(rig.send(1), home) << "its last packet is the one just sent";
  uint64_t alike = 2;
  Rig bare(rlb);
  while (bare.send(alike) != home) ++alike;
  EXPECT_NE(rig.send(alike), home) << "nothing from before the warning is on the way";
}

// What was given strictly before the proof's instant has arrived; a flow that is not known may have
// been given a packet at the very instant in which the watch began.
TEST(OrderGuard, AProofOfTheInstantInWhichTheWatchBeganProvesNothingOfIt) {
  config::RlbConfig rlb = guarded(GuardMode::strict);
  rlb.guard.scope = GuardScope::moves;
  Rig rig(rlb);
  const MemberIndex home = rig.send(1);
  std::vector<uint64_t> alike;  // flows whose hash picks the same member
  Rig bare(rlb);
  for (uint64_t flow = 2; alike.size() < 2; ++flow)
    if (bare.send(flow) == home) alike.push_back(flow);
  rig.warn(home);
  rig.send(1);
  const Instant began = rig.now;
  rig.paths.drained(0, home, began);
  EXPECT_EQ(rig.send(alike[0]), home);
  rig.paths.drained(0, home, began + 2_ps);
  EXPECT_NE(rig.send(alike[1]), home);
}

TEST(OrderGuard, ScopeMovesForgetsWhenAllHasBeenQuietForAWhile) {
  config::RlbConfig rlb = guarded(GuardMode::strict);
  rlb.guard.scope = GuardScope::moves;
  Rig rig(rlb);
  const MemberIndex home = rig.send(1);
  rig.warn(home);
  rig.send(1);
  rig.warn(home, false);
  rig.send(1, 2_ms);  // not watched
  rig.warn(home);
  rig.paths.drained(0, home, rig.now - 1_us);  // what was noted has arrived, what was not may not
  EXPECT_EQ(rig.send(1), home);
}

TEST(OrderGuard, PacedMovesAPacketThatCannotOvertake) {
  Rig rig(guarded(GuardMode::paced));
  const MemberIndex home = rig.send(1);
  for (MemberIndex m = 0; m < kMembers; ++m) rig.paths.measure(0, m, 10_us, rig.now);
  rig.paths.measure(0, home, 20_us, rig.now);
  rig.warn(home);
  EXPECT_EQ(rig.send(1, 500_ns), home);
  EXPECT_EQ(rig.send(1, 10_us), home) << "10 us earlier there is not 1 us later";
  EXPECT_NE(rig.send(1, 11_us), home);
}

TEST(OrderGuard, PacedMovesAFlowThatPausedWhateverIsKnown) {
  Rig rig(guarded(GuardMode::paced));
  const MemberIndex home = rig.send(1);
  rig.warn(home);
  EXPECT_EQ(rig.send(1, 49_us), home);
  EXPECT_NE(rig.send(1, 51_us), home);
}

TEST(OrderGuard, AFlowOnADeadPathIsMovedByForce) {
  Rig rig(guarded(GuardMode::strict));
  const MemberIndex home = rig.send(1);
  rig.paths.live() &= ~bit_of(home);
  EXPECT_NE(rig.send(1), home);
  EXPECT_EQ(rig.seen(GuardEvent::forced), 1u);
  EXPECT_EQ(rig.seen(GuardEvent::moved), 0u);
}

TEST(OrderGuard, AFullTableForgetsNobodyAndTheRestGoByTheirHash) {
  config::RlbConfig rlb = guarded(GuardMode::strict, Granularity::unit);  // not by slots
  rlb.guard.flows = 64;
  Rig rig(rlb, "drill");
  std::array<MemberIndex, 1'000> first{};
  for (uint64_t flow = 0; flow < first.size(); ++flow) first[flow] = rig.send(flow);
  EXPECT_LE(rig.flows.flows(), 64u);
  EXPECT_GE(rig.seen(GuardEvent::placeless), first.size() - 64);
  for (int round = 0; round < 3; ++round)
    for (uint64_t flow = 0; flow < first.size(); ++flow)
      ASSERT_EQ(rig.send(flow), first[flow]) << flow;
  EXPECT_EQ(rig.seen(GuardEvent::replaced), 0u);
}

// What has arrived makes room, and a flow that had no place may have sent until just now.
TEST(OrderGuard, AFlowThatGetsAPlaceLateStaysUntilItsEarlierPacketsHaveArrived) {
  config::RlbConfig rlb = guarded(GuardMode::strict, Granularity::unit);  // not by slots
  rlb.guard.flows = 64;
  Rig rig(rlb, "drill");
  std::array<MemberIndex, 1'000> first{};
  for (uint64_t flow = 0; flow < first.size(); ++flow) first[flow] = rig.send(flow);
  const size_t placeless = rig.seen(GuardEvent::placeless);
  const Instant before_last = rig.now - 1_us;
  for (MemberIndex m = 0; m < kMembers; ++m) rig.paths.drained(0, m, before_last);
  for (uint64_t flow = 900; flow < first.size(); ++flow) ASSERT_EQ(rig.send(flow), first[flow]);
  EXPECT_GT(rig.seen(GuardEvent::replaced), 0u);
  EXPECT_LT(rig.seen(GuardEvent::placeless) - placeless, 100u);
}

TEST(OrderGuard, NothingIsOnTheWayForLongerThanTheAge) {
  Rig rig(guarded(GuardMode::strict));
  const MemberIndex home = rig.send(1);
  rig.warn(home);
  EXPECT_EQ(rig.send(1, 99_ms), home);
  EXPECT_NE(rig.send(1, 101_ms), home);
}

TEST(OrderGuard, SleepsWhileNothingIsWarnedUnlessItGuardsAll) {
  Rig moves(guarded(GuardMode::follow, Granularity::unit));
  moves.send(1);
  EXPECT_EQ(moves.flows.flows(), 0u);
  Rig all(guarded(GuardMode::strict));
  all.send(1);
  EXPECT_EQ(all.flows.flows(), 0u);
  EXPECT_TRUE(all.slots.of(make_packet(1)).used());
}

// Random packets of more flows than there are places, warnings that come and go, and arrivals; what
// each packet took, and what the guard did.
std::string transcript(const config::RlbConfig& rlb, bool rebases) {
  Rig rig(rlb);
  RandomStream random(20'261'122, 0, 0);
  std::string text;
  for (int step = 0; step < 3'000; ++step) {
    if (rebases && step % 5 == 0) rig.move_clock();
    const auto member = static_cast<MemberIndex>(random.below(kMembers));
    if (random.below(40) == 0) rig.warn(member, random.below(2) == 0);
    if (random.below(6) == 0) rig.arrive(member);
    if (random.below(300) == 0) rig.now = rig.now + 5_ms;  // all is quiet
    text += static_cast<char>('0' + rig.send(random.below(12), 10_ns * random.below(2'000)));
  }
  for (const uint32_t count : rig.events) text += ' ' + std::to_string(count);
  return text;
}

TEST(OrderGuard, DecidesTheSameWhenTheClockIsRebased) {
  for (const GuardMode mode : {GuardMode::off, GuardMode::paced, GuardMode::strict})
    for (const GuardScope scope : {GuardScope::moves, GuardScope::all}) {
      config::RlbConfig rlb = guarded(mode);
      rlb.guard.scope = scope;
      rlb.guard.flows = 8;
      const std::string before = transcript(rlb, false);
      EXPECT_EQ(transcript(rlb, true), before)
          << static_cast<int>(mode) << ' ' << static_cast<int>(scope);
    }
}

// Stamps of flows are compared modulo 2.5 hours: zero, which stands for no proof, is then no
// instant to compare with.
TEST(OrderGuard, WithoutProofAFlowStaysHoweverLongTheSwitchHasRun) {
  for (const Duration uptime : {1_ms, 3'600_s, 4'600_s, 8'000_s, 20'000_s}) {
    Rig rig(guarded(GuardMode::strict));
    rig.now = Instant::at(uptime);
    const MemberIndex home = rig.send(1);
    rig.warn(home);
    for (int i = 0; i < 10; ++i) ASSERT_EQ(rig.send(1), home) << uptime.ps();
    rig.arrive(home);
    EXPECT_NE(rig.send(1), home);
  }
}

// After 75 minutes stamps look as if the proof were later than the packet.
TEST(OrderGuard, AProofFromHoursAgoProvesNothingOfWhatWasSentSince) {
  for (const Duration age : {1_s, 3'600_s, 4'600_s, 8'000_s, 10'000_s, 14'000_s}) {
    Rig rig(guarded(GuardMode::strict, Granularity::unit));  // not by slots
    const MemberIndex home = rig.send(1);
    rig.arrive(home);
    ASSERT_EQ(rig.send(1, age), home);
    rig.warn(home);
    for (int i = 0; i < 10; ++i) ASSERT_EQ(rig.send(1), home) << age.ps();
    rig.arrive(home);
    EXPECT_NE(rig.send(1), home);
  }
}

// What is warned for hours is watched for hours.
TEST(OrderGuard, AFlowIsKnownHoweverLongItsSwitchHasBeenWatchingFlows) {
  config::RlbConfig rlb = guarded(GuardMode::strict);
  rlb.guard.scope = GuardScope::moves;
  Rig rig(rlb);
  const MemberIndex home = rig.send(1);
  rig.warn((home + 1) % kMembers);
  for (int hour = 0; hour < 4; ++hour)
    for (int i = 0; i < 4; ++i) (void)rig.send(2, 900_s);
  rig.arrive(home);
  ASSERT_EQ(rig.send(1), home);
  rig.paths.drained(0, home, rig.now - 1_ns);  // all but that packet
  rig.warn(home);
  for (int i = 0; i < 10; ++i) ASSERT_EQ(rig.send(1), home);
}

// Two path sets, whose flows are in slots. Flows of one hash share one.
struct SlotRig {
  explicit SlotRig(size_t sets = 2, config::RlbConfig with = guarded(GuardMode::strict))
      : rlb(with), paths(std::vector<PathSet>(sets, make_set(16))) {
    selector = test::make("spray", paths, {}, {.rlb_config = &rlb});
  }
  MemberIndex send(uint16_t set, Duration later = 100_ns, size_t queue = 3) {
    now = now + later;
    const PathView view =
        paths.view_with(now, {.warnings = &warnings, .paths = &paths.measured(), .slots = &slots});
    Packet packet = make_packet(1);
    packet.queue = QueueId(queue);
    const MemberIndex member = select_one(*selector, view, packet, set);
    for (size_t i = 0; i < kGuardEvents; ++i) events[i] += view.guarded(static_cast<GuardEvent>(i));
    return member;
  }
  // Whether the flow leaves the slot's member in 20 packets, so far apart. Spray would in all but 1
  // of 16^20 cases.
  bool moves(uint16_t set, Duration apart, size_t queue = 3) {
    const MemberIndex before = slot().member();
    for (int i = 0; i < 20; ++i)
      if (send(set, apart, queue) != before) return true;
    return false;
  }
  // The same when all that was given before has arrived each time.
  bool moves_proven(uint16_t set, size_t queue = 3) {
    const MemberIndex before = slot().member();
    for (int i = 0; i < 20; ++i) {
      all_arrive();
      if (send(set, 1_us, queue) != before) return true;
    }
    return false;
  }
  void arrive(uint16_t set, MemberIndex member) { paths.drained(set, member, now + 10_ns); }
  void all_arrive() {
    for (uint16_t set = 0; set < paths.sets().size(); ++set)
      for (MemberIndex member = 0; member < 16; ++member) arrive(set, member);
  }
  FlowSlot slot() { return slots.of(make_packet(1)); }

  config::RlbConfig rlb;
  Paths paths;
  WarningTable warnings{paths.sets(), 16};
  FlowSlots slots{64};
  std::unique_ptr<Selector> selector;
  Instant now = Instant::at(1_ms);
  std::array<uint32_t, kGuardEvents> events{};
};

TEST(OrderGuardSlots, AFlowMovesWhenWhatItsSlotWasGivenHasArrived) {
  SlotRig rig;
  (void)rig.send(0);
  EXPECT_FALSE(rig.moves(0, 1_us));
  EXPECT_TRUE(rig.moves_proven(0));
  EXPECT_FALSE(rig.slot().mixed());
}

// One proof is not of both; silence is.
TEST(OrderGuardSlots, FlowsOfTwoSetsInOneSlotStayWhereTheyAreUntilItIsSilent) {
  SlotRig rig;
  const MemberIndex member = rig.send(0);
  EXPECT_EQ(rig.send(1), member);
  EXPECT_TRUE(rig.slot().has_many_sets());
  for (int i = 0; i < 50; ++i) {
    rig.all_arrive();
    EXPECT_EQ(rig.send(static_cast<uint16_t>(i % 2), 1_us), member);
  }
  EXPECT_FALSE(rig.moves(0, 99_ms));
  EXPECT_TRUE(rig.moves(1, 101_ms));
  EXPECT_FALSE(rig.slot().mixed());
}

// What the other set's flow sent has arrived: the slot is free for whoever comes.
TEST(OrderGuardSlots, AnotherSetTakesASlotWhoseFlowHasArrived) {
  SlotRig rig;
  const MemberIndex member = rig.send(0);
  rig.arrive(0, member);
  rig.now = rig.now + 1_us;
  (void)rig.send(1);
  EXPECT_TRUE(rig.slot().is_plain(1));
}

// The member of the slot is down in one of its sets, whose flow goes by its hash. The other's
// stays.
TEST(OrderGuardSlots, ADeadMemberMovesOnlyFlowsOfItsSet) {
  SlotRig rig;
  const MemberIndex member = rig.send(0);
  ASSERT_EQ(rig.send(1), member);
  rig.paths.live(0) &= ~bit_of(member);
  const MemberIndex other = rig.send(0);
  EXPECT_NE(other, member);
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(rig.send(1), member);
    EXPECT_EQ(rig.send(0), other);
  }
}

// Of a queue that no stamp waits in nothing is proven, nor of a slot that has its packets.
TEST(OrderGuardSlots, AQueueWithoutProofsBindsItsSlot) {
  SlotRig rig;
  (void)rig.send(0, 1_us, /*queue=*/4);
  EXPECT_FALSE(rig.moves_proven(0, 4));
  EXPECT_FALSE(rig.moves_proven(0, 3));
  EXPECT_TRUE(rig.moves(0, 101_ms, 4));
}

// Half of the wrap of stamps, once, twice: silent for longer than the age, with proofs as old as
// its packet or none at all, a flow that comes back is free, and one that goes on is not.
TEST(OrderGuardSlots, SilentFlowsComeBackAcrossTheWrapOfStamps) {
  for (const Duration silence : {69_s, 71_s, 139_s, 141_s, 211_s, 282_s})
    for (const bool proven : {false, true}) {
      SlotRig rig;
      (void)rig.send(0);
      if (proven) rig.all_arrive();
      EXPECT_TRUE(rig.moves(0, silence)) << silence.ps() << ' ' << proven;
      EXPECT_FALSE(rig.moves(0, 1_us)) << "a proof from before the silence proves nothing of it";
    }
}

// Once the wrap to a picosecond it looks as if it had just sent, and stays.
TEST(OrderGuardSlots, AtWorstASilentFlowStaysWhereItWas) {
  SlotRig rig;
  const MemberIndex member = rig.send(0);
  EXPECT_EQ(rig.send(0, Duration::picoseconds(int64_t{1} << 47)), member);
}

// Sets up to 1,024 are told apart. With more, two could look alike: nothing is proven of any.
TEST(OrderGuardSlots, ProvesWhatItCanTellApart) {
  for (const size_t sets : {1'024u, 1'025u}) {
    SlotRig rig(sets);
    for (const size_t set : {size_t{0}, size_t{1'022}, size_t{1'023}}) {
      rig.now = rig.now + 200_ms;
      (void)rig.send(static_cast<uint16_t>(set));
      EXPECT_FALSE(rig.moves(static_cast<uint16_t>(set), 1_us)) << set;
      EXPECT_EQ(rig.moves_proven(static_cast<uint16_t>(set)), sets == 1'024) << set;
    }
  }
}

// Without a branch the same as said in words, also where the clock's zero or a wrap lies between.
TEST(SlotProofs, FreeWhatIsProvenOrTooOldOrWasNeverUsed) {
  PathArrivals arrivals(16);
  RandomStream random(8, 1, 2);
  const Duration wrap = Duration::picoseconds(int64_t{1} << 47);
  for (const Duration start : {1_us, 1_s, wrap, wrap * 2 + 30_ms}) {
    const Instant now = Instant::at(start + 100_us);
    const SlotProofs proofs{.arrivals = arrivals.reader(),
                            .now = FlowSlot::time_of(now),
                            .step = PathArrivals::step_of(now),
                            .age = 50'000'000 >> PathArrivals::kStepBits,  // 50 us
                            .measured = {.queues = 1}};
    EXPECT_TRUE(proofs.frees(FlowSlot()));
    std::array<size_t, 2> seen{};
    for (int i = 0; i < 4'000; ++i) {
      const Instant given = now - Duration::nanoseconds(random.below(100'000));
      const bool proves = random.below(2) != 0;
      const Instant before =
          proves ? now - Duration::nanoseconds(random.below(100'000)) : Instant{};
      const auto set = static_cast<uint16_t>(random.below(4));
      const auto member = static_cast<MemberIndex>(random.below(16));
      const bool mixed = random.below(4) == 0;
      arrivals.put(set, member, before);
      const FlowSlot slot(FlowSlot::time_of(given), set, member, mixed);
      const bool proven = proves && given.ps() >> 12 < before.ps() >> 12;
      EXPECT_EQ(proofs.is_proven(slot), proven);
      const bool old = slot.idle(FlowSlot::time_of(now)) > 50_us;
      ASSERT_EQ(proofs.frees(slot), old || (proven && !mixed)) << start.ps() << ' ' << i;
      ++seen[proofs.frees(slot) ? 1 : 0];
    }
    EXPECT_GT(std::min(seen[0], seen[1]), 500u);
  }
}

// Whoever wrote the slots before did not say that flows of two sets share one.
TEST(OrderGuardSlots, DoubtsWhatNobodyGuardedUntilItIsTooOld) {
  SlotRig rig;
  rig.slots.of(make_packet(1)) = FlowSlot(FlowSlot::time_of(rig.now), 0, 5);
  rig.slots.doubt();
  EXPECT_EQ(rig.send(0), 5);
  for (int i = 0; i < 9; ++i) {
    rig.all_arrive();
    EXPECT_EQ(rig.send(0, 10_ms), 5);
  }
  rig.now = rig.now + 10_ms;
  EXPECT_TRUE(rig.moves_proven(0));
}

}  // namespace
}  // namespace eddy::lb
