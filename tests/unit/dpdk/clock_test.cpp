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

// As the daemon does it: rebased whenever that is due. Past the end of 63 bits of picoseconds after
// 106.75 days, and that of 64 after 213.5.
TEST(TscClock, GoesOnForYearsWhenItIsRebased) {
  TscClock clock;
  clock.calibrate();
  const uint64_t start = TscClock::cycles();
  const Instant began = clock.at(start);
  const uint64_t day = clock.scale().to_cycles(86'400_s);
  const Duration exact_day = clock.scale().to_time(day);
  int64_t epochs = 0;
  for (uint64_t days = 0; days < 2'000; ++days) {
    const Instant now = clock.at(start + day * days);
    const auto expected = static_cast<__int128>(exact_day.ps()) * days -
                          static_cast<__int128>(Rebase::kPeriod.ps()) * epochs;
    ASSERT_NEAR(static_cast<double>(static_cast<__int128>((now - began).ps()) - expected), 0.0, 1e6)
        << days << " days";
    ASSERT_LT(now, Rebase::kDue + 86'400_s * 2);
    if (now < Rebase::kDue) continue;
    clock.rebase(Rebase());
    ++epochs;
  }
  EXPECT_EQ(epochs, 2'000 * 86'400 / (Rebase::kPeriod.ns() / 1'000'000'000));
}

TEST(WorkerClock, GoesBackByARebaseAlone) {
  TscClock clock;
  clock.calibrate();
  WorkerClock worker(clock);
  const Instant before = worker.now();
  clock.rebase(Rebase());
  EXPECT_EQ(worker.now(), before);
  worker.rebase(Rebase());
  EXPECT_LT(worker.now(), Instant());
}

}  // namespace
}  // namespace eddy
