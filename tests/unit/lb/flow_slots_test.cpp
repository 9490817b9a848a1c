#include "lb/flow_slots.h"

#include <gtest/gtest.h>

#include <vector>

#include "lb/flowlets.h"
#include "tests/support/paths.h"

namespace eddy::lb {
namespace {

using namespace literals;
using test::make_packet;

constexpr Duration kWrap = Duration::picoseconds(int64_t{1} << 47);  // 140.7 s

uint64_t at(Duration time) {
  return FlowSlot::time_of(Instant::at(time));
}

TEST(FlowSlot, SaysWhoseItIsAndWhenItWasGivenAPacket) {
  for (const uint16_t set : {0, 1, 511, 1'022, 1'023})
    for (const MemberIndex member : {0, 1, 63}) {
      const FlowSlot slot(at(3_s), set, member);
      EXPECT_TRUE(slot.used());
      EXPECT_EQ(slot.member(), member);
      EXPECT_EQ(slot.set(), set);
      EXPECT_TRUE(slot.drawn_by(set) && slot.is_plain(set));
      EXPECT_FALSE(slot.drawn_by(set ^ 1) || slot.is_plain(set ^ 1) || slot.mixed());
      EXPECT_TRUE(!slot.is_new_to(set) && slot.is_new_to(set ^ 1));
      EXPECT_TRUE(FlowSlot().is_new_to(set));
      EXPECT_EQ(slot.idle(at(3_s + 5_us)).ps() / 4'096, (5_us).ps() / 4'096);
    }
}

TEST(FlowSlot, IsIdleByWholeStepsOfProofs) {
  const Duration step = Duration::picoseconds(4'096);
  const FlowSlot slot(at(step * 1'000 + 7_ps), 3, 5);
  EXPECT_EQ(slot.idle_steps(at(step * 1'000 + 8_ps)), 0u);
  EXPECT_EQ(slot.idle_steps(at(step * 1'001)), 1u);
  EXPECT_EQ(slot.idle_steps(at(step * 1'000 + kWrap * 3 + 5_us)), (5_us).ps() / 4'096u);
}

// Not even at the instants that stand in words as zero.
TEST(FlowSlot, WhatWasGivenNeverLooksAsIfNothingHadBeen) {
  EXPECT_FALSE(FlowSlot().used());
  for (int64_t wraps = 0; wraps < 4; ++wraps)
    EXPECT_TRUE(FlowSlot(at(kWrap * wraps), 0, 0).used()) << wraps;
}

// What a packet leaves behind, case by case.
TEST(FlowSlot, SaysAfterAPacketWhoseFlowItIs) {
  constexpr uint16_t kOurs = 7;
  const uint64_t now = at(2_s);
  const FlowSlot plain(at(1_s), kOurs, 9);
  const FlowSlot bound(at(1_s), kOurs, 9, true);
  const FlowSlot others(at(1_s), 8, 9);
  const FlowSlot others_bound(at(1_s), 8, 9, true);
  const FlowSlot many = FlowSlot(at(1_s), 8, 9).shared(at(1_s));
  for (const FlowSlot slot : {FlowSlot(), plain, bound, others, others_bound, many})
    EXPECT_EQ(slot.after(now, kOurs, 11, /*free=*/true).word(), FlowSlot(now, kOurs, 11).word());
  const auto held = [&](FlowSlot slot) { return slot.after(now, kOurs, 9, false).word(); };
  EXPECT_EQ(held(plain), FlowSlot(now, kOurs, 9).word());
  EXPECT_EQ(held(bound), FlowSlot(now, kOurs, 9, true).word()) << "what binds it is still there";
  for (const FlowSlot slot : {others, others_bound, many})
    EXPECT_EQ(held(slot), slot.shared(now).word());
}

TEST(FlowSlot, SharedItKeepsItsMemberAndIsNobodys) {
  const FlowSlot slot = FlowSlot(at(1_s), 7, 9).shared(at(2_s));
  EXPECT_TRUE(slot.mixed() && slot.has_many_sets());
  EXPECT_FALSE(slot.is_plain(7) || slot.drawn_by(7) || slot.is_plain(FlowSlot::kManySets));
  EXPECT_EQ(slot.member(), 9);
  EXPECT_EQ(slot.idle(at(2_s)), Duration{});
  EXPECT_FALSE(FlowSlot(at(1_s), 7, 9, true).has_many_sets());
}

TEST(FlowSlots, AFlowHasOneSlotAndASlotItsHashes) {
  for (const size_t count : {64u, 100u, 65'536u}) {
    FlowSlots slots(count);
    EXPECT_EQ(slots.count(), count);
    for (size_t index = 0; index < count; ++index) {
      const uint64_t first = slots.first_hash(index);
      EXPECT_EQ(FlowSlots::index_of(first, static_cast<uint32_t>(count)), index);
      if (index == 0) continue;
      EXPECT_EQ(FlowSlots::index_of(first - 1, static_cast<uint32_t>(count)), index - 1);
    }
    for (uint64_t flow = 0; flow < 1'000; ++flow) EXPECT_FALSE(slots.of(make_packet(flow)).used());
  }
}

// As reference A.5 has it: the flowlet of an entry used in epoch e is over from epoch e + 2 on,
// where the epochs of entry i begin i * gap / entries later under a sweep; exact: after `gap`.
bool is_young(const FlowletTable::Plan& plan, size_t index, Duration last, Duration now) {
  if (plan.mode == FlowletMode::exact) return now - last <= plan.gap;
  const __int128 gap = plan.gap.ps();
  const __int128 phase =
      plan.phase == SweepPhase::swept ? static_cast<__int128>(index) * gap / plan.entries : 0;
  const auto epoch = [&](Duration at) { return (at.ps() - phase + 10 * gap) / gap; };
  return epoch(now) - epoch(last) <= 1;
}

TEST(FlowSlots, SayWhereTheSlotOfAFlowIs) {
  FlowSlots slots(1'000);
  const FlowLines lines = slots.lines();
  ASSERT_TRUE(lines.any());
  for (uint64_t flow = 0; flow < 100; ++flow) {
    const Packet packet = make_packet(mix64(flow));
    const auto slot = [](const void* at) { return reinterpret_cast<uintptr_t>(at) / 8; };
    EXPECT_EQ(slot(lines.find(packet.order_hash)), slot(&slots.of(packet)));
  }
}

TEST(FlowletTable, EndsFlowletsByTheirEpochsToAPicosecond) {
  RandomStream random(5, 5, 5);
  for (const FlowletMode mode : {FlowletMode::agebit, FlowletMode::exact})
    for (const SweepPhase phase : {SweepPhase::zero, SweepPhase::swept})
      for (const Duration gap : {1_us, 50_us, 77'777'777_ps, 2_s}) {
        const FlowletTable::Plan plan{gap, mode, phase, 100};
        FlowletTable table(plan);
        Duration now = 200_us;
        std::vector<Duration> last(100, Duration{});
        for (int i = 0; i < 4'000; ++i) {
          const size_t index = random.below(100);
          now = now + gap * random.below(40) / 1'000 + Duration::picoseconds(random.below(3));
          table.set_time(Instant::at(now));
          const bool young = last[index] != Duration{} && is_young(plan, index, last[index], now);
          ASSERT_EQ(table.is_young(table[index], index), young)
              << index << ' ' << last[index].ps() << ' ' << now.ps();
          table.put(index, 1, 1);
          last[index] = now;
        }
      }
}

template <bool kOdd>
void expect_same(FlowletTable& table, std::span<const size_t> indices) {
  const FlowletTable::Cursor<kOdd> cursor(table);
  for (const size_t index : indices)
    EXPECT_EQ(cursor.is_young(cursor[index], index), table.is_young(table[index], index)) << index;
}

// An entry that was never used is over at any time, also where its zero would be young: after the
// clock's zero, and each time that words wrap.
TEST(FlowletTable, WhatWasNeverUsedIsOverAtAnyTime) {
  for (const FlowletMode mode : {FlowletMode::agebit, FlowletMode::exact}) {
    FlowletTable table({1_s, mode, SweepPhase::zero, 64});
    for (int64_t wraps = 0; wraps < 3; ++wraps)
      for (Duration after = 0_s; after < 4_s; after = after + 100_ms) {
        table.set_time(Instant::at(kWrap * wraps + after));
        EXPECT_FALSE(table.is_young(table[3], 3));
        const size_t unused[] = {3};
        table.odd() ? expect_same<true>(table, unused) : expect_same<false>(table, unused);
      }
  }
}

// Half of the wrap, once and twice it: silent for so long, all are over.
TEST(FlowletTable, FlowletsThatWereSilentForMinutesAreOver) {
  for (const Duration silence : {70_s, 71_s, 141_s, 282_s, 141_s + 50_us}) {
    FlowletTable table({50_us, FlowletMode::agebit, SweepPhase::zero, 64});
    table.set_time(Instant::at(1_s));
    table.put(3, 7, 1'023);
    table.set_time(Instant::at(1_s + silence));
    EXPECT_FALSE(table.is_young(table[3], 3)) << silence.ps();
  }
}

TEST(FlowletTable, TakesAsManySlotsAsItIsLentAndOthersAreItsOwn) {
  const auto lent = std::make_shared<FlowSlots>(64);
  EXPECT_EQ(FlowletTable({50_us, FlowletMode::agebit, SweepPhase::zero, 64}, lent).slots(), lent);
  const FlowletTable own({50_us, FlowletMode::agebit, SweepPhase::zero, 65}, lent);
  EXPECT_NE(own.slots(), lent);
  EXPECT_EQ(own.capacity(), 65u);
}

}  // namespace
}  // namespace eddy::lb
