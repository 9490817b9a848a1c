#include "net/rate_limit.h"

#include <gtest/gtest.h>

namespace eddy {
namespace {

Instant ms(int64_t n) {
  return Instant() + Duration::milliseconds(n);
}

TEST(RateLimit, HoldsABurstAndGainsOneAtATime) {
  RateLimit limit;
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(limit.take(ms(0), 10, 3)) << i;
  EXPECT_FALSE(limit.take(ms(0), 10, 3));
  EXPECT_FALSE(limit.take(ms(99), 10, 3));
  EXPECT_TRUE(limit.take(ms(100), 10, 3));
  EXPECT_FALSE(limit.take(ms(100), 10, 3));
}

TEST(RateLimit, IsFullAgainAfterABurstsWorthOfTimeAndNeverFuller) {
  RateLimit limit;
  for (const int64_t start : {0, 300, 5'000}) {
    int taken = 0;
    while (limit.take(ms(start), 10, 3)) ++taken;
    EXPECT_EQ(taken, 3) << start;
  }
}

TEST(RateLimit, OfNothingLetsNothingThrough) {
  RateLimit limit;
  EXPECT_FALSE(limit.take(ms(0), 0, 3));
  EXPECT_FALSE(limit.take(ms(5'000), -1, 3));
}

}  // namespace
}  // namespace eddy
