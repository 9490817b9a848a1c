#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "net/text/parameters.h"
#include "tests/unit/host/one_nic.h"

namespace eddy::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

config::HostConfig dctcp() {
  config::HostConfig config = plain_config();
  config.congestion_control = "dctcp";
  config.law_parameters["dctcp.initial_window"] = 10 * 1'024;
  return config;
}

TEST(Dctcp, TheWindowFollowsTheFractionOfMarks) {
  OneNic one(dctcp());
  const uint32_t qpn = one.send(100);
  EXPECT_EQ(one.transmit_data(at(0_us)).size(), 10u);
  one.ack(qpn, 4, at(1_us));  // within the first window: nothing changes
  EXPECT_THAT(one.transmit_data(at(1_us)), ElementsAre(10, 11, 12, 13, 14));
  one.ack(qpn, 9, at(2_us));  // no mark: alpha 1 - 1/16, an MTU more
  EXPECT_THAT(one.transmit_data(at(2_us)), ElementsAre(15, 16, 17, 18, 19, 20));
  one.ack(qpn, 11, at(3_us));
  EXPECT_THAT(one.transmit_data(at(3_us)), ElementsAre(21, 22));
  // 3 of 5 packets marked: alpha 0.9375 + (0.6 - 0.9375) / 16 = 0.91640625; of 11,264 octets stay
  // 6,102.8, five packets.
  one.ack(qpn, 14, at(4_us), true);
  EXPECT_THAT(one.transmit_data(at(4_us)), IsEmpty());
  one.ack(qpn, 17, at(5_us));
  EXPECT_THAT(one.transmit_data(at(5_us)), IsEmpty());
  one.ack(qpn, 18, at(6_us));
  EXPECT_THAT(one.transmit_data(at(6_us)), ElementsAre(23));
}

TEST(Dctcp, TheWindowStaysBelowABandwidthDelayProductWhenThatIsTheLimit) {
  config::HostConfig config = dctcp();
  config.window = true;
  config.bdp = Bytes(10 * 1'024);
  OneNic one(config);
  const uint32_t qpn = one.send(100);
  one.transmit_data(at(0_us));
  one.ack(qpn, 9, at(1_us));
  EXPECT_EQ(one.transmit_data(at(1_us)).size(), 10u);
}

TEST(Dctcp, TheWindowNeverFallsBelowWhatAnAckIsFor) {
  config::HostConfig config = dctcp();
  config.ack_every = 4;
  OneNic one(config);
  const uint32_t qpn = one.send(1'000);
  uint32_t sent = static_cast<uint32_t>(one.transmit_data(at(0_us)).size());
  for (int64_t i = 1; i < 40; ++i) {
    one.ack(qpn, sent - 1, at(Duration::microseconds(i)), true);
    sent += static_cast<uint32_t>(one.transmit_data(at(Duration::microseconds(i))).size());
  }
  one.ack(qpn, sent - 1, at(50_us), true);
  EXPECT_EQ(one.transmit_data(at(50_us)).size(), 4u);
}

TEST(Dctcp, AcksEchoMarks) {
  config::HostConfig config = dctcp();
  config.ack_every = 2;
  OneNic one(config);
  const uint32_t qpn = one.expect(100);
  one.data(qpn, 0, at(0_us), kEcnCongestion);
  for (int64_t i = 1; i < 4; ++i) one.data(qpn, i, at(0_us));
  EXPECT_THAT(one.replies(at(0_us)), ElementsAre("A1e", "A3"));
}

TEST(Dctcp, WithoutItMarksAreNotEchoed) {
  OneNic one(plain_config());
  const uint32_t qpn = one.expect(100);
  one.data(qpn, 0, at(0_us), kEcnCongestion);
  EXPECT_THAT(one.replies(at(0_us)), ElementsAre("A0"));
}

// As files have said it: 0B is the word's other form.
TEST(Dctcp, NoWindowToBeginWithIsThatOfThePath) {
  std::vector<size_t> sent;
  for (const int64_t initial : {kAutomatic, int64_t{0}, int64_t{3 * 1'024}}) {
    config::HostConfig config = dctcp();
    config.law_parameters["dctcp.initial_window"] = initial;
    OneNic one(config);
    (void)one.send(100);
    sent.push_back(one.transmit_data(at(0_us)).size());
  }
  EXPECT_EQ(sent[0], sent[1]);
  EXPECT_GT(sent[0], sent[2]);
  EXPECT_EQ(sent[2], 3u);
}

}  // namespace
}  // namespace eddy::test
