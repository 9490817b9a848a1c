// A rebase changes no difference between two instants, nor anything that wraps.
#include "net/rebase.h"

#include <gtest/gtest.h>

#include "net/deadlines.h"
#include "net/rate_limit.h"

namespace eddy {
namespace {

using namespace literals;
using Way = Rebase::Way;

constexpr Duration kDay = 86'400_s;
constexpr Instant kNow = Rebase::kDue + 1_ms;

TEST(Rebase, KeepsDifferencesAndNever) {
  const Rebase rebase;
  EXPECT_EQ(rebase(kNow) - rebase(kNow - 1_ps), 1_ps);
  EXPECT_EQ(rebase(kNow + 3_s) - rebase(kNow - kDay), 3_s + kDay);
  EXPECT_EQ(rebase(Instant::never()), Instant::never());
  EXPECT_EQ(Rebase(Way::forward)(rebase(kNow)), kNow);
  EXPECT_EQ(Rebase(Way::forward)(Instant::never()), Instant::never());
}

TEST(Rebase, LeavesTheLastDayAfterZeroAndRoomUntilTheNextOne) {
  EXPECT_GT(Rebase()(kNow - kDay), Instant());
  EXPECT_LT(Rebase()(kNow), Rebase::kDue);
  EXPECT_GT(Instant::never() - Rebase::kDue, kDay * 50);
}

TEST(Rebase, WhatIsLongPastStaysSoHoweverOften) {
  Instant at;
  for (int i = 0; i < 100; ++i) Rebase().shift(at);
  EXPECT_EQ(at, Instant::long_past());
  EXPECT_GT((kNow - at).ps(), 0) << "and can be told from now";
  Rebase(Way::forward).shift(at);
  EXPECT_LT(at, Rebase(Way::forward)(Instant()));
}

TEST(Rebase, NothingStaysNothingAndNothingElseBecomesIt) {
  Instant none;
  Rebase().shift_if_any(none);
  EXPECT_EQ(none, Instant{});
  Instant some = Instant() + Rebase::kPeriod;
  Rebase().shift_if_any(some);
  EXPECT_NE(some, Instant{});
  EXPECT_EQ(Instant{} - some, 1_ps);
}

// Stamps on the wire, in tables of flows and flowlets, and of ports that feed each other.
TEST(Rebase, CountersThatWrapComeToTheSameValue) {
  const auto back = static_cast<uint64_t>(Rebase::kPeriod.ps());
  EXPECT_EQ(static_cast<uint32_t>(back / 1'000), 0u) << "nanoseconds modulo 2^32";
  EXPECT_EQ(back % 1'000, 0u);
  EXPECT_EQ(back % (uint64_t{1} << 53), 0u) << "4,096 ps modulo 2^41";
  EXPECT_EQ(static_cast<uint32_t>(back >> 20), 0u) << "2^20 ps modulo 2^32";
}

TEST(Rebase, DeadlinesComeOutAsTheyWould) {
  Instant next;
  bool moved = false;
  Deadlines deadlines(8, DeadlinePlace(next, moved));
  deadlines.set(5, Instant());  // at once, whatever the clock shows
  deadlines.set(4, Instant() + 1_ps);
  deadlines.set(1, kNow + 2_us);
  deadlines.set(2, kNow + 1_us);
  deadlines.set(3, kNow + 2_us);
  deadlines.rebase(Rebase());
  const Instant now = Rebase()(kNow);
  EXPECT_EQ(next, Instant::long_past());
  EXPECT_EQ(deadlines.pop_due(now), 4u) << "both long past: by their numbers";
  EXPECT_EQ(deadlines.pop_due(now), 5u);
  EXPECT_EQ(next, now + 1_us);
  EXPECT_EQ(deadlines.pop_due(now), std::nullopt);
  EXPECT_EQ(deadlines.pop_due(now + 2_us), 2u);
  EXPECT_EQ(deadlines.pop_due(now + 2_us), 1u);
  EXPECT_EQ(deadlines.pop_due(now + 2_us), 3u);
  EXPECT_EQ(next, Instant::never());
  deadlines.rebase(Rebase());
  EXPECT_EQ(next, Instant::never());
}

TEST(Rebase, ABucketHoldsWhatItHeld) {
  RateLimit limit;
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(limit.take(kNow, 10, 3));
  limit.rebase(Rebase());
  const Instant now = Rebase()(kNow);
  EXPECT_FALSE(limit.take(now + 99_ms, 10, 3));
  EXPECT_TRUE(limit.take(now + 100_ms, 10, 3));
  EXPECT_FALSE(limit.take(now + 100_ms, 10, 3));
}

}  // namespace
}  // namespace eddy
