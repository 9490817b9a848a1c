#include "net/roce.h"

#include <gtest/gtest.h>

#include "net/ethernet.h"
#include "tests/unit/net/random_values.h"
#include "tests/unit/net/samples.h"

namespace eddy {
namespace {

using test::Draw;
using test::Frame;
using test::from_hex;

// I-16: the IP packet of a CNP that a ConnectX-4 Lx sent.
const Frame kRealCnp = from_hex(
    "45c2003c718c400040119161 0a001101 0a001201 000012b700280000 8100ffff 40000118 00000000"
    "00000000000000000000000000000000 82fd002a");

TEST(Roce, AcceptsTheIcrcOfARealNic) {
  ASSERT_TRUE(icrc_ok(kRealCnp));
  Frame forwarded = kRealCnp;
  decrement_ttl(forwarded.data());
  ASSERT_TRUE(mark_ce(forwarded.data()));
  EXPECT_NE(forwarded, kRealCnp);
  EXPECT_TRUE(icrc_ok(forwarded)) << "TTL, ECN and header checksum are not covered";
  Frame other_port = kRealCnp;
  other_port[20] ^= 1;
  EXPECT_FALSE(icrc_ok(other_port)) << "the UDP source port is";
}

TEST(Roce, WritesTheCnpOfARealNic) {
  RocePacket cnp = make_cnp({*parse_ip("10.0.17.1"), *parse_ip("10.0.18.1")}, 0x118);
  cnp.identification = 0x718c;
  Frame out(roce_packet_length(cnp));
  EXPECT_EQ(encode(cnp, {}, out), 60U);
  EXPECT_EQ(out, kRealCnp);
}

constexpr RoceOpcode kWithReth[] = {RoceOpcode::write_first, RoceOpcode::write_only,
                                    RoceOpcode::write_only_immediate, RoceOpcode::read_request};
constexpr RoceOpcode kWithAeth[] = {RoceOpcode::read_response_first, RoceOpcode::read_response_last,
                                    RoceOpcode::read_response_only, RoceOpcode::acknowledge,
                                    RoceOpcode::selective_acknowledge};
constexpr RoceOpcode kWithImmediate[] = {
    RoceOpcode::send_last_immediate, RoceOpcode::send_only_immediate,
    RoceOpcode::write_last_immediate, RoceOpcode::write_only_immediate};

bool among(RoceOpcode opcode, std::span<const RoceOpcode> list) {
  return std::find(list.begin(), list.end(), opcode) != list.end();
}

RocePacket random_packet(Draw& draw) {
  RocePacket packet;
  const bool v4 = draw.flag();
  packet.addresses.source = v4 ? IpAddress(draw.ipv4()) : IpAddress(draw.ipv6());
  packet.addresses.destination = v4 ? IpAddress(draw.ipv4()) : IpAddress(draw.ipv6());
  packet.dscp = draw.below<uint8_t>(64);
  packet.ecn = draw.below<uint8_t>(4);
  packet.ttl = draw.any<uint8_t>();
  packet.identification = v4 ? draw.any<uint16_t>() : uint16_t{0};
  packet.source_port = draw.any<uint16_t>();
  packet.bth = {draw.below<RoceOpcode>(0x13),  draw.flag(), draw.flag(),
                draw.any<uint16_t>(),          draw.flag(), draw.flag(),
                draw.below<uint32_t>(1 << 24), draw.flag(), draw.below<uint32_t>(1 << 24)};
  if (packet.bth.opcode > RoceOpcode::acknowledge)
    packet.bth.opcode = RoceOpcode::selective_acknowledge;
  const RoceOpcode opcode = packet.bth.opcode;
  if (among(opcode, kWithReth))
    packet.reth = {draw.any<uint64_t>(), draw.any<uint32_t>(), draw.any<uint32_t>()};
  if (among(opcode, kWithAeth)) packet.aeth = {draw.any<uint8_t>(), draw.below<uint32_t>(1 << 24)};
  if (opcode == RoceOpcode::selective_acknowledge)
    packet.arrived = {draw.below<uint32_t>(1 << 24), draw.any<uint64_t>()};
  if (among(opcode, kWithImmediate)) packet.immediate = draw.any<uint32_t>();
  packet.payload_len = draw.below<uint32_t>(300);
  return packet;
}

TEST(Roce, DecodeIsTheInverseOfEncode) {
  Draw draw(1);
  for (int round = 0; round < test::kPropertyRounds; ++round) {
    const RocePacket packet = random_packet(draw);
    const Frame payload = draw.octets(packet.payload_len);
    Frame out(roce_packet_length(packet));
    ASSERT_EQ(encode(packet, payload, out), out.size());
    RocePacket again;
    ASSERT_EQ(decode(out, again), CodecVerdict::ok) << test::kPropertySeed;
    ASSERT_EQ(again, packet) << test::kPropertySeed;
    ASSERT_TRUE(icrc_ok(out));
    const size_t begin = roce_header_length(packet);
    ASSERT_TRUE(std::equal(payload.begin(), payload.end(), out.begin() + static_cast<long>(begin)));
    const test::ExactBuffer headers(out, begin);
    ASSERT_EQ(decode(ConstOctets(headers.data(), headers.size()), again), CodecVerdict::ok)
        << "headers alone are enough";
    ASSERT_EQ(again, packet);
  }
}

TEST(Roce, IcrcCoversAVirtualPayloadAsZeros) {
  Draw draw(2);
  for (int round = 0; round < 50; ++round) {
    const RocePacket packet = random_packet(draw);
    Frame whole(roce_packet_length(packet));
    encode(packet, Frame(packet.payload_len, 0), whole);
    Frame headers(roce_header_length(packet));
    encode_headers(packet, headers);
    const uint32_t icrc = roce_icrc(headers, whole.size() - headers.size() - kIcrc);
    ASSERT_EQ(__builtin_bswap32(icrc), load_be32(&whole[whole.size() - kIcrc]));
  }
}

TEST(Roce, IcrcCoversAllButWhatSwitchesChange) {
  const Frame& v6_frame = test::sample("roce_send_ipv6");
  const Frame v6(v6_frame.begin() + 14, v6_frame.end());
  ASSERT_TRUE(icrc_ok(v6));
  for (size_t bit = 0; bit < v6.size() * 8; ++bit) {
    Frame changed = v6;
    changed[bit / 8] ^= static_cast<uint8_t>(0x80 >> bit % 8);
    const size_t octet = bit / 8;
    const bool traffic_class_or_label = bit >= 4 && octet < 4;
    const bool masked =
        traffic_class_or_label || octet == 7 || octet == 46 || octet == 47 || octet == 52;
    if (bit < 4) continue;  // the version decides where to look
    ASSERT_EQ(icrc_ok(changed), masked) << "bit " << bit;
  }
}

CodecVerdict after(const char* name, size_t at, uint8_t value) {
  Frame frame = test::sample(name);
  frame[14 + at] = value;
  if (!is_ipv6(&frame[14]) && at < 20 && at != 10 && at != 0) test::fix_ipv4_checksum(frame);
  RocePacket packet;
  return decode(ConstOctets(frame).subspan(14), packet);
}
CodecVerdict cut_to(const char* name, size_t length) {
  const Frame& frame = test::sample(name);
  const test::ExactBuffer exact(Frame(frame.begin() + 14, frame.end()), length);
  RocePacket packet;
  return decode(ConstOctets(exact.data(), exact.size()), packet);
}

CodecVerdict lengths_less_one() {
  Frame frame = test::sample("roce_write_ipv4");
  --frame[14 + 3];
  --frame[14 + 25];
  test::fix_ipv4_checksum(frame);
  RocePacket packet;
  return decode(ConstOctets(frame).subspan(14), packet);
}

TEST(Roce, HasAVerdictForEveryFault) {
  const char* name = "roce_write_ipv4";
  for (const size_t length : {0, 19, 27, 39, 55})
    EXPECT_EQ(cut_to(name, length), CodecVerdict::truncated) << length;
  EXPECT_EQ(cut_to(name, 56), CodecVerdict::ok) << "all but the payload";
  EXPECT_EQ(after(name, 9, kProtocolTcp), CodecVerdict::wrong_type);
  EXPECT_EQ(after(name, 6, 0x20), CodecVerdict::wrong_type) << "a fragment";
  EXPECT_EQ(after(name, 22, 0), CodecVerdict::wrong_type) << "another port";
  EXPECT_EQ(after("roce_send_ipv6", 6, 44), CodecVerdict::wrong_type);
  EXPECT_EQ(after(name, 0, 0x55), CodecVerdict::bad_version);
  EXPECT_EQ(after(name, 29, 0x01), CodecVerdict::bad_version) << "transport version";
  EXPECT_EQ(after(name, 10, 0), CodecVerdict::bad_checksum);
  EXPECT_EQ(after(name, 25, 0), CodecVerdict::bad_length) << "UDP against IP";
  EXPECT_EQ(lengths_less_one(), CodecVerdict::bad_length) << "not a multiple of 4";
  EXPECT_EQ(after("roce_nak", 28, 0x0a), CodecVerdict::bad_length) << "no room for a RETH";
  EXPECT_EQ(after(name, 28, 0x13), CodecVerdict::bad_value) << "an atomic";
  EXPECT_EQ(after(name, 28, 0x64), CodecVerdict::bad_value) << "a datagram";
  const auto mapped = [](size_t at) {
    Frame frame = test::sample("roce_send_ipv6");
    const Frame prefix = from_hex("00000000000000000000ffff");
    std::copy(prefix.begin(), prefix.end(), frame.begin() + static_cast<long>(14 + at));
    RocePacket packet;
    return decode(ConstOctets(frame).subspan(14), packet);
  };
  EXPECT_EQ(mapped(8), CodecVerdict::bad_address);
  EXPECT_EQ(mapped(24), CodecVerdict::bad_address);
}

// Reference D.1: sizes on an untagged IPv4 frame, without FCS.
TEST(Roce, HasTheSizesOfTheReference) {
  const AddressPair pair = {Ipv4Address{1}, Ipv4Address{2}};
  EXPECT_EQ(kEthernetHeader + roce_packet_length(make_cnp(pair, 1)) + kFcs, 78U + 0U);
  EXPECT_EQ(kEthernetHeader + roce_packet_length(make_ack(pair, 1, 2, {})) + kFcs, 66U);
  RocePacket data;
  data.addresses = pair;
  data.bth.opcode = RoceOpcode::write_middle;
  data.payload_len = 1024;
  EXPECT_EQ(kEthernetHeader + roce_packet_length(data), 1082U);
  data.bth.opcode = RoceOpcode::write_first;
  EXPECT_EQ(kEthernetHeader + roce_packet_length(data), 1098U);
}

// Reference D.9: where a selective ACK has its bitmap.
TEST(Roce, PutsTheBitmapBehindTheAeth) {
  RocePacket ack = make_ack({Ipv4Address{1}, Ipv4Address{2}}, 5, 0x123455, {0x1f, 7});
  ack.bth.opcode = RoceOpcode::selective_acknowledge;
  ack.arrived = {0x123456, 0x8000'0000'0000'0002};
  Frame out(roce_packet_length(ack));
  encode(ack, {}, out);
  EXPECT_EQ(kEthernetHeader + out.size() + kFcs, 78U) << "as a CNP";
  const Frame behind_bth(out.begin() + 40, out.end() - kIcrc);
  EXPECT_EQ(behind_bth, from_hex("1f000007 00123456 8000000000000002"));
  EXPECT_EQ(out[28], 0xc1);
  EXPECT_TRUE(is_reply(ack.bth.opcode));
  EXPECT_FALSE(is_reply(RoceOpcode::cnp));
}

}  // namespace
}  // namespace eddy
