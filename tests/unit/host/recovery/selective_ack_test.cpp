#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/recovery/sack_board.h"
#include "net/random.h"
#include "tests/unit/host/one_nic.h"

namespace eddy::test {
namespace {

using host::NicCounter;
using testing::Each;
using testing::ElementsAre;
using testing::Ge;
using testing::IsEmpty;

// A packet is lost when one 3 later has arrived. A window of `packets`.
config::HostConfig selective(int64_t packets = 16, int64_t reorder = 3) {
  config::HostConfig config;
  config.congestion_control = "none";
  config.recovery = "selective_ack";
  config.bdp = Bytes(packets * 1'024);
  config.law_parameters = {{"selective_ack.reorder", reorder}};
  return config;
}

TEST(SelectiveAck, ReceiverKeepsWhatIsAheadAndSaysAllThatCame) {
  OneNic one(selective());
  const uint32_t qpn = one.expect(8);
  for (int64_t i : {0, 1, 3, 5, 3}) one.data(qpn, i, at(0_us));
  EXPECT_THAT(one.replies(at(0_us)),
              ElementsAre("A0 to 0:", "A1 to 1:", "A1 to 3: 3", "A1 to 5: 3 5", "A1 to 3: 3 5"));
  for (int64_t i : {2, 1, 4}) one.data(qpn, i, at(1_us));
  EXPECT_THAT(one.replies(at(1_us)), ElementsAre("A3 to 2: 5", "A3 to 1: 5", "A5 to 4:"));
  for (int64_t i : {7, 6}) one.data(qpn, i, at(2_us));
  EXPECT_THAT(one.replies(at(2_us)), ElementsAre("A5 to 7: 7", "A7 to 6:"));
  ASSERT_EQ(one.nic.completions().size(), 1u);
  EXPECT_EQ(one.nic.completions()[0].at, at(2_us));
  const host::ReceiveOutcome& outcome = one.nic.outcome_of_receiver(qpn);
  EXPECT_EQ(outcome.delivered_bytes, 8u * 1'024) << "each octet once";
  EXPECT_EQ(outcome.duplicate_packets, 2u);
  EXPECT_EQ(one.count(NicCounter::tx_nak_packets), 0u);
}

TEST(SelectiveAck, TheBitmapEndsWithThePacketAnsweredWhenThatIsFarAhead) {
  OneNic one(selective());
  const uint32_t qpn = one.expect(200);
  for (int64_t i : {1, 63, 64, 65, 100}) one.data(qpn, i, at(0_us));
  EXPECT_THAT(one.replies(at(0_us)),
              ElementsAre("A16777215 to 1: 1", "A16777215 to 63: 1 63", "A16777215 to 64: 1 63 64",
                          "A16777215 to 65: 63 64 65", "A16777215 to 100: 63 64 65 100"));
}

TEST(SelectiveAck, PsnsWrapInTheBitmap) {
  OneNic one(selective());
  const uint32_t first = 0xfffffe;
  const uint32_t qpn = one.expect(8, first);
  for (int64_t i : {0, 3, 5}) one.data(qpn, i, at(0_us), kEcnCapable0, first);
  EXPECT_THAT(one.replies(at(0_us)),
              ElementsAre("A16777214 to 16777214:", "A16777214 to 1: 1", "A16777214 to 3: 1 3"));
  const uint32_t sender = one.send(100, first);
  EXPECT_EQ(one.transmit_data(at(1_us)).size(), 16u);
  one.selective_ack(sender, first, 3, {0xffffff, 0b11010}, at(9_us));  // 0, 2, 3
  EXPECT_THAT(one.transmit_data(at(9_us)), ElementsAre(0xffffff, 14, 15, 16, 17))
      << "and the window's next: four have arrived";
  one.selective_ack(sender, 0, 0xffffff, {1, 0b110}, at(10_us));
  EXPECT_THAT(one.transmit_data(at(10_us)), ElementsAre(18));
  EXPECT_EQ(one.count(NicCounter::invalid_ack_packets), 0u);
}

// More ahead than the receiver has bits for: dropped, with a NAK that keeps the rest.
TEST(SelectiveAck, APacketBeyondTheBitmapIsDroppedWithANak) {
  host::NicOptions options = host_options(selective());
  options.reorder_packets = 64;
  OneNic one(options);
  const uint32_t qpn = one.expect(200);
  for (int64_t i : {0, 2, 64, 65}) one.data(qpn, i, at(0_us));
  EXPECT_THAT(one.replies(at(0_us)),
              ElementsAre("A0 to 0:", "A0 to 2: 2", "A0 to 64: 2 64", "N1 to 65: 2 64"));
  const host::ReceiveOutcome& outcome = one.nic.outcome_of_receiver(qpn);
  EXPECT_EQ(outcome.delivered_bytes, 3u * 1'024);
  EXPECT_EQ(outcome.duplicate_packets, 0u);
  one.data(qpn, 1, at(1_us));
  one.data(qpn, 65, at(1_us));
  EXPECT_THAT(one.replies(at(1_us)), ElementsAre("A2 to 1: 64", "A2 to 65: 64 65"));
}

TEST(SelectiveAck, BothEndsKeepToTheBitmapThatIsConfigured) {
  host::NicOptions options = host_options(selective());
  options.config.window = false;
  options.config.law_parameters["selective_ack.bitmap"] = 64;
  OneNic one(options);
  const uint32_t receiver = one.expect(200);
  for (int64_t i : {63, 64}) one.data(receiver, i, at(0_us));
  EXPECT_THAT(one.replies(at(0_us)), ElementsAre("A16777215 to 63: 63", "N0 to 64: 63"));
  const uint32_t sender = one.send(200);
  EXPECT_EQ(one.transmit_data(at(0_us)).size(), 64u);
  for (uint32_t psn = 1; psn < 64; ++psn)
    one.selective_ack(sender, kPsnMask, psn, {psn, 1}, at(8_us));
  EXPECT_THAT(one.transmit_data(at(8_us)), ElementsAre(0)) << "nothing new";
}

TEST(SelectiveAck, NoWindowIsWiderThanTheBitmap) {
  host::NicOptions options = host_options(selective());
  options.config.window = false;
  options.reorder_packets = 64;
  OneNic one(options);
  one.send(200);
  EXPECT_EQ(one.transmit_data(at(0_us)).size(), 64u);
}

// What has arrived behind a gap is not in flight; but no packet leaves that the receiver, or our
// own bits, would have no room for.
TEST(SelectiveAck, AGapDoesNotStopTheWindowWhileThereAreBits) {
  host::NicOptions options = host_options(selective());
  options.reorder_packets = 64;
  OneNic one(options);
  const uint32_t qpn = one.send(200);
  uint32_t next = 0;
  const auto all_but_the_first = [&](Instant now) {
    for (const uint32_t psn : one.transmit_data(now)) {
      if (psn != 0) one.selective_ack(qpn, kPsnMask, psn, {psn, 1}, now);
      next = std::max(next, psn + 1);
    }
  };
  for (int round = 0; round < 20; ++round) all_but_the_first(at(1_us * round));
  EXPECT_EQ(next, 64u);
}

TEST(SelectiveAck, SenderRepeatsOnlyWhatIsMissing) {
  OneNic one(selective());
  const uint32_t qpn = one.send(100);
  EXPECT_EQ(one.transmit_data(at(0_us)).size(), 16u);
  one.selective_ack(qpn, 1, 3, {2, 0b10}, at(8_us));  // 3: 2 may be late yet
  EXPECT_THAT(one.transmit_data(at(8_us)), ElementsAre(16, 17, 18));
  one.selective_ack(qpn, 1, 4, {2, 0b110}, at(8_us));
  EXPECT_THAT(one.transmit_data(at(8_us)), ElementsAre(19));
  one.selective_ack(qpn, 1, 5, {2, 0b1110}, at(9_us));
  EXPECT_THAT(one.transmit_data(at(9_us)), ElementsAre(2, 20)) << "three have overtaken it";
  one.selective_ack(qpn, 1, 9, {2, 0b1000'1110}, at(9_us));
  EXPECT_THAT(one.transmit_data(at(9_us)), ElementsAre(6, 21)) << "7 and 8 may be late yet";
  one.selective_ack(qpn, 5, 2, {6, 0b1110}, at(17_us));
  EXPECT_THAT(one.transmit_data(at(17_us)), ElementsAre(22, 23, 24));
  EXPECT_EQ(one.nic.outcome_of_sender(qpn).retransmitted_packets, 2u);
  EXPECT_EQ(one.nic.outcome_of_sender(qpn).naks, 0u);
}

TEST(SelectiveAck, WhatIsLostAgainIsSentAgainWithoutATimeout) {
  OneNic one(selective(32));
  const uint32_t qpn = one.send(100);
  EXPECT_EQ(one.transmit_data(at(0_us)).size(), 32u);         // 0 to 31
  one.selective_ack(qpn, 3, 11, {4, 0b1111'0110}, at(8_us));  // 4 and 7 are missing
  EXPECT_THAT(one.transmit_data(at(8_us)),
              ElementsAre(4, 7, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41));
  one.selective_ack(qpn, 3, 34, {4, 0x7fff'fff6}, at(15_us));  // all else of the first 35
  EXPECT_THAT(one.transmit_data(at(15_us)), Each(Ge(42u))) << "34 left three after 7 did";
  one.selective_ack(qpn, 6, 4, {7, 0x0fff'fffe}, at(16_us));
  EXPECT_THAT(one.transmit_data(at(16_us)), Each(Ge(65u)));
  EXPECT_EQ(one.nic.outcome_of_sender(qpn).retransmitted_packets, 2u);
  one.selective_ack(qpn, 6, 35, {7, 0x1fff'fffe}, at(17_us));
  EXPECT_THAT(one.transmit_data(at(17_us)), ElementsAre(7, 66));
}

TEST(SelectiveAck, ALateReplyStillTellsWhatIsBehindTheGap) {
  OneNic one(selective());
  const uint32_t qpn = one.send(100);
  one.transmit_data(at(0_us));
  one.selective_ack(qpn, 3, 3, {4, 0}, at(8_us));
  one.transmit_data(at(8_us));
  one.selective_ack(qpn, 3, 12, {4, 0b1'0000'0000}, at(9_us));  // 12: 4 to 9 count as lost
  one.selective_ack(qpn, 2, 9, {3, 0b111'1110}, at(9_us));      // overtaken; 4 to 9 have come
  EXPECT_THAT(one.transmit_data(at(9_us)), Each(Ge(20u)));
  EXPECT_EQ(one.nic.outcome_of_sender(qpn).retransmitted_packets, 0u);
}

TEST(SelectiveAck, ATimeoutRepeatsAllThatIsNotKnownToHaveCome) {
  OneNic one(selective(8));
  const uint32_t qpn = one.send(20);
  one.transmit_data(at(0_us));
  one.selective_ack(qpn, 1, 4, {2, 0b100}, at(8_us));  // 0, 1, 4
  EXPECT_THAT(one.transmit_data(at(8_us)), ElementsAre(8, 9, 10));
  EXPECT_EQ(one.nic.next_deadline(), at(4_ms));
  one.nic.on_timers(at(4_ms));
  EXPECT_EQ(one.nic.next_deadline(), at(4_ms + 8_us)) << "there was news at 8 us";
  one.nic.on_timers(at(4_ms + 8_us));
  EXPECT_THAT(one.transmit_data(at(4_ms + 8_us)), ElementsAre(2, 3, 5, 6, 7, 8, 9, 10));
  EXPECT_EQ(one.nic.outcome_of_sender(qpn).timeouts, 1u);
}

// What somebody said in the receiver's name: bits of packets that were lost.
TEST(SelectiveAck, AForgedBitmapThatCanBeTrueCostsATimeoutButNoPacket) {
  OneNic one(selective(8));
  const uint32_t qpn = one.send(20);
  one.transmit_data(at(0_us));
  one.selective_ack(qpn, 1, 7, {2, 0b11'1110}, at(8_us));  // 3 to 7, which are lost in truth
  EXPECT_THAT(one.transmit_data(at(8_us)), ElementsAre(2, 8, 9, 10, 11, 12, 13, 14));
  one.nic.on_timers(at(4_ms));
  one.nic.on_timers(at(4_ms + 8_us));
  EXPECT_THAT(one.transmit_data(at(4_ms + 8_us)), ElementsAre(2, 8, 9, 10, 11, 12, 13, 14))
      << "they are believed";
  one.nic.on_timers(at(8_ms + 8_us));
  EXPECT_THAT(one.transmit_data(at(8_ms + 8_us)),
              ElementsAre(2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14))
      << "the second one in a row forgets it";
}

TEST(SelectiveAck, AForgedBitmapThatCannotBeTrueIsInvalid) {
  OneNic one(selective());
  const uint32_t qpn = one.send(100);
  EXPECT_EQ(one.transmit_data(at(0_us)).size(), 16u);
  const ArrivedBits impossible[] = {
      {2, 0b1},                // the packet that the same ACK misses
      {1, 0b10},               // begins before it
      {2, uint64_t{1} << 14},  // 16, which was never sent
      {0x800000, 0b1},         // nowhere near
      {15, 0b11},
  };
  for (const ArrivedBits& bits : impossible) one.selective_ack(qpn, 1, 3, bits, at(8_us));
  one.selective_ack(qpn, 1, 16, {2, 0b10}, at(8_us));  // answers what was never sent
  EXPECT_EQ(one.count(NicCounter::invalid_ack_packets), 6u);
  EXPECT_THAT(one.transmit_data(at(8_us)), IsEmpty());
  one.selective_ack(qpn, 1, 15, {2, uint64_t{1} << 13}, at(9_us));
  EXPECT_EQ(one.count(NicCounter::invalid_ack_packets), 6u);
}

TEST(SelectiveAck, LostRepliesAreMadeUpForByTheNext) {
  OneNic one(selective());
  const uint32_t qpn = one.send(100);
  one.transmit_data(at(0_us));
  // Those to 0 to 14 were lost; 5 was, too.
  one.selective_ack(qpn, 4, 15, {5, 0b111'1111'1110}, at(8_us));
  const std::vector<uint32_t> sent = one.transmit_data(at(8_us));
  ASSERT_EQ(sent.size(), 1u + 5 + 10) << "acknowledged, and arrived";
  EXPECT_EQ(sent.front(), 5u);
  EXPECT_EQ(sent.back(), 30u);
}

TEST(SelectiveAck, APlainAckIsUnderstoodAndASelectiveOneOnlyByItsOwn) {
  OneNic one(selective());
  const uint32_t qpn = one.send(100);
  one.transmit_data(at(0_us));
  one.ack(qpn, 3, at(8_us));
  EXPECT_EQ(one.transmit_data(at(8_us)).size(), 4u);
  OneNic other(plain_config());
  const uint32_t plain = other.send(100);
  other.transmit_data(at(0_us), 16);
  other.selective_ack(plain, 3, 3, {4, 0}, at(8_us));
  EXPECT_EQ(other.count(NicCounter::invalid_ack_packets), 1u);
}

TEST(SelectiveAck, AShortReplyIsNoReply) {
  OneNic one(selective());
  const uint32_t qpn = one.send(100);
  one.transmit_data(at(0_us));
  RocePacket ack = make_ack({}, qpn, 3, {kAethAckUnlimited, 3});
  ack.bth.opcode = RoceOpcode::selective_acknowledge;
  ack.arrived = {4, 0};
  const std::vector<uint8_t> whole = one.headers_of(ack);
  for (size_t length = 0; length < whole.size(); ++length)
    one.receive_octets(ConstOctets(whole).first(length), 78, at(8_us));
  EXPECT_EQ(one.count(NicCounter::malformed_packets), whole.size());
  EXPECT_EQ(one.count(NicCounter::rx_ack_packets), 0u);
  one.receive_octets(whole, whole.size() + kIcrc, at(8_us));
  EXPECT_EQ(one.count(NicCounter::rx_ack_packets), 1u);
}

TEST(SelectiveAck, ASmallWindowFindsLossesByHalfOfIt) {
  OneNic one(selective(4, 32));
  const uint32_t qpn = one.send(100);
  EXPECT_EQ(one.transmit_data(at(0_us)).size(), 4u);
  one.selective_ack(qpn, 0xffffff, 1, {0, 0b10}, at(8_us));
  EXPECT_THAT(one.transmit_data(at(8_us)), ElementsAre(4));
  one.selective_ack(qpn, 0xffffff, 2, {0, 0b110}, at(8_us));
  EXPECT_THAT(one.transmit_data(at(8_us)), ElementsAre(0, 5));
}

// Against an obvious model: a set of what was told.
TEST(SelectiveAck, TheBoardKnowsWhatItWasTold) {
  RandomStream random(7, 0, 0);
  host::SackBoard board(1, 64);
  host::SendState state;
  state.unacked = state.next = 100;
  board.open(0, 5, state);
  std::vector<bool> told(1'000);
  for (int step = 0; step < 20'000 && state.unacked < 900; ++step) {
    state.next = state.sent_end = std::max(state.next, state.unacked + random.below(65));
    if (random.below(4) == 0)
      state.unacked += random.below(static_cast<uint32_t>(state.in_flight()) + 1);
    while (state.unacked < state.next && told[state.unacked]) ++state.unacked;
    const uint64_t base = state.unacked + random.below(8);
    uint64_t bits = random.next64() & random.next64();
    if (base >= state.sent_end)
      bits = 0;
    else if (state.sent_end - base < 64)
      bits &= (uint64_t{1} << (state.sent_end - base)) - 1;
    if (base == state.unacked) bits &= ~uint64_t{1};
    board.on_arrived(0, base, bits, state);
    uint64_t highest = 0;
    for (uint64_t i = 0; i < 64; ++i)
      if ((bits >> i & 1) != 0) told[base + i] = true;
    for (uint64_t i = state.unacked; i < state.sent_end; ++i)
      if (told[i]) highest = i;
    while (board.has_lost(0)) {
      const uint64_t lost = board.take_lost(0, state);
      ASSERT_GE(lost, state.unacked);
      ASSERT_LE(lost + 5, highest);
      ASSERT_FALSE(told[lost]);
    }
  }
  EXPECT_GE(state.unacked, 900u);
}

}  // namespace
}  // namespace eddy::test
