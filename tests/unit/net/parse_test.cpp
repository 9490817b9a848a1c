#include "net/parse.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <functional>
#include <set>
#include <vector>

#include "net/addresses.h"
#include "net/random.h"
#include "tests/unit/net/frames.h"
#include "tests/unit/net/samples.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace eddy {
namespace {

using test::Frame;
using test::from_hex;
using test::parse;
using test::sample;
using test::verdict_of;

ParsedFrame parsed(const Frame& frame) {
  ParsedFrame out;
  EXPECT_EQ(parse(frame, out), ParseVerdict::ok);
  return out;
}

TEST(ParseFrame, ReadsPlainUdp) {
  const ParsedFrame out = parsed(sample("udp_ipv4"));
  EXPECT_EQ(out.kind, FrameKind::ipv4);
  EXPECT_EQ(out.l2_len, 14);
  EXPECT_EQ(out.l3_len, 20);
  EXPECT_EQ(out.l4_protocol, 17);
  EXPECT_EQ(out.dscp, 26);
  EXPECT_EQ(out.ecn, 2);
  EXPECT_EQ(out.ttl, 64);
  EXPECT_EQ(out.flags, kPacketIp | kPacketEct);
  EXPECT_EQ(out.ethertype, 0x0800);
  EXPECT_EQ(out.payload_len, 20);
  EXPECT_EQ(out.source_port, 1000);
  EXPECT_EQ(out.destination_port, 2000);
  EXPECT_EQ(out.ipv4_destination, 0x0a020001U);
}

TEST(ParseFrame, ReadsTagsAndIpv6) {
  const ParsedFrame out = parsed(sample("udp_ipv6_tags"));
  EXPECT_EQ(out.kind, FrameKind::ipv6);
  EXPECT_EQ(out.l2_len, 22);
  EXPECT_EQ(out.l3_len, 40);
  EXPECT_EQ(out.pcp, 5);
  EXPECT_EQ(out.vlan_id, 100);
  EXPECT_EQ(out.ethertype, 0x86dd);
  EXPECT_EQ(out.flags, kPacketIp | kPacketIpv6 | kPacketTagged);
  EXPECT_EQ(out.dscp, 26);
  EXPECT_EQ(out.ttl, 64);
  EXPECT_EQ(out.payload_len, 20);
  EXPECT_EQ(out.destination_port, 2000);
  EXPECT_EQ(parsed(sample("udp_ipv4_tag")).pcp, 3);
  EXPECT_EQ(parsed(sample("udp_ipv4_tag")).vlan_id, 0) << "a priority tag";
}

TEST(ParseFrame, StepsOverExtensionHeaders) {
  const ParsedFrame out = parsed(sample("udp_ipv6_options"));
  EXPECT_EQ(out.l3_len, 48);
  EXPECT_EQ(out.l4_protocol, kProtocolUdp);
  EXPECT_EQ(out.destination_port, 2000);
  EXPECT_EQ(out.order_hash, parsed(sample("udp_ipv6")).order_hash);
}

// The length of an authentication header counts units of 4 octets, less 2; that of a fragment
// header is reserved; all others count units of 8, less 1.
TEST(ParseFrame, MeasuresEachExtensionHeaderInItsOwnUnit) {
  Frame chain = from_hex(
      "33 00 000000000000"                                     // hop by hop: 8 octets
      "2b 04 0000 00000100 00000001 000000000000000000000000"  // authentication: 24
      "2c 01 0000 000000000000000000000000"                    // routing: 16
      "87 07 0000 00000007"                                    // an atomic fragment: 8
      "11 02 0000 0000000000000000000000000000000000000000");  // mobility: 24
  const Frame udp = test::udp_datagram(2000, Frame(16, 0));
  chain.insert(chain.end(), udp.begin(), udp.end());
  const ParsedFrame out = parsed(test::ipv6_frame(kProtocolHopByHop, chain));
  EXPECT_EQ(out.l3_len, 40 + 8 + 24 + 16 + 8 + 24);
  EXPECT_EQ(out.l4_protocol, kProtocolUdp);
  EXPECT_EQ(out.destination_port, 2000);
  EXPECT_EQ(out.payload_len, 16);
}

TEST(ParseFrame, StepsOverADataShim) {
  const ParsedFrame out = parsed(sample("udp_ipv4_shim"));
  const ParsedFrame plain = parsed(sample("udp_ipv4"));
  EXPECT_EQ(out.kind, FrameKind::ipv4);
  EXPECT_EQ(out.shim_offset, 14);
  EXPECT_EQ(out.l2_len, 14 + 32);
  EXPECT_EQ(out.flags, plain.flags | kPacketShim);
  EXPECT_EQ(out.ethertype, 0x0800);
  EXPECT_EQ(out.order_hash, plain.order_hash);
  EXPECT_EQ(out.balance_hash, plain.balance_hash);
}

// A packet without a switch, and the frame in it.
struct Holding {
  Packet packet{};
  std::array<uint8_t, 256> octets{};

