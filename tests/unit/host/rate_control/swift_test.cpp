// The numbers are worked out by hand from Swift's algorithm 1 and section 3.5.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/registry.h"
#include "tests/unit/host/one_nic.h"

namespace eddy::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// A window of `packets` at most, which it starts with; a target of 10 us, without scaling.
config::HostConfig swift(int64_t packets) {
  config::HostConfig config;
  config.congestion_control = "swift";
  config.bdp = Bytes(packets * 1'024);
  config.law_parameters = {
      {"swift.base_target", (10_us).ps()}, {"swift.hop_target", 0}, {"swift.flow_range", 0}};
  return config;
}
Instant us(double microseconds) {
  return at(Duration::picoseconds(static_cast<int64_t>(microseconds * 1e6)));
}

TEST(Swift, ADelayAboveTheTargetCutsOnceInARoundTrip) {
  OneNic one(swift(16));
  const uint32_t qpn = one.send(100);
  EXPECT_EQ(one.transmit_data(us(0)).size(), 16u);
  one.ack(qpn, 0, us(20));  // 1 - 0.8 (20 - 10) / 20 = 0.6: 9.6
  one.ack(qpn, 1, us(21));
  one.ack(qpn, 2, us(39.9));
  EXPECT_THAT(one.transmit_data(us(39.9)), IsEmpty());
  for (uint32_t psn = 3; psn <= 6; ++psn) one.ack(qpn, psn, us(39.95));
  EXPECT_EQ(one.transmit_data(us(39.95)).size(), 0u) << "9 in flight";
  one.ack(qpn, 7, us(39.96));
  EXPECT_THAT(one.transmit_data(us(39.96)), ElementsAre(16));
  one.ack(qpn, 8, us(40));  // 0.8 (40 - 10) / 40 = 0.6, at most 0.5: 4.8
  for (uint32_t psn = 9; psn <= 12; ++psn) one.ack(qpn, psn, us(41));
  EXPECT_THAT(one.transmit_data(us(41)), IsEmpty()) << "13 to 16 are in flight";
  one.ack(qpn, 13, us(41));
  EXPECT_THAT(one.transmit_data(us(41)), ElementsAre(17));
}

TEST(Swift, ADelayBelowTheTargetAddsAPacketARoundTrip) {
  OneNic one(swift(16));
  const uint32_t qpn = one.send(100);
  one.transmit_data(us(0));
  one.ack(qpn, 0, us(20));
  one.ack(qpn, 1, us(40));   // 4.8, as above
  one.ack(qpn, 15, us(41));  // of many at once: nobody knows which one was answered last
  EXPECT_EQ(one.transmit_data(us(42)), (std::vector<uint32_t>{16, 17, 18, 19}));
  one.ack(qpn, 16, us(50));  // 4.8 + 1 / 4.8 = 5.0083
  EXPECT_THAT(one.transmit_data(us(50)), ElementsAre(20, 21));
  // 5.2080, 5.4000, 5.5852, 5.7642, 5.9377: one for one
  for (uint32_t psn = 17; psn <= 19; ++psn) {
    one.ack(qpn, psn, us(50.5));
    EXPECT_THAT(one.transmit_data(us(50.5)), ElementsAre(psn + 5));
  }
  for (uint32_t psn = 20; psn <= 21; ++psn) {
    one.ack(qpn, psn, us(58));
    EXPECT_THAT(one.transmit_data(us(58)), ElementsAre(psn + 5));
  }
  one.ack(qpn, 22, us(58));  // 6.1061
  EXPECT_THAT(one.transmit_data(us(58)), ElementsAre(27, 28));
}

TEST(Swift, ADelayAtTheTargetIsNoGrowth) {
  OneNic one(swift(16));
  const uint32_t qpn = one.send(100);
  one.transmit_data(us(0));
  one.nak(qpn, 0, us(1));  // 8
  one.transmit_data(us(2));
  for (uint32_t psn = 0; psn < 8; ++psn) one.ack(qpn, psn, us(12));
  EXPECT_EQ(one.transmit_data(us(12)).size(), 8u);
}

// alpha = 30 us / (1 / sqrt(0.1) - 1 / sqrt(100)) = 9.79662 us: with a window of 16 the target is
// 10 + 9.79662 / 4 - 0.979662 = 11.46949 us, with one of 1 it is 18.81696 us.
TEST(Swift, ASmallWindowHasALaterTarget) {
  const auto leaves_after = [](int64_t window, double delay) {
    config::HostConfig config = swift(window);
    config.law_parameters["swift.flow_range"] = (30_us).ps();
    OneNic one(config);
    const uint32_t qpn = one.send(100);
    one.transmit_data(us(0));
    one.ack(qpn, 0, us(delay));
    return one.transmit_data(us(delay)).size();
  };
  EXPECT_EQ(leaves_after(16, 11.469), 1u);
  EXPECT_EQ(leaves_after(16, 11.470), 0u) << "15.99";
  EXPECT_EQ(leaves_after(1, 18.816), 1u);
  EXPECT_EQ(leaves_after(1, 18.818), 0u) << "0.99995: the first packet was longer than others";
}

TEST(Swift, ALargeWindowAndAWindowOfAllHaveTheBoundsOfTheTarget) {
  const auto cut_at = [](int64_t largest, double delay) {
    config::HostConfig config = swift(16);
    config.law_parameters["swift.flow_range"] = (30_us).ps();
    config.law_parameters["swift.flow_largest"] = largest;
    config.law_parameters["swift.flow_smallest"] = largest / 2;
    OneNic one(config);
    const uint32_t qpn = one.send(100);
    one.transmit_data(us(0));
    one.ack(qpn, 0, us(delay));
    return one.transmit_data(us(delay)).empty();
  };
  EXPECT_FALSE(cut_at(16'000, 9.99)) << "16 is the largest: no range";
  EXPECT_TRUE(cut_at(16'000, 10.01));
  EXPECT_FALSE(cut_at(64'000, 39.99)) << "below the smallest: all of it, and not more";
  EXPECT_TRUE(cut_at(64'000, 40.01));
}

TEST(Swift, EachHopHasItsShareOfTheTarget) {
  const auto cut_at = [](uint8_t ttl, double delay) {
    config::HostConfig config = swift(16);
    config.law_parameters["swift.hop_target"] = (1_us).ps();
    OneNic one(config);
    const uint32_t qpn = one.send(100);
    one.transmit_data(us(0));
    RocePacket ack = make_ack({}, qpn, 0, {kAethAckUnlimited, 0});
    ack.ttl = ttl;
    one.receive(ack, us(delay));
    return one.transmit_data(us(delay)).empty();
  };
  EXPECT_FALSE(cut_at(61, 12.9));
  EXPECT_TRUE(cut_at(61, 13.1));
  EXPECT_FALSE(cut_at(64, 9.9));
  EXPECT_TRUE(cut_at(64, 10.1));
  EXPECT_TRUE(cut_at(200, 10.1)) << "a TTL that we do not start with is no distance";
}

TEST(Swift, BelowOnePacketTheWindowIsKeptByPacing) {
  OneNic one(swift(1));
  const uint32_t qpn = one.send(100);
  EXPECT_THAT(one.transmit_data(us(0)), ElementsAre(0));
  one.ack(qpn, 0, us(40));  // 0.5: a packet in 80 us; the first had 1,122 octets of 1,106
  EXPECT_THAT(one.transmit_data(us(40)), IsEmpty());
  EXPECT_THAT(one.transmit_data(us(81.15)), IsEmpty());
  const double gap = 80 * 1'122 / 1'106.0;
  EXPECT_NEAR(static_cast<double>((one.nic.next_deadline() - us(0)).ps()), gap * 1e6, 1'000);
  one.nic.on_timers(us(81.16));
  EXPECT_THAT(one.transmit_data(us(81.16)), ElementsAre(1));
  EXPECT_LT(one.nic.rate_of(qpn, us(81.16)), 1_Gbps);
  one.ack(qpn, 1, us(89));  // 0.5 + 1: at line rate, one at a time
  EXPECT_THAT(one.transmit_data(us(89)), ElementsAre(2));
  EXPECT_EQ(one.nic.rate_of(qpn, us(89)), 100_Gbps);
}

TEST(Swift, AWindowBelowTheAcksOfManyIsPaced) {
  config::HostConfig config = swift(8);
  config.ack_every = 4;
  OneNic one(config);
  const uint32_t qpn = one.send(100);
  EXPECT_EQ(one.transmit_data(us(0)).size(), 8u);
  one.ack(qpn, 3, us(40));  // 4
  one.ack(qpn, 7, us(80));  // 2: four at once would be too many, two alone would get no ACK
  EXPECT_THAT(one.transmit_data(us(80), 1), ElementsAre(8));
  EXPECT_THAT(one.transmit_data(us(80)), IsEmpty());
  EXPECT_EQ(one.nic.next_deadline(), us(80 + 40));  // a round trip of 80 us for two
  for (int i = 1; i < 4; ++i) {
    one.nic.on_timers(us(80 + 40 * i));
    EXPECT_EQ(one.transmit_data(us(80 + 40 * i)).size(), 1u);
  }
  one.nic.on_timers(us(240));
  EXPECT_THAT(one.transmit_data(us(240)), IsEmpty()) << "four are in flight";
}

TEST(Swift, ANakCutsByTheMostAndOnlyOnceInARoundTrip) {
  OneNic one(swift(16));
  const uint32_t qpn = one.send(100);
  one.transmit_data(us(0));
  one.nak(qpn, 0, us(1));
  EXPECT_EQ(one.transmit_data(us(1)).size(), 8u);
  one.nak(qpn, 0, us(2));
  EXPECT_EQ(one.transmit_data(us(2)).size(), 8u) << "the base RTT is 8 us";
  one.nak(qpn, 0, us(9));
  EXPECT_EQ(one.transmit_data(us(9)).size(), 4u);
}

TEST(Swift, TimeoutsCutAndARowOfThemEndsAtTheSmallestWindow) {
  OneNic one(swift(16));
  one.send(100);
  one.transmit_data(us(0));
  for (const size_t window : {8, 4, 2, 1}) {
    const Instant due = one.nic.next_deadline();
    one.nic.on_timers(due);
    EXPECT_EQ(one.transmit_data(due).size(), window);
  }
  const Instant due = one.nic.next_deadline();
  one.nic.on_timers(due);
  EXPECT_THAT(one.transmit_data(due), IsEmpty()) << "0.001: a packet in 8 ms";
  const double gap = 8 * 1'122 / 1'106.0;  // ms; 0.001 is 1,048 of 2^20
  EXPECT_NEAR(static_cast<double>((one.nic.next_deadline() - (due - 4_ms)).ps()), gap * 1e9, 1e7);
}

// The timer of IRN is short. Were it to go off again and again while the pace holds back what is to
// be sent again, a row of time-outs that tell of nothing would end at the smallest window.
TEST(Swift, NoTimeoutWhileARepeatWaitsForItsPace) {
  config::HostConfig config = swift(1);
  config.recovery = "irn";
  OneNic one(config);
  const uint32_t qpn = one.send(100);
  EXPECT_THAT(one.transmit_data(us(0)), ElementsAre(0));
  one.ack(qpn, 0, us(400));  // 0.5: a packet in 800 us
  uint64_t sent = 0;
  Instant last;
  for (Instant now = us(400); sent < 4; now = one.nic.next_deadline()) {
    one.nic.on_timers(now);
    const size_t packets = one.transmit_data(now).size();
    sent += packets;
    if (packets == 0) continue;
    EXPECT_EQ(one.nic.outcome_of_sender(qpn).timeouts, sent - 1) << "one each time that it is lost";
    last = now;
  }
  EXPECT_LT(last, us(13'000)) << "811 us, and then twice, four and eight times as long";
  one.ack(qpn, 1, last + 20_us);
  EXPECT_GT(one.nic.rate_of(qpn, last + 20_us), 1_Mbps);
}

TEST(Swift, AnAckEndsTheRowOfTimeouts) {
  OneNic one(swift(16));
  const uint32_t qpn = one.send(100);
  one.transmit_data(us(0));
  for (int round = 0; round < 8; ++round) {
    const Instant due = one.nic.next_deadline();
    one.nic.on_timers(due);
    one.transmit_data(due);
    if (round % 3 == 2) one.ack(qpn, static_cast<uint32_t>(round), due + 8_us);
  }
  EXPECT_GT(one.nic.rate_of(qpn, at(1_s)), 10_Mbps) << "far from 0.001";
}

TEST(Swift, ThePacketSentTwiceTellsNoDelay) {
  OneNic one(swift(16));
  const uint32_t qpn = one.send(100);
  one.transmit_data(us(0));
  one.nak(qpn, 0, us(1));  // 8
  EXPECT_EQ(one.transmit_data(us(1)).size(), 8u);
  for (uint32_t psn = 0; psn < 8; ++psn) one.ack(qpn, psn, us(30));
  EXPECT_EQ(one.transmit_data(us(30)).size(), 8u) << "neither 29 nor 30 us are known";
}

TEST(Swift, ParametersAreDeclared) {
  const host::RateControlInfo* law = host::find_law(host::rate_controls(), "swift");
  ASSERT_NE(law, nullptr);
  EXPECT_EQ(law->parameters.size(), 9u);
  EXPECT_TRUE(law->hears.rtt);
  EXPECT_FALSE(law->echoes_marks);
}

}  // namespace
}  // namespace eddy::test
