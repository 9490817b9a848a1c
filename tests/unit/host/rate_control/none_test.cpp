#include <gtest/gtest.h>

#include "tests/unit/host/one_nic.h"

namespace eddy::test {
namespace {

TEST(NoRateControl, NothingThatComesSlowsAQueuePairDown) {
  OneNic one(plain_config());
  const uint32_t qpn = one.send(100);
  EXPECT_EQ(one.transmit_data(at(0_us), 10).size(), 10u);
  one.cnp(qpn, at(1_us));
  one.ack(qpn, 3, at(1_us), true);
  one.nak(qpn, 6, at(1_us));
  EXPECT_EQ(one.transmit_data(at(1_us), 50).size(), 50u);
  EXPECT_EQ(one.nic.rate_of(qpn, at(1_us)), 100_Gbps);
  EXPECT_EQ(one.nic.outcome_of_sender(qpn).cnps, 1u);
}

TEST(NoRateControl, AMarkIsCountedAndNotAnswered) {
  OneNic one(plain_config());
  const uint32_t qpn = one.expect(100);
  one.data(qpn, 0, at(0_us), kEcnCongestion);
  EXPECT_EQ(one.replies(at(0_us)), std::vector<std::string>{"A0"});
  EXPECT_EQ(one.nic.outcome_of_receiver(qpn).ecn_marked_packets, 1u);
}

}  // namespace
}  // namespace eddy::test
