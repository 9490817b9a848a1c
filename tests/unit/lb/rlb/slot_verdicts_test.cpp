// What slots of a burst say, by vectors and one by one.
#include "lb/slot_verdicts.h"

#include <gtest/gtest.h>

#include <map>
#include <vector>

#include "lb/flowlets.h"
#include "net/random.h"
#include "tests/support/paths.h"

namespace eddy::lb {
namespace {

using namespace literals;

constexpr Duration kGap = 50_us;
constexpr Duration kAge = 100_us;
constexpr uint16_t kSets = 6;
constexpr MemberIndex kMembers = 5;
constexpr size_t kEntries = 64;

// A table of slots of every kind, and packets of flows that are there.
class Slots {
 public:
  Slots()
      : table_({.gap = kGap, .mode = FlowletMode::exact, .entries = kEntries}),
        arrivals_(kMembers) {
    for (uint16_t set = 0; set < kSets; ++set)
      for (MemberIndex member = 0; member < kMembers; ++member)
        arrivals_.put(set, member,
                      random_.below(4) == 0 ? Instant{} : now_ - 1_us * random_.below(200));
    for (size_t i = 0; i < kEntries; ++i) (*table_.slots())[i] = some_slot();
    table_.set_time(now_);
  }

  // Packets of flows at random, to sets at random.
  struct Some {
    std::vector<Packet> packets;
    std::vector<Packet*> burst;
    std::vector<uint16_t> sets;
  };
  Some some(size_t count) {
    Some made;
    for (size_t i = 0; i < count; ++i) {
      made.packets.push_back(test::make_packet(random_.below(1'000)));
      made.sets.push_back(static_cast<uint16_t>(random_.below(kSets)));
    }
    for (Packet& packet : made.packets) made.burst.push_back(&packet);
    return made;
  }
  SlotVerdicts::Measure measure() {
    return {arrivals_.reader(), FlowSlot::time_of(now_), PathArrivals::step_of(now_), kAgeSteps};
  }
  FlowletTable::Cursor<false> cursor() { return FlowletTable::Cursor<false>(table_); }
  bool is_young(size_t index) const { return table_.is_young(table_[index], index); }
  bool is_free(FlowSlot slot) {
    const uint64_t ago =
        arrivals_.reader().ago(slot.set(), slot.member(), PathArrivals::step_of(now_));
    return !slot.mixed() && ago < slot.idle_steps(FlowSlot::time_of(now_));
  }
  bool keeps(FlowSlot slot) {
    return slot.has_many_sets() && slot.idle_steps(FlowSlot::time_of(now_)) <= kAgeSteps;
  }
  uint64_t time() const { return FlowSlot::time_of(now_); }
  void change(size_t index) { (*table_.slots())[index].use(FlowSlot::time_of(now_)); }

 private:
  static constexpr auto kAgeSteps = static_cast<uint64_t>(kAge.ps() >> PathArrivals::kStepBits);

  FlowSlot some_slot() {
    if (random_.below(8) == 0) return {};
    const uint64_t time = FlowSlot::time_of(now_ - 1_us * random_.below(200));
    const auto member = static_cast<MemberIndex>(random_.below(kMembers));
    const FlowSlot slot(time, static_cast<uint16_t>(random_.below(kSets)), member,
                        random_.below(8) == 0);
    return random_.below(8) == 0 ? slot.shared(time) : slot;
  }

  RandomStream random_{7, 0, 0};
  Instant now_ = Instant::at(1_s);
  FlowletTable table_;
  PathArrivals arrivals_;
};

uint64_t expected(Slots& slots, const SlotVerdicts::Verdict& verdict, uint16_t set) {
  const bool young = slots.is_young(verdict.index);
  const bool plain = verdict.slot.is_plain(set);
  return (young ? SlotVerdicts::kYoung : 0) | (plain ? SlotVerdicts::kPlain : 0) |
         (slots.is_free(verdict.slot) ? SlotVerdicts::kFree : 0) |
         (young && plain ? SlotVerdicts::kGoesOn : 0) |
         (slots.keeps(verdict.slot) ? SlotVerdicts::kKeeps : 0);
}

// As whoever chooses writes it.
void expect_after(Slots& slots, const SlotVerdicts& verdicts, const SlotVerdicts::Verdict& verdict,
                  size_t place, uint16_t set) {
  if (verdict.has(SlotVerdicts::kKeeps)) {
    FlowSlot kept = verdict.slot;
    kept.use(slots.time());
    EXPECT_EQ(verdicts.after(place, kept.member()).word(), kept.word());
  } else if (verdict.has(SlotVerdicts::kFree | SlotVerdicts::kGoesOn)) {
    for (MemberIndex member = 0; member < kMembers; ++member)
      EXPECT_EQ(verdicts.after(place, member).word(), FlowSlot(slots.time(), set, member).word());
  }
}

TEST(SlotVerdicts, SayOfFourAtOnceWhatTheySayOfOne) {
  Slots slots;
  std::map<uint64_t, uint64_t> seen;
  for (size_t round = 0; round < 200; ++round) {
    const auto [packets, burst, sets] = slots.some(1 + round % kBurst);
    SlotVerdicts verdicts(slots.measure());
    const auto cursor = slots.cursor();
    verdicts.look_at(cursor, burst, sets);
    uint32_t young = 0;
    for (size_t i = 0; i < burst.size(); ++i) {
      const SlotVerdicts::Verdict verdict = verdicts.of(i, cursor, sets[i]);
      ASSERT_EQ(verdict.index, cursor.index_of(packets[i]));
      ASSERT_EQ(verdict.bits, expected(slots, verdict, sets[i])) << "packet " << i;
      expect_after(slots, verdicts, verdict, i, sets[i]);
      ++seen[verdict.bits];
      young += slots.is_young(verdict.index) ? 1 : 0;
    }
    EXPECT_EQ(verdicts.young(), young);
  }
  EXPECT_GT(seen[0], 0u);
  EXPECT_GT(seen[SlotVerdicts::kYoung], 0u);
  EXPECT_GT(seen[SlotVerdicts::kFree], 0u);
  EXPECT_GT(seen[SlotVerdicts::kYoung | SlotVerdicts::kPlain | SlotVerdicts::kGoesOn], 0u);
  EXPECT_GT(seen[SlotVerdicts::kKeeps], 0u);
  EXPECT_GT(seen[SlotVerdicts::kYoung | SlotVerdicts::kKeeps], 0u);
}

TEST(SlotVerdicts, AreFoundAnewOfASlotThatHasChanged) {
  Slots slots;
  const auto [packets, burst, sets] = slots.some(kBurst);
  SlotVerdicts verdicts(slots.measure());
  const auto cursor = slots.cursor();
  verdicts.look_at(cursor, burst, sets);
  for (size_t i = 0; i < kBurst; ++i) {
    slots.change(cursor.index_of(packets[i]));
    const SlotVerdicts::Verdict verdict = verdicts.of(i, cursor, sets[i]);
    EXPECT_TRUE(verdict.has(SlotVerdicts::kYoung));
    EXPECT_FALSE(verdict.has(SlotVerdicts::kFree)) << "a packet is on the way";
    EXPECT_EQ(verdict.bits, expected(slots, verdict, sets[i]));
  }
}

TEST(SlotVerdicts, TellWhetherPacketsAreAlike) {
  Slots slots;
  Slots::Some some = slots.some(9);
  const auto are_alike = [&] {
    SlotVerdicts verdicts(slots.measure());
    verdicts.look_at(slots.cursor(), some.burst, some.sets);
    EXPECT_TRUE(!verdicts.are_alike(kPacketRoceControl) || verdicts.queue() == QueueId(3));
    return verdicts.are_alike(kPacketRoceControl);
  };
  EXPECT_TRUE(are_alike());
  for (const size_t odd : {0u, 3u, 8u}) {
    Packet& packet = some.packets[odd];
    packet.set(kPacketEct);
    EXPECT_TRUE(are_alike()) << "a flag that is not asked about";
    packet.set(kPacketRoceControl);
    EXPECT_FALSE(are_alike());
    packet.flags = kPacketIp;
    packet.queue = QueueId(4);
    EXPECT_FALSE(are_alike());
    packet.queue = QueueId(3);
  }
  EXPECT_TRUE(are_alike());
}

}  // namespace
}  // namespace eddy::lb
