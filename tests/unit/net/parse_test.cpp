#include "net/parse.h"

#include <gtest/gtest.h>

#include "net/random.h"
#include "tests/unit/net/frames.h"

namespace eddy {
namespace {

using test::from_hex;
using test::Octets;
using test::parse;

// 10.1.0.1:1000 -> 10.2.0.1:2000, 4 octets of payload, ECT(0), DSCP 26, padded to 60 octets.
Octets udp_frame() {
  Octets frame = from_hex(
      "020000000002 020000000001 0800"
      "456a0020 00004000 40110000 0a010001 0a020001"
      "03e807d0 000c0000 deadbeef");
  frame.resize(60);
  uint32_t sum = 0;
  for (size_t i = 14; i < 34; i += 2) sum += load_be16(&frame[i]);
  sum = (sum & 0xffff) + (sum >> 16);
  store_be16(&frame[24], static_cast<uint16_t>(~((sum & 0xffff) + (sum >> 16))));
  return frame;
}

TEST(ParseFrame, ReadsPlainUdp) {
  ParsedFrame out;
  ASSERT_EQ(parse(udp_frame(), out), ParseVerdict::ok);
  EXPECT_EQ(out.kind, FrameKind::ipv4);
  EXPECT_EQ(out.l2_len, 14);
  EXPECT_EQ(out.l3_len, 20);
  EXPECT_EQ(out.l4_protocol, 17);
  EXPECT_EQ(out.dscp, 26);
  EXPECT_EQ(out.ecn, 2);
  EXPECT_EQ(out.ttl, 64);
  EXPECT_EQ(out.flags, kPacketIp | kPacketEct);
  EXPECT_EQ(out.ethertype, 0x0800);
  EXPECT_EQ(out.payload_len, 4);
  EXPECT_EQ(out.source_port, 1000);
  EXPECT_EQ(out.destination_port, 2000);
  EXPECT_EQ(out.ipv4_destination, 0x0a020001U);
}

// I-16: a CNP taken from a real NIC.
TEST(ParseFrame, ReadsCnpOfARealNic) {
  const Octets frame = from_hex(
      "e41d2dab2bc2 7cfe90643b32 0800 45c2003c718c400040119161 0a001101 0a001201 000012b700280000"
      "8100ffff 40000118 00000000 00000000000000000000000000000000 82fd002a");
  ParsedFrame out;
  ASSERT_EQ(parse(frame, out), ParseVerdict::ok);
  EXPECT_EQ(out.bth_opcode, 0x81);
  EXPECT_EQ(out.destination_qpn, 0x118U);
  EXPECT_EQ(out.payload_len, 20);
  EXPECT_EQ(out.flags, kPacketIp | kPacketEct | kPacketRoce | kPacketRoceControl);
}

bool same(const ParsedFrame& a, const ParsedFrame& b) {
  return a.kind == b.kind && a.l2_len == b.l2_len && a.l3_len == b.l3_len &&
         a.l4_protocol == b.l4_protocol && a.dscp == b.dscp && a.ecn == b.ecn && a.ttl == b.ttl &&
         a.pcp == b.pcp && a.flags == b.flags && a.vlan_id == b.vlan_id &&
         a.ethertype == b.ethertype && a.payload_len == b.payload_len &&
         a.source_port == b.source_port && a.destination_port == b.destination_port &&
         a.bth_opcode == b.bth_opcode && a.shim_offset == b.shim_offset &&
         a.destination_qpn == b.destination_qpn && a.ipv4_destination == b.ipv4_destination &&
         a.balance_hash == b.balance_hash && a.order_hash == b.order_hash;
}

// The inline way must be invisible: mutated frames give the same answer through the general one.
TEST(ParseFrame, ShortAndLongWayAgree) {
  constexpr uint64_t kSeed = 5;
  RandomStream random(kSeed, 0, 0);
  for (int round = 0; round < 5'000; ++round) {
    Octets frame = udp_frame();
    if (random.below(3) == 0) store_be16(&frame[36], kRocePort);
    if (random.below(3) == 0) store_be16(&frame[38], static_cast<uint16_t>(random.below(40)));
    for (uint32_t flips = random.below(3); flips > 0; --flips)
      frame[random.below(44)] ^= static_cast<uint8_t>(1U << random.below(8));
    frame.resize(random.below(4) == 0 ? random.below(60) : 60);
    const test::ExactBuffer buffer(frame);
    ParsedFrame fast;
    ParsedFrame slow;
    const auto verdict = parse_frame(buffer.data(), buffer.size(), 60, fast);
    ASSERT_EQ(verdict, detail::parse_frame_slowly(buffer.data(), buffer.size(), 60, slow));
    ASSERT_TRUE(same(fast, slow)) << "round " << round << " seed " << kSeed;
  }
}

}  // namespace
}  // namespace eddy
