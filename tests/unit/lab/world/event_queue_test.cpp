#include "lab/world/event_queue.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <vector>

namespace eddy::lab {
namespace {

using namespace eddy::literals;

Event event(Instant at, uint32_t target) {
  return {at, nullptr, target, 0};
}

TEST(EventQueue, EmptyIsNever) {
  EventQueue queue(10);
  EXPECT_TRUE(queue.empty());
  EXPECT_EQ(queue.next(), Instant::never());
}

TEST(EventQueue, LanesAndOddDelaysComeOutInOrderOfTime) {
  EventQueue queue(100);
  queue.reserve_lane(5_ns);
  queue.reserve_lane(2_ns);
  const Instant zero;
  queue.push(event(zero + 5_ns, 1), 5_ns);
  queue.push(event(zero + 2_ns, 2), 2_ns);
  queue.push(event(zero + 3_ns, 3), 3_ns);  // no lane
  std::vector<uint32_t> order;
  while (!queue.empty()) order.push_back(queue.pop().target);
  EXPECT_EQ(order, (std::vector<uint32_t>{2, 3, 1}));
  EXPECT_EQ(queue.odd_pending(), 0u);
}

TEST(EventQueue, AnEventBeforeTheLastOfItsLaneIsNotLost) {
  EventQueue queue(100);
  queue.reserve_lane(5_ns);
  const Instant zero;
  queue.push(event(zero + 15_ns, 1), 5_ns);
  queue.push(event(zero + 12_ns, 2), 5_ns);  // a frame that a late poll says has left earlier
  EXPECT_EQ(queue.odd_pending(), 1u);
  EXPECT_EQ(queue.next(), zero + 12_ns);
  EXPECT_EQ(queue.pop().target, 2u);
  EXPECT_EQ(queue.next(), zero + 15_ns);
  EXPECT_EQ(queue.pop().target, 1u);
}

// Against a sorted list, over many chunks, with as many delays as there are lanes and some more.
// Delays of real fabrics: multiples of 100 ps that share many factors. To find places for them
// takes a few tries, not for ever.
TEST(EventQueue, AnyDelaysFindTheirLanes) {
  std::mt19937_64 random(1);
  for (int set = 0; set < 2'000; ++set) {
    EventQueue queue(1);
    for (size_t i = 0; i < EventQueue::kLanes; ++i)
      queue.reserve_lane(Duration::picoseconds(static_cast<int64_t>(random() % 40'000 + 1) * 800));
    EXPECT_TRUE(queue.empty());
  }
}

TEST(EventQueue, OddEventsOfOneInstantKeepTheOrderOfCreation) {
  EventQueue queue(100);
  constexpr uint32_t kEvents = 20;
  for (uint32_t i = 0; i < kEvents; ++i) queue.push_odd(event(Instant() + 3_ns, i));
  for (uint32_t i = 0; i < kEvents; ++i) EXPECT_EQ(queue.pop().target, i);
}

TEST(EventQueue, AgreesWithASortedList) {
  std::mt19937_64 random(7);
  EventQueue queue(20'000);
  std::vector<Duration> delays;
  for (int64_t i = 0; i < 20; ++i) delays.push_back(Duration::nanoseconds(3 + i * i));
  for (const Duration delay : delays) queue.reserve_lane(delay);
  std::multimap<Instant, uint32_t> model;
  Instant now;
  for (uint32_t i = 0; i < 200'000; ++i) {
    if (model.size() < 10'000 && random() % 2 == 0) {
      const Duration delay = delays[random() % delays.size()];
      queue.push(event(now + delay, i), delay);
      model.emplace(now + delay, i);
    } else if (!model.empty()) {
      ASSERT_EQ(queue.next(), model.begin()->first);
      now = queue.next();
      const uint32_t target = queue.pop().target;
      const auto [first, last] = model.equal_range(now);
      const auto found =
          std::find_if(first, last, [&](const auto& entry) { return entry.second == target; });
      ASSERT_NE(found, last);
      model.erase(found);
    }
  }
}

TEST(EventQueue, OneLaneKeepsTheOrderOfCreation) {
  EventQueue queue(10'000);
  queue.reserve_lane(1_us);
  for (uint32_t i = 0; i < 1'000; ++i) queue.push(event(Instant() + 1_us, i), 1_us);
  for (uint32_t i = 0; i < 1'000; ++i) ASSERT_EQ(queue.pop().target, i);
}

}  // namespace
}  // namespace eddy::lab
