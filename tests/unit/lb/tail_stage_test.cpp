// ConWeave at the receiver's leaf: what waits for its flow's tail, for how long, and what the
// sender's leaf is told.
#include "lb/stages/tail_stage.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <map>
#include <string>
#include <vector>

#include "lb/members.h"
#include "tests/support/packet_pool.h"

namespace eddy::lb {
namespace {

using namespace eddy::literals;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr LeafId kSender{7};
constexpr uint32_t kLength = 1'000;
constexpr Instant kStart = Instant() + 1_s;

enum class Is : uint8_t { plain, tail, rerouted };

struct Spec {
  Is is = Is::plain;
  int epoch = 1;
  Duration sent{};     // since kStart
  Duration tail_at{};  // likewise: what a tail and those behind it say
  uint64_t flow = 1;
  size_t port = 0;
  uint16_t path = 0x00ff;
  bool ce = false;
};

// The switch around the stage, and the frames.
class Desk final : public StageView {
 public:
  explicit Desk(const TailStage::Plan& plan = {.flows = 64,
                                               .queues = 31,
                                               .octets = 100'000,
                                               .slack = 16_us,
                                               .wait = 200_us,
                                               .notice = 4_us})
      : StageView(now_, nullptr), stage_(plan) {
    place_ = StagePlace::to_hosts;
    bounds_ = stage_.bounds();
  }
  // Its number.
  int take(const Spec& spec, uint16_t more_flags = kPacketShim) {
    Packet* packet = pool_.get(frame_of(spec));
    packet->wire_len = kLength;
    packet->l2_len = kEthernetHeader + kShimHeader;
    packet->flags = static_cast<uint16_t>(kPacketIp | more_flags | (spec.ce ? kPacketCe : 0));
    packet->order_hash = mix64(spec.flow);
    packet->egress_port = PortId(spec.port);
    numbers_[packet] = ++last_;
    stage_.take(*this, std::array{packet});
    return last_;
  }
  int plain(Duration sent, int epoch = 1) { return take({.epoch = epoch, .sent = sent}); }
  int tail(Duration at, int epoch = 1) {
    return take({.is = Is::tail, .epoch = epoch, .sent = at, .tail_at = at});
  }
  int rerouted(Duration sent, Duration tail_at, int epoch = 1) {
    return take({.is = Is::rerouted, .epoch = epoch, .sent = sent, .tail_at = tail_at});
  }
  void go_to(Duration since_start) {
    const Instant end = kStart + since_start;
    while (stage_.next_deadline() <= end) {
      now_ = stage_.next_deadline();
      stage_.on_timers(*this);
    }
    now_ = end;
  }
  // What has gone on since it was asked last.
  std::vector<int> out() {
    std::vector<int> numbers;
    while (!passed_.empty()) {
      Packet* packet = passed_.pop();
      numbers.push_back(numbers_.at(packet));
      pool_.put(packet);
    }
    return numbers;
  }
  // What the sender's leaf was told, as "reply 1", "clear 1" or "busy", since it was asked last.
  std::vector<std::string> told() {
    std::vector<std::string> all;
    for (const ShimControl& message : stage_.answers()) {
      EXPECT_EQ(message.shim.destination_leaf, kSender);
      const bool of_path = message.shim.kind == ShimKind::notify;
      EXPECT_TRUE(of_path || message.shim.kind == ShimKind::clear);
      last_told_ = message;
      const std::string epoch = " " + std::to_string(message.shim.epoch);
      all.push_back(of_path                                  ? "busy"
                    : message.shim.flags == kRequestAnswered ? "reply" + epoch
                                                             : "clear" + epoch);
    }
    EXPECT_EQ(stage_.answers_since() == Instant::never(), all.empty());
    stage_.clear_answers();
    return all;
  }
  const ShimControl& last_told() const { return last_told_; }
  Duration due() const { return stage_.next_deadline() - kStart; }
  bool waits() const { return stage_.next_deadline() != Instant::never(); }
  int count(StageEvent event) const { return counts_[static_cast<size_t>(event)]; }
  TailStage& stage() { return stage_; }
  void rebase(const Rebase& rebase) {
    rebase.shift(now_);
    stage_.rebase(rebase);
  }
  Instant time() const { return now_; }
  void advance(Duration time) { now_ = now_ + time; }

