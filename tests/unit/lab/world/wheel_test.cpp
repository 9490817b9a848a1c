// The wheel gives what a sorted list gives, for events of the window that is open, later ones and
// those of one instant.
#include "lab/world/wheel.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "net/random.h"

namespace eddy::lab {
namespace {

using namespace eddy::literals;

Event event_at(Duration at, uint32_t target) {
  return {Instant() + at, nullptr, target, target % 3};
}

const auto ignore = [](const Event&) {};

TEST(Wheel, IsEmptyAtFirstAndAtTheEnd) {
  Wheel::Store store;
  Wheel wheel(2_us, 0, store);
  EXPECT_EQ(wheel.next(), Instant::never());
  wheel.open(Instant(), Instant() + 2_us, ignore);
  EXPECT_FALSE(wheel.due(Instant() + 1_us));
  wheel.push(event_at(10_ns, 7));
  EXPECT_FALSE(wheel.due(Instant() + 9_ns));
  EXPECT_TRUE(wheel.due(Instant() + 10_ns));
  EXPECT_EQ(wheel.pop().target, 7u);
  wheel.close();
  EXPECT_EQ(wheel.next(), Instant::never());
}

TEST(Wheel, KeepsTheOrderOfOneInstant) {
  Wheel::Store store;
  Wheel wheel(2_us, 4, store);
  wheel.open(Instant(), Instant() + 1_ns, ignore);
  wheel.close();
  for (uint32_t i = 0; i < 10; ++i) wheel.push(event_at(i % 2 == 0 ? 5_ns : 6_ns, i));
  uint32_t taken = 0;
  wheel.open(Instant() + 1_ns, Instant() + 2_us,
             [&](const Event& event) { EXPECT_EQ(event.target, taken++); });
  EXPECT_EQ(taken, 10u);
  for (uint32_t i = 10; i < 20; ++i) wheel.push(event_at(i % 2 == 0 ? 5_ns : 6_ns, i));
  for (uint32_t i = 0; i < 20; i += 2) EXPECT_EQ(wheel.pop().target, i);
  for (uint32_t i = 1; i < 20; i += 2) EXPECT_EQ(wheel.pop().target, i);
}

// However far away it was when each was put in.
TEST(Wheel, KeepsTheOrderOfOneInstantThatWasFar) {
  Wheel::Store store;
  Wheel wheel(1_us, 0, store);
  const Instant at = Instant() + 100_us;
  uint32_t made = 0;
  for (; made < 5; ++made) wheel.push({at, nullptr, made, 0});
  for (Instant start; start < at; start = start + 1_us) {
    wheel.open(start, start + 1_us, ignore);
    wheel.push({at, nullptr, made++, 0});
    EXPECT_EQ(wheel.next(), at);
    wheel.close();
  }
  uint32_t taken = 0;
  wheel.open(at, at + 1_us, [&](const Event& event) { EXPECT_EQ(event.target, taken++); });
  EXPECT_EQ(taken, made);
  for (uint32_t i = 0; i < made; ++i) EXPECT_EQ(wheel.pop().target, i);
  EXPECT_EQ(wheel.next(), Instant::never());
}

TEST(Wheel, KeepsWhatIsLaterThanItsWindow) {
  Wheel::Store store;
  Wheel wheel(1_us, 0, store);
  wheel.open(Instant(), Instant() + 1_us, ignore);
  wheel.push(event_at(1_us, 1));
  wheel.push(event_at(1_us - 1_ns, 2));
  EXPECT_EQ(wheel.pop().target, 2u);
  EXPECT_FALSE(wheel.due(Instant() + 2_us));
  EXPECT_EQ(wheel.next(), Instant() + 1_us);
  wheel.close();
  wheel.push(event_at(500_ns, 3));  // the next window begins earlier than that one ended
  EXPECT_EQ(wheel.next(), Instant() + 500_ns);
  wheel.open(Instant() + 500_ns, Instant() + 900_ns, ignore);
  EXPECT_EQ(wheel.pop().target, 3u);
  EXPECT_EQ(wheel.next(), Instant() + 1_us);
}

// As partitions use it: windows, each with events that what happens in it makes, near and far.
TEST(Wheel, GivesWhatASortedListGives) {
  RandomStream random(1, 0, 0);
  Wheel::Store store;
  Wheel wheel(1_us, 100, store);
  std::vector<Event> expected;
  uint32_t made = 0, far = 0, taken = 0;
  const auto make = [&](Instant from) {
    const bool is_far = random.below(16) == 0;
    far += is_far ? 1 : 0;
    const Duration ahead = Duration::picoseconds(random.below(is_far ? 900'000'000 : 1'900'000));
    const Event event{from + ahead, nullptr, made, made % 4};
    ++made;
    wheel.push(event);
    const auto later = [](const Event& a, const Event& b) { return a.at < b.at; };
    expected.insert(std::upper_bound(expected.begin(), expected.end(), event, later), event);
  };
  for (Instant start; made < 20'000; start = start + 1_us) {
    wheel.open(start, start + 1_us, ignore);
    for (uint32_t i = random.below(40); i > 0; --i) make(start);
    while (wheel.next() < start + 1_us) {
      const Event event = wheel.pop();
      ASSERT_EQ(event.at, expected.front().at);
      ASSERT_EQ(event.target, expected.front().target);
      ASSERT_EQ(event.kind, expected.front().kind);
      expected.erase(expected.begin());
      ++taken;
      if (random.below(3) == 0) make(event.at);
    }
    wheel.close();
    ASSERT_EQ(wheel.next(), expected.empty() ? Instant::never() : expected.front().at);
  }
  EXPECT_GT(far, 100u);
  EXPECT_GT(taken, 15'000u);
  size_t left = 0;
  wheel.for_each([&](const Event&) { ++left; });
  EXPECT_EQ(left, expected.size());
  auto next = expected.begin();
  wheel.drain([&](const Event& event) { EXPECT_EQ(event.target, (next++)->target); });
  EXPECT_EQ(next, expected.end());
  EXPECT_EQ(wheel.next(), Instant::never());
}

// In turn, a window each.
TEST(Wheel, SharesBucketsWithOthersAndNoEvent) {
  Wheel::Store store;
  store.reserve(2);
  Wheel one(2_us, 0, store), other(2_us, 0, store);
  for (uint32_t i = 0; i < 10; ++i) {
    one.push(event_at(1_ns * (10 - i), i));
    other.push(event_at(1_ns * i, 100 + i));
  }
  one.open(Instant(), Instant() + 1_us, ignore);
  for (uint32_t i = 0; i < 10; ++i) EXPECT_EQ(one.pop().target, 9 - i);
  one.push(event_at(1_us, 10));
  one.close();
  other.open(Instant(), Instant() + 2_us, ignore);
  for (uint32_t i = 0; i < 10; ++i) other.push(event_at(1_us + 1_ns * i, 110 + i));
  for (uint32_t i = 0; i < 20; ++i) EXPECT_EQ(other.pop().target, 100 + i);
  other.close();
  EXPECT_EQ(other.next(), Instant::never());
  EXPECT_EQ(one.next(), Instant() + 1_us);
}

}  // namespace
}  // namespace eddy::lab
