#include "pfc/predictor.h"

#include <gtest/gtest.h>

#include "config/config.h"

namespace eddy::pfc {
namespace {

using namespace eddy::literals;

constexpr PortId kPort(1);
constexpr PriorityGroupId kPg(3);
constexpr int64_t kXoff = 262'144;
constexpr int64_t kOctetsANanosecond = 1'000'000;  // as octets a millisecond

config::PortConfig port_40g() {
  config::PortConfig port = config::default_port("p");
  port.role = config::PortRole::fabric;
  port.speed = 40_Gbps;
  port.cable_delay = 2_us;
  return port;
}

// One PG that is sampled by hand.
struct Rig {
  explicit Rig(config::RlbConfig rlb = config::rlb_preset(config::RlbPreset::standard))
      : predictor(4) {
    predictor.configure(kPort, PredictorPlan::of(rlb, port_40g(), 0x08));
  }
  // The warning that the sample leads to, if any.
  std::optional<PfcWarning> sample(Duration now, int64_t queue) {
    level = {queue, kXoff};
    predictor.sample(kPort, kPg, level, Instant::at(now));
    return flushed();
  }
  std::optional<PfcWarning> timers(Duration now) {
    predictor.on_timers(Instant::at(now), [this](PortId, PriorityGroupId) { return level; });
    return flushed();
  }
  std::optional<PfcWarning> flushed() {
    std::optional<PfcWarning> told;
    predictor.flush([&told](const PfcWarning& warning) {
      EXPECT_FALSE(told.has_value());
      told = warning;
    });
    EXPECT_FALSE(predictor.owes());
    return told;
  }
  Predictor predictor;
  PgLevel level;
};

TEST(PredictorPlan, FollowsSpeedAndDelay) {
  const config::RlbConfig rlb = config::rlb_preset(config::RlbPreset::standard);
  const PredictorPlan plan = PredictorPlan::of(rlb, port_40g(), 0x18);
  EXPECT_EQ(plan.watched, 0x18);
  EXPECT_TRUE(plan.notifies);
  EXPECT_EQ(plan.floor, 20'000);
  EXPECT_EQ(plan.horizon, 12_us);
  EXPECT_EQ(plan.exposure, 50'000);
  EXPECT_EQ(plan.clear, 10'000);
  config::PortConfig host = port_40g();
  host.role = config::PortRole::host;
  EXPECT_FALSE(PredictorPlan::of(rlb, host, 0x18).notifies);
  EXPECT_EQ(PredictorPlan::of(config::RlbConfig{}, host, 0x18).watched, 0);
}

// The paper's has a threshold, and is calm two frames below it.
TEST(PredictorPlan, OfThePaperIsCalmTwoFramesBelowItsThreshold) {
  config::RlbConfig rlb = config::rlb_preset(config::RlbPreset::paper);
  config::PortConfig port = port_40g();
  port.mtu = 1'500;
  EXPECT_EQ(PredictorPlan::of(rlb, port, 0x08).threshold, 98'304);
  EXPECT_EQ(PredictorPlan::of(rlb, port, 0x08).clear, 95'304);
  rlb.predictor.threshold = 2'000_B;
  EXPECT_EQ(PredictorPlan::of(rlb, port, 0x08).clear, 0) << "never below nothing";
}

// Golden vector I-7.
TEST(Predictor, IsQuietWhileXoffIsFar) {
  Rig rig;
  EXPECT_FALSE(rig.sample(0_us, 100'000));
  EXPECT_FALSE(rig.sample(2_us, 108'000));
  EXPECT_EQ(rig.predictor.slope(kPort, kPg), 4 * kOctetsANanosecond);
  EXPECT_EQ(time_to_fill(kXoff - 108'000, 4 * kOctetsANanosecond), 38'536_ns);
}

TEST(Predictor, WarnsWhenXoffIsNearerThanTheHorizon) {
  config::RlbConfig derivative = config::rlb_preset(config::RlbPreset::standard);
  derivative.predictor.mode = config::PredictorMode::derivative;
  Rig rig(derivative);
  EXPECT_FALSE(rig.sample(0_us, 232'000));
  const auto warning = rig.sample(2_us, 240'000);
  ASSERT_TRUE(warning);
  EXPECT_EQ(warning->severity, 34);
  EXPECT_EQ(warning->time_to_xoff, 5'536_ns);
  EXPECT_EQ(warning->growth, 8'000);
  EXPECT_EQ(warning->level.queue, 240'000);
  EXPECT_EQ(warning->sequence, 1u);
}

TEST(Predictor, PredictsNothingBelowTheFloor) {
  Rig rig;
  EXPECT_FALSE(rig.sample(0_us, 15'000));
  EXPECT_FALSE(rig.sample(2_us, 19'000));
  EXPECT_EQ(rig.predictor.severity(kPort, kPg), Predictor::kClear);
}

TEST(Predictor, WarnsAboveTheCeilingWhateverTheSlope) {
  Rig rig;
  EXPECT_FALSE(rig.sample(0_us, 212'143));
  const auto warning = rig.sample(2_us, 212'144);
  ASSERT_TRUE(warning);
  EXPECT_EQ(warning->severity, 1);
  Rig falling;
  EXPECT_TRUE(falling.sample(0_us, 214'000));
}

TEST(Predictor, FixedWarnsAboveItsThreshold) {
  Rig rig(config::rlb_preset(config::RlbPreset::paper));
  EXPECT_FALSE(rig.sample(0_us, 98'304));
  EXPECT_TRUE(rig.sample(2_us, 98'305));
}

TEST(Predictor, SamplesAtMostOnceAnIntervalAndByTheTimeThatPassed) {
  Rig rig;
  (void)rig.sample(0_us, 100'000);
  (void)rig.sample(1'999_ns, 200'000);
  EXPECT_EQ(rig.predictor.slope(kPort, kPg), 0);
  (void)rig.sample(4_us, 108'000);
  EXPECT_EQ(rig.predictor.slope(kPort, kPg), 2 * kOctetsANanosecond);
  (void)rig.sample(6_us, 108'000);
  EXPECT_EQ(rig.predictor.slope(kPort, kPg), kOctetsANanosecond) << "smoothed by halves";
}

TEST(Predictor, TellsAtOnceThenOnceARefreshAndAtAJump) {
  Rig rig;
  ASSERT_TRUE(rig.sample(0_us, 214'000));
  EXPECT_FALSE(rig.sample(2_us, 214'100));
  EXPECT_EQ(rig.predictor.next_deadline(), Instant::at(8_us));
  const auto jump = rig.sample(4_us, 240'000);
  ASSERT_TRUE(jump);
  EXPECT_GE(jump->severity, 1 + Predictor::kJump);
  EXPECT_EQ(rig.predictor.next_deadline(), Instant::at(12_us));
  const auto refresh = rig.timers(12_us);
  ASSERT_TRUE(refresh);
  EXPECT_EQ(refresh->sequence, 3u);
}

TEST(Predictor, ClearsAfterTwoCalmSamplesAndTheDwellTimeAndTellsItTwice) {
  Rig rig;
  ASSERT_TRUE(rig.sample(0_us, 214'000));
  EXPECT_FALSE(rig.sample(2_us, 5'000));
  const auto clear = rig.sample(4_us, 5'000);
  ASSERT_TRUE(clear);
  EXPECT_EQ(clear->severity, Predictor::kClear);
  EXPECT_FALSE(rig.sample(6_us, 5'000));
  const auto again = rig.timers(12_us);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->severity, Predictor::kClear);
  EXPECT_EQ(rig.predictor.next_deadline(), Instant::never());
}

TEST(Predictor, OneRestlessSampleKeepsTheWarning) {
  Rig rig;
  ASSERT_TRUE(rig.sample(0_us, 214'000));
  EXPECT_FALSE(rig.sample(2_us, 5'000));
  EXPECT_FALSE(rig.sample(4_us, 50'000)) << "neither low nor far";
  EXPECT_FALSE(rig.sample(6_us, 5'000));
  EXPECT_TRUE(rig.sample(8_us, 5'000));
  EXPECT_EQ(rig.predictor.severity(kPort, kPg), Predictor::kClear);
}

// What grows reaches XOFF in the end, however slowly; a queue that shrinks is calm once it is low.
TEST(Predictor, AQueueThatGrowsSlowlyIsCalmOnlyWhereThatIsWanted) {
  for (const bool until_drained : {true, false}) {
    config::RlbConfig rlb = config::rlb_preset(config::RlbPreset::standard);
    rlb.predictor.until_drained = until_drained;
    Rig rig(rlb);
    ASSERT_TRUE(rig.sample(0_us, 214'000));
    bool cleared = false;
    Duration now = 2_us;
    const auto look = [&](int64_t queue) {
      const auto told = rig.sample(now, queue);
      cleared = cleared || (told && told->severity == Predictor::kClear);
      now += 2_us;
    };
    for (const int64_t queue : {5'000, 100'000}) look(queue);  // growing fast
    for (int64_t queue = 101'000; queue < 112'000; queue += 1'000) look(queue);
    EXPECT_EQ(cleared, !until_drained);
    if (!until_drained) continue;
    for (const int64_t queue : {60'000, 20'000}) look(queue);
    EXPECT_FALSE(cleared) << "not low yet";
    for (const int64_t queue : {9'000, 8'000}) look(queue);
    EXPECT_TRUE(cleared);
  }
}

TEST(Predictor, OfThePaperJustStopsTelling) {
  Rig rig(config::rlb_preset(config::RlbPreset::paper));
  ASSERT_TRUE(rig.sample(0_us, 120'000));
  EXPECT_FALSE(rig.sample(2_us, 5'000));
  const auto end = rig.sample(4_us, 5'000);
  ASSERT_TRUE(end) << "for those who count";
  EXPECT_TRUE(end->ends);
  EXPECT_TRUE(end->missed);
  EXPECT_EQ(rig.predictor.severity(kPort, kPg), Predictor::kClear);
  EXPECT_EQ(rig.predictor.next_deadline(), Instant::never());
}

TEST(Predictor, PfcItselfIsTheHighestSeverityUntilItIsTakenBack) {
  Rig rig;
  (void)rig.sample(0_us, 214'000);
  rig.predictor.pfc_sent(kPort, kPg, true, Instant::at(1_us));
  const auto sent = rig.flushed();
  ASSERT_TRUE(sent);
  EXPECT_EQ(sent->severity, Predictor::kPfcSent);
  rig.level = {5'000, kXoff};
  const auto refresh = rig.timers(9_us);
  ASSERT_TRUE(refresh) << "still paused";
  EXPECT_EQ(refresh->severity, Predictor::kPfcSent);
  rig.predictor.pfc_sent(kPort, kPg, false, Instant::at(10_us));
  EXPECT_FALSE(rig.sample(12_us, 5'000));
  const auto clear = rig.sample(14_us, 5'000);
  ASSERT_TRUE(clear);
  EXPECT_EQ(clear->severity, Predictor::kClear);
}

TEST(Predictor, APredictionIsRightIfPfcIsSentBeforeItEnds) {
  Rig rig;
  (void)rig.sample(0_us, 214'000);
  const PauseForesight first = rig.predictor.pfc_sent(kPort, kPg, true, Instant::at(5_us));
  EXPECT_TRUE(first.begins && first.foreseen && first.first);
  EXPECT_EQ(first.lead, 5_us);
  const PauseForesight refresh = rig.predictor.pfc_sent(kPort, kPg, true, Instant::at(6_us));
  EXPECT_FALSE(refresh.begins);
  EXPECT_FALSE(rig.predictor.pfc_sent(kPort, kPg, false, Instant::at(7_us)).begins);
  const PauseForesight second = rig.predictor.pfc_sent(kPort, kPg, true, Instant::at(8_us));
  EXPECT_TRUE(second.begins && second.foreseen);
  EXPECT_FALSE(second.first) << "the warning was right once";
  (void)rig.predictor.pfc_sent(kPort, kPg, false, Instant::at(9_us));
  (void)rig.flushed();
  (void)rig.sample(12_us, 5'000);
  const auto end = rig.sample(14_us, 5'000);
  ASSERT_TRUE(end);
  EXPECT_TRUE(end->ends);
  EXPECT_FALSE(end->missed);
}

TEST(Predictor, APredictionThatEndsWithoutPfcIsWrong) {
  Rig rig;
  (void)rig.sample(0_us, 214'000);
  (void)rig.sample(12_us, 5'000);
  const auto end = rig.sample(14_us, 5'000);
  ASSERT_TRUE(end);
  EXPECT_TRUE(end->ends && end->missed);
  const auto repeated = rig.timers(22_us);
  ASSERT_TRUE(repeated);
  EXPECT_FALSE(repeated->ends || repeated->missed);
}

TEST(Predictor, PfcWithoutAnEarlierWarningIsUnforeseen) {
  Rig rig;
  const PauseForesight clear = rig.predictor.pfc_sent(kPort, kPg, true, Instant::at(1_us));
  EXPECT_TRUE(clear.begins);
  EXPECT_FALSE(clear.foreseen || clear.first);
  (void)rig.predictor.pfc_sent(kPort, kPg, false, Instant::at(2_us));
  (void)rig.flushed();
  (void)rig.sample(4_us, 5'000);
  EXPECT_FALSE(rig.sample(6_us, 5'000)->missed) << "that was no prediction";
  Rig same;
  (void)same.sample(1_us, 214'000);
  EXPECT_FALSE(same.predictor.pfc_sent(kPort, kPg, true, Instant::at(1_us)).foreseen);
}

TEST(Predictor, ForgetsWithANewConfigurationButNotItsSequence) {
  Rig rig;
  ASSERT_EQ(rig.sample(0_us, 214'000)->sequence, 1u);
  const config::RlbConfig rlb = config::rlb_preset(config::RlbPreset::standard);
  rig.predictor.configure(kPort, PredictorPlan::of(rlb, port_40g(), 0x08));
  EXPECT_EQ(rig.predictor.next_deadline(), Instant::never());
  EXPECT_EQ(rig.sample(1_us, 214'000)->sequence, 2u);
}

}  // namespace
}  // namespace eddy::pfc
