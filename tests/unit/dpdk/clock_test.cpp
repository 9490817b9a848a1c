#include "switch/dpdk/clock.h"

#include <gtest/gtest.h>

namespace eddy {
namespace {

using namespace literals;

TEST(CycleScale, OneGigahertzIsAThousandPicosecondsACycle) {
  const CycleScale scale(1'000'000'000, 1_s);
  EXPECT_EQ(scale.to_time(0), 0_ps);
  EXPECT_EQ(scale.to_time(1), 1'000_ps);
  EXPECT_EQ(scale.to_time(3'600'000'000'000), 3'600_s);
}

// 106 days, the whole range of Instant, at a rate that does not divide a second.
TEST(CycleScale, StaysExactToAPartInATrillionForTheWholeRange) {
  constexpr uint64_t kHertz = 2'596'000'007;
  const CycleScale scale(kHertz, 1_s);
  constexpr int64_t kSeconds = 106 * 86'400;
  const Duration found = scale.to_time(kHertz * kSeconds);
  const Duration error = found - Duration::seconds(kSeconds);
  EXPECT_LT(error.ps(), kSeconds * 10) << "over 10 ps a second";
  EXPECT_GT(error.ps(), -kSeconds * 10);
}

TEST(CycleScale, CyclesAndTimeAreInverse) {
  const CycleScale scale(2'596'000'007, 1_s);
  for (Duration time : {1_us, 20_us, 1_ms, 1_s, 3'600_s}) {
    const Duration back = scale.to_time(scale.to_cycles(time));
    EXPECT_LE((time - back).ps(), 800) << time.ps();  // two cycles
    EXPECT_GE((time - back).ps(), 0) << time.ps();
  }
}

TEST(CycleScale, SlowAndFastCountersFitTheFixedPoint) {
  EXPECT_EQ(CycleScale(10'000'000, 1_s).to_time(10'000'000), 1_s);
  const Duration fast = CycleScale(100'000'000'000, 1_s).to_time(100'000'000'000);
  EXPECT_NEAR(static_cast<double>(fast.ps()), 1e12, 1.0);
}

TEST(WorkerClock, NeverGoesBack) {
  TscClock clock;
  clock.calibrate();
  WorkerClock worker(clock);
  Instant last = worker.now();
  EXPECT_GE(last.since_zero(), TscClock::kMinCalibration);
  for (int i = 0; i < 1'000; ++i) {
    const Instant now = worker.now();
    ASSERT_GE(now, last);
    last = now;
  }
}

}  // namespace
}  // namespace eddy
