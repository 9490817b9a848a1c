// What slots of four packets say, by vectors and one by one.
#include "lb/slot_verdicts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <vector>

#include "lb/draws.h"
#include "lb/flowlets.h"
#include "lb/turns.h"
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

// A table of slots of every kind.
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

  SlotVerdicts::Measure measure() {
    const FlowletTable::Cursor<false> cursor(table_);
    return SlotVerdicts::Measure({arrivals_.reader(), time(), PathArrivals::step_of(now_),
                                  kAgeSteps, cursor.bound(), cursor.span()});
  }
  size_t some_index() { return random_.below(kEntries); }
  uint16_t some_set() { return static_cast<uint16_t>(random_.below(kSets)); }
  FlowSlot at(size_t index) const { return table_[index]; }
  bool is_young(size_t index) const { return table_.is_young(table_[index], index); }
  bool is_free(FlowSlot slot) const {
    const uint64_t ago =
        arrivals_.reader().ago(slot.set(), slot.member(), PathArrivals::step_of(now_));
    return !slot.mixed() && ago < slot.idle_steps(time());
  }
  bool keeps(FlowSlot slot) const {
    return slot.has_many_sets() && slot.idle_steps(time()) <= kAgeSteps;
  }
  uint64_t time() const { return FlowSlot::time_of(now_); }

 private:
  static constexpr auto kAgeSteps = static_cast<uint64_t>(kAge.ps() >> PathArrivals::kStepBits);

  FlowSlot some_slot() {
    if (random_.below(8) == 0) return {};
    const uint64_t time = FlowSlot::time_of(now_ - 1_us * random_.below(200));
    const auto member = static_cast<MemberIndex>(random_.below(kMembers));
    const FlowSlot slot(time, some_set(), member, random_.below(8) == 0);
    return random_.below(8) == 0 ? slot.shared(time) : slot;
  }

  RandomStream random_{7, 0, 0};
  Instant now_ = Instant::at(1_s);
  FlowletTable table_;
  PathArrivals arrivals_;
};

bool is_mask(uint64_t word) {
  return word == 0 || word == ~uint64_t{0};
}

// As whoever chooses writes it.
void expect_next(const Slots& slots, FlowSlot slot, uint16_t set, bool young, uint64_t next) {
  if (slots.keeps(slot)) {
    FlowSlot kept = slot;
    kept.use(slots.time());
    EXPECT_EQ(next | slot.member(), kept.word());
  } else if (slots.is_free(slot) || (young && slot.is_plain(set))) {
    for (MemberIndex member = 0; member < kMembers; ++member)
      EXPECT_EQ(next | member, FlowSlot(slots.time(), set, member).word());
  }
}

TEST(SlotVerdicts, SayOfFourAtOnceWhatTheySayOfOne) {
  Slots slots;
  const SlotVerdicts::Measure measure = slots.measure();
  std::map<std::array<bool, 4>, uint64_t> seen;
  for (size_t round = 0; round < 2'000; ++round) {
    std::array<size_t, kFour> index;
    std::array<uint64_t, kFour> words;
    std::array<uint16_t, kFour> sets;
    for (size_t lane = 0; lane < kFour; ++lane) {
      index[lane] = slots.some_index();
      words[lane] = slots.at(index[lane]).word();
      sets[lane] = slots.some_set();
    }
    const SlotVerdicts four(words, four_at(sets.data()), measure);
    for (size_t lane = 0; lane < kFour; ++lane) {
      const FlowSlot slot = slots.at(index[lane]);
      const bool young = slots.is_young(index[lane]);
      const bool going = (four.going[lane] & 1) != 0;
      ASSERT_TRUE(is_mask(four.over[lane]) && is_mask(four.plain[lane]) &&
                  is_mask(four.keeps[lane]));
      ASSERT_EQ(four.words[lane], slot.word());
      ASSERT_EQ(four.over[lane] == 0, young);
      ASSERT_EQ(four.plain[lane] != 0, slot.is_plain(sets[lane]));
      ASSERT_EQ(four.keeps[lane] != 0, slots.keeps(slot));
      ASSERT_EQ(going, slots.keeps(slot) || slots.is_free(slot));
      expect_next(slots, slot, sets[lane], young, four.next[lane]);
      ++seen[{young, slot.is_plain(sets[lane]), slots.keeps(slot), going}];
    }
  }
  EXPECT_GT((seen[{false, false, false, false}]), 0u);
  EXPECT_GT((seen[{true, false, false, false}]), 0u);
  EXPECT_GT((seen[{true, true, false, false}]), 0u);
  EXPECT_GT((seen[{false, true, false, true}]), 0u);
  EXPECT_GT((seen[{false, false, true, true}]), 0u);
  EXPECT_GT((seen[{true, false, true, true}]), 0u);
}