  void hold(const std::vector<uint8_t>& frame) {
    ASSERT_LE(frame.size(), octets.size());
    std::ranges::copy(frame, packet.data());
    packet.set_length(frame.size(), frame.size());
  }
};
static_assert(offsetof(Holding, octets) == sizeof(Packet));

// A free shim is in the frame and not in its length.
TEST(ParsePacket, TakesTheOctetsOfAFreeShimForGiven) {
  Holding line;
  Packet& packet = line.packet;
  line.hold(sample("udp_ipv4_shim"));
  ParsedFrame paid;
  ASSERT_EQ(parse_packet(packet, paid), ParseVerdict::ok);
  EXPECT_EQ(paid.flags & kPacketFreeShim, 0);
  ParsedFrame out;
  packet.wire_len -= kShimHeader;
  EXPECT_EQ(parse_packet(packet, out), ParseVerdict::ipv4_bad_length) << "nobody said so";
  packet.set(kPacketFreeShim);
  ASSERT_EQ(parse_packet(packet, out), ParseVerdict::ok);
  EXPECT_EQ(out.flags, paid.flags | kPacketFreeShim);
  EXPECT_EQ(out.payload_len, paid.payload_len);
  EXPECT_EQ(out.order_hash, paid.order_hash);
  packet.wire_len -= 1;
  EXPECT_EQ(parse_packet(packet, out), ParseVerdict::ipv4_bad_length) << "32 octets and no more";
}

// What a packet's memory held before says nothing of a frame without a shim.
TEST(ParsePacket, WithoutAShimNothingIsFree) {
  Holding line;
  line.hold(sample("roce_write_ipv4"));
  line.packet.wire_len -= 1;
  line.packet.held_len -= 1;
  line.packet.set(kPacketFreeShim);
  ParsedFrame out;
  EXPECT_EQ(parse_packet(line.packet, out), ParseVerdict::ipv4_bad_length);
  EXPECT_EQ(out.flags & kPacketFreeShim, 0);
  std::vector<uint8_t> control = sample("udp_ipv4_shim");
  control[kEthernetHeader] = 0x11;  // a feedback frame
  line.hold(control);
  EXPECT_EQ(parse_packet(line.packet, out), ParseVerdict::ok);
  EXPECT_EQ(out.kind, FrameKind::shim_control);
  EXPECT_EQ(out.flags & kPacketFreeShim, 0) << "it is paid for";
}

// I-16: a CNP taken from a real NIC.
TEST(ParseFrame, ReadsCnpOfARealNic) {
  const ParsedFrame out = parsed(from_hex(
      "e41d2dab2bc2 7cfe90643b32 0800 45c2003c718c400040119161 0a001101 0a001201 000012b700280000"
      "8100ffff 40000118 00000000 00000000000000000000000000000000 82fd002a"));
  EXPECT_EQ(out.bth_opcode, 0x81);
  EXPECT_EQ(out.destination_qpn, 0x118U);
  EXPECT_EQ(out.payload_len, 20);
  EXPECT_EQ(out.flags, kPacketIp | kPacketEct | kPacketRoce | kPacketRoceControl);
}

TEST(ParseFrame, TellsRoceDataFromControl) {
  EXPECT_EQ(parsed(sample("roce_nak")).flags & (kPacketRoce | kPacketRoceControl),
            kPacketRoce | kPacketRoceControl);
  for (int opcode = 0; opcode < 256; ++opcode) {
    std::vector<uint8_t> frame = sample("roce_nak");
    frame[kEthernetHeader + kIpv4Header + kUdpHeader] = static_cast<uint8_t>(opcode);
    const bool control = opcode == 0x11 || opcode == 0x81 || opcode == 0xc1;
    EXPECT_EQ((parsed(frame).flags & kPacketRoceControl) != 0, control) << opcode;
  }
  const ParsedFrame v4 = parsed(sample("roce_write_ipv4"));
  EXPECT_EQ(v4.flags & (kPacketRoce | kPacketRoceControl), kPacketRoce);
  EXPECT_EQ(v4.destination_qpn, 0x123456U);
  EXPECT_EQ(v4.payload_len, 16 + 64 + 4) << "RETH, padded payload, ICRC";
  const ParsedFrame v6 = parsed(sample("roce_send_ipv6"));
  EXPECT_EQ(v6.flags & (kPacketRoce | kPacketRoceControl), kPacketRoce);
  EXPECT_EQ(v6.bth_opcode, 5);
}

TEST(ParseFrame, RecognisesEveryKind) {
  for (const auto& [name, frame, kind] : test::samples())
    EXPECT_EQ(parsed(frame).kind, kind) << name;
}

TEST(ParseFrame, LinkLocalIsWhatIsLeftOfTheReservedAddresses) {
  Frame frame = sample("udp_ipv4");
  for (int last = 0; last < 16; ++last) {
    const Frame reserved = {0x01, 0x80, 0xc2, 0, 0, static_cast<uint8_t>(last)};
    std::copy(reserved.begin(), reserved.end(), frame.begin());
    EXPECT_EQ(parsed(frame).kind, FrameKind::link_local);
  }
  frame[5] = 0x10;
  EXPECT_EQ(parsed(frame).kind, FrameKind::ipv4);
  Frame tagged_pfc = sample("pfc");
  const Frame tag = from_hex("81000000");
  tagged_pfc.insert(tagged_pfc.begin() + 12, tag.begin(), tag.end());
  EXPECT_EQ(parsed(tagged_pfc).kind, FrameKind::link_local) << "MAC control is never tagged";
}

TEST(ParseFrame, TakesOnlyIpOutOfAShim) {
  for (const char* name : {"arp_request", "cnm_tag", "udp_ipv4_shim"})
    EXPECT_EQ(parsed(test::with_shim(sample(name))).kind, FrameKind::other) << name;
}

TEST(ParseFrame, EveryFragmentHashesWithoutPorts) {
  Frame first = sample("udp_ipv4");
  Frame second = first;
  store_be16(&first[20], 0x2000);
  store_be16(&second[20], 0x0010);
  store_be16(&second[34], 0xbeef);
  test::fix_ipv4_checksum(first);
  test::fix_ipv4_checksum(second);
  const ParsedFrame a = parsed(first);
  const ParsedFrame b = parsed(second);
  EXPECT_TRUE(a.flags & b.flags & kPacketFragment);
  EXPECT_EQ(a.order_hash, b.order_hash);
  EXPECT_EQ(a.balance_hash, b.balance_hash);
  EXPECT_EQ(a.source_port | a.destination_port | b.source_port | b.destination_port, 0);
  EXPECT_NE(a.order_hash, parsed(sample("udp_ipv4")).order_hash);
}

TEST(ParseFrame, Ipv6FragmentsStopAtTheFragmentHeader) {
  const Frame udp = test::udp_datagram(2000, Frame(16, 0));
  const auto with_fragment = [&](const char* header) {
    Frame chain = from_hex(header);
    chain.insert(chain.end(), udp.begin(), udp.end());
    return parsed(test::ipv6_frame(kProtocolFragment, chain));
  };
  const ParsedFrame first = with_fragment("1100 0001 00000007");
  const ParsedFrame later = with_fragment("1100 0018 00000007");
  const ParsedFrame atomic = with_fragment("1100 0000 00000007");
  EXPECT_TRUE(first.flags & later.flags & kPacketFragment);
  EXPECT_EQ(first.order_hash, later.order_hash);
  EXPECT_EQ(first.destination_port, 0);
  EXPECT_FALSE(atomic.flags & kPacketFragment);
  EXPECT_EQ(atomic.destination_port, 2000);
}

TEST(ParseFrame, LengthsAreHeldAgainstTheWireAndReadsAgainstTheData) {
  const Frame frame = sample("roce_write_ipv4");
  const test::ExactBuffer headers(frame, 14 + 20 + 8 + 12);
  ParsedFrame out;
  const auto full = static_cast<uint32_t>(frame.size());
  EXPECT_EQ(parse_frame(headers.data(), headers.size(), full, out), ParseVerdict::ok);
  EXPECT_EQ(out.payload_len, 84);
  EXPECT_EQ(parse_frame(headers.data(), headers.size(), full - 1, out),
            ParseVerdict::ipv4_bad_length);
  EXPECT_EQ(parse_frame(headers.data(), headers.size() - 1, full, out),
            ParseVerdict::bth_truncated);
}

// One crafted frame, or more, for every verdict.
struct Malformation {
  const char* base;
  ParseVerdict verdict;
  std::function<void(Frame&)> apply;
  bool fix_checksum = false;
};

Malformation set_octet(const char* base, size_t at, uint8_t value, ParseVerdict verdict) {
  return {base, verdict, [=](Frame& frame) { frame[at] = value; }};
}
// IPv4 only; the checksum is made right again.
Malformation set_ip(const char* base, size_t at, const std::vector<uint8_t>& octets,
                    ParseVerdict verdict) {
  const auto apply = [=](Frame& f) { std::copy(octets.begin(), octets.end(), f.begin() + at); };
  return {base, verdict, apply, true};
}
Malformation set_ipv6_address(size_t at, const char* address) {
  const auto octets = parse_ip(address)->v6().octets;
  const auto apply = [=](Frame& f) { std::copy(octets.begin(), octets.end(), f.begin() + at); };
  return {"udp_ipv6", ParseVerdict::ip_bad_source, apply};
}
Malformation cut(const char* base, size_t length, ParseVerdict verdict) {
  return {base, verdict, [=](Frame& frame) { frame.resize(length); }};
}
Malformation mapped_ipv4(size_t at) {
  const Frame octets = from_hex("00000000000000000000ffff0a010001");
  const auto apply = [=](Frame& f) { std::copy(octets.begin(), octets.end(), f.begin() + at); };
  return {"udp_ipv6", ParseVerdict::ip_bad_source, apply};
}
// An IPv6 frame whose chain is `count` destination-option headers of `units` x 8 octets.
Malformation chain(size_t count, size_t units, ParseVerdict verdict) {
  return {"udp_ipv6", verdict, [=](Frame& frame) {
            Frame headers;
            for (size_t i = 0; i < count; ++i) {
              Frame header(8 * units);
              header[0] = i + 1 == count ? kProtocolUdp : kProtocolDestinationOptions;
              header[1] = static_cast<uint8_t>(units - 1);
              headers.insert(headers.end(), header.begin(), header.end());
            }
            const Frame udp = test::udp_datagram(1, {});
            headers.insert(headers.end(), udp.begin(), udp.end());
            frame = test::ipv6_frame(kProtocolDestinationOptions, headers);
          }};
}
Malformation replaced(const Frame& by, ParseVerdict verdict) {
  return {"udp_ipv4", verdict, [=](Frame& frame) { frame = by; }};
}

std::vector<Malformation> link_malformations() {
  using enum ParseVerdict;
  return {
      cut("udp_ipv4", 13, runt),
      cut("udp_ipv4", 0, runt),
      set_octet("udp_ipv4", 6, 0x03, source_mac_multicast),
      cut("udp_ipv4_tag", 17, vlan_truncated),
      cut("udp_ipv6_tags", 21, vlan_truncated),
      {"udp_ipv6_tags", vlan_too_many,
       [](Frame& frame) {
         const Frame tag = from_hex("81000001");
         frame.insert(frame.begin() + 12, tag.begin(), tag.end());
       }},
      cut("udp_ipv4_shim", 14 + 31, shim_truncated),
      set_octet("udp_ipv4_shim", 14, 0x20, shim_bad_version),
      set_octet("shim_kind_1", 14, 0x01, shim_bad_version),
  };
}

std::vector<Malformation> network_malformations() {
  using enum ParseVerdict;
  return {
      cut("udp_ipv4", 14 + 19, ipv4_truncated),
      set_octet("udp_ipv4", 14, 0x65, ipv4_bad_version),
      set_octet("udp_ipv4", 14, 0x44, ipv4_bad_ihl),
      set_ip("udp_ipv4", 16, {0, 19}, ipv4_bad_length),
      set_ip("udp_ipv4", 16, {0, 49}, ipv4_bad_length),
      set_octet("udp_ipv4", 14, 0x4f, ipv4_bad_length),
      set_octet("udp_ipv4", 24, 0x12, ipv4_bad_checksum),
      cut("udp_ipv6", 14 + 39, ipv6_truncated),
      set_octet("udp_ipv6", 14, 0x40, ipv6_bad_version),
      set_octet("udp_ipv6", 18, 0x01, ipv6_bad_length),
      chain(9, 1, ipv6_bad_extension),
      chain(8, 1, ok),
      chain(1, 26, ok),
      chain(1, 27, ipv6_bad_extension),
      set_octet("udp_ipv6_options", 14 + 41, 5, ipv6_bad_extension),
      set_octet("udp_ipv6", 20, kProtocolHopByHop, ipv6_bad_extension),
      set_ip("udp_ipv4", 26, {127}, ip_bad_source),
      set_ip("udp_ipv4", 26, {0}, ip_bad_source),
      set_ip("udp_ipv4", 26, {224}, ip_bad_source),
      set_ip("udp_ipv4", 26, {239}, ip_bad_source),
      set_ip("udp_ipv4", 26, {255, 255, 255, 255}, ip_bad_source),
      set_ip("udp_ipv4", 26, {255, 255, 255, 254}, ok),
      set_ip("udp_ipv4", 30, {127}, ip_bad_source),
      set_ip("udp_ipv4", 30, {224}, ok),
      set_ipv6_address(22, "ff02::1"),
      set_ipv6_address(22, "::1"),
      set_ipv6_address(22, "::"),
      set_ipv6_address(38, "::1"),
      mapped_ipv4(22),
      mapped_ipv4(38),
  };
}

std::vector<Malformation> transport_malformations() {
  using enum ParseVerdict;
  const Frame short_udp = test::ipv4_frame(kProtocolUdp, Frame(7, 0));
  const Frame short_tcp = test::ipv4_frame(kProtocolTcp, Frame(19, 0));
  const Frame no_icrc = test::ipv4_frame(kProtocolUdp, test::udp_datagram(kRocePort, Frame(15, 0)));
  return {
      replaced(short_udp, udp_truncated),
      set_octet("udp_ipv4", 39, 7, udp_bad_length),
      set_octet("udp_ipv4", 39, 29, udp_bad_length),
      set_octet("udp_ipv6", 59, 29, udp_bad_length),
      set_octet("udp_ipv6", 59, 27, ok),
      replaced(short_tcp, tcp_truncated),
      set_octet("tcp_ipv4", 46, 0x40, tcp_bad_offset),
      set_octet("tcp_ipv6", 66, 0xf0, tcp_bad_offset),
      replaced(no_icrc, bth_truncated),
  };
}

void check(const std::vector<Malformation>& cases, std::set<ParseVerdict>& reached) {
  for (const Malformation& each : cases) {
    Frame frame = sample(each.base);
    each.apply(frame);
    if (each.fix_checksum) test::fix_ipv4_checksum(frame);
    EXPECT_EQ(to_string(verdict_of(frame)), to_string(each.verdict))
        << each.base << " case " << &each - cases.data();
    reached.insert(verdict_of(frame));
  }
}

TEST(ParseFrame, HasAVerdictForEveryMalformation) {
  std::set<ParseVerdict> reached;
  check(link_malformations(), reached);
  check(network_malformations(), reached);
  check(transport_malformations(), reached);
  EXPECT_EQ(reached.size(), static_cast<size_t>(kParseVerdicts));
}

TEST(ParseFrame, AnUnspecifiedSourceMayAskForItsOwnAddress) {
  Frame frame = sample("nd_solicitation");
  std::fill_n(frame.begin() + 22, 16, uint8_t{0});
  EXPECT_EQ(verdict_of(frame), ParseVerdict::ok);
}

TEST(ParseFrame, VerdictsHaveDistinctNames) {
  std::set<std::string_view> names;
  for (int i = 0; i < kParseVerdicts; ++i) names.insert(to_string(static_cast<ParseVerdict>(i)));
  EXPECT_EQ(names.size(), static_cast<size_t>(kParseVerdicts));
  EXPECT_EQ(names.count(""), 0U);
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
  const Frame bases[] = {sample("udp_ipv4"), sample("roce_write_ipv4")};
  for (int round = 0; round < 5'000; ++round) {
    Frame frame = bases[random.below(2)];
    const auto wire_len = static_cast<uint32_t>(frame.size());
    if (random.below(3) == 0) store_be16(&frame[38], static_cast<uint16_t>(random.below(40)));
    for (uint32_t flips = random.below(3); flips > 0; --flips)
      frame[random.below(44)] ^= static_cast<uint8_t>(1U << random.below(8));
    if (random.below(2) == 0) test::fix_ipv4_checksum(frame);
    if (random.below(4) == 0) frame.resize(random.below(wire_len));
    const test::ExactBuffer buffer(frame);
    ParsedFrame fast;
    ParsedFrame slow;
    const auto verdict = parse_frame(buffer.data(), buffer.size(), wire_len, fast);
    ASSERT_EQ(verdict, detail::parse_frame_slowly(buffer.data(), buffer.size(), wire_len, slow));
    ASSERT_TRUE(same(fast, slow)) << "round " << round << " seed " << kSeed;
  }
}

// Under the address sanitizer a read past the end of a cut frame is an error; everywhere the
// function's own ASSERTs hold.
TEST(ParseFrame, CutFramesAreNeverReadPastTheirEnd) {
  for (const auto& [name, frame, kind] : test::samples()) {
    for (size_t length = 0; length <= frame.size(); ++length) {
      const test::ExactBuffer buffer(frame, length);
      LLVMFuzzerTestOneInput(buffer.data(), buffer.size());
      ParsedFrame out;
      const auto wire_len = static_cast<uint32_t>(frame.size());
      const ParseVerdict verdict = parse_frame(buffer.data(), buffer.size(), wire_len, out);
      ASSERT_TRUE(length < frame.size() || verdict == ParseVerdict::ok) << name;
    }
  }
}

// Flows that differ in one field by one step, as they do in practice.
std::vector<ParsedFrame> neighbouring_flows(size_t count) {
  std::vector<ParsedFrame> out(count);
  Frame frame = sample("udp_ipv4");
  for (size_t i = 0; i < count; ++i) {
    store_be16(&frame[34], static_cast<uint16_t>(49'152 + i % 4096));
    store_be32(&frame[26], static_cast<uint32_t>(0x0a010001 + i / 4096));
    test::fix_ipv4_checksum(frame);
    (void)parse(frame, out[i]);
  }
  return out;
}

// Addresses alone differ: the hosts of some racks and those of others.
std::vector<ParsedFrame> neighbouring_ipv6_pairs(size_t count) {
  std::vector<ParsedFrame> out(count);
  Frame frame = sample("udp_ipv6");
  for (size_t i = 0; i < count; ++i) {
    frame[22 + 7] = static_cast<uint8_t>(i % 8);
    frame[22 + 15] = static_cast<uint8_t>(1 + i / 8 % 16);
    frame[38 + 7] = static_cast<uint8_t>(8 + i / 128 % 8);
    frame[38 + 15] = static_cast<uint8_t>(1 + i / 1024);
    (void)parse(frame, out[i]);
  }
  return out;
}

double chi_square(const std::vector<uint32_t>& count, double expected) {
  double sum = 0;
  for (const uint32_t n : count) sum += (n - expected) * (n - expected) / expected;
  return sum;
}

void expect_spread(const std::vector<ParsedFrame>& flows) {
  std::vector<uint32_t> bins[4] = {};
  for (auto& each : bins) each.resize(256);
  for (const ParsedFrame& flow : flows) {
    ++bins[0][flow.order_hash & 0xff];
    ++bins[1][flow.order_hash >> 56];
    ++bins[2][flow.balance_hash & 0xff];
    ++bins[3][flow.balance_hash >> 24];
  }
  // 255 degrees of freedom: 330 is p = 0.001, and far below 170 would be as odd.
  const double expected = static_cast<double>(flows.size()) / 256;
  for (const auto& each : bins) {
    EXPECT_LT(chi_square(each, expected), 330);
    EXPECT_GT(chi_square(each, expected), 170);
  }
}

TEST(FlowHash, SpreadsNeighbouringFlowsInHighAndLowBits) {
  expect_spread(neighbouring_flows(16'384));
  expect_spread(neighbouring_ipv6_pairs(16'384));
}

// Octets of a frame that are part of its tuple.
struct TupleAt {
  size_t from;
  size_t to;
};

void expect_avalanche(const Frame& base, TupleAt at) {
  const uint64_t reference = parsed(base).order_hash;
  int changed = 0;
  int flips = 0;
  for (size_t bit = at.from * 8; bit < at.to * 8; ++bit) {
    Frame frame = base;
    frame[bit / 8] ^= static_cast<uint8_t>(1U << bit % 8);
    if (base[12] == 0x08) test::fix_ipv4_checksum(frame);
    ParsedFrame out;
    if (parse(frame, out) != ParseVerdict::ok) continue;
    const int distance = std::popcount(out.order_hash ^ reference);
    EXPECT_GT(distance, 12) << "bit " << bit;
    changed += distance;
    ++flips;
  }
  EXPECT_GT(flips, static_cast<int>(at.to - at.from) * 7);
  EXPECT_NEAR(static_cast<double>(changed) / flips, 32, 1.5);
}

TEST(FlowHash, HalfOfTheBitsChangeWithAnyBitOfTheTuple) {
  expect_avalanche(sample("udp_ipv4"), {26, 38});
  expect_avalanche(sample("udp_ipv6"), {22, 58});
}

TEST(FlowHash, RoceOrderKeyIsTheQueuePairAndNotTheSourcePort) {
  const Frame base = sample("roce_write_ipv4");
  Frame other_port = base;
  other_port[35] ^= 1;
  Frame other_pair = base;
  other_pair[14 + 20 + 8 + 7] ^= 1;
  EXPECT_EQ(parsed(base).order_hash, parsed(other_port).order_hash);
  EXPECT_NE(parsed(base).balance_hash, parsed(other_port).balance_hash);
  EXPECT_NE(parsed(base).order_hash, parsed(other_pair).order_hash);
  EXPECT_EQ(parsed(base).balance_hash, parsed(other_pair).balance_hash);
}

TEST(FlowHash, IsNotSymmetric) {
  Frame back = sample("udp_ipv4");
  std::swap_ranges(back.begin() + 26, back.begin() + 30, back.begin() + 30);
  EXPECT_NE(parsed(back).order_hash, parsed(sample("udp_ipv4")).order_hash);
  Frame back6 = sample("udp_ipv6");
  std::swap_ranges(back6.begin() + 22, back6.begin() + 38, back6.begin() + 38);
  EXPECT_NE(parsed(back6).order_hash, parsed(sample("udp_ipv6")).order_hash);
}

// Every digest and every path that a flow takes hangs on these values, so they are held as numbers,
// computed apart from the code: addresses in the order of the wire, source first, then protocol and
// ports, or the queue pair.
TEST(FlowHash, ValuesStayWhatSeedsReproduce) {
  EXPECT_EQ(hash_pair(1, 2), 0xf463b5496cbaa43eu);
  EXPECT_EQ(parsed(sample("udp_ipv4")).order_hash, 0xc7ec77bd89847e12u);
  EXPECT_EQ(parsed(sample("udp_ipv4")).balance_hash, 0xc7ec77bdu);
  EXPECT_EQ(parsed(sample("udp_ipv6")).order_hash, 0xc53a64eec23e015eu);
  EXPECT_EQ(parsed(sample("roce_write_ipv4")).order_hash, 0x33ec494af949b200u);
  EXPECT_EQ(parsed(sample("roce_write_ipv4")).balance_hash, 0xc9cdd83du);
}

}  // namespace
}  // namespace eddy
