#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/host/one_nic.h"

namespace eddy::test {
namespace {

using host::NicCounter;
using testing::ElementsAre;
using testing::IsEmpty;

TEST(GoBackN, ReceiverNamesAGapOnce) {
  OneNic one(plain_config());
  const uint32_t qpn = one.expect(100);
  for (int64_t i = 0; i < 5; ++i) one.data(qpn, i, at(0_us));
  EXPECT_THAT(one.replies(at(0_us)), ElementsAre("A0", "A1", "A2", "A3", "A4"));
  for (int64_t i : {7, 8, 5, 6}) one.data(qpn, i, at(1_us));
  EXPECT_THAT(one.replies(at(1_us)), ElementsAre("N5", "A5", "A6"));
  const host::ReceiveOutcome& outcome = one.nic.outcome_of_receiver(qpn);
  EXPECT_EQ(outcome.received_packets, 9u);
  EXPECT_EQ(outcome.out_of_order_packets, 2u);
  EXPECT_EQ(outcome.max_ood, 3u);
  EXPECT_EQ(outcome.delivered_bytes, 7u * 1'024);
  EXPECT_EQ(one.nic.ood_histogram()[0], 7u);
  EXPECT_EQ(one.nic.ood_histogram()[2], 1u);
  EXPECT_EQ(one.nic.ood_histogram()[3], 1u);
}

TEST(GoBackN, TheLastBucketHasAllThatAreFarAhead) {
  OneNic one(plain_config());
  const uint32_t qpn = one.expect(3'000);
  for (int64_t i : {1'022, 1'023, 1'024, 2'900}) one.data(qpn, i, at(0_us));
  EXPECT_EQ(one.nic.ood_histogram().size(), 1'024u);
  EXPECT_EQ(one.nic.ood_histogram()[1'022], 1u);
  EXPECT_EQ(one.nic.ood_histogram()[1'023], 3u);
  EXPECT_EQ(one.nic.outcome_of_receiver(qpn).max_ood, 2'900u);
}

TEST(GoBackN, APacketBehindTheLastIsMalformed) {
  OneNic one(plain_config());
  const uint32_t qpn = one.expect(3);
  one.data(qpn, 3, at(0_us));  // ahead
  for (int64_t i : {0, 1, 2, 3}) one.data(qpn, i, at(0_us));
  EXPECT_THAT(one.replies(at(0_us)), ElementsAre("A0", "A1", "A2"));
  EXPECT_EQ(one.count(NicCounter::malformed_packets), 2u);
  EXPECT_EQ(one.nic.outcome_of_receiver(qpn).delivered_bytes, 3u * 1'024);
}

TEST(GoBackN, SenderGoesBackToTheNakedPacket) {
  OneNic one(plain_config());
  const uint32_t qpn = one.send(10);
  EXPECT_THAT(one.transmit_data(at(0_us), 9), ElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 8));
  one.nak(qpn, 5, at(1_us));
  EXPECT_THAT(one.transmit_data(at(1_us)), ElementsAre(5, 6, 7, 8, 9));
  const host::SendOutcome& outcome = one.nic.outcome_of_sender(qpn);
  EXPECT_EQ(outcome.naks, 1u);
  EXPECT_EQ(outcome.sent_packets, 14u);
  EXPECT_EQ(outcome.retransmitted_packets, 4u);
  EXPECT_EQ(outcome.retransmitted_bytes, 4u * 1'024);
  one.nak(qpn, 4, at(2_us));  // late: 0..4 are acknowledged
  EXPECT_THAT(one.transmit_data(at(2_us)), IsEmpty());
  one.ack(qpn, 9, at(3_us));
  ASSERT_EQ(one.nic.completions().size(), 1u);
  EXPECT_EQ(one.nic.completions()[0].end, host::Completion::End::sender);
  EXPECT_EQ(one.nic.completions()[0].flow, 7u);
  EXPECT_EQ(one.nic.completions()[0].at, at(3_us));
  EXPECT_EQ(one.nic.next_deadline(), Instant::never());
}

TEST(GoBackN, ASecondNakForAGapWaitsForItsTimer) {
  config::HostConfig config = plain_config();
  config.nak_timer = 500_us;
  OneNic one(config);
  const uint32_t qpn = one.expect(100);
  one.data(qpn, 1, at(10_us));
  one.data(qpn, 2, at(10_us + 500_us - 1_ps));
  EXPECT_THAT(one.replies(at(510_us)), ElementsAre("N0"));
  one.data(qpn, 3, at(510_us));
  one.data(qpn, 4, at(511_us));
  EXPECT_THAT(one.replies(at(511_us)), ElementsAre("N0"));
  one.data(qpn, 0, at(512_us));  // the next gap is another one
  one.data(qpn, 2, at(512_us));
  EXPECT_THAT(one.replies(at(512_us)), ElementsAre("A0", "N1"));
}

TEST(GoBackN, WithoutANakTimerAGapIsNamedOnceForGood) {
  config::HostConfig config = plain_config();
  config.nak_timer = Duration{};
  OneNic one(config);
  const uint32_t qpn = one.expect(100);
  one.data(qpn, 1, at(0_us));
  one.data(qpn, 2, at(1_s));
  EXPECT_THAT(one.replies(at(1_s)), ElementsAre("N0"));
}

TEST(GoBackN, DuplicatesAreAcknowledgedAgainEvenAfterTheEnd) {
  OneNic one(plain_config());
  const uint32_t qpn = one.expect(3);
  for (int64_t i = 0; i < 3; ++i) one.data(qpn, i, at(2_us));
  ASSERT_EQ(one.nic.completions().size(), 1u);
  EXPECT_EQ(one.nic.completions()[0].end, host::Completion::End::receiver);
  EXPECT_EQ(one.nic.completions()[0].flow, 9u);
  EXPECT_EQ(one.nic.completions()[0].at, at(2_us));
  EXPECT_THAT(one.replies(at(2_us)), ElementsAre("A0", "A1", "A2"));
  one.data(qpn, 1, at(3_us));
  const auto again = one.transmit(at(3_us));
  ASSERT_TRUE(again.has_value());
  EXPECT_EQ(again->roce.bth.psn, 2u);
  EXPECT_EQ(again->roce.aeth.msn, 1u);
  EXPECT_EQ(one.nic.outcome_of_receiver(qpn).duplicate_packets, 1u);
  EXPECT_EQ(one.nic.outcome_of_receiver(qpn).delivered_bytes, 3u * 1'024);
  EXPECT_EQ(one.nic.completions().size(), 1u);
}

TEST(GoBackN, AcksEveryEighthOnRequestAndAtTheEnd) {
  config::HostConfig config = plain_config();
  config.ack_every = 8;
  OneNic one(config);
  const uint32_t qpn = one.expect(20);
  for (int64_t i = 0; i < 9; ++i) one.data(qpn, i, at(0_us));
  EXPECT_THAT(one.replies(at(0_us)), ElementsAre("A7"));
  RocePacket asking = one.data_packet(qpn, 9);
  asking.bth.ack_request = true;
  one.receive(asking, at(0_us));
  EXPECT_THAT(one.replies(at(0_us)), ElementsAre("A9"));
  for (int64_t i = 10; i < 20; ++i) one.data(qpn, i, at(0_us));
  EXPECT_THAT(one.replies(at(0_us)), ElementsAre("A17", "A19"));
}

TEST(GoBackN, TimesOutExactlyAnRtoAfterTheLastProgress) {
  OneNic one(plain_config());  // RTO 4 ms
  const uint32_t qpn = one.send(4);
  EXPECT_THAT(one.transmit_data(at(10_us)), ElementsAre(0, 1, 2, 3));
  EXPECT_EQ(one.nic.next_deadline(), at(10_us + 4_ms));
  one.ack(qpn, 0, at(50_us));
  while (one.nic.next_deadline() < at(50_us + 4_ms)) one.nic.on_timers(one.nic.next_deadline());
  EXPECT_EQ(one.nic.next_deadline(), at(50_us + 4_ms));
  one.nic.on_timers(at(50_us + 4_ms - 1_ps));
  EXPECT_THAT(one.transmit_data(at(50_us + 4_ms - 1_ps)), IsEmpty());
  one.nic.on_timers(at(50_us + 4_ms));
  EXPECT_THAT(one.transmit_data(at(50_us + 4_ms)), ElementsAre(1, 2, 3));
  EXPECT_EQ(one.nic.outcome_of_sender(qpn).timeouts, 1u);
  EXPECT_EQ(one.count(NicCounter::timeouts), 1u);
  EXPECT_EQ(one.nic.next_deadline(), at(50_us + 8_ms));
}

TEST(GoBackN, AnRtoIsNeverBelowTwiceTheBaseRtt) {
  OneNic one(plain_config());
  one.send(1, 0, 0, 3_ms);
  one.transmit_data(at(0_us));
  EXPECT_EQ(one.nic.next_deadline(), at(6_ms));
}

TEST(GoBackN, AnAckOfWhatWasNeverSentIsCountedAndIgnored) {
  OneNic one(plain_config());
  const uint32_t qpn = one.send(10);
  one.ack(qpn, 0, at(0_us));
  one.nak(qpn, 0, at(0_us));
  one.transmit_data(at(0_us), 4);
  one.ack(qpn, 4, at(1_us));
  one.nak(qpn, 4, at(1_us));
  one.ack(qpn, 0x7fffff, at(1_us));
  EXPECT_EQ(one.count(NicCounter::invalid_ack_packets), 5u);
  EXPECT_EQ(one.nic.outcome_of_sender(qpn).naks, 0u);
  EXPECT_THAT(one.transmit_data(at(1_us)), ElementsAre(4, 5, 6, 7, 8, 9));
  EXPECT_THAT(one.nic.completions(), IsEmpty());
}

TEST(GoBackN, NaksOfOtherKindsAcknowledgeNothing) {
  OneNic one(plain_config());
  const uint32_t qpn = one.send(4);
  one.transmit_data(at(0_us));
  for (const uint8_t syndrome : {0x20, 0x3f, 0x61, 0x62, 0x63})
    one.receive(make_ack({}, qpn, 3, {syndrome, 0}), at(1_us));
  EXPECT_EQ(one.count(NicCounter::invalid_ack_packets), 5u);
  EXPECT_THAT(one.nic.completions(), IsEmpty());
  one.receive(make_ack({}, qpn, 3, {0x0a, 1}), at(2_us));  // an ACK with credits
  EXPECT_EQ(one.nic.completions().size(), 1u);
}

TEST(GoBackN, AnAckOvertakesAGoingBack) {
  OneNic one(plain_config());
  const uint32_t qpn = one.send(10);
  one.transmit_data(at(0_us), 8);
  one.nak(qpn, 2, at(1_us));
  EXPECT_THAT(one.transmit_data(at(1_us), 1), ElementsAre(2));
  one.ack(qpn, 6, at(2_us));
  EXPECT_THAT(one.transmit_data(at(2_us)), ElementsAre(7, 8, 9));
}

TEST(GoBackN, PsnsWrapAtTwoToThe24) {
  constexpr uint32_t kFirst = 0xfffffe;
  OneNic one(plain_config());
  const uint32_t sender = one.send(6, kFirst);
  EXPECT_THAT(one.transmit_data(at(0_us), 5), ElementsAre(0xfffffe, 0xffffff, 0, 1, 2));
  one.ack(sender, 0xffffff, at(1_us));
  one.nak(sender, 1, at(1_us));
  EXPECT_THAT(one.transmit_data(at(1_us)), ElementsAre(1, 2, 3));
  one.ack(sender, 3, at(2_us));
  EXPECT_EQ(one.nic.completions().size(), 1u);

  const uint32_t receiver = one.expect(6, kFirst);
  for (int64_t i : {0, 1, 3, 2, 3, 4, 5}) one.data(receiver, i, at(3_us), kEcnCapable0, kFirst);
  EXPECT_THAT(one.replies(at(3_us)),
              ElementsAre("A16777214", "A16777215", "N0", "A0", "A1", "A2", "A3"));
  EXPECT_EQ(one.nic.completions().size(), 2u);
}

TEST(Window, IsOneBandwidthDelayProductInWholePackets) {
  config::HostConfig config = plain_config();
  config.window = true;
  OneNic one(config);  // 100 Gb/s x 8 us = 100,000 octets: 97 packets of 1,024
  const uint32_t qpn = one.send(1'000);
  EXPECT_EQ(one.transmit_data(at(0_us)).size(), 97u);
  one.ack(qpn, 2, at(1_us));
  EXPECT_THAT(one.transmit_data(at(1_us)), ElementsAre(97, 98, 99));
}

TEST(Window, ThePacketThatFillsItAsksForAnAck) {
  config::HostConfig config = plain_config();
  config.window = true;
  config.bdp = Bytes(2'100);
  OneNic one(config);
  one.send(10);
  EXPECT_FALSE(one.transmit(at(0_us))->roce.bth.ack_request);
  EXPECT_TRUE(one.transmit(at(0_us))->roce.bth.ack_request);
  EXPECT_FALSE(one.transmit(at(0_us)).has_value());
}

TEST(Turns, AreRoundRobinAndRepliesGoFirst) {
  OneNic one(plain_config());
  for (int i = 0; i < 3; ++i) one.send(3, static_cast<uint32_t>(100 * i));
  EXPECT_THAT(one.transmit_data(at(0_us), 4), ElementsAre(0, 100, 200, 1));
  const uint32_t receiver = one.expect(2);
  one.data(receiver, 0, at(0_us));
  EXPECT_EQ(one.transmit(at(0_us))->roce.bth.opcode, RoceOpcode::acknowledge);
  EXPECT_THAT(one.transmit_data(at(0_us)), ElementsAre(101, 201, 2, 102, 202));
}

}  // namespace
}  // namespace eddy::test
