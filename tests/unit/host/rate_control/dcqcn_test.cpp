#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/rate_control/reaction_point.h"
#include "net/random.h"
#include "tests/unit/host/one_nic.h"

namespace eddy::test {
namespace {

using config::DcqcnConfig;
using host::ReactionPoint;
using testing::ElementsAre;

constexpr BitRate kLine = 40_Gbps;

// One quiet alpha timer in six increases, no byte counter, every CNP counts.
DcqcnConfig golden_config() {
  DcqcnConfig config;
  config.alpha_timer = 200_us;
  config.increase_timer = 55_us;
  config.decrease_interval = 0_us;
  config.byte_counter = Bytes(0);
  config.cap_target = false;
  return config;
}

struct Point {
  explicit Point(const DcqcnConfig& with) : config(with) { point.start(kLine); }
  int64_t rate(Instant now) {
    point.catch_up(config, kLine, now);
    return point.rate_bps();
  }
  void cnp(Instant now) { point.on_cnp(config, kLine, now); }
  void sent(int64_t octets) { point.on_sent(config, kLine, octets); }
  DcqcnConfig config;
  ReactionPoint point;
};

TEST(Dcqcn, FollowsTheReferencesGoldenRun) {
  Point dcqcn(golden_config());
  dcqcn.cnp(at(0_us));
  EXPECT_EQ(dcqcn.point.target_bps(), 40'000'000'000);
  EXPECT_EQ(dcqcn.rate(at(0_us)), 20'000'000'000);
  EXPECT_EQ(dcqcn.point.alpha_q30(), ReactionPoint::kAlphaOne);
  EXPECT_EQ(dcqcn.rate(at(55_us - 1_ps)), 20'000'000'000);
  EXPECT_EQ(dcqcn.rate(at(55_us)), 30'000'000'000);
  EXPECT_EQ(dcqcn.rate(at(110_us)), 35'000'000'000);
  EXPECT_EQ(dcqcn.rate(at(165_us)), 37'500'000'000);
  EXPECT_EQ(dcqcn.rate(at(220_us)), 38'750'000'000);
  EXPECT_EQ(dcqcn.point.alpha_q30(), ReactionPoint::kAlphaOne / 256 * 255);  // 0.99609375
  EXPECT_EQ(dcqcn.rate(at(275_us)), 39'375'000'000);
  EXPECT_EQ(dcqcn.rate(at(330_us)), 39'707'500'000);
  EXPECT_EQ(dcqcn.point.target_bps(), 40'040'000'000);
  dcqcn.cnp(at(331_us));
  EXPECT_EQ(dcqcn.rate(at(331_us)), 19'931'303'711);  // 39.7075 (1 - 0.99609375 / 2)
}

TEST(Dcqcn, ATargetMayBeClampedToTheLine) {
  Point dcqcn(golden_config());
  dcqcn.config.cap_target = true;
  dcqcn.cnp(at(0_us));
  EXPECT_EQ(dcqcn.rate(at(330_us)), 39'687'500'000);
  EXPECT_EQ(dcqcn.point.target_bps(), 40'000'000'000);
  EXPECT_EQ(dcqcn.rate(at(10_ms)), 40'000'000'000);
}

TEST(Dcqcn, CountsBytesAndTimersTowardsHyperIncrease) {
  Point dcqcn(golden_config());
  dcqcn.config.fast_recovery = 1;
  dcqcn.config.byte_counter = Bytes(1'000);
  dcqcn.sent(5'000);  // before the first CNP nothing counts
  dcqcn.cnp(at(0_us));
  EXPECT_EQ(dcqcn.rate(at(55_us)), 30'000'000'000);
  dcqcn.sent(999);
  EXPECT_EQ(dcqcn.rate(at(55_us)), 30'000'000'000);
  dcqcn.sent(1);
  EXPECT_EQ(dcqcn.rate(at(55_us)), 35'020'000'000);
  EXPECT_EQ(dcqcn.rate(at(110_us)), 37'550'000'000);
  dcqcn.sent(1'000);
  EXPECT_EQ(dcqcn.rate(at(110_us)), 38'835'000'000);
  EXPECT_EQ(dcqcn.rate(at(165_us)), 39'527'500'000);  // both above 1: 100 Mb/s more
  EXPECT_EQ(dcqcn.point.target_bps(), 40'220'000'000);
}

TEST(Dcqcn, CutsAtMostOnceAnIntervalAndNeverBelowTheFloor) {
  Point dcqcn(golden_config());
  dcqcn.config.decrease_interval = 4_us;
  dcqcn.config.increase_timer = 1_s;
  dcqcn.config.min_rate = 6_Gbps;
  dcqcn.cnp(at(1_us));
  dcqcn.cnp(at(5_us - 1_ps));
  EXPECT_EQ(dcqcn.rate(at(5_us - 1_ps)), 20'000'000'000);
  dcqcn.cnp(at(5_us));
  EXPECT_EQ(dcqcn.rate(at(5_us)), 10'000'000'000);
  dcqcn.cnp(at(9_us));
  EXPECT_EQ(dcqcn.rate(at(9_us)), 6'000'000'000);
}

TEST(Dcqcn, ACnpTooEarlyStillPutsOffTheDecayOfAlpha) {
  Point dcqcn(golden_config());
  dcqcn.config.decrease_interval = 1_ms;
  dcqcn.cnp(at(0_us));
  dcqcn.cnp(at(150_us));
  dcqcn.rate(at(350_us - 1_ps));
  EXPECT_EQ(dcqcn.point.alpha_q30(), ReactionPoint::kAlphaOne);
  dcqcn.rate(at(350_us));
  EXPECT_LT(dcqcn.point.alpha_q30(), ReactionPoint::kAlphaOne);
}

TEST(Dcqcn, LookingSeldomGivesTheRatesOfLookingAlways) {
  const uint64_t seed = 4'711;
  RandomStream random(seed, 0, 0);
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  for (const int kind : {0, 1, 2}) {
    DcqcnConfig config;
    config.algorithm = kind == 2 ? config::DcqcnAlgorithm::vendor : config::DcqcnAlgorithm::paper;
    config.alpha_timer = 7_us;
    config.increase_timer = 11_us;
    config.decrease_interval = 5_us;
    config.byte_counter = Bytes(100'000);
    config.cap_target = kind == 1;
    Point seldom(config);
    Point always(config);
    Duration now;
    for (int i = 0; i < 300; ++i) {
      const Duration step = Duration::nanoseconds(random.below(i % 50 == 0 ? 90'000'000 : 60'000));
      for (Duration t; t < step; t += 1_us) always.rate(at(now + t));
      now += step;
      ASSERT_EQ(seldom.rate(at(now)), always.rate(at(now)));
      ASSERT_EQ(seldom.point.alpha_q30(), always.point.alpha_q30());
      for (Point* each : {&seldom, &always}) {
        each->sent(static_cast<int64_t>(i) * 1'000);
        if (i % 3 == 0) each->cnp(at(now));
      }
    }
  }
}

// Of a NIC: alpha halves or comes half of the way to 1 in each of its slots.
DcqcnConfig slots_config() {
  DcqcnConfig config;
  config.algorithm = config::DcqcnAlgorithm::vendor;
  config.g_shift = 1;
  config.alpha_timer = 3_us;
  config.decrease_interval = 4_us;
  config.increase_timer = 10_us;
  config.fast_recovery = 1;
  config.additive_increase = 2_Gbps;
  config.hyper_increase = 8_Gbps;
  config.min_rate = 1_Gbps;
  return config;
}

TEST(DcqcnOfNics, TheFirstCnpCutsAtOnceAndStartsTheSlots) {
  Point dcqcn(slots_config());
  EXPECT_EQ(dcqcn.point.next_event(), Instant::never());
  dcqcn.cnp(at(1_us));
  EXPECT_EQ(dcqcn.rate(at(1_us)), 20'000'000'000);
  EXPECT_EQ(dcqcn.point.target_bps(), 40'000'000'000);
  EXPECT_EQ(dcqcn.point.alpha_q30(), ReactionPoint::kAlphaOne);
  dcqcn.rate(at(4_us));  // the CNP was in this slot
  EXPECT_EQ(dcqcn.point.alpha_q30(), ReactionPoint::kAlphaOne);
  dcqcn.rate(at(7_us - 1_ps));
  EXPECT_EQ(dcqcn.point.alpha_q30(), ReactionPoint::kAlphaOne);
  dcqcn.rate(at(7_us));
  EXPECT_EQ(dcqcn.point.alpha_q30(), ReactionPoint::kAlphaOne / 2);
  EXPECT_EQ(dcqcn.rate(at(11_us - 1_ps)), 20'000'000'000) << "no CNP, no cut";
}

TEST(DcqcnOfNics, TheFirstCnpMayTakeMore) {
  Point dcqcn(slots_config());
  dcqcn.config.first_cnp_rate = 0.5;
  dcqcn.cnp(at(0_us));
  EXPECT_EQ(dcqcn.rate(at(0_us)), 10'000'000'000);
  EXPECT_EQ(dcqcn.point.target_bps(), 20'000'000'000);
}

TEST(DcqcnOfNics, CnpsOfASlotCutOnceAtItsEndAndLeaveTheTarget) {
  Point dcqcn(slots_config());
  dcqcn.cnp(at(0_us));
  for (const Duration time : {100_ns, 1_us, 2_us}) dcqcn.cnp(at(time));
  EXPECT_EQ(dcqcn.rate(at(4_us - 1_ps)), 20'000'000'000);
  EXPECT_EQ(dcqcn.rate(at(4_us)), 10'000'000'000);  // alpha is 1 still
  EXPECT_EQ(dcqcn.point.target_bps(), 40'000'000'000)
      << "the rate has not grown since the last cut";
  dcqcn.cnp(at(7_us));  // alpha: 1 until 6 us, as no CNP came in that slot then 1/2
  EXPECT_EQ(dcqcn.rate(at(8_us)), 7'500'000'000);
  EXPECT_EQ(dcqcn.point.target_bps(), 40'000'000'000);
}

TEST(DcqcnOfNics, TheTargetFollowsOnceTheRateHasGrown) {
  Point dcqcn(slots_config());
  dcqcn.config.alpha_timer = 1_s;
  dcqcn.cnp(at(0_us));
  EXPECT_EQ(dcqcn.rate(at(10_us - 1_ps)), 20'000'000'000);
  EXPECT_EQ(dcqcn.rate(at(10_us)), 30'000'000'000);  // fast recovery
  dcqcn.cnp(at(11_us));
  EXPECT_EQ(dcqcn.rate(at(12_us)), 15'000'000'000);  // at the end of the third slot
  EXPECT_EQ(dcqcn.point.target_bps(), 30'000'000'000);
  EXPECT_EQ(dcqcn.rate(at(22_us - 1_ps)), 15'000'000'000) << "the cut started the timer again";
  EXPECT_EQ(dcqcn.rate(at(22_us)), 22'500'000'000);
}

TEST(DcqcnOfNics, TheTargetFollowsEveryCutWhereThatIsWanted) {
  Point dcqcn(slots_config());
  dcqcn.config.clamp_target_rate = true;
  dcqcn.cnp(at(0_us));
  dcqcn.cnp(at(1_us));
  EXPECT_EQ(dcqcn.rate(at(4_us)), 10'000'000'000);
  EXPECT_EQ(dcqcn.point.target_bps(), 20'000'000'000);
}

TEST(DcqcnOfNics, GrowsByTheTimerInThreeStages) {
  Point dcqcn(slots_config());
  dcqcn.cnp(at(0_us));
  dcqcn.sent(100'000'000);
  EXPECT_EQ(dcqcn.rate(at(0_us)), 20'000'000'000) << "octets do not count";
  Point low(slots_config());
  low.config.first_cnp_rate = 0.25;
  low.cnp(at(0_us));                               // target 10 Gb/s, rate 5
  EXPECT_EQ(low.rate(at(10_us)), 7'500'000'000);   // fast recovery
  EXPECT_EQ(low.rate(at(20_us)), 9'750'000'000);   // target 12
  EXPECT_EQ(low.rate(at(30_us)), 14'875'000'000);  // target 20
  EXPECT_EQ(low.rate(at(40_us)), 21'437'500'000);  // target 28
  EXPECT_EQ(low.point.target_bps(), 28'000'000'000);
  EXPECT_EQ(low.rate(at(1_ms)), 40'000'000'000);
  EXPECT_EQ(low.point.target_bps(), 40'000'000'000) << "never above the line";
}

TEST(DcqcnOfNics, NeverFallsBelowTheFloor) {
  Point dcqcn(slots_config());
  dcqcn.config.min_rate = 6_Gbps;
  dcqcn.config.alpha_timer = 1_s;
  for (Duration time; time < 30_us; time += 1_us) dcqcn.cnp(at(time));
  EXPECT_EQ(dcqcn.rate(at(30_us)), 6'000'000'000);
}

TEST(Dcqcn, PresetsAreTheReferencesColumns) {
  const DcqcnConfig paper = config::dcqcn_preset(config::DcqcnPreset::paper);
  EXPECT_EQ(paper.alpha_timer, 55_us);
  EXPECT_EQ(paper.cnp_interval, 50_us);
  EXPECT_EQ(paper.fast_recovery, 5);
  EXPECT_EQ(paper.byte_counter, Bytes(10'000'000));
  EXPECT_EQ(paper.additive_increase, 40_Mbps);
  EXPECT_EQ(paper.min_rate, 10_Mbps);
  const DcqcnConfig vendor =
      config::for_line(config::dcqcn_preset(config::DcqcnPreset::vendor), 100_Gbps);
  EXPECT_EQ(paper.algorithm, config::DcqcnAlgorithm::paper);
  EXPECT_EQ(vendor.algorithm, config::DcqcnAlgorithm::vendor);
  EXPECT_EQ(vendor.alpha_timer, 1_us);
  EXPECT_EQ(vendor.decrease_interval, 4_us);
  EXPECT_EQ(vendor.cnp_interval, 0_us);
  EXPECT_EQ(vendor.increase_timer, 300_us);
  EXPECT_EQ(vendor.byte_counter, Bytes(0));
  EXPECT_EQ(vendor.fast_recovery, 1);
  EXPECT_EQ(vendor.additive_increase, 20_Mbps);
  EXPECT_EQ(vendor.hyper_increase, 200_Mbps);
  EXPECT_EQ(vendor.min_rate, 1_Gbps);
}

// The NIC: 40 Gb/s, every CNP halves the rate, and it does not grow.
config::HostConfig halving() {
  config::HostConfig config = plain_config();
  config.congestion_control = "dcqcn";
  config.dcqcn = golden_config();
  config.dcqcn.alpha_timer = 1_s;
  config.dcqcn.increase_timer = 1_s;
  return config;
}

TEST(Pacing, GapsAreExact) {
  OneNic one(halving(), kLine);
  const uint32_t qpn = one.send(10);
  ASSERT_TRUE(one.transmit(at(0_us)).has_value());  // 1,122 octets of line
  one.cnp(qpn, at(0_us));
  EXPECT_EQ(one.nic.rate_of(qpn, at(0_us)), 20_Gbps);
  EXPECT_FALSE(one.transmit(at(224'400_ps)).has_value());  // the line is free
  EXPECT_EQ(one.nic.next_deadline(), at(448'800_ps));      // 1,122 x 8 / 20 Gb/s
  EXPECT_FALSE(one.transmit(at(448'800_ps - 1_ps)).has_value());
  EXPECT_TRUE(one.transmit(at(448'800_ps)).has_value());  // 1,106 octets of line
  EXPECT_FALSE(one.transmit(at(448'800_ps)).has_value());
  EXPECT_EQ(one.nic.next_deadline(), at(891'200_ps));
  one.cnp(qpn, at(600_ns));  // counts for the whole gap: 884.8 ns
  EXPECT_EQ(one.nic.next_deadline(), at(1'333'600_ps));
  EXPECT_FALSE(one.transmit(at(1'333'599_ps)).has_value());
  EXPECT_TRUE(one.transmit(at(1'333'600_ps)).has_value());
}

TEST(Pacing, APacketInItsTurnWaitsWhenACnpOvertakesIt) {
  OneNic one(halving(), kLine);
  const uint32_t qpn = one.send(10);
  ASSERT_TRUE(one.transmit(at(0_us)).has_value());
  one.cnp(qpn, at(0_us));
  one.nic.on_timers(at(448'800_ps));  // ready now
  EXPECT_GT(one.nic.next_deadline(), at(448'800_ps));
  one.cnp(qpn, at(450_ns));
  EXPECT_FALSE(one.transmit(at(450_ns)).has_value());
  EXPECT_EQ(one.nic.next_deadline(), at(897'600_ps));
}

TEST(Pacing, ARateThatGrowsShortensTheWait) {
  config::HostConfig config = halving();
  config.dcqcn.increase_timer = 300_ns;
  OneNic one(config, kLine);
  const uint32_t qpn = one.send(10);
  ASSERT_TRUE(one.transmit(at(0_us)).has_value());
  one.cnp(qpn, at(0_us));
  EXPECT_FALSE(one.transmit(at(224'400_ps)).has_value());
  EXPECT_EQ(one.nic.next_deadline(), at(300_ns));  // 30 Gb/s from then on: 299.2 ns are enough
  EXPECT_FALSE(one.transmit(at(299'999_ps)).has_value());
  EXPECT_TRUE(one.transmit(at(300_ns)).has_value());
}

TEST(Pacing, OthersTakeTheLineMeanwhile) {
  OneNic one(halving(), kLine);
  const uint32_t slow = one.send(10, 0);
  one.send(10, 100);
  EXPECT_THAT(one.transmit_data(at(0_us), 2), ElementsAre(0, 100));
  one.cnp(slow, at(0_us));
  EXPECT_THAT(one.transmit_data(at(1_ns), 3), ElementsAre(101, 102, 103));
  EXPECT_THAT(one.transmit_data(at(450_ns), 3), ElementsAre(104, 1, 105));
}

TEST(Pacing, ANakCutsTheRateOnlyWhenAsked) {
  for (const bool cuts : {false, true}) {
    config::HostConfig config = halving();
    config.nak_cuts_rate = cuts;
    OneNic one(config, kLine);
    const uint32_t qpn = one.send(10);
    one.transmit_data(at(0_us), 4);
    one.nak(qpn, 1, at(1_us));
    EXPECT_EQ(one.nic.rate_of(qpn, at(1_us)), cuts ? 20_Gbps : kLine);
    EXPECT_EQ(one.nic.outcome_of_sender(qpn).cnps, 0u);
  }
}

// What has left since the last event counts, also for a CNP that comes too early to cut.
TEST(Pacing, TheByteCounterGoesOnThroughACnpThatDoesNotCut) {
  config::HostConfig config = halving();
  config.dcqcn.decrease_interval = 100_us;
  config.dcqcn.byte_counter = Bytes(3 * 1'082);
  OneNic one(config, kLine);
  const uint32_t qpn = one.send(10);
  ASSERT_TRUE(one.transmit(at(0_us)).has_value());
  one.cnp(qpn, at(0_us));
  for (const Instant now : {at(1_us), at(2_us)}) ASSERT_TRUE(one.transmit(now).has_value());
  one.cnp(qpn, at(3_us));
  EXPECT_EQ(one.nic.rate_of(qpn, at(3_us)), 20_Gbps);
  ASSERT_TRUE(one.transmit(at(4_us)).has_value());
  EXPECT_EQ(one.nic.rate_of(qpn, at(4_us)), 30_Gbps);
}

TEST(Pacing, AVariableWindowFollowsTheRate) {
  config::HostConfig config = halving();
  config.window = config.variable_window = true;
  config.bdp = Bytes(8 * 1'024);
  OneNic one(config, kLine);
  const uint32_t qpn = one.send(100);
  EXPECT_EQ(one.transmit_data(at(0_us)).size(), 8u);
  one.cnp(qpn, at(1_us));
  one.ack(qpn, 3, at(2_us));  // four in flight, as many as half the window
  EXPECT_FALSE(one.transmit(at(2_us)).has_value());
  one.ack(qpn, 4, at(3_us));
  EXPECT_TRUE(one.transmit(at(3_us)).has_value());
  EXPECT_FALSE(one.transmit(at(9_us)).has_value());
}

TEST(Pacing, AVariableWindowGrowsWithTheRate) {
  config::HostConfig config = halving();
  config.window = config.variable_window = true;
  config.bdp = Bytes(8 * 1'024);
  config.dcqcn.increase_timer = 10_us;
  OneNic one(config, kLine);
  const uint32_t qpn = one.send(100);
  EXPECT_EQ(one.transmit_data(at(0_us)).size(), 8u);
  one.cnp(qpn, at(1_us));
  one.ack(qpn, 4, at(12_us));  // three in flight, and 30 of 40 Gb/s since 11 us
  int sent = 0;
  for (const Instant now : {at(12_us), at(13_us), at(14_us), at(15_us)})
    sent += one.transmit(now).has_value() ? 1 : 0;
  EXPECT_EQ(sent, 3);
}

TEST(NotificationPoint, SendsOneCnpAnInterval) {
  config::HostConfig config = plain_config();
  config.congestion_control = "dcqcn";
  config.dcqcn.cnp_interval = 50_us;
  OneNic one(config);
  const uint32_t qpn = one.expect(100);
  one.data(qpn, 0, at(3_us), kEcnCongestion);
  one.data(qpn, 1, at(53_us - 1_ps), kEcnCongestion);
  EXPECT_THAT(one.replies(at(53_us)), ElementsAre("C", "A0", "A1"));
  one.data(qpn, 2, at(53_us));
  one.data(qpn, 3, at(53_us), kEcnCongestion);
  one.data(qpn, 8, at(200_us), kEcnCongestion);  // dropped, but it was marked
  EXPECT_THAT(one.replies(at(200_us)), ElementsAre("A2", "C", "A3", "C", "N4"));
  EXPECT_EQ(one.nic.outcome_of_receiver(qpn).ecn_marked_packets, 4u);
  EXPECT_EQ(one.count(host::NicCounter::tx_cnp_packets), 3u);
}

TEST(NotificationPoint, SendsOneForEveryMarkWithoutAnInterval) {
  config::HostConfig config = plain_config();
  config.congestion_control = "dcqcn";
  config.dcqcn.cnp_interval = 0_us;
  OneNic one(config);
  const uint32_t qpn = one.expect(100);
  for (int64_t i = 0; i < 2; ++i) one.data(qpn, i, at(0_us), kEcnCongestion);
  EXPECT_THAT(one.replies(at(0_us)), ElementsAre("C", "A0", "C", "A1"));
}

}  // namespace
}  // namespace eddy::test