  void mark_ce(Packet&) override {}
  void set_dscp(Packet&, uint8_t) override {}
  void report(StageEvent event, const Packet&) override { ++counts_[static_cast<size_t>(event)]; }

 private:
  static std::array<uint8_t, 64> frame_of(const Spec& spec) {
    std::array<uint8_t, 64> frame{};
    Shim shim{.source_leaf = kSender,
              .destination_leaf = LeafId(1),
              .path = PathId(spec.path),
              .epoch = static_cast<uint8_t>(spec.epoch),
              .sent_ns = static_cast<uint32_t>((kStart + spec.sent).ps() / 1'000)};
    if (spec.is == Is::tail) shim.flags = kShimTail;
    if (spec.is == Is::rerouted) shim.flags = kShimRerouted;
    if (spec.is != Is::plain)
      shim.hold_ns = static_cast<uint32_t>((kStart + spec.tail_at).ps() / 1'000);
    encode(shim, Octets(frame.data() + kEthernetHeader, kShimHeader));
    return frame;
  }
  void taken(Packet&) override {}

  Instant now_ = kStart;
  TailStage stage_;
  eddy::test::PacketPool pool_{256};
  std::map<Packet*, int> numbers_;
  int last_ = 0;
  ShimControl last_told_;
  std::array<int, kStageEvents> counts_{};
};

TEST(TailStage, TheFirstPacketOfEachEpochIsAnswered) {
  Desk desk;
  desk.plain(1_us);
  EXPECT_THAT(desk.told(), ElementsAre("reply 1"));
  EXPECT_EQ(desk.last_told().order_hash, mix64(1));
  EXPECT_EQ(desk.last_told().shim.echoed_ns, (kStart + 1_us).ps() / 1'000);
  desk.plain(2_us);
  EXPECT_THAT(desk.told(), IsEmpty());
  for (const int epoch : {2, 3, 1, 2}) {
    desk.plain(3_us, epoch);
    EXPECT_THAT(desk.told(), ElementsAre("reply " + std::to_string(epoch)));
  }
  EXPECT_THAT(desk.out(), ElementsAre(1, 2, 3, 4, 5, 6));
}

// A whole epoch was lost: what was sent later is newer, whatever its number.
TEST(TailStage, AnEpochThatWasLostIsSkippedAndAnOldOneIsNotBegunAgain) {
  Desk desk;
  desk.plain(5_us, 1);
  desk.plain(9_us, 3);
  EXPECT_THAT(desk.told(), ElementsAre("reply 1", "reply 3"));
  desk.plain(8_us, 2);
  EXPECT_THAT(desk.told(), IsEmpty());
  desk.plain(10_us, 3);
  EXPECT_THAT(desk.told(), IsEmpty());
  EXPECT_THAT(desk.out(), ElementsAre(1, 2, 3, 4));
}

TEST(TailStage, WhatHasOvertakenTheTailWaitsForItAndGoesOnBehindIt) {
  Desk desk;
  desk.plain(0_us);
  desk.rerouted(12_us, 10_us);
  desk.rerouted(13_us, 10_us);
  desk.plain(9_us);
  EXPECT_THAT(desk.out(), ElementsAre(1, 4));
  EXPECT_EQ(desk.held_packets(), 2u);
  EXPECT_THAT(desk.told(), ElementsAre("reply 1"));
  desk.tail(10_us);
  EXPECT_THAT(desk.out(), ElementsAre(5, 2, 3));
  EXPECT_THAT(desk.told(), ElementsAre("clear 1"));
  EXPECT_EQ(desk.last_told().shim.echoed_ns, (kStart + 10_us).ps() / 1'000);
  EXPECT_EQ(desk.last_told().order_hash, mix64(1));
  desk.rerouted(14_us, 10_us);
  desk.tail(10_us);  // doubled
  EXPECT_THAT(desk.out(), ElementsAre(6, 7));
  EXPECT_THAT(desk.told(), IsEmpty());
  EXPECT_FALSE(desk.waits());
  desk.plain(20_us, 2);
  EXPECT_THAT(desk.told(), ElementsAre("reply 2"));
}

TEST(TailStage, BehindATailThatHasComeNothingWaits) {
  Desk desk;
  desk.plain(0_us);
  desk.tail(10_us);
  desk.rerouted(12_us, 10_us);
  EXPECT_THAT(desk.out(), ElementsAre(1, 2, 3));
  EXPECT_THAT(desk.told(), ElementsAre("reply 1", "clear 1"));
}

// Nothing but what overtook has come yet: of the old path it is not known how long it takes.
TEST(TailStage, WhereNothingCameByTheOldPathTheTailIsWaitedForByDefault) {
  Desk desk;
  desk.rerouted(12_us, 10_us);
  EXPECT_EQ(desk.due(), 200_us);
  desk.go_to(200_us - 1_ps);
  EXPECT_THAT(desk.out(), IsEmpty());
  desk.go_to(200_us);
  EXPECT_THAT(desk.out(), ElementsAre(1));
  EXPECT_THAT(desk.told(), ElementsAre("clear 1"));
  EXPECT_EQ(desk.count(StageEvent::missed_flow), 1);
  desk.tail(10_us);
  EXPECT_THAT(desk.out(), ElementsAre(2));
  EXPECT_THAT(desk.told(), IsEmpty()) << "the sender has been told";
}

// Reference A.13: the last packet of the old path came at 20 us and was sent at 4 us, the tail was
// sent at 10 us: it should come at 26 us, and 16 us later it is given up.
TEST(TailStage, ATailIsExpectedAsLateAsTheLastPacketOfTheOldPath) {
  Desk desk;
  desk.go_to(20_us);
  desk.plain(4_us);
  desk.go_to(21_us);
  desk.rerouted(12_us, 10_us);
  EXPECT_EQ(desk.due(), 42_us);
  desk.go_to(30_us);
  desk.plain(7_us);
  EXPECT_EQ(desk.due(), 30_us + 3_us + 16_us);
  desk.go_to(48_us);
  EXPECT_THAT(desk.out(), ElementsAre(1, 3));
  desk.go_to(49_us);
  EXPECT_THAT(desk.out(), ElementsAre(2));
  EXPECT_EQ(desk.count(StageEvent::missed_flow), 1);
}

// What is due is due now, not before.
TEST(TailStage, ATailThatShouldHaveComeIsNotWaitedFor) {
  Desk desk;
  desk.plain(0_us);
  desk.go_to(100_us);
  desk.rerouted(99_us, 10_us);
  EXPECT_EQ(desk.due(), 100_us);
  desk.go_to(100_us);
  EXPECT_THAT(desk.out(), ElementsAre(1, 2));
}

TEST(TailStage, NoPacketIsHeldForLongerThanItSays) {
  Desk desk;
  EXPECT_EQ(desk.stage().bounds().longest, 3'200_us);
  desk.plain(0_us);
  desk.rerouted(101_us, 100_us);
  for (int i = 1; i <= 320; ++i) {
    desk.go_to(10_us * i - 1_ps);
    ASSERT_EQ(desk.held_packets(), 1u) << i;
    desk.plain(50_us);
    EXPECT_EQ(desk.out().size(), i == 1 ? 2u : 1u);
  }
  desk.go_to(3'200_us);
  EXPECT_EQ(desk.held_packets(), 0u);
}

TEST(TailStage, PacketsOfTheEpochBeforeAreOfTheOldPathAndLaterOnesGoBehind) {
  Desk desk;
  desk.plain(0_us, 1);
  desk.rerouted(12_us, 10_us, 2);
  desk.plain(1_us, 1);
  EXPECT_THAT(desk.out(), ElementsAre(1, 3));
  desk.plain(15_us, 3);  // the sender has forgotten the flow
  EXPECT_THAT(desk.out(), IsEmpty());
  desk.tail(10_us, 2);
  EXPECT_THAT(desk.out(), ElementsAre(5, 2, 4));
  EXPECT_THAT(desk.told(), ElementsAre("reply 1", "clear 2"));
}

TEST(TailStage, ASecondTailUnderWayEndsTheWait) {
  Desk desk;
  desk.rerouted(12_us, 10_us, 1);
  desk.rerouted(32_us, 30_us, 2);
  EXPECT_THAT(desk.out(), ElementsAre(1));
  EXPECT_EQ(desk.count(StageEvent::missed_flow), 1);
  EXPECT_EQ(desk.held_packets(), 1u);
  desk.tail(30_us, 2);
  EXPECT_THAT(desk.out(), ElementsAre(3, 2));
}

// Of which the sender's leaf lost what it knew: it may count as it did.
TEST(TailStage, AFlowThatBeginsAnewInTheSameEpochIsAnswered) {
  Desk desk;
  desk.plain(0_us);
  desk.tail(10_us);
  desk.rerouted(11_us, 10_us);
  EXPECT_THAT(desk.told(), ElementsAre("reply 1", "clear 1"));
  desk.plain(9_us);  // late, after a flush: nothing new
  EXPECT_THAT(desk.told(), IsEmpty());
  desk.plain(500_us);
  EXPECT_THAT(desk.told(), ElementsAre("reply 1"));
  desk.rerouted(512_us, 510_us);
  EXPECT_EQ(desk.held_packets(), 1u);
}

TEST(TailStage, ASenderThatHasNotHeardIsToldAgainAfterAWhile) {
  Desk desk;
  desk.tail(0_us);
  EXPECT_THAT(desk.told(), ElementsAre("clear 1"));
  desk.go_to(200_us);
  desk.rerouted(190_us, 0_us);
  EXPECT_THAT(desk.told(), IsEmpty());
  desk.go_to(201_us);
  desk.rerouted(191_us, 0_us);
  desk.rerouted(192_us, 0_us);
  EXPECT_THAT(desk.told(), ElementsAre("clear 1"));
}

TEST(TailStage, WithoutAQueueAFlowGoesOnOutOfOrderAndIsCounted) {
  Desk desk({.flows = 64, .queues = 1, .octets = 100'000, .slack = 16_us, .wait = 200_us});
  desk.rerouted(12_us, 10_us);
  const auto of_other = [](Is is) {
    return Spec{.is = is, .sent = 12_us, .tail_at = 10_us, .flow = 2};
  };
  desk.take(of_other(Is::rerouted));
  desk.take(of_other(Is::rerouted));
  EXPECT_THAT(desk.out(), ElementsAre(2, 3));
  EXPECT_EQ(desk.count(StageEvent::forced_flow), 1);
  EXPECT_THAT(desk.told(), IsEmpty());
  desk.take(of_other(Is::tail));
  EXPECT_THAT(desk.told(), ElementsAre("clear 1"));
  desk.take({.is = Is::rerouted, .sent = 12_us, .tail_at = 10_us, .flow = 3, .port = 1});
  EXPECT_EQ(desk.held_packets(), 2u) << "another port";
  desk.tail(10_us);
  EXPECT_THAT(desk.out(), ElementsAre(4, 6, 1));
  desk.take({.is = Is::rerouted, .sent = 12_us, .tail_at = 10_us, .flow = 4});
  EXPECT_EQ(desk.held_packets(), 2u) << "the place is free again";
}

TEST(TailStage, WithoutRoomAFlowGoesOnInItsOrder) {
  Desk desk({.flows = 64, .queues = 31, .octets = 2 * kLength, .slack = 16_us, .wait = 200_us});
  for (int i = 0; i < 3; ++i) desk.rerouted(12_us, 10_us);
  EXPECT_THAT(desk.out(), ElementsAre(1, 2, 3));
  EXPECT_EQ(desk.count(StageEvent::forced_flow), 1);
  EXPECT_FALSE(desk.waits());
  desk.rerouted(13_us, 10_us);
  EXPECT_THAT(desk.out(), ElementsAre(4));
}

// 4 places are one line. Flows in order make room, others do not.
TEST(TailStage, WithoutAPlaceAFlowIsPassedAndCounted) {
  Desk desk({.flows = 4, .queues = 31, .octets = 100'000, .slack = 16_us, .wait = 200_us});
  const auto of = [](uint64_t flow) {
    return Spec{.is = Is::rerouted, .sent = 12_us, .tail_at = 10_us, .flow = flow};
  };
  for (uint64_t flow = 1; flow <= 4; ++flow) desk.take(of(flow));
  desk.take(of(5));
  EXPECT_THAT(desk.out(), ElementsAre(5));
  EXPECT_EQ(desk.count(StageEvent::placeless_packet), 1);
  desk.take({.is = Is::tail, .sent = 10_us, .tail_at = 10_us, .flow = 1});
  desk.take(of(5));
  EXPECT_EQ(desk.count(StageEvent::placeless_packet), 2) << "flow 1 goes by its new path";
  desk.take({.epoch = 2, .sent = 20_us, .flow = 1});
  desk.take(of(5));
  EXPECT_EQ(desk.count(StageEvent::placeless_packet), 2);
  EXPECT_EQ(desk.held_packets(), 4u);
}

TEST(TailStage, AMarkedPacketIsToldOfOnceAWhileAndPath) {
  Desk desk;
  const auto marked = [&](uint16_t path, uint64_t flow) {
    desk.take({.flow = flow, .path = path, .ce = true});
    return desk.told();
  };
  EXPECT_THAT(marked(0x01ff, 1), ElementsAre("busy", "reply 1"));
  EXPECT_EQ(desk.last_told().shim.kind, ShimKind::clear);
  EXPECT_THAT(marked(0x01ff, 1), IsEmpty());
  EXPECT_THAT(marked(0x02ff, 1), ElementsAre("busy"));
  EXPECT_EQ(desk.last_told().shim.feedback_path, PathId(0x02ff));
  EXPECT_EQ(desk.last_told().reason, NotifyReason::path_busy);
  desk.go_to(4_us - 1_ps);
  EXPECT_THAT(marked(0x01ff, 1), IsEmpty());
  desk.go_to(4_us);
  EXPECT_THAT(marked(0x01ff, 1), ElementsAre("busy"));
}

// Its shim has no epoch, or there is none.
TEST(TailStage, ASenderThatDoesNotSpeakIsNotAnswered) {
  Desk desk;
  desk.take({.is = Is::rerouted, .epoch = 0, .ce = true});
  desk.take({.is = Is::rerouted}, 0);
  desk.take({.is = Is::rerouted}, kPacketShim | kPacketOriginated);
  EXPECT_THAT(desk.out(), ElementsAre(1, 2, 3));
  EXPECT_THAT(desk.told(), IsEmpty());
}

TEST(TailStage, EverythingCanBeTakenBack) {
  Desk desk;
  desk.rerouted(12_us, 10_us);
  desk.take({.is = Is::rerouted, .sent = 12_us, .tail_at = 10_us, .flow = 2});
  desk.rerouted(13_us, 10_us);
  desk.stage().release_all(desk);
  EXPECT_THAT(desk.out(), testing::UnorderedElementsAre(1, 2, 3));
  EXPECT_EQ(desk.held_packets(), 0u);
  EXPECT_FALSE(desk.waits());
  desk.rerouted(14_us, 10_us);
  EXPECT_THAT(desk.out(), ElementsAre(4));
  desk.tail(10_us);
  EXPECT_THAT(desk.told(), ElementsAre("clear 1"));
}

TEST(TailStage, ARebaseChangesNothing) {
  Desk desk;
  desk.rerouted(12_us, 10_us);
  desk.take({.flow = 2, .ce = true});
  const Instant before = desk.time();
  desk.rebase(Rebase(Rebase::Way::forward));
  EXPECT_EQ(desk.stage().next_deadline() - desk.time(), 200_us);
  EXPECT_EQ(desk.stage().answers_since(), desk.time());
  EXPECT_NE(desk.time(), before);
  desk.told();
  desk.advance(4_us - 1_ps);
  desk.take({.flow = 2, .ce = true});
  EXPECT_THAT(desk.told(), IsEmpty());
  desk.advance(1_ps);
  desk.take({.flow = 2, .ce = true});
  EXPECT_THAT(desk.told(), ElementsAre("busy"));
  desk.tail(10_us);
  EXPECT_EQ(desk.held_packets(), 0u);
}

TEST(TailStage, OfTooManyAnswersTheLastAreNotGiven) {
  Desk desk({.flows = 65'536, .queues = 31, .octets = 100'000, .slack = 16_us, .wait = 200_us});
  for (uint64_t flow = 1; flow <= 1'100; ++flow) {
    desk.take({.flow = flow});
    desk.out();
  }
  EXPECT_EQ(desk.stage().answers().size(), TailStage::kMostAnswers);
}

}  // namespace
}  // namespace eddy::lb
