#include "plugin/guarded_stage.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <optional>
#include <stdexcept>
#include <vector>

#include "net/random.h"
#include "tests/support/paths.h"
#include "tests/support/stages.h"

namespace eddy::plugin {
namespace {

using eddy::test::Hoarder;
using eddy::test::TestStage;
using eddy::test::Turner;
using lb::StageEvent;
using testing::ElementsAre;
using testing::IsEmpty;
using namespace eddy::literals;

constexpr uint16_t kLength = 100;

// A switch: packets are told apart by their order hash.
class StageDesk final : public lb::StageView {
 public:
  explicit StageDesk(const lb::FlowStage& stage) : StageView(now_, &port_) {
    bounds_ = stage.bounds();
  }
  void mark_ce(Packet& packet) override { packet.set(kPacketCe); }
  void set_dscp(Packet& packet, uint8_t dscp) override { packet.queue = QueueId(dscp % 8); }
  void report(StageEvent event, const Packet& packet) override {
    if (event == StageEvent::forced_flow) emptied_.push_back(packet.order_hash);
  }
  // What has gone on since it was asked last.
  std::vector<uint64_t> out() {
    std::vector<uint64_t> names;
    while (!passed_.empty()) names.push_back(passed_.pop()->order_hash);
    return names;
  }
  std::vector<uint64_t> emptied_;
  uint64_t taken_ = 0;

 private:
  void taken(Packet&) override { ++taken_; }
  Instant now_;
  lb::PortSignals port_{};
};

// Holds odd packets, passes even ones, and throws when it comes to the packet that is named.
class ThrowingStage final : public TestStage {
 public:
  void take(lb::StageView& view, std::span<Packet* const> burst) override {
    ++calls;
    for (Packet* packet : burst) {
      if (packet->order_hash == bad) throw std::runtime_error("out of places");
      if (packet->order_hash % 2 == 1)
        hold(view, packet);
      else
        view.pass(packet);
    }
  }
  Instant next_deadline() const override {
    if (deadline_throws) throw std::runtime_error("out of time");
    return Instant{} + 5_us;
  }
  void on_timers(lb::StageView& view) override {
    view.release(waiting.pop());
    if (timers_throw) throw std::runtime_error("out of timers");
  }
  void rebase(const Rebase&) override { throw 7; }
  void release_all(lb::StageView& view) override {
    if (!keeps) TestStage::release_all(view);
  }

  uint64_t bad = 0;
  bool deadline_throws = false;
  bool timers_throw = false;
  bool keeps = false;
  int calls = 0;
};

template <class Stage>
struct StageRig {
  explicit StageRig(int64_t octets = 1 << 20) : guard(trouble) {
    stage.limits.octets = octets;
    guarded.emplace(stage, guard);
    desk.emplace(*guarded);
  }
  // Packets of these names, as one burst; what goes on.
  std::vector<uint64_t> take(std::vector<uint64_t> names) {
    std::vector<Packet*> burst;
    for (const uint64_t name : names) {
      Packet& packet = packets.emplace_back(lb::test::make_packet(0));
      packet.order_hash = name;
      packet.wire_len = kLength;
      burst.push_back(&packet);
    }
    guarded->take(*desk, burst);
    return desk->out();
  }
  std::vector<uint64_t> on_timers() {
    guarded->on_timers(*desk);
    return desk->out();
  }
  std::vector<uint64_t> release_all() {
    guarded->release_all(*desk);
    return desk->out();
  }

