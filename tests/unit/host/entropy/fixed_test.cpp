#include <gtest/gtest.h>

#include "tests/unit/host/one_nic.h"

namespace eddy::test {
namespace {

TEST(FixedEntropy, APortIsTheFlowsWhateverComes) {
  OneNic one(plain_config());
  const uint32_t qpn = one.send(100);
  for (const Instant now : {at(1_us), at(2_us), at(3_us)}) {
    const auto sent = one.transmit(now);
    ASSERT_TRUE(sent);
    EXPECT_EQ(sent->roce.source_port, kDataPort);
    one.cnp(qpn, now);
    one.ack(qpn, 0, now, true);
    one.nak(qpn, 1, now);
  }
  EXPECT_EQ(one.transmit_data(at(4_us), 5).size(), 5u);
  one.nic.on_timers(at(20_ms));
  EXPECT_EQ(one.nic.outcome_of_sender(qpn).timeouts, 1u);
  EXPECT_EQ(one.transmit(at(20_ms))->roce.source_port, kDataPort);
}

TEST(FixedEntropy, RepliesLeaveFromTheirOwnPort) {
  OneNic one(plain_config());
  const uint32_t qpn = one.expect(10);
  for (int64_t i : {0, 2}) one.data(qpn, i, at(0_us));
  EXPECT_EQ(one.transmit(at(0_us))->roce.source_port, kReplyPort);
  EXPECT_EQ(one.transmit(at(0_us))->roce.source_port, kReplyPort);
}

}  // namespace
}  // namespace eddy::test
