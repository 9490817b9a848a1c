#include "pfc/wred.h"

#include <gtest/gtest.h>

#include <random>

#include "config/config.h"

namespace eddy::pfc {
namespace {

using namespace eddy::literals;

double p_of(const WredCurve& curve, int64_t queue) {
  return static_cast<double>(curve.probability(queue)) / static_cast<double>(WredCurve::kCertain);
}

TEST(Wred, FollowsTheCurveOfTheReference) {
  const WredCurve curve = WredCurve::of({true, 160'000_B, 640'000_B, 0.2});
  EXPECT_EQ(curve.probability(0), 0u);
  EXPECT_EQ(curve.probability(160'000), 0u);
  EXPECT_NEAR(p_of(curve, 400'000), 0.1, 1e-9);
  EXPECT_NEAR(p_of(curve, 639'999), 0.2, 1e-6);
  EXPECT_LT(p_of(curve, 639'999), 0.2);
  EXPECT_EQ(curve.probability(640'000), WredCurve::kCertain);
  EXPECT_EQ(curve.probability(INT64_MAX), WredCurve::kCertain);
}

TEST(Wred, CornersAskForNoChance) {
  const WredCurve curve = WredCurve::of({true, 160'000_B, 640'000_B, 0.2});
  int asked = 0;
  const auto draw = [&] {
    ++asked;
    return uint32_t{0};
  };
  EXPECT_FALSE(curve.marks(160'000, draw));
  EXPECT_TRUE(curve.marks(640'000, draw));
  EXPECT_EQ(asked, 0);
  EXPECT_TRUE(curve.marks(160'001, draw));
  EXPECT_EQ(asked, 1);
  EXPECT_FALSE(curve.marks(639'999, [] { return UINT32_MAX; }));
}

TEST(Wred, MarksAsOftenAsTheCurveSays) {
  const unsigned seed = 7;
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937 random(seed);
  const WredCurve curve = WredCurve::of({true, 160'000_B, 640'000_B, 0.2});
  constexpr int kPackets = 100'000;
  int marked = 0;
  for (int i = 0; i < kPackets; ++i) marked += curve.marks(520'000, random);
  EXPECT_NEAR(marked, 0.15 * kPackets, 5 * 113);  // five standard deviations
}

TEST(Wred, EqualBoundsAreAStep) {
  const WredCurve curve = WredCurve::of({true, 100'000_B, 100'000_B, 0.2});
  EXPECT_EQ(curve.probability(100'000), 0u);
  EXPECT_EQ(curve.probability(100'001), WredCurve::kCertain);
}

TEST(Wred, TheWholeRangeFits) {
  const WredCurve sure = WredCurve::of({true, 0_B, 1_B, 1.0});
  EXPECT_EQ(sure.probability(0), 0u);
  const WredCurve wide = WredCurve::of({true, 0_B, Bytes(int64_t{1} << 32), 1.0});
  EXPECT_NEAR(p_of(wide, int64_t{1} << 31), 0.5, 1e-9);
  const WredCurve steep = WredCurve::of({true, 0_B, 2_B, 1.0});
  EXPECT_NEAR(p_of(steep, 1), 0.5, 1e-9);
}

TEST(Wred, WithoutEcnNeverMarks) {
  const WredCurve off = WredCurve::of({false, 0_B, 1_B, 1.0});
  EXPECT_EQ(off.probability(1'000'000'000), 0u);
  EXPECT_EQ(WredCurve().probability(1'000'000'000), 0u);
}

}  // namespace
}  // namespace eddy::pfc
