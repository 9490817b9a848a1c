// ConWeave at the sender's leaf: when a flow asks, when it moves and what its shims say of that.
// What the receiver's leaf makes of it: tail_stage_test.cpp.
#include <gtest/gtest.h>

#include <array>
#include <set>
#include <vector>

#include "lb/agent.h"
#include "tests/support/paths.h"

namespace eddy::lb {
namespace {

using namespace eddy::literals;
using test::make_packet;
using test::make_set;
using test::Paths;

constexpr LeafId kFar{2};
constexpr PortId kPort{9};  // by which frames come in
// A base round trip of Paths is 16 us, and a queue is marked from 32 us on.
constexpr Duration kReply = 16_us;
constexpr Duration kBusy = 32_us;

PathSet set_to(LeafId leaf, size_t members, size_t first_port = 0) {
  PathSet set = make_set(members, first_port);
  set.leaf = leaf;
  return set;
}

struct Sent {  // what became of a packet
  MemberIndex member = 0;
  ShimFields fields;
  uint8_t epoch() const { return fields.epoch; }
  bool plain() const { return !fields.tail && !fields.rerouted; }
};

// A leaf with paths to another, whose frames the test makes.
class Leaf final : public Voice {
 public:
  explicit Leaf(size_t members, const ParameterMap& parameters = {}, test::Entity entity = {})
      : paths_({set_to(kFar, members), set_to(LeafId(3), members, 32)}),
        conweave_(test::make("conweave", paths_, parameters, entity)) {}
  // Queues are marked from there on.
  Leaf(size_t members, Bytes marking) : Leaf(members) {
    std::vector<PortLine> lines(paths_.lines().begin(), paths_.lines().end());
    for (PortLine& line : lines) line.marking = marking;
    const ParameterMap defaults;
    Result<std::unique_ptr<Selector>> made = make_selector("conweave", {.sets = paths_.sets(),
                                                                        .seed = 1,
                                                                        .switch_id = SwitchId(1),
                                                                        .shard = ShardId(0),
                                                                        .parameters = defaults,
                                                                        .lines = lines,
                                                                        .dre = paths_.dre()});
    conweave_ = std::move(made.value());
  }

  Sent go(uint64_t flow = 1, uint16_t set = 0, int more_flags = 0) {
    Packet packet = make_packet(flow);
    packet.flags = static_cast<uint16_t>(packet.flags | more_flags);
    test::select_one(*conweave_, paths_.measured_view(now_), packet, set);
    return dressed(packet, set);
  }
  // A wrapper, or who goes behind another of its flow, has another path for it.
  Sent go_by(MemberIndex member, uint64_t flow = 1) {
    Packet packet = make_packet(flow);
    conweave_->follow(paths_.measured_view(now_), packet, 0, member);
    return dressed(packet, 0);
  }
  void wait(Duration time) { now_ = now_ + time; }
  uint32_t ns() const { return PathRecord::wire_time(now_); }

