// ICMP, ICMPv6 and Neighbor Discovery.
#include "net/icmp.h"

#include <gtest/gtest.h>

#include <functional>

#include "net/ethernet.h"
#include "net/nd.h"
#include "tests/unit/net/random_values.h"
#include "tests/unit/net/samples.h"

namespace eddy {
namespace {

using test::Draw;
using test::Frame;

// What an IP header says is its packet: without the frame's header and padding.
Frame packet_of(const Frame& frame) {
  const uint8_t* ip = &frame[14];
  const size_t length = is_ipv6(ip) ? 40U + load_be16(ip + 4) : load_be16(ip + 2);
  return Frame(ip, ip + length);
}
Frame packet_of(const char* name) {
  return packet_of(test::sample(name));
}

TEST(Icmp, DecodeIsTheInverseOfEncode) {
  Draw draw(1);
  for (int round = 0; round < test::kPropertyRounds; ++round) {
    const Frame body = draw.octets(draw.below<size_t>(100));
    const IcmpMessage message = {draw.any<uint8_t>(), draw.any<uint8_t>(), draw.any<uint32_t>(),
                                 body};
    const AddressPair pair = {draw.ipv6(), draw.ipv6()};
    Frame out(kIcmpHeader + body.size());
    IcmpMessage again;
    encode(message, out);
    ASSERT_EQ(decode(out, again), CodecVerdict::ok);
    encode_icmpv6(message, pair, out);
    ASSERT_EQ(decode_icmpv6(out, pair, again), CodecVerdict::ok);
    ASSERT_TRUE(again.type == message.type && again.code == message.code);
    ASSERT_EQ(again.rest, message.rest);
    ASSERT_EQ(Frame(again.body.begin(), again.body.end()), body) << test::kPropertySeed;
  }
}

TEST(Icmp, HasAVerdictForEveryFault) {
  Frame out(kIcmpHeader);
  encode(IcmpMessage{kIcmpEchoRequest, 0, 1, {}}, out);
  IcmpMessage message;
  EXPECT_EQ(decode(ConstOctets(out).first(7), message), CodecVerdict::truncated);
  out[7] ^= 1;
  EXPECT_EQ(decode(out, message), CodecVerdict::bad_checksum);
  EXPECT_EQ(decode_icmpv6(out, {}, message), CodecVerdict::bad_checksum);
}

TEST(Icmp, EchoReplyIsMadeInPlace) {
  for (const char* name : {"echo_ipv4", "echo_ipv6"}) {
    const Frame request = packet_of(name);
    Frame reply = request;
    ASSERT_TRUE(turn_into_echo_reply(reply)) << name;
    const bool v6 = is_ipv6(request.data());
    const size_t address = v6 ? 8 : 12;
    const size_t size = v6 ? 16 : 4;
    EXPECT_TRUE(std::equal(&request[address], &request[address + size], &reply[address + size]));
    EXPECT_TRUE(
        std::equal(&request[address + size], &request[address + 2 * size], &reply[address]));
    EXPECT_EQ(reply[v6 ? 40 : 20], v6 ? kIcmpv6EchoReply : kIcmpEchoReply);
    EXPECT_TRUE(std::equal(reply.end() - 20, reply.end(), request.end() - 20)) << "id, data";
    Frame frame = test::sample(name);
    std::copy(reply.begin(), reply.end(), frame.begin() + 14);
    EXPECT_EQ(test::verdict_of(frame), ParseVerdict::ok);
    EXPECT_FALSE(turn_into_echo_reply(reply)) << "a reply is not answered";
  }
}

TEST(Icmp, OnlyWholeEchoRequestsAreAnswered) {
  for (const char* name : {"udp_ipv4", "udp_ipv6", "unreachable_ipv4", "nd_solicitation"}) {
    Frame packet = packet_of(name);
    const Frame before = packet;
    EXPECT_FALSE(turn_into_echo_reply(packet)) << name;
    EXPECT_EQ(packet, before);
  }
  for (const char* name : {"echo_ipv4", "echo_ipv6"}) {
    const Frame packet = packet_of(name);
    for (size_t length = 0; length < packet.size(); ++length) {
      Frame cut(packet.begin(), packet.begin() + static_cast<std::ptrdiff_t>(length));
      EXPECT_FALSE(turn_into_echo_reply(cut));
    }
    Frame damaged = packet;
    damaged.back() ^= 1;
    EXPECT_FALSE(turn_into_echo_reply(damaged));
  }
}

const IpAddress kOurs4 = *parse_ip("10.9.9.9");
const IpAddress kOurs6 = *parse_ip("fd00:9::9");

IcmpError error_from(IcmpErrorReason reason, const Frame& offender) {
  return {reason, 1400, is_ipv6(offender.data()) ? kOurs6 : kOurs4};
}

struct ErrorCase {
  IcmpErrorReason reason;
  uint8_t type4, code4, type6, code6;
};
constexpr ErrorCase kErrors[] = {
    {IcmpErrorReason::no_route, 3, 0, 1, 0},
    {IcmpErrorReason::host_unreachable, 3, 1, 1, 3},
    {IcmpErrorReason::port_unreachable, 3, 3, 1, 4},
    {IcmpErrorReason::prohibited, 3, 13, 1, 1},
    {IcmpErrorReason::packet_too_big, 3, 4, 2, 0},
    {IcmpErrorReason::time_exceeded, 11, 0, 3, 0},
};

TEST(IcmpError, AnswersTheSenderAndQuotesThePacket) {
  for (const ErrorCase& each : kErrors) {
    const uint32_t rest = each.reason == IcmpErrorReason::packet_too_big ? 1400 : 0;
    Frame out(2000);
    const Frame v4 = packet_of("udp_ipv4");
    out.resize(encode_icmp_error(error_from(each.reason, v4), v4, out));
    Ipv4Header ip;
    IcmpMessage message;
    ASSERT_EQ(decode(out, ip), CodecVerdict::ok);
    ASSERT_EQ(decode(ConstOctets(out).subspan(20), message), CodecVerdict::ok);
    EXPECT_EQ(IpAddress(ip.source), kOurs4);
    EXPECT_EQ(ip.destination.value, 0x0a010001U);
    EXPECT_EQ(ip.total_length, out.size());
    EXPECT_TRUE(message.type == each.type4 && message.code == each.code4 && message.rest == rest);
    EXPECT_EQ(Frame(message.body.begin(), message.body.end()), v4);

    const Frame v6 = packet_of("tcp_ipv6");
    out.assign(2000, 0);
    out.resize(encode_icmp_error(error_from(each.reason, v6), v6, out));
    Ipv6Header ip6;
    ASSERT_EQ(decode(out, ip6), CodecVerdict::ok);
    ASSERT_EQ(decode_icmpv6(ConstOctets(out).subspan(40), {ip6.source, ip6.destination}, message),
              CodecVerdict::ok);
    EXPECT_TRUE(message.type == each.type6 && message.code == each.code6 && message.rest == rest);
    EXPECT_EQ(Frame(message.body.begin(), message.body.end()), v6);
  }
}

TEST(IcmpError, QuotesNoMoreThanTheLimitAndTheBuffer) {
  const Frame big(1200, 0x11);
  const Frame v4 = packet_of(test::ipv4_frame(kProtocolUdp, test::udp_datagram(1, big)));
  const Frame v6 = packet_of(test::ipv6_frame(kProtocolUdp, test::udp_datagram(1, Frame(1400))));
  Frame out(2000);
  EXPECT_EQ(encode_icmp_error(error_from(IcmpErrorReason::no_route, v4), v4, out),
            kIcmpv4ErrorLimit);
  EXPECT_EQ(encode_icmp_error(error_from(IcmpErrorReason::no_route, v6), v6, out),
            kIcmpv6ErrorLimit);
  Frame small(20 + 8 + 28);
  EXPECT_EQ(encode_icmp_error(error_from(IcmpErrorReason::no_route, v4), v4, small), small.size());
  Frame smaller(20 + 8 + 27);
  EXPECT_EQ(encode_icmp_error(error_from(IcmpErrorReason::no_route, v4), v4, smaller), 0U);
}

TEST(IcmpError, IsNeverSentForWhatMustNotBeAnswered) {
  EXPECT_TRUE(may_answer_with_error(packet_of("udp_ipv4")));
  EXPECT_TRUE(may_answer_with_error(packet_of("echo_ipv4")));
  EXPECT_TRUE(may_answer_with_error(packet_of("echo_ipv6")));
  EXPECT_FALSE(may_answer_with_error({}));
  for (const char* name : {"unreachable_ipv4", "time_exceeded_ipv4", "too_big_ipv6"})
    EXPECT_FALSE(may_answer_with_error(packet_of(name))) << name;
  const auto with_octet = [](const char* name, size_t at, uint8_t value) {
    Frame frame = test::sample(name);
    frame[14 + at] = value;
    if (!is_ipv6(&frame[14])) test::fix_ipv4_checksum(frame);
    return packet_of(frame);
  };
  EXPECT_TRUE(may_answer_with_error(with_octet("udp_ipv4", 16, 223)));
  EXPECT_FALSE(may_answer_with_error(with_octet("udp_ipv4", 16, 224))) << "to multicast";
  EXPECT_FALSE(may_answer_with_error(with_octet("udp_ipv4", 16, 255))) << "to broadcast";
  EXPECT_FALSE(may_answer_with_error(with_octet("udp_ipv4", 12, 0))) << "from nobody";
  EXPECT_TRUE(may_answer_with_error(with_octet("udp_ipv4", 12, 223)));
  EXPECT_FALSE(may_answer_with_error(with_octet("udp_ipv4", 12, 224))) << "from multicast";
  EXPECT_FALSE(may_answer_with_error(with_octet("udp_ipv4", 7, 1))) << "not the first fragment";
  EXPECT_TRUE(may_answer_with_error(with_octet("udp_ipv6", 24, 0xfe)));
  EXPECT_FALSE(may_answer_with_error(with_octet("udp_ipv6", 24, 0xff))) << "to multicast";
  EXPECT_TRUE(may_answer_with_error(with_octet("udp_ipv6", 8, 0xfe)));
  EXPECT_FALSE(may_answer_with_error(with_octet("udp_ipv6", 8, 0xff))) << "from multicast";
  Frame from_nobody = test::sample("udp_ipv6");
  std::fill_n(from_nobody.begin() + 14 + 8, 16, uint8_t{0});
  EXPECT_FALSE(may_answer_with_error(packet_of(from_nobody))) << "from nobody";
  EXPECT_FALSE(may_answer_with_error(with_octet("udp_ipv6", 6, kProtocolFragment)));
  const Frame v6 = packet_of("udp_ipv6");
  Frame out(1280);
  EXPECT_EQ(encode_icmp_error({IcmpErrorReason::no_route, 0, kOurs4}, v6, out), 0U);
}

TEST(NeighborDiscovery, DecodeIsTheInverseOfEncode) {
  Draw draw(2);
  for (int round = 0; round < test::kPropertyRounds; ++round) {
    NdMessage message;
    const bool advertisement = draw.flag();
    message.kind = advertisement ? NdKind::advertisement : NdKind::solicitation;
    message.source = draw.ipv6();
    message.destination = draw.ipv6();
    message.target = draw.ipv6();
    message.router = advertisement && draw.flag();
    message.solicited = advertisement && draw.flag();
    message.override_cached = advertisement && draw.flag();
    message.has_link_address = draw.flag();
    if (message.has_link_address) message.link_address = draw.unicast_mac();
    ASSERT_TRUE(test::survives(message));
  }
}

TEST(NeighborDiscovery, DerivesGroupAddresses) {
  const Ipv6Address address = parse_ip("2001:db8::12:3456")->v6();
  const Ipv6Address group = solicited_node_address(address);
  EXPECT_EQ(to_string(IpAddress(group)), "ff02::1:ff12:3456");
  EXPECT_EQ(to_string(multicast_mac(group)), "33:33:ff:12:34:56");
}

// A solicitation with octets of its ICMPv6 part changed and its checksum made right again.
CodecVerdict nd_with(const std::function<void(Frame&)>& change, const char* name) {
  Frame packet = packet_of(name);
  change(packet);
  store_be16(&packet[42], 0);
  Ipv6Header ip;
  EXPECT_EQ(decode(packet, ip), CodecVerdict::ok);
  const uint64_t sum =
      pseudo_header_sum({ip.source, ip.destination}, kProtocolIcmpv6, packet.size() - 40);
  store_be16(&packet[42], checksum_of_sum(add_to_sum(sum, ConstOctets(packet).subspan(40))));
  NdMessage message;
  return decode(packet, message);
}
CodecVerdict nd_with(size_t at, uint8_t value, const char* name = "nd_solicitation") {
  return nd_with([=](Frame& packet) { packet[at] = value; }, name);
}
void resize_payload(Frame& packet, size_t length) {
  packet.resize(40 + length);
  packet[5] = static_cast<uint8_t>(length);
}

TEST(NeighborDiscovery, ChecksAllThatRfc4861Asks) {
  EXPECT_EQ(nd_with(7, 254), CodecVerdict::bad_value) << "hop limit";
  EXPECT_EQ(nd_with(41, 1), CodecVerdict::bad_value) << "code";
  EXPECT_EQ(nd_with(40, 133), CodecVerdict::wrong_type) << "router solicitation";
  EXPECT_EQ(nd_with(48, 0xff), CodecVerdict::bad_address) << "multicast target";
  EXPECT_EQ(nd_with(65, 0), CodecVerdict::bad_option) << "zero length";
  EXPECT_EQ(nd_with(65, 2), CodecVerdict::bad_option) << "beyond the packet";
  EXPECT_EQ(nd_with([](Frame& p) { resize_payload(p, 25); }, "nd_solicitation"),
            CodecVerdict::bad_option)
      << "half an option";
  EXPECT_EQ(nd_with([](Frame& p) { resize_payload(p, 23); }, "nd_solicitation"),
            CodecVerdict::bad_length);
  EXPECT_EQ(nd_with([](Frame& p) { p.resize(80), p[5] = 40, p[65] = 2; }, "nd_solicitation"),
            CodecVerdict::bad_option)
      << "a link address of another size";
  const auto unspecified = [](Frame& packet) { std::fill_n(&packet[8], 16, uint8_t{0}); };
  EXPECT_EQ(nd_with(unspecified, "nd_solicitation"), CodecVerdict::bad_option) << "DAD with option";
  const auto detection = [&](Frame& packet) { unspecified(packet), resize_payload(packet, 24); };
  EXPECT_EQ(nd_with(detection, "nd_solicitation"), CodecVerdict::ok);
  EXPECT_EQ(nd_with([&](Frame& p) { detection(p), p[25] = 3; }, "nd_solicitation"),
            CodecVerdict::bad_address);
  EXPECT_EQ(nd_with(24, 0xff, "nd_advertisement"), CodecVerdict::bad_address) << "solicited";
}

TEST(NeighborDiscovery, RefusesWhatIsNotOne) {
  NdMessage message;
  Frame packet = packet_of("nd_solicitation");
  EXPECT_EQ(decode(ConstOctets(packet).first(71), message), CodecVerdict::truncated);
  EXPECT_EQ(decode(ConstOctets(packet).first(39), message), CodecVerdict::truncated);
  EXPECT_EQ(decode(packet_of("udp_ipv6"), message), CodecVerdict::wrong_type);
  packet[60] ^= 1;
  EXPECT_EQ(decode(packet, message), CodecVerdict::bad_checksum);
  packet[0] = 0x40;
  EXPECT_EQ(decode(packet, message), CodecVerdict::bad_version);
}

}  // namespace
}  // namespace eddy
