#include "switch/dpdk/completion_calendar.h"

#include <gtest/gtest.h>

#include <array>
#include <map>
#include <random>

namespace eddy {
namespace {

Instant at(int64_t ns) {
  return Instant::at(Duration::nanoseconds(ns));
}

TEST(CompletionCalendar, ReportsInOrderOfTime) {
  CompletionCalendar calendar;
  std::array<PortId, 32> out;
  EXPECT_EQ(calendar.next(), Instant::never());
  calendar.set(PortId(2), at(30));
  calendar.set(PortId(1), at(10));
  calendar.set(PortId(3), at(20));
  EXPECT_EQ(calendar.next(), at(10));
  EXPECT_EQ(calendar.take_due(at(9), out), 0u);
  ASSERT_EQ(calendar.take_due(at(20), out), 2u);
  EXPECT_EQ(out[0], PortId(1));
  EXPECT_EQ(out[1], PortId(3));
  EXPECT_EQ(calendar.next(), at(30));
}

TEST(CompletionCalendar, ALaterTransmitMovesThePortOn) {
  CompletionCalendar calendar;
  std::array<PortId, 32> out;
  calendar.set(PortId(7), at(10));
  calendar.set(PortId(7), at(50));
  EXPECT_EQ(calendar.take_due(at(10), out), 0u);
  EXPECT_EQ(calendar.next(), at(50));
  EXPECT_EQ(calendar.take_due(at(50), out), 1u);
  EXPECT_EQ(calendar.next(), Instant::never());
}

// Against a map: after any sequence, exactly the ports whose last transmit is due are reported,
// once.
TEST(CompletionCalendar, AgreesWithAMap) {
  const uint32_t seed = 11;
  std::mt19937 random(seed);
  CompletionCalendar calendar;
  std::map<PortId, Instant> model;
  std::array<PortId, 32> out;
  int64_t now = 0;
  for (int step = 0; step < 5'000; ++step) {
    const PortId port(random() % 32);
    if (random() % 3 != 0) {
      const Instant done = at(now + random() % 50);
      const auto known = model.find(port);
      if (known == model.end() || known->second <= done) {
        calendar.set(port, done);
        model[port] = done;
      }
      continue;
    }
    now += random() % 20;
    const size_t taken = calendar.take_due(at(now), out);
    size_t due = std::erase_if(model, [&](const auto& e) { return e.second <= at(now); });
    ASSERT_EQ(taken, due) << "seed " << seed << " step " << step;
  }
}

TEST(CompletionCalendar, IsRebasedWithTheClock) {
  CompletionCalendar calendar;
  std::array<PortId, 32> out;
  calendar.set(PortId(1), at(20));
  calendar.set(PortId(2), at(10));
  calendar.set(PortId(2), at(30));  // its entry is moved on when it comes up
  const Rebase rebase(Rebase::Way::forward);
  calendar.rebase(rebase);
  EXPECT_EQ(calendar.next(), rebase(at(10)));
  EXPECT_EQ(calendar.take_due(rebase(at(19)), out), 0u);
  ASSERT_EQ(calendar.take_due(rebase(at(20)), out), 1u);
  EXPECT_EQ(out[0], PortId(1));
  EXPECT_EQ(calendar.next(), rebase(at(30)));
}

}  // namespace
}  // namespace eddy