  config::SchemeTrouble trouble;
  SchemeGuard guard;
  Stage stage;
  std::optional<GuardedStage> guarded;
  std::optional<StageDesk> desk;
  std::deque<Packet> packets;
};

TEST(GuardedStage, WhatItDoesIsDone) {
  StageRig<ThrowingStage> rig;
  EXPECT_EQ(rig.guarded->bounds().octets, 1 << 20);
  EXPECT_EQ(rig.guarded->next_deadline(), Instant{} + 5_us);
  EXPECT_THAT(rig.take({1, 2, 3, 4}), ElementsAre(2, 4));
  EXPECT_EQ(rig.desk->held_packets(), 2u);
  EXPECT_EQ(rig.desk->held_octets(), int64_t{2} * kLength);
  EXPECT_EQ(rig.desk->taken_, 2u);
  EXPECT_THAT(rig.on_timers(), ElementsAre(1));
  EXPECT_THAT(rig.take({5}), IsEmpty());
  EXPECT_THAT(rig.release_all(), ElementsAre(3, 5));
  EXPECT_EQ(rig.desk->held_octets(), 0);
  EXPECT_FALSE(rig.guard.failed());
  EXPECT_THAT(rig.desk->emptied_, IsEmpty());
}

// What is held and let go within a call goes on in the order that the stage chose.
TEST(GuardedStage, TheOrderIsTheStages) {
  StageRig<Turner> rig;
  EXPECT_THAT(rig.take({1, 2, 3}), ElementsAre(2, 1));
  EXPECT_THAT(rig.take({4, 5, 6}), ElementsAre(4, 3, 6, 5));
  EXPECT_EQ(rig.desk->held_packets(), 0u);
}

TEST(GuardedStage, AnExceptionInABurstLosesNoPacket) {
  StageRig<ThrowingStage> rig;
  EXPECT_THAT(rig.take({1, 3}), IsEmpty());
  rig.stage.bad = 6;
  // What it passed, what it held since before, what it did not come to.
  EXPECT_THAT(rig.take({2, 5, 6, 7}), ElementsAre(2, 1, 3, 5, 6, 7));
  EXPECT_THAT(rig.desk->emptied_, ElementsAre(1, 3, 5));
  EXPECT_EQ(rig.desk->held_packets(), 0u);
  EXPECT_STREQ(rig.trouble.what.data(), "out of places");
  EXPECT_EQ(rig.trouble.selectors, 1u);

  rig.stage.bad = 0;  // it is not asked again
  EXPECT_THAT(rig.take({8, 9}), ElementsAre(8, 9));
  EXPECT_EQ(rig.stage.calls, 2);
  EXPECT_EQ(rig.guarded->next_deadline(), Instant::never());
  EXPECT_THAT(rig.release_all(), IsEmpty());
}

TEST(GuardedStage, AnExceptionOfItsTimersEmptiesIt) {
  StageRig<ThrowingStage> rig;
  (void)rig.take({1, 3, 5});
  rig.stage.timers_throw = true;
  EXPECT_THAT(rig.on_timers(), ElementsAre(1, 3, 5));
  EXPECT_THAT(rig.desk->emptied_, ElementsAre(3, 5)) << "the first it let go itself";
}

// Where there is no view at hand, the next timer empties it, and that is due at once.
TEST(GuardedStage, AnExceptionBetweenPacketsEmptiesItWithTheNextTimer) {
  const auto throws = {+[](StageRig<ThrowingStage>& rig) { rig.guarded->rebase({}); },
                       +[](StageRig<ThrowingStage>& rig) {
                         rig.stage.deadline_throws = true;
                         (void)rig.guarded->next_deadline();
                       },
                       +[](StageRig<ThrowingStage>& rig) { rig.guard.fail("its selector"); }};
  for (const auto& act : throws) {
    StageRig<ThrowingStage> rig;
    (void)rig.take({1, 3});
    act(rig);
    EXPECT_TRUE(rig.guard.failed());
    EXPECT_EQ(rig.guarded->next_deadline(), Instant());
    EXPECT_THAT(rig.on_timers(), ElementsAre(1, 3));
    EXPECT_THAT(rig.desk->emptied_, ElementsAre(1, 3));
    EXPECT_EQ(rig.guarded->next_deadline(), Instant::never());
  }
}

TEST(GuardedStage, OneThatKeepsWhatItShouldReleaseHasFailed) {
  StageRig<ThrowingStage> rig;
  (void)rig.take({1, 3});
  rig.stage.keeps = true;
  EXPECT_THAT(rig.release_all(), ElementsAre(1, 3));
  EXPECT_EQ(rig.desk->held_packets(), 0u);
  EXPECT_TRUE(rig.guard.failed());
  EXPECT_THAT(rig.desk->emptied_, IsEmpty()) << "whoever asks counts";
}

// Frames that are shorter than frames are.
TEST(GuardedStage, MorePacketsThanCanBeListedEndIt) {
  StageRig<Hoarder> rig(0);
  std::vector<uint64_t> names(64);
  for (uint64_t i = 0; i < 64; ++i) names[i] = i;
  EXPECT_THAT(rig.take(names), IsEmpty());
  EXPECT_EQ(rig.take({64, 65}).size(), 66u);
  EXPECT_EQ(rig.desk->emptied_.size(), 64u);
  EXPECT_TRUE(rig.guard.failed());
}

// Against the same stage without a guard.
TEST(GuardedStage, ChangesNothingOfAStageThatIsWell) {
  StageRig<Turner> rig;
  Turner bare;
  StageDesk desk(bare);
  std::deque<Packet> packets;
  RandomStream random(3, 1, 1);
  uint64_t name = 0;
  for (int step = 0; step < 200; ++step) {
    std::vector<uint64_t> names(1 + random.below(kBurst));
    for (uint64_t& each : names) each = name++;
    std::vector<Packet*> burst;
    for (const uint64_t each : names) {
      burst.push_back(&packets.emplace_back(lb::test::make_packet(0)));
      burst.back()->order_hash = each;
      burst.back()->wire_len = kLength;
    }
    bare.take(desk, burst);
    ASSERT_EQ(rig.take(names), desk.out()) << step;
    ASSERT_EQ(rig.desk->held_octets(), desk.held_octets());
    ASSERT_EQ(rig.desk->taken_, desk.taken_);
  }
}

}  // namespace
}  // namespace eddy::plugin