  void hear(ShimControl message) {
    message.shim.source_leaf = kFar;
    HeardFrame frame{.message = message, .port = kPort};
    conweave_->agent()->on_frames(*this, {&frame, 1});
  }
  ShimControl answer(uint8_t flag, uint8_t epoch, uint32_t echoed_ns, uint64_t flow = 1) const {
    return {
        .shim = {.kind = ShimKind::clear, .flags = flag, .epoch = epoch, .echoed_ns = echoed_ns},
        .order_hash = make_packet(flow).order_hash};
  }
  void reply(uint8_t epoch, uint32_t asked_ns, uint64_t flow = 1) {
    hear(answer(kShimRttEcho, epoch, asked_ns, flow));
  }
  void clear(const Sent& moved, uint64_t flow = 1) {
    hear(answer(kShimTail, moved.epoch(), moved.fields.tail_sent_ns, flow));
  }
  void tell_busy(MemberIndex member) {
    hear({.shim = {.kind = ShimKind::notify, .feedback_path = PathId(size_t{member} << 8 | 0xff)},
          .reason = NotifyReason::path_busy});
  }
  // The other leaf has answered lately, to another flow.
  void make_speak() {
    go(1'000);
    reply(1, ns(), 1'000);
  }
  // A flow that has asked in vain: its next packet is a tail.
  Sent ask_in_vain(uint64_t flow = 1) {
    make_speak();
    const Sent first = go(flow);
    wait(kReply + 1_ns);
    return first;
  }
  void arrived(MemberIndex member, Duration ago = {}) { paths_.drained(0, member, now_ - ago); }
  void rebase(const Rebase& rebase) {
    rebase.shift(now_);
    paths_.rebase(rebase);
    conweave_->rebase(rebase);
  }
  Paths& world() { return paths_; }
  Selector& selector() { return *conweave_; }
  Instant now() const { return now_; }

  // lb::Voice
  PathView view() override { return paths_.measured_view(now_); }
  LeafId leaf() const override { return LeafId(1); }
  PathTable* paths() override { return &paths_.measured(); }
  bool is_own_set(uint16_t) const override { return true; }
  bool owns(PathKey) const override { return true; }
  bool wants_answer(PathKey) const override { return false; }
  bool stamps_prove() const override { return true; }
  void wake_others() override {}
  Duration proof_lag() const override { return {}; }
  bool send(const Utterance&) override { return true; }
  void disbelieve(PortId port) override {
    EXPECT_EQ(port, kPort);
    ++disbelieved;
  }
  int disbelieved = 0;

 private:
  Sent dressed(Packet& packet, uint16_t set) {
    Dressing dressing{.packet = &packet, .set = set};
    conweave_->agent()->dress(*this, {&dressing, 1});
    return {packet.member, dressing.fields};
  }

  Paths paths_;
  std::unique_ptr<Selector> conweave_;
  Instant now_ = Instant() + 1_s;
};

TEST(Conweave, TheFirstPacketOfAFlowBeginsAnEpochAndTheRestGoOnInIt) {
  Leaf leaf(4);
  const Sent first = leaf.go();
  EXPECT_EQ(first.fields.written, kFieldEpoch);
  EXPECT_EQ(first.epoch(), 1);
  for (int i = 0; i < 5; ++i) {
    leaf.wait(1_us);
    const Sent next = leaf.go();
    EXPECT_EQ(next.member, first.member);
    EXPECT_EQ(next.epoch(), 1);
    EXPECT_TRUE(next.plain());
  }
}

TEST(Conweave, AnAnswerInTimeBeginsTheNextEpochAndEpochsAreCountedToThree) {
  Leaf leaf(4);
  const MemberIndex member = leaf.go().member;
  for (const uint8_t epoch : {1, 2, 3, 1, 2}) {
    const uint32_t asked = leaf.ns();
    leaf.wait(kReply);
    leaf.reply(epoch, asked);
    const Sent next = leaf.go();
    EXPECT_EQ(next.epoch(), epoch == 3 ? 1 : epoch + 1);
    EXPECT_EQ(next.member, member);
    EXPECT_TRUE(next.plain());
  }
  EXPECT_EQ(leaf.disbelieved, 0);
}

// One nanosecond later than `reply`: the packet in hand is the tail by the old path.
TEST(Conweave, AfterALateAnswerATailIsSentAndTheRestGoByAnotherPath) {
  Leaf leaf(4);
  leaf.make_speak();
  const Sent first = leaf.go();
  const uint32_t asked = leaf.ns();
  leaf.wait(kReply);
  EXPECT_TRUE(leaf.go().plain());
  leaf.wait(1_ns);
  leaf.reply(first.epoch(), asked);  // too late
  const Sent tail = leaf.go();
  EXPECT_TRUE(tail.fields.tail);
  EXPECT_FALSE(tail.fields.rerouted);
  EXPECT_EQ(tail.member, first.member);
  EXPECT_EQ(tail.epoch(), first.epoch());
  EXPECT_EQ(tail.fields.tail_sent_ns, leaf.ns() & ~0xfu);
  for (int i = 0; i < 3; ++i) {
    leaf.wait(20_us);
    const Sent next = leaf.go();
    EXPECT_NE(next.member, first.member);
    EXPECT_TRUE(next.fields.rerouted);
    EXPECT_FALSE(next.fields.tail);
    EXPECT_EQ(next.epoch(), first.epoch());
    EXPECT_EQ(next.fields.tail_sent_ns, tail.fields.tail_sent_ns);
  }
}

TEST(Conweave, TheTimeForAnAnswerCanBeSet) {
  Leaf leaf(2, {{"reply", "5us"}});
  leaf.make_speak();
  leaf.go();
  leaf.wait(5_us);
  EXPECT_FALSE(leaf.go().fields.tail);
  leaf.wait(1_ns);
  EXPECT_TRUE(leaf.go().fields.tail);
}

TEST(Conweave, AClearedFlowAsksAnewOnItsNewPath) {
  Leaf leaf(4);
  leaf.ask_in_vain();
  const Sent tail = leaf.go();
  const Sent moved = leaf.go();
  leaf.clear(tail);
  const Sent next = leaf.go();
  EXPECT_EQ(next.member, moved.member);
  EXPECT_EQ(next.epoch(), tail.epoch() + 1);
  EXPECT_TRUE(next.plain());
  EXPECT_EQ(leaf.disbelieved, 0);
  leaf.clear(tail);  // doubled
  EXPECT_EQ(leaf.disbelieved, 1);
  EXPECT_EQ(leaf.go().epoch(), next.epoch());
}

// A flow that was moved once is not moved again before the old path is known to be empty.
TEST(Conweave, WithoutAClearAFlowStaysAndLiesChangeNothing) {
  Leaf leaf(4);
  leaf.ask_in_vain();
  const Sent tail = leaf.go();
  const Sent moved = leaf.go();
  const uint32_t sent = tail.fields.tail_sent_ns;
  leaf.hear(leaf.answer(kShimTail, tail.epoch(), sent + 16));  // of another tail
  leaf.hear(leaf.answer(kShimTail, tail.epoch() + 1, sent));   // of another epoch
  leaf.hear(leaf.answer(kShimTail | kShimPinned, tail.epoch(), sent));
  leaf.hear(leaf.answer(0, tail.epoch(), sent));
  EXPECT_EQ(leaf.disbelieved, 4);
  leaf.reply(tail.epoch(), sent);  // the late answer: no lie
  EXPECT_EQ(leaf.disbelieved, 4);
  ShimControl of_another_leaf = leaf.answer(kShimTail, tail.epoch(), sent);
  of_another_leaf.shim.source_leaf = LeafId(3);
  HeardFrame frame{.message = of_another_leaf, .port = kPort};
  leaf.selector().agent()->on_frames(leaf, {&frame, 1});
  EXPECT_EQ(leaf.disbelieved, 5);
  leaf.wait(100_us);
  const Sent next = leaf.go();
  EXPECT_EQ(next.member, moved.member);
  EXPECT_TRUE(next.fields.rerouted);
}

TEST(Conweave, AnAnswerToWhatWasNotAskedIsNotBelieved) {
  Leaf leaf(4);
  const Sent first = leaf.go();
  const uint32_t asked = leaf.ns();
  leaf.reply(first.epoch() + 1, asked);
  leaf.reply(first.epoch(), asked - 1);
  leaf.reply(first.epoch(), asked + 65'537);
  EXPECT_EQ(leaf.disbelieved, 3);
  EXPECT_EQ(leaf.go().epoch(), first.epoch());
  leaf.reply(first.epoch(), asked, 77);  // of a flow that is not here: another shard may know it
  EXPECT_EQ(leaf.disbelieved, 3);
  leaf.reply(first.epoch(), asked + 65'536);
  leaf.reply(first.epoch(), asked);  // doubled
  EXPECT_EQ(leaf.disbelieved, 4);
}

// In a mixed fabric nobody would put such a flow in order, nor answer.
TEST(Conweave, FlowsStayWhereTheOtherLeafDoesNotSpeak) {
  Leaf leaf(4);
  const Sent first = leaf.go();
  for (int i = 0; i < 200; ++i) {
    leaf.wait(10_us);
    const Sent next = leaf.go();
    EXPECT_EQ(next.member, first.member);
    EXPECT_TRUE(next.plain());
  }
  leaf.make_speak();
  EXPECT_TRUE(leaf.go().fields.tail);
}

TEST(Conweave, ALeafThatFellSilentIsNotBelievedToSpeak) {
  Leaf leaf(4);
  leaf.make_speak();
  leaf.wait(300_us * 32 - kReply - 2_ns);
  leaf.go();
  leaf.go(2);
  leaf.wait(kReply + 2_ns - 1_ps);
  EXPECT_TRUE(leaf.go().fields.tail);
  leaf.wait(1_ps);
  EXPECT_FALSE(leaf.go(2).fields.tail);
}

TEST(Conweave, APathThatWasToldOfAsBusyIsNotMovedTo) {
  Leaf leaf(3);
  leaf.make_speak();
  for (uint64_t flow = 1; flow <= 60; ++flow) leaf.go(flow);
  leaf.wait(kReply + 1_ns);
  leaf.tell_busy(1);
  std::set<MemberIndex> moved_to;
  for (uint64_t flow = 1; flow <= 60; ++flow)
    if (leaf.go(flow).fields.tail) moved_to.insert(leaf.go(flow).member);
  EXPECT_EQ(moved_to, (std::set<MemberIndex>{0, 2}));
  EXPECT_EQ(leaf.disbelieved, 0);
}

// As eddyctl shows it.
TEST(Conweave, ItIsKnownForHowLongAPathIsBusyAndWhatFlowsAreAt) {
  Leaf leaf(3);
  leaf.make_speak();  // by a flow that is settled
  const auto busy = [&](MemberIndex m) { return leaf.selector().knowledge(leaf.now(), 0, m).busy; };
  leaf.tell_busy(1);
  leaf.wait(1_us);
  EXPECT_EQ(busy(1), kBusy - 1_us);
  EXPECT_EQ(busy(0), Duration{});
  leaf.wait(kBusy);
  EXPECT_EQ(busy(1), Duration{});
  for (uint64_t flow = 1; flow <= 3; ++flow) leaf.go(flow);
  leaf.wait(kReply + 1_ns);
  ASSERT_TRUE(leaf.go(1).fields.tail);
  const FlowTableUse use = leaf.selector().flow_table(leaf.now(), 0, 65'536);
  EXPECT_TRUE(use.phased);
  EXPECT_EQ(use.used, 4u);
  EXPECT_EQ(use.asking, 2u);
  EXPECT_EQ(use.moved, 1u);
}

TEST(Conweave, WhereAllOthersAreBusyAFlowStaysUntilTheyAreNot) {
  Leaf leaf(3);
  const Sent first = leaf.ask_in_vain();
  for (MemberIndex i = 0; i < 3; ++i) leaf.tell_busy(i);
  leaf.wait(kBusy - 1_ps);
  EXPECT_TRUE(leaf.go().plain());
  leaf.wait(1_ps);
  const Sent tail = leaf.go();
  EXPECT_TRUE(tail.fields.tail);
  EXPECT_EQ(tail.member, first.member);
}

// Kmin * 8 / C: 100 kB take 32 us at 25 Gb/s and 8 us at 100 Gb/s; 160 kB at 40 Gb/s 32 us.
TEST(Conweave, HowLongAPathIsBusyCanBeSet) {
  Leaf leaf(2, {{"busy", "9us"}});
  leaf.ask_in_vain();
  leaf.tell_busy(0);
  leaf.tell_busy(1);
  leaf.wait(9_us - 1_ps);
  EXPECT_FALSE(leaf.go().fields.tail);
  leaf.wait(1_ps);
  EXPECT_TRUE(leaf.go().fields.tail);
}

// Before that no news can come.
TEST(Conweave, APathIsBusyForARoundTripAtLeast) {
  Leaf leaf(2, 5'000_B);  // 1 us at 40 Gb/s
  leaf.ask_in_vain();
  leaf.tell_busy(0);
  leaf.tell_busy(1);
  leaf.wait(kReply - 1_ps);
  EXPECT_FALSE(leaf.go().fields.tail);
  leaf.wait(1_ps);
  EXPECT_TRUE(leaf.go().fields.tail);
}

TEST(Conweave, ANoticeOfNoPathOfOursIsNotBelieved) {
  Leaf leaf(2);
  leaf.tell_busy(2);
  ShimControl kicked{.shim = {.kind = ShimKind::notify, .feedback_path = PathId(0x00ff)},
                     .reason = NotifyReason::kicked_out};
  leaf.hear(kicked);
  EXPECT_EQ(leaf.disbelieved, 2);
}

TEST(Conweave, NewFlowsKeepAwayFromBusyPaths) {
  Leaf leaf(4);
  for (MemberIndex i = 0; i < 3; ++i) leaf.tell_busy(i);
  int quiet = 0;
  for (uint64_t flow = 1; flow <= 400; ++flow) quiet += leaf.go(flow).member == 3 ? 1 : 0;
  // Drawn first or second (7 of 16), or else by hash (a quarter of 9).
  EXPECT_NEAR(quiet, 400 * (7.0 / 16 + 9.0 / 64), 45);
}

TEST(Conweave, AfterASilenceAPathIsTakenAnewIfAllHasArrived) {
  Leaf leaf(8);
  std::set<MemberIndex> taken;
  const MemberIndex home = leaf.go().member;
  for (int i = 0; i < 40; ++i) {
    leaf.wait(300_us + 1_ns);
    for (MemberIndex m = 0; m < 8; ++m) leaf.arrived(m, 300_us - 1_ns);
    const Sent next = leaf.go();
    EXPECT_TRUE(next.plain());
    taken.insert(next.member);
  }
  EXPECT_GT(taken.size(), 5u) << "from " << int{home};
}

TEST(Conweave, AfterASilenceAFlowStaysWhileItMayBeUnderWayAndAsksAnew) {
  Leaf leaf(8);
  const Sent first = leaf.go();
  uint8_t epoch = first.epoch();
  for (int i = 0; i < 40; ++i) {
    leaf.wait(300_us + 1_ns);
    for (MemberIndex m = 0; m < 8; ++m) leaf.arrived(m, 300_us + 2_ns);
    const Sent next = leaf.go();
    EXPECT_EQ(next.member, first.member);
    EXPECT_NE(next.epoch(), epoch);
    epoch = next.epoch();
  }
  leaf.wait(300_us);
  for (MemberIndex m = 0; m < 8; ++m) leaf.arrived(m);
  EXPECT_EQ(leaf.go().epoch(), epoch) << "not silent for longer";
}

TEST(Conweave, AFlowThatWaitsForAClearKeepsWaitingThroughASilence) {
  Leaf leaf(4);
  leaf.ask_in_vain();
  leaf.go();
  const Sent moved = leaf.go();
  leaf.wait(400_us);
  const Sent next = leaf.go();
  EXPECT_EQ(next.member, moved.member);
  EXPECT_TRUE(next.fields.rerouted);
}

// Its tail may be stuck on the path that it left, whatever has arrived by the new one.
TEST(Conweave, ATailThatIsOutIsNotForgottenInASilence) {
  Leaf leaf(4);
  leaf.ask_in_vain();
  leaf.go();
  const Sent moved = leaf.go();
  for (int i = 0; i < 10; ++i) {
    leaf.wait(1_ms);
    for (MemberIndex m = 0; m < 4; ++m) leaf.arrived(m);
    const Sent next = leaf.go();
    EXPECT_EQ(next.member, moved.member);
    EXPECT_EQ(next.epoch(), moved.epoch());
    EXPECT_TRUE(next.fields.rerouted);
  }
  leaf.clear(moved);
  leaf.wait(1_ms);
  for (MemberIndex m = 0; m < 4; ++m) leaf.arrived(m);
  EXPECT_TRUE(leaf.go().plain()) << "it is known to have come";
}

TEST(Conweave, AFlowLeavesAPathThatIsDownAtOnceAndAsksAnew) {
  Leaf leaf(4);
  const Sent first = leaf.go();
  leaf.world().live() &= ~bit_of(first.member);
  const Sent next = leaf.go();
  EXPECT_NE(next.member, first.member);
  EXPECT_TRUE(next.plain());
  EXPECT_EQ(next.epoch(), first.epoch() + 1);
}

// RLB, or a loop in which packets of the flow went round.
TEST(Conweave, AFlowThatWasSentByAnotherPathGoesOnThereInANewEpoch) {
  Leaf leaf(4);
  const Sent first = leaf.go();
  const auto other = static_cast<MemberIndex>((first.member + 1) % 4);
  const Sent taken = leaf.go_by(other);
  EXPECT_EQ(taken.epoch(), first.epoch() + 1);
  const Sent next = leaf.go();
  EXPECT_EQ(next.member, other);
  EXPECT_EQ(next.epoch(), taken.epoch());
}

// 64 places are 16 lines of four.
TEST(Conweave, AFullTableForgetsNobodyAndStrangersGoByTheirHash) {
  Leaf leaf(4, {{"flows", "64"}});
  std::vector<uint64_t> strangers;
  for (uint64_t flow = 1; flow <= 300; ++flow)
    if (leaf.go(flow).fields.written == 0) strangers.push_back(flow);
  EXPECT_EQ(strangers.size(), 300u - 64u);
  EXPECT_EQ(leaf.selector().flow_table(leaf.now(), 0, 64).used, 64u);
  const uint64_t stranger = strangers.back();
  const MemberIndex home = leaf.go(stranger).member;
  for (int i = 0; i < 5; ++i) EXPECT_EQ(leaf.go(stranger).member, home);
  leaf.wait(300_us + 1_ns);
  EXPECT_EQ(leaf.go(stranger).fields.written, 0) << "the others may be under way";
  for (MemberIndex m = 0; m < 4; ++m) leaf.arrived(m);
  const Sent placed = leaf.go(stranger);
  EXPECT_EQ(placed.member, home) << "and it may be, too";
  EXPECT_NE(placed.epoch(), 0);
}

TEST(Conweave, WhereNothingIsMeasuredFlowsGiveWayAfterALongTime) {
  Leaf leaf(4, {{"flows", "64"}});
  for (uint64_t flow = 1; flow <= 300; ++flow) leaf.go(flow);
  leaf.wait(300_us * 64);
  for (uint64_t flow = 301; flow <= 310; ++flow) EXPECT_EQ(leaf.go(flow).fields.written, 0);
  leaf.wait(1_ns);
  for (uint64_t flow = 311; flow <= 313; ++flow) EXPECT_NE(leaf.go(flow).fields.written, 0);
}

// Two flows of one hash to other leaves: the second is not told of.
TEST(Conweave, AFlowOfAnotherSetGoesByItsHash) {
  Leaf leaf(4);
  leaf.go(1, 0);
  EXPECT_EQ(leaf.go(1, 1).fields.written, 0);
  EXPECT_EQ(leaf.go(1, 0).epoch(), 1);
}

// At a spine, or a leaf on the way of a dragonfly: another leaf's flow keeps to one path.
TEST(Conweave, PacketsOfOtherLeavesGoByTheirHashAndAreForgotten) {
  Leaf leaf(8);
  leaf.make_speak();
  std::set<MemberIndex> used;
  for (uint64_t flow = 1; flow <= 100; ++flow) {
    const MemberIndex member = leaf.go(flow, 0, kPacketShim).member;
    used.insert(member);
    leaf.wait(kReply + 1_ns);
    const Sent next = leaf.go(flow, 0, kPacketShim);
    EXPECT_EQ(next.member, member);
    EXPECT_EQ(next.fields.written, 0);
  }
  EXPECT_EQ(used.size(), 8u);
  EXPECT_EQ(leaf.selector().flow_table(leaf.now(), 0, 65'536).used, 1u);
}

TEST(Conweave, RepliesOfHostsGoByEcmpAndSayNothing) {
  Leaf leaf(4);
  EXPECT_EQ(leaf.go(1, 0, kPacketRoce | kPacketRoceControl).fields.written, 0);
  Leaf by_scheme(4, {}, {.control_by_scheme = true});
  EXPECT_EQ(by_scheme.go(1, 0, kPacketRoce | kPacketRoceControl).epoch(), 1);
}

TEST(Conweave, ARebaseChangesNothing) {
  for (const bool rebased : {false, true}) {
    Leaf leaf(3);
    leaf.ask_in_vain();
    for (MemberIndex i = 0; i < 3; ++i) leaf.tell_busy(i);
    if (rebased) leaf.rebase(Rebase(Rebase::Way::forward));
    leaf.wait(kBusy - 1_ps);
    EXPECT_FALSE(leaf.go().fields.tail);
    leaf.wait(1_ps);
    EXPECT_TRUE(leaf.go().fields.tail);
    EXPECT_TRUE(leaf.go().fields.rerouted);
  }
}

}  // namespace
}  // namespace eddy::lb
