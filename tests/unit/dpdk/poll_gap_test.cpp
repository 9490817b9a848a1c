#include "switch/dpdk/poll_gap.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace eddy {
namespace {

using namespace literals;

TEST(PollGapHistogram, EmptyKnowsNothing) {
  const PollGapHistogram gaps;
  EXPECT_EQ(gaps.count(), 0u);
  EXPECT_EQ(gaps.quantile(999), 0_ps);
}

TEST(PollGapHistogram, OneValueIsEveryQuantile) {
  PollGapHistogram gaps;
  gaps.add(777_ns);
  EXPECT_EQ(gaps.quantile(1), 777_ns);
  EXPECT_EQ(gaps.quantile(999), 777_ns);
  EXPECT_EQ(gaps.longest(), 777_ns);
}

// Against sorting: never below the true quantile, at most a quarter above.
TEST(PollGapHistogram, QuantilesAreRightToAQuarter) {
  const uint32_t seed = 7;
  std::mt19937 random(seed);
  PollGapHistogram gaps;
  std::vector<int64_t> all;
  for (int i = 0; i < 10'000; ++i) {
    const int64_t ns = int64_t{1} << (random() % 30);
    all.push_back(ns + static_cast<int64_t>(random() % static_cast<uint32_t>(ns)));
    gaps.add(Duration::nanoseconds(all.back()));
  }
  std::sort(all.begin(), all.end());
  for (uint64_t permille : {1, 10, 500, 900, 990, 999, 1'000}) {
    const int64_t truth = all[(all.size() * permille + 999) / 1'000 - 1];
    const int64_t found = gaps.quantile(permille).ns();
    EXPECT_GE(found, truth) << "seed " << seed << " permille " << permille;
    EXPECT_LE(found, truth + truth / 4 + 1) << "seed " << seed << " permille " << permille;
  }
}

TEST(PollGapHistogram, RareLongGapsShowOnlyAboveTheirShare) {
  PollGapHistogram gaps;
  for (int i = 0; i < 9'995; ++i) gaps.add(1_us);
  for (int i = 0; i < 5; ++i) gaps.add(10_ms);
  EXPECT_LT(gaps.quantile(999), 2_us);
  EXPECT_EQ(gaps.quantile(1'000), 10_ms);
  gaps.clear();
  EXPECT_EQ(gaps.count(), 0u);
}

}  // namespace
}  // namespace eddy
