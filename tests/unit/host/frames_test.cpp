// What stands on the wire, and what a NIC makes of frames that are wrong.
#include <gtest/gtest.h>

#include "net/checksum.h"
#include "tests/unit/host/one_nic.h"

namespace eddy::test {
namespace {

using host::NicCounter;

TEST(Frames, SizesAreTheReferences) {
  OneNic one(plain_config());
  one.send(2, 0, 10);  // 2,058 octets: first, middle, last with 10 and padding
  const auto first = one.transmit(at(0_us));
  const auto middle = one.transmit(at(0_us));
  const auto last = one.transmit(at(0_us));
  EXPECT_EQ(first->wire_len, 58u + 16 + 1'024);
  EXPECT_EQ(first->octets.size(), 70u);
  EXPECT_EQ(middle->wire_len, 58u + 1'024);
  EXPECT_EQ(middle->octets.size(), 54u);
  EXPECT_EQ(last->wire_len, 58u + 12);
  EXPECT_EQ(last->octets.size(), 54u);

  EXPECT_EQ(first->roce.bth.opcode, RoceOpcode::write_first);
  EXPECT_EQ(first->roce.reth.dma_length, 2'058u);
  EXPECT_EQ(middle->roce.bth.opcode, RoceOpcode::write_middle);
  EXPECT_FALSE(middle->roce.bth.ack_request);
  EXPECT_EQ(last->roce.bth.opcode, RoceOpcode::write_last);
  EXPECT_EQ(last->roce.payload_len, 10u);
  EXPECT_TRUE(last->roce.bth.ack_request);
}

// A payload that is no multiple of four is padded in every packet.
TEST(Frames, OddPayloadsArePadded) {
  config::HostConfig config = plain_config();
  config.mtu = 1'001;
  OneNic one(config);
  one.send(2, 0);  // 2,048 octets: 1,001, 1,001 and 46
  const auto first = one.transmit(at(0_us));
  const auto middle = one.transmit(at(0_us));
  const auto last = one.transmit(at(0_us));
  EXPECT_EQ(first->wire_len, 58u + 16 + 1'004);
  EXPECT_EQ(first->roce.payload_len, 1'001u);
  EXPECT_EQ(middle->wire_len, 58u + 1'004);
  EXPECT_EQ(middle->roce.payload_len, 1'001u);
  EXPECT_EQ(last->wire_len, 58u + 48);
  EXPECT_EQ(last->roce.payload_len, 46u);
}

TEST(Frames, HeadersAreTheCodecsOwn) {
  OneNic one(plain_config());
  one.send(1, 0x123456);
  const auto sent = one.transmit(at(0_us));
  RocePacket expected;
  expected.addresses = {kHostAddress, kPeerAddress};
  expected.dscp = 3;
  expected.source_port = kDataPort;
  expected.bth.opcode = RoceOpcode::write_only;
  expected.bth.destination_qpn = kPeerQpn;
  expected.bth.ack_request = true;
  expected.bth.psn = 0x123456;
  expected.reth.dma_length = 1'024;
  expected.payload_len = 1'024;
  EXPECT_EQ(sent->roce, expected);
  std::vector<uint8_t> octets(70);
  rewrite_macs(octets.data(), kGatewayMac, kHostMac);
  store_be16(&octets[12], kEtherTypeIpv4);
  encode_headers(expected, Octets(octets).subspan(kEthernetHeader));
  EXPECT_EQ(sent->octets, octets);
}

TEST(Frames, AcksAndCnpsAreTheReferences) {
  config::HostConfig config = plain_config();
  config.congestion_control = "dcqcn";
  OneNic one(config);
  const uint32_t qpn = one.expect(2);
  one.data(qpn, 0, at(0_us), kEcnCongestion);
  const auto cnp = one.transmit(at(0_us));
  const auto ack = one.transmit(at(0_us));
  EXPECT_EQ(cnp->wire_len, 74u);  // 78 with the FCS
  EXPECT_EQ(cnp->octets.size(), 70u);
  EXPECT_EQ(cnp->roce.bth.opcode, RoceOpcode::cnp);
  EXPECT_TRUE(cnp->roce.bth.becn);
  EXPECT_EQ(cnp->roce.bth.psn, 0u);
  EXPECT_EQ(cnp->roce.bth.destination_qpn, kPeerQpn);
  EXPECT_EQ(cnp->roce.dscp, 48);
  EXPECT_TRUE(std::all_of(cnp->octets.begin() + 54, cnp->octets.end(),
                          [](uint8_t octet) { return octet == 0; }));
  EXPECT_EQ(ack->wire_len, 62u);  // 66 with the FCS
  EXPECT_EQ(ack->octets.size(), 58u);
  EXPECT_EQ(ack->roce.aeth, (Aeth{kAethAckUnlimited, 0}));
  EXPECT_FALSE(ack->roce.bth.becn);
  EXPECT_EQ(ack->roce.source_port, kReplyPort);
}

TEST(Frames, TagsAndIpOptionsAreRead) {
  OneNic one(plain_config());
  const uint32_t qpn = one.expect(3);
  std::vector<uint8_t> tagged = one.headers_of(one.data_packet(qpn, 0));
  const std::array<uint8_t, 4> tag = {0x81, 0x00, 0x60, 0x05};
  tagged.insert(tagged.begin() + 12, tag.begin(), tag.end());
  one.receive_octets(tagged, 58 + 16 + 1'024 + 4, at(0_us));
  EXPECT_EQ(one.nic.outcome_of_receiver(qpn).received_packets, 1u);

  std::vector<uint8_t> options = one.headers_of(one.data_packet(qpn, 1));
  options.insert(options.begin() + 34, 4, uint8_t{1});  // no operation
  options[14] = 0x46;
  store_be16(&options[16], static_cast<uint16_t>(load_be16(&options[16]) + 4));
  store_be16(&options[24], 0);
  store_be16(&options[24], internet_checksum(ConstOctets(options).subspan(14, 24)));
  one.receive_octets(options, 58 + 1'024 + 4, at(0_us));
  EXPECT_EQ(one.nic.outcome_of_receiver(qpn).delivered_bytes, 2'048u);
}

TEST(Frames, Ipv6Works) {
  host::NicOptions a = host_options(plain_config());
  Ipv6Address address;
  address.octets = {0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
  a.address = address;
  address.octets[15] = 2;
  host::NicOptions b = a;
  b.address = address;
  b.gateway = b.mac;
  a.gateway = b.mac;
  host::Nic sender(a);
  host::Nic receiver(b);
  const uint32_t in = receiver.expect(
      {.flow = 1, .size = Bytes(3'000), .source = a.address, .source_qpn = 0, .source_port = 1});
  const uint32_t out = sender.open(
      {.flow = 1, .size = Bytes(3'000), .destination = b.address, .destination_qpn = in});
  sender.start(out, at(0_us));
  PacketPool pool(1);
  Packet* packet = pool.get();
  size_t packets = 0;
  while (sender.transmit(*packet, at(0_us))) {
    ++packets;
    EXPECT_EQ(packet->wire_len, packets == 1   ? 78u + 16 + 1'024
                                : packets == 2 ? 78u + 1'024
                                               : 1'030u);
    receiver.receive(*packet, at(1_us));
  }
  EXPECT_EQ(packets, 3u);
  while (receiver.transmit(*packet, at(2_us))) sender.receive(*packet, at(3_us));
  EXPECT_EQ(sender.completions().size(), 1u);
  EXPECT_EQ(receiver.completions().size(), 1u);
}

TEST(Frames, WithIcrcCheckOneWrongBitIsFound) {
  config::HostConfig config = plain_config();
  config.icrc_check = true;
  OneNic one(config);
  one.send(2);
  const auto first = one.transmit(at(0_us));
  ASSERT_EQ(first->octets.size(), 74u);  // the ICRC stands behind the RETH
  const ConstOctets octets(first->octets);
  EXPECT_EQ(__builtin_bswap32(load_be32(&octets[70])), roce_icrc(octets.subspan(14, 56), 1'024));

  const uint32_t qpn = one.expect(2);
  std::vector<uint8_t> frame = one.headers_of(one.data_packet(qpn, 0));
  const uint32_t icrc = roce_icrc(ConstOctets(frame).subspan(14), 1'024);
  frame.resize(frame.size() + 4);
  store_be32(&frame[70], __builtin_bswap32(icrc));
  frame[60] ^= 1;
  one.receive_octets(frame, 58 + 16 + 1'024, at(0_us));
  EXPECT_EQ(one.count(NicCounter::malformed_packets), 1u);
  frame[60] ^= 1;
  one.receive_octets(ConstOctets(frame).first(70), 58 + 16 + 1'024, at(0_us));  // without one
  EXPECT_EQ(one.count(NicCounter::malformed_packets), 2u);
  mark_ce(&frame[14]);  // a mark is no damage
  one.receive_octets(frame, 58 + 16 + 1'024, at(0_us));
  EXPECT_EQ(one.nic.outcome_of_receiver(qpn).received_packets, 1u);
}

class Hostile : public testing::Test {
 protected:
  void expect_malformed(const RocePacket& packet) {
    const uint64_t before = one.count(NicCounter::malformed_packets);
    one.receive(packet, at(0_us));
    EXPECT_EQ(one.count(NicCounter::malformed_packets), before + 1);
  }
  OneNic one{plain_config()};
  uint32_t qpn = one.expect(4);
};

TEST_F(Hostile, PacketsThatAreNotOfTheMessageAreMalformed) {
  RocePacket packet = one.data_packet(qpn, 0);
  packet.payload_len = 1'020;
  expect_malformed(packet);
  packet = one.data_packet(qpn, 0);
  packet.reth.dma_length = 1;
  expect_malformed(packet);
  packet = one.data_packet(qpn, 0);
  packet.bth.opcode = RoceOpcode::write_middle;
  expect_malformed(packet);
  packet = one.data_packet(qpn, 1);
  packet.bth.opcode = RoceOpcode::send_middle;
  expect_malformed(packet);
  packet = one.data_packet(qpn, 3);
  packet.bth.psn = 4;
  expect_malformed(packet);
  EXPECT_EQ(one.nic.outcome_of_receiver(qpn).received_packets, 0u);
  EXPECT_FALSE(one.transmit(at(0_us)).has_value());
}

TEST_F(Hostile, StrangersAreNotForUs) {
  RocePacket packet = one.data_packet(qpn, 0);
  packet.bth.destination_qpn = 1;
  one.receive(packet, at(0_us));
  packet.bth.destination_qpn = kPsnMask;
  one.receive(packet, at(0_us));
  one.ack(0, 0, at(0_us));
  one.cnp(12, at(0_us));
  std::vector<uint8_t> frame = one.headers_of(one.data_packet(qpn, 0));
  for (size_t bit = 0; bit < 48; ++bit) {  // another MAC
    std::vector<uint8_t> other = frame;
    other[bit / 8] ^= static_cast<uint8_t>(1U << bit % 8);
    one.receive_octets(other, 1'098, at(0_us));
  }
  std::vector<uint8_t> to_nobody = frame;
  std::fill_n(to_nobody.begin(), 6, uint8_t{0});
  one.receive_octets(to_nobody, 1'098, at(0_us));
  for (size_t octet : {29, 33}) {  // another source, another destination
    std::vector<uint8_t> other = frame;
    other[octet] ^= 4;
    store_be16(&other[24], 0);
    store_be16(&other[24], internet_checksum(ConstOctets(other).subspan(14, 20)));
    one.receive_octets(other, 1'098, at(0_us));
  }
  EXPECT_EQ(one.count(NicCounter::not_for_us_packets), 4u + 48 + 1 + 2);
  EXPECT_EQ(one.count(NicCounter::rx_data_packets), 0u);
}

// TCP, whatever its TTL, identification and checksum have in common with UDP's header.
TEST_F(Hostile, WhatIsNoUdpIsNoData) {
  std::vector<uint8_t> frame = one.headers_of(one.data_packet(qpn, 0));
  for (const uint8_t ttl : {0, 17, 64})
    for (uint32_t identification = 0; identification < 1 << 16; identification += 251) {
      store_be16(&frame[18], static_cast<uint16_t>(identification));
      frame[22] = ttl;
      frame[23] = 6;
      store_be16(&frame[24], 0);
      store_be16(&frame[24], internet_checksum(ConstOctets(frame).subspan(14, 20)));
      one.receive_octets(frame, 1'098, at(0_us));
    }
  EXPECT_EQ(one.count(NicCounter::rx_data_packets), 0u);
}

TEST_F(Hostile, EveryCutAndEveryFlippedBitIsSurvived) {
  one.send(4);
  one.transmit_data(at(0_us));
  const std::vector<std::vector<uint8_t>> frames = {
      one.headers_of(one.data_packet(qpn, 0)), one.headers_of(one.data_packet(qpn, 1)),
      one.headers_of(make_ack({}, 0, 1, {})), one.headers_of(make_cnp({}, 0))};
  uint64_t received = 0;
  for (const std::vector<uint8_t>& frame : frames) {
    for (size_t length = 0; length < frame.size(); ++length, ++received)
      one.receive_octets(ConstOctets(frame).first(length), 1'098, at(0_us));
    for (size_t bit = 0; bit < frame.size() * 8; ++bit, ++received) {
      std::vector<uint8_t> bad = frame;
      bad[bit / 8] ^= static_cast<uint8_t>(1 << bit % 8);
      one.receive_octets(bad, 1'098, at(0_us));
    }
  }
  EXPECT_EQ(one.count(NicCounter::rx_packets), received);
  EXPECT_GT(one.count(NicCounter::malformed_packets), received / 2);
}

TEST_F(Hostile, AShimIsNotForHosts) {
  std::vector<uint8_t> frame = one.headers_of(one.data_packet(qpn, 1));
  store_be16(&frame[12], kEtherTypeShim);
  one.receive_octets(frame, 1'082, at(0_us));
  EXPECT_EQ(one.count(NicCounter::malformed_packets), 1u);
}

}  // namespace
}  // namespace eddy::test
