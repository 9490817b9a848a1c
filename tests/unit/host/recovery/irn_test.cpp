#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/host/one_nic.h"

namespace eddy::test {
namespace {

using host::NicCounter;
using testing::ElementsAre;
using testing::IsEmpty;

config::HostConfig irn() {
  config::HostConfig config = plain_config();
  config.recovery = "irn";
  config.bdp = Bytes(8 * 1'024);
  return config;
}

TEST(Irn, ReceiverKeepsWhatIsAheadAndSaysWhatCame) {
  OneNic one(irn());
  const uint32_t qpn = one.expect(8);
  for (int64_t i : {0, 1, 3, 5, 3}) one.data(qpn, i, at(0_us));
  EXPECT_THAT(one.replies(at(0_us)), ElementsAre("A0", "A1", "N2+3", "N2+5", "N2+3"));
  for (int64_t i : {2, 1, 4}) one.data(qpn, i, at(1_us));
  EXPECT_THAT(one.replies(at(1_us)), ElementsAre("A3", "A3", "A5"));
  for (int64_t i : {7, 6}) one.data(qpn, i, at(2_us));
  EXPECT_THAT(one.replies(at(2_us)), ElementsAre("N6+7", "A7"));
  ASSERT_EQ(one.nic.completions().size(), 1u);
  EXPECT_EQ(one.nic.completions()[0].at, at(2_us));
  const host::ReceiveOutcome& outcome = one.nic.outcome_of_receiver(qpn);
  EXPECT_EQ(outcome.delivered_bytes, 8u * 1'024);
  EXPECT_EQ(outcome.out_of_order_packets, 4u);
  EXPECT_EQ(outcome.duplicate_packets, 2u);
}

TEST(Irn, SenderRepeatsOnlyWhatIsLost) {
  OneNic one(irn());
  const uint32_t qpn = one.send(20);
  EXPECT_EQ(one.transmit_data(at(0_us)).size(), 8u);
  one.nak(qpn, 2, at(1_us), 3);  // 0, 1 and 3 came: two new ones fit behind
  EXPECT_THAT(one.transmit_data(at(1_us)), ElementsAre(2, 8, 9));
  one.nak(qpn, 2, at(2_us), 4);
  EXPECT_THAT(one.transmit_data(at(2_us)), IsEmpty());
  one.nak(qpn, 2, at(3_us), 7);  // 5 and 6 did not
  EXPECT_THAT(one.transmit_data(at(3_us)), ElementsAre(5, 6));
  one.ack(qpn, 4, at(4_us));
  EXPECT_THAT(one.transmit_data(at(4_us)), ElementsAre(10, 11, 12));
  const host::SendOutcome& outcome = one.nic.outcome_of_sender(qpn);
  EXPECT_EQ(outcome.retransmitted_packets, 3u);
  EXPECT_EQ(outcome.naks, 3u);
  EXPECT_EQ(one.count(NicCounter::rx_nak_packets), 3u);
}

TEST(Irn, ANakOfNothingThatWasSentIsInvalid) {
  OneNic one(irn());
  const uint32_t qpn = one.send(20);
  one.transmit_data(at(0_us));
  one.nak(qpn, 2, at(1_us), 8);
  one.nak(qpn, 2, at(1_us), 2);
  one.nak(qpn, 2, at(1_us), 0xffffff);
  EXPECT_EQ(one.count(NicCounter::invalid_ack_packets), 3u);
  EXPECT_THAT(one.transmit_data(at(1_us)), IsEmpty());
}

TEST(Irn, TheTimerIsShortWithFewPacketsInFlight) {
  OneNic one(irn());  // 100 us with at most 3, 320 us
  const uint32_t few = one.send(3);
  one.transmit_data(at(0_us));
  EXPECT_EQ(one.nic.next_deadline(), at(100_us));
  one.nic.on_timers(at(100_us));
  EXPECT_THAT(one.transmit_data(at(100_us)), ElementsAre(0));
  EXPECT_EQ(one.nic.outcome_of_sender(few).timeouts, 1u);
  one.ack(few, 2, at(110_us));
  EXPECT_EQ(one.nic.completions().size(), 1u);

  const uint32_t many = one.send(20, 0, 0, 8_us, at(1_ms));
  one.transmit_data(at(1_ms));
  one.nic.on_timers(at(1'100_us));
  EXPECT_EQ(one.nic.outcome_of_sender(many).timeouts, 0u);
  EXPECT_EQ(one.nic.next_deadline(), at(1'320_us));
  one.ack(many, 0, at(1'200_us));
  one.nak(many, 6, at(1'210_us), 7);  // then four new ones and the lost one, six in flight
  one.transmit_data(at(1'210_us));
  one.nic.on_timers(at(1'320_us));
  EXPECT_EQ(one.nic.next_deadline(), at(1'530_us));
  one.nic.on_timers(at(1'530_us));
  EXPECT_EQ(one.nic.outcome_of_sender(many).timeouts, 1u);
  EXPECT_THAT(one.transmit_data(at(1'530_us)), ElementsAre(6));
}

TEST(Irn, TheLastPacketsOfAWindowFallBackToTheShortTimer) {
  OneNic one(irn());
  const uint32_t qpn = one.send(8);
  one.transmit_data(at(0_us));
  one.nic.on_timers(at(100_us));
  EXPECT_EQ(one.nic.next_deadline(), at(320_us));  // eight in flight
  one.ack(qpn, 4, at(150_us));
  EXPECT_EQ(one.nic.next_deadline(), at(250_us));  // three
  one.nic.on_timers(at(250_us));
  EXPECT_EQ(one.nic.outcome_of_sender(qpn).timeouts, 1u);
}

TEST(Irn, PsnsWrapAtTwoToThe24) {
  constexpr uint32_t kFirst = 0xfffffd;
  OneNic one(irn());
  const uint32_t sender = one.send(8, kFirst);
  one.transmit_data(at(0_us));
  one.nak(sender, 0xfffffe, at(1_us), 1);  // 0xfffffd and, of the next six, the fourth
  EXPECT_THAT(one.transmit_data(at(1_us)), ElementsAre(0xfffffe, 0xffffff, 0));
  const uint32_t receiver = one.expect(8, kFirst);
  for (int64_t i : {0, 4, 1, 2, 3}) one.data(receiver, i, at(2_us), kEcnCapable0, kFirst);
  EXPECT_THAT(one.replies(at(2_us)),
              ElementsAre("A16777213", "N16777214+1", "A16777214", "A16777215", "A1"));
}

TEST(Irn, WhatIsBeyondTheBitmapIsDropped) {
  host::NicOptions options = host_options(irn());
  options.reorder_packets = 64;
  OneNic one(options);
  const uint32_t qpn = one.expect(100);
  one.data(qpn, 64, at(0_us));
  EXPECT_THAT(one.replies(at(0_us)), IsEmpty());
  one.data(qpn, 63, at(0_us));
  EXPECT_THAT(one.replies(at(0_us)), ElementsAre("N0+63"));
  EXPECT_EQ(one.nic.outcome_of_receiver(qpn).delivered_bytes, 1'024u);
}

}  // namespace
}  // namespace eddy::test
