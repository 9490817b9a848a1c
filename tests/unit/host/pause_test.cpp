#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/host/one_nic.h"

namespace eddy::test {
namespace {

using host::NicCounter;
constexpr Priority kData{3};
constexpr Priority kControl{6};

TEST(NicPause, StopsDataForExactlyItsQuanta) {
  OneNic one(plain_config());
  one.send(3);
  one.pause(kData, 1'000, at(10_us));  // 512,000 bits at 100 Gb/s: 5.12 us
  EXPECT_FALSE(one.transmit(at(10_us)).has_value());
  EXPECT_TRUE(one.nic.paused(kData, at(10_us)));
  EXPECT_FALSE(one.nic.paused(kControl, at(10_us)));
  EXPECT_EQ(one.nic.next_deadline(), at(15'120_ns));
  one.nic.on_timers(at(15'120_ns - 1_ps));
  EXPECT_FALSE(one.transmit(at(15'120_ns - 1_ps)).has_value());
  one.nic.on_timers(at(15'120_ns));
  EXPECT_GT(one.nic.next_deadline(), at(15'120_ns));
  EXPECT_TRUE(one.transmit(at(15'120_ns)).has_value());
  EXPECT_EQ(one.nic.paused_time(kData, at(20_us)), 5'120_ns);
  EXPECT_EQ(one.count(NicCounter::rx_pfc_packets), 1u);
}

TEST(NicPause, LetsRepliesPass) {
  OneNic one(plain_config());
  one.send(3);
  const uint32_t qpn = one.expect(3);
  one.pause(kData, 1'000, at(0_us));
  one.data(qpn, 0, at(0_us));
  EXPECT_EQ(one.transmit(at(0_us))->roce.bth.opcode, RoceOpcode::acknowledge);
  EXPECT_FALSE(one.transmit(at(0_us)).has_value());
  one.pause(kControl, 100, at(1_us));  // 512 ns
  one.data(qpn, 1, at(1_us));
  EXPECT_FALSE(one.transmit(at(1_us)).has_value());
  EXPECT_EQ(one.nic.next_deadline(), at(1'512_ns));
  EXPECT_EQ(one.transmit(at(1'512_ns))->roce.bth.opcode, RoceOpcode::acknowledge);
}

TEST(NicPause, XonResumesAndANewTimeReplacesTheOld) {
  OneNic one(plain_config());
  one.send(3);
  one.pause(kData, 0xffff, at(0_us));
  one.pause(kData, 0, at(3_us));
  EXPECT_TRUE(one.transmit(at(3_us)).has_value());
  EXPECT_EQ(one.nic.paused_time(kData, at(9_us)), 3_us);
  one.pause(kData, 1'000, at(10_us));
  one.pause(kData, 100, at(11_us));
  EXPECT_FALSE(one.transmit(at(11'511_ns)).has_value());
  EXPECT_TRUE(one.transmit(at(11'512_ns)).has_value());
  EXPECT_EQ(one.nic.paused_time(kData, at(20_us)), 4'512_ns);
}

TEST(NicPause, OthersPrioritiesAreNotOurs) {
  for (const Priority other : {Priority(0), Priority(4), Priority(7)}) {
    OneNic one(plain_config());
    one.send(3);
    one.pause(other, 1'000, at(0_us));  // 5.12 us
    EXPECT_TRUE(one.transmit(at(0_us)).has_value());
    EXPECT_EQ(one.nic.paused_time(other, at(2_us)), 2_us);
    one.pause(other, 1'000, at(20_us));
    EXPECT_EQ(one.nic.paused_time(other, at(30_us)), 10'240_ns);
  }
}

TEST(NicPause, ALegacyPauseStopsAll) {
  OneNic one(plain_config());
  one.send(3);
  const uint32_t qpn = one.expect(3);
  one.data(qpn, 0, at(0_us));
  std::vector<uint8_t> frame(kMinimumFrame);
  encode(PauseFrame::all_priorities(kGatewayMac, 1'000), frame);
  one.receive_octets(frame, frame.size(), at(0_us));
  EXPECT_FALSE(one.transmit(at(0_us)).has_value());
  EXPECT_EQ(one.transmit_data(at(5'120_ns)).size(), 4u);
}

TEST(NicPause, IsIgnoredWhenItIsNotHonoured) {
  config::HostConfig config = plain_config();
  config.pfc_honour = false;
  OneNic one(config);
  one.send(3);
  one.pause(kData, 0xffff, at(0_us));
  EXPECT_TRUE(one.transmit(at(0_us)).has_value());
  EXPECT_EQ(one.count(NicCounter::rx_pfc_packets), 1u);
  EXPECT_EQ(one.nic.paused_time(kData, at(9_us)), Duration{});
}

}  // namespace
}  // namespace eddy::test