TEST(FourWords, AreAskedTogether) {
  const std::array<uint16_t, kFour> shorts = {1, 0xffff, 0, 7};
  const FourWords four = four_at(shorts.data());
  EXPECT_EQ((std::array{four[0], four[1], four[2], four[3]}),
            (std::array{1ul, 0xfffful, 0ul, 7ul}));
  const FourWords octets = four_octets([](size_t lane) { return uint8_t(250 + lane); });
  EXPECT_EQ(octets[0] + octets[1] + octets[2] + octets[3], 250u + 251 + 252 + 253);
  EXPECT_EQ(lanes_of(FourWords{0, uint64_t{1} << 63, 5, ~uint64_t{0}}), 0b1010u);
  const FourWords chosen = either_of(FourWords{0, ~uint64_t{0}, 0, ~uint64_t{0}}, four_of(9), four);
  EXPECT_EQ((std::array{chosen[0], chosen[1], chosen[2], chosen[3]}),
            (std::array{1ul, 9ul, 0ul, 9ul}));
  for (unsigned lanes = 0; lanes < 16; ++lanes) EXPECT_EQ(lanes_of(mask_of(lanes)), lanes);
  EXPECT_TRUE(are_zero(FourWords{}));
  EXPECT_FALSE(are_zero(FourWords{0, 0, 0, uint64_t{1} << 63}));
  EXPECT_TRUE(have_all(FourWords{3, 1, 7, 9}, four_of(1)));
  EXPECT_FALSE(have_all(FourWords{3, 1, 6, 9}, four_of(1)));
  const FourWords product = product_of(four_of(5ul << 32 | 3), four_of(0xfffffffful));
  EXPECT_EQ(product[2], 3 * 0xfffffffful);
}

// Of those that are the same one at least is marked, and no other.
TEST(FourWords, FindTwins) {
  for (uint64_t a = 0; a < 4; ++a)
    for (uint64_t b = 0; b < 4; ++b)
      for (uint64_t c = 0; c < 4; ++c)
        for (uint64_t d = 0; d < 4; ++d) {
          const std::array words = {a, b, c, d};
          const FourWords twins = twins_of(FourWords{a, b, c, d});
          std::map<uint64_t, int> unmarked;
          for (size_t lane = 0; lane < kFour; ++lane) {
            ASSERT_TRUE(is_mask(twins[lane]));
            const bool alone = std::ranges::count(words, words[lane]) == 1;
            EXPECT_TRUE(!alone || twins[lane] == 0);
            EXPECT_TRUE(twins[lane] != 0 || unmarked[words[lane]]++ == 0);
          }
        }
}

TEST(Draws, AreLookedAtFourAtATime) {
  Draws by_four({1, 2, 3}), one_by_one({1, 2, 3});
  RandomStream random{7, 0, 0};
  for (size_t round = 0; round < 500; ++round) {
    Draws::Ahead ahead = by_four.ahead();
    for (size_t four = 0; four < kBurst / kFour; ++four) {
      const auto taking = static_cast<unsigned>(random.below(16));
      const FourWords draws = ahead.peek_four(taking);
      ahead.take_four(taking);
      for (size_t lane = 0; lane < kFour; ++lane) {
        ASSERT_EQ(draws[lane], one_by_one.peek());
        one_by_one.take((taking >> lane & 1) != 0);
      }
    }
    by_four.take(ahead);
  }
}

TEST(TurnList, KnowsWhereSetsAreAlike) {
  const auto alike = [](const std::vector<PathSet>& sets, BucketShare share) {
    return TurnList(sets, share).alike();
  };
  const std::vector<uint16_t> uneven = {2, 1, 1};
  using test::make_set;
  EXPECT_EQ(alike({}, BucketShare::equal), 0u);
  EXPECT_EQ(alike({make_set(3), make_set(3, 9)}, BucketShare::equal), 3u);
  EXPECT_EQ(alike({make_set(3), make_set(4)}, BucketShare::equal), 0u);
  EXPECT_EQ(alike({make_set(4), make_set(uneven)}, BucketShare::weighted), 0u);
  EXPECT_EQ(alike({make_set(3), make_set(uneven)}, BucketShare::equal), 3u);
  const std::vector<PathSet> sets = {make_set(5), make_set(5, 9)};
  const TurnList turns(sets, BucketShare::equal);
  for (uint32_t random = 0; random < 1'000; ++random)
    EXPECT_EQ(turns.at(1, random * 4'294'967), scaled_to(random * 4'294'967, turns.alike()));
}

}  // namespace
}  // namespace eddy::lb
