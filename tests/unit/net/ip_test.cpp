// Ethernet, IPv4, IPv6, UDP, TCP, ARP headers and the checksums.
#include "net/ip.h"

#include <gtest/gtest.h>

#include <string>

#include "net/arp.h"
#include "net/ethernet.h"
#include "tests/unit/net/random_values.h"
#include "tests/unit/net/samples.h"

namespace eddy {
namespace {

using test::Draw;
using test::Frame;
using test::from_hex;
using test::survives;

Ipv4Header random_ipv4(Draw& draw) {
  Ipv4Header ip;
  ip.dscp = draw.below<uint8_t>(64);
  ip.ecn = draw.below<uint8_t>(4);
  ip.total_length = static_cast<uint16_t>(20 + draw.below<uint16_t>(60'000));
  ip.identification = draw.any<uint16_t>();
  ip.dont_fragment = draw.flag();
  ip.more_fragments = draw.flag();
  ip.fragment_offset = draw.below<uint16_t>(1 << 13);
  ip.ttl = draw.any<uint8_t>();
  ip.protocol = draw.any<uint8_t>();
  ip.source = draw.ipv4();
  ip.destination = draw.ipv4();
  return ip;
}

Ipv6Header random_ipv6(Draw& draw) {
  Ipv6Header ip;
  ip.dscp = draw.below<uint8_t>(64);
  ip.ecn = draw.below<uint8_t>(4);
  ip.flow_label = draw.below<uint32_t>(1 << 20);
  ip.payload_length = draw.any<uint16_t>();
  ip.next_header = draw.any<uint8_t>();
  ip.hop_limit = draw.any<uint8_t>();
  ip.source = draw.ipv6();
  ip.destination = draw.ipv6();
  return ip;
}

EthernetHeader random_ethernet(Draw& draw) {
  EthernetHeader header;
  header.destination = draw.unicast_mac();
  header.source = draw.unicast_mac();
  header.ethertype = draw.below<uint16_t>(0x8000);
  header.tag_count = draw.below<uint8_t>(3);
  for (size_t i = 0; i < header.tag_count; ++i)
    header.tags[i] = {draw.flag() ? kEtherTypeVlan : kEtherTypeServiceVlan, draw.below<uint8_t>(8),
                      draw.flag(), draw.below<uint16_t>(4096)};
  return header;
}

TEST(Headers, DecodeIsTheInverseOfEncode) {
  Draw draw(1);
  for (int round = 0; round < test::kPropertyRounds; ++round) {
    ASSERT_TRUE(survives(random_ethernet(draw)));
    ASSERT_TRUE(survives(random_ipv4(draw)));
    ASSERT_TRUE(survives(random_ipv6(draw)));
    ASSERT_TRUE(survives(UdpHeader{draw.any<uint16_t>(), draw.any<uint16_t>(),
                                   static_cast<uint16_t>(8 + draw.below<uint16_t>(60'000)),
                                   draw.any<uint16_t>()}));
    ASSERT_TRUE(
        survives(TcpHeader{draw.any<uint16_t>(), draw.any<uint16_t>(), draw.any<uint32_t>(),
                           draw.any<uint32_t>(), kTcpHeader, draw.any<uint8_t>(),
                           draw.any<uint16_t>(), draw.any<uint16_t>(), draw.any<uint16_t>()}));
    ASSERT_TRUE(
        survives(ArpMessage{draw.flag() ? ArpOperation::request : ArpOperation::reply,
                            draw.unicast_mac(), draw.ipv4(), draw.unicast_mac(), draw.ipv4()}));
  }
}

template <class Message>
CodecVerdict after(Frame octets, size_t at, uint8_t value) {
  octets[at] = value;
  Message message;
  return decode(octets, message);
}
template <class Message>
CodecVerdict cut_to(const Frame& octets, size_t length) {
  const test::ExactBuffer exact(octets, length);
  Message message;
  return decode(ConstOctets(exact.data(), exact.size()), message);
}

TEST(Headers, DecodeHasAVerdictForEveryFault) {
  const Frame& frame = test::sample("tcp_ipv4");
  const Frame ip(frame.begin() + 14, frame.end());
  const Frame tcp(ip.begin() + 20, ip.end());
  EXPECT_EQ(cut_to<Ipv4Header>(ip, 19), CodecVerdict::truncated);
  EXPECT_EQ(after<Ipv4Header>(ip, 0, 0x65), CodecVerdict::bad_version);
  EXPECT_EQ(after<Ipv4Header>(ip, 0, 0x44), CodecVerdict::bad_length);
  EXPECT_EQ(after<Ipv4Header>(ip, 3, 19), CodecVerdict::bad_length);
  EXPECT_EQ(after<Ipv4Header>(ip, 8, 63), CodecVerdict::bad_checksum);
  Frame options(24);
  options[0] = 0x46;
  options[3] = 24;
  EXPECT_EQ(cut_to<Ipv4Header>(options, 23), CodecVerdict::truncated);
  EXPECT_EQ(cut_to<TcpHeader>(tcp, 19), CodecVerdict::truncated);
  EXPECT_EQ(after<TcpHeader>(tcp, 12, 0x40), CodecVerdict::bad_length);
  EXPECT_EQ(cut_to<UdpHeader>(tcp, 7), CodecVerdict::truncated);
  EXPECT_EQ(after<UdpHeader>(Frame(8), 5, 7), CodecVerdict::bad_length);
  const Frame v6(test::sample("udp_ipv6").begin() + 14, test::sample("udp_ipv6").end());
  EXPECT_EQ(cut_to<Ipv6Header>(v6, 39), CodecVerdict::truncated);
  EXPECT_EQ(after<Ipv6Header>(v6, 0, 0x40), CodecVerdict::bad_version);
}

TEST(Headers, EthernetRefusesWhatItCannotHold) {
  const Frame& tagged = test::sample("udp_ipv6_tags");
  EXPECT_EQ(cut_to<EthernetHeader>(tagged, 13), CodecVerdict::truncated);
  EXPECT_EQ(cut_to<EthernetHeader>(tagged, 21), CodecVerdict::truncated);
  Frame three = tagged;
  const Frame tag = from_hex("81000001");
  three.insert(three.begin() + 12, tag.begin(), tag.end());
  EXPECT_EQ(cut_to<EthernetHeader>(three, three.size()), CodecVerdict::bad_value);
}

TEST(Arp, HasAVerdictForEveryFault) {
  const Frame& frame = test::sample("arp_request");
  const Frame arp(frame.begin() + 14, frame.end());
  EXPECT_EQ(cut_to<ArpMessage>(arp, 27), CodecVerdict::truncated);
  EXPECT_EQ(after<ArpMessage>(arp, 1, 6), CodecVerdict::wrong_type);
  EXPECT_EQ(after<ArpMessage>(arp, 2, 6), CodecVerdict::wrong_type);
  EXPECT_EQ(after<ArpMessage>(arp, 4, 8), CodecVerdict::bad_length);
  EXPECT_EQ(after<ArpMessage>(arp, 7, 3), CodecVerdict::bad_value);
  EXPECT_EQ(after<ArpMessage>(arp, 8, 1), CodecVerdict::bad_address);
}

TEST(Checksum, IsTheOneOfRfc1071) {
  EXPECT_EQ(internet_checksum(from_hex("0001f203f4f5f6f7")), 0x220d);
  EXPECT_EQ(internet_checksum(from_hex("0001f203f4f5f6")),
            internet_checksum(from_hex("0001f203f4f5f600")));
  EXPECT_EQ(internet_checksum({}), 0xffff);
}

// RFC 1624, section 4: the case that eqn. 2 of RFC 1071 gets wrong.
TEST(Checksum, UpdateFollowsRfc1624) {
  EXPECT_EQ(updated_checksum(0xdd2f, 0x5555, 0x3285), 0x0000);
}

TEST(Checksum, CrcIsTheOneOfEthernet) {
  const std::string text = "123456789";
  Crc32 crc;
  crc.add({reinterpret_cast<const uint8_t*>(text.data()), text.size()});
  EXPECT_EQ(crc.value(), 0xcbf43926U);
}

TEST(Checksum, CrcDoesNotDependOnHowItIsFed) {
  Draw draw(2);
  const Frame octets = draw.octets(301);
  const uint32_t whole = frame_check_sequence(octets);
  for (size_t split = 0; split <= octets.size(); split += 7) {
    Crc32 crc;
    crc.add(ConstOctets(octets).first(split));
    crc.add(ConstOctets(octets).subspan(split));
    ASSERT_EQ(crc.value(), whole);
  }
  Frame padded = octets;
  padded.resize(octets.size() + 150);
  Crc32 zeros;
  zeros.add(octets);
  zeros.add_zeros(150);
  EXPECT_EQ(zeros.value(), frame_check_sequence(padded));
}

// The checksum after a rewrite in place is the one encode would have written.
TEST(Rewrite, KeepsTheIpv4ChecksumRight) {
  Draw draw(3);
  for (int round = 0; round < 5'000; ++round) {
    Ipv4Header ip = random_ipv4(draw);
    if (ip.ttl == 0) continue;
    Frame packet(20);
    encode(ip, packet);
    decrement_ttl(packet.data());
    --ip.ttl;
    const bool capable = ip.ecn != kEcnNotCapable;
    ASSERT_EQ(mark_ce(packet.data()), capable);
    if (capable) ip.ecn = kEcnCongestion;
    Frame expected(20);
    encode(ip, expected);
    ASSERT_EQ(packet, expected) << "round " << round << " seed " << test::kPropertySeed;
  }
}

TEST(Rewrite, ChangesOnlyHopLimitAndEcnOfIpv6) {
  Draw draw(4);
  for (int round = 0; round < test::kPropertyRounds; ++round) {
    Ipv6Header ip = random_ipv6(draw);
    ip.hop_limit |= 1;
    Frame packet(40);
    encode(ip, packet);
    decrement_ttl(packet.data());
    const bool capable = ip.ecn != kEcnNotCapable;
    ASSERT_EQ(mark_ce(packet.data()), capable);
    --ip.hop_limit;
    if (capable) ip.ecn = kEcnCongestion;
    Ipv6Header again;
    ASSERT_EQ(decode(packet, again), CodecVerdict::ok);
    ASSERT_EQ(again, ip);
  }
}

}  // namespace
}  // namespace eddy
