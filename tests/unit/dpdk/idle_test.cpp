#include "switch/dpdk/idle.h"

#include <gtest/gtest.h>

namespace eddy {
namespace {

using namespace literals;
using Kind = IdleStep::Kind;

constexpr Instant kNow = Instant::at(Duration::seconds(1));

void exhaust_patience(Idler& idler) {
  for (int i = 0; i < Idler::kSpins + Idler::kYields; ++i) idler.idle(kNow, Instant::never());
}

TEST(Idler, BusyAlwaysPolls) {
  Idler idler(config::IdlePolicy::busy, 10_us);
  for (int i = 0; i < 1'000; ++i) ASSERT_EQ(idler.idle(kNow, Instant::never()).kind, Kind::poll);
}

TEST(Idler, AdaptiveSpinsThenYieldsThenSleepsLongerAndLonger) {
  Idler idler(config::IdlePolicy::adaptive, 1_ms);
  for (int i = 0; i < Idler::kSpins; ++i)
    ASSERT_EQ(idler.idle(kNow, Instant::never()).kind, Kind::poll) << i;
  for (int i = 0; i < Idler::kYields; ++i)
    ASSERT_EQ(idler.idle(kNow, Instant::never()).kind, Kind::yield) << i;
  for (Duration expected : {5_us, 10_us, 20_us, 40_us, 80_us, 160_us, 320_us, 500_us, 500_us}) {
    const IdleStep step = idler.idle(kNow, Instant::never());
    ASSERT_EQ(step.kind, Kind::sleep);
    EXPECT_EQ(step.sleep, expected);
  }
}

TEST(Idler, WorkStartsOver) {
  Idler idler(config::IdlePolicy::adaptive, 1_ms);
  exhaust_patience(idler);
  idler.idle(kNow, Instant::never());
  idler.worked();
  EXPECT_EQ(idler.idle(kNow, Instant::never()).kind, Kind::poll);
  idler.worked();
  exhaust_patience(idler);
  EXPECT_EQ(idler.idle(kNow, Instant::never()).sleep, 5_us);
}

TEST(Idler, NeverSleepsPastWhatIsToCome) {
  for (Duration until : {5_us, 6_us, 30_us, 400_us}) {
    Idler idler(config::IdlePolicy::adaptive, 1_ms);
    exhaust_patience(idler);
    for (int i = 0; i < 20; ++i) {
      const IdleStep step = idler.idle(kNow, kNow + until);
      ASSERT_LE(step.sleep, until) << i;
    }
  }
}

TEST(Idler, DueOrNearlyDueWorkIsNotSleptOver) {
  Idler idler(config::IdlePolicy::adaptive, 1_ms);
  exhaust_patience(idler);
  EXPECT_EQ(idler.idle(kNow, kNow).kind, Kind::poll);
  EXPECT_EQ(idler.idle(kNow, kNow - 1_us).kind, Kind::poll);
  EXPECT_EQ(idler.idle(kNow, kNow + 1_us).kind, Kind::yield);
}

TEST(Idler, SleepsStayWithinHalfThePollGapAndAMillisecond) {
  for (auto [gap, longest] : {std::pair{100_us, 50_us}, {10_s, 1_ms}, {1_us, 5_us}}) {
    Idler idler(config::IdlePolicy::adaptive, gap);
    exhaust_patience(idler);
    Duration seen;
    for (int i = 0; i < 20; ++i) seen = idler.idle(kNow, Instant::never()).sleep;
    EXPECT_EQ(seen, longest) << gap.ns();
  }
}

}  // namespace
}  // namespace eddy
