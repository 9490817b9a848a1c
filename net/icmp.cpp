#include "net/icmp.h"

#include <algorithm>
#include <array>

#include "net/byte_order.h"
#include "net/checksum.h"
#include "net/ip.h"
#include "net/protocols.h"

namespace eddy {
namespace {

constexpr uint8_t kAnswerTtl = 64;       // RFC 1700's default
constexpr uint8_t kNetworkControl = 48;  // DSCP CS6: RFC 1812 4.3.2.5, precedence 6 or 7
constexpr size_t kSmallestQuote = 28;    // a header and eight octets
constexpr size_t kMinimumError = kIcmpHeader + kSmallestQuote;

size_t encode_with_sum(const IcmpMessage& message, uint64_t sum, Octets out) {
  const size_t length = kIcmpHeader + message.body.size();
  ASSERT(out.size() >= length);
  put(out.subspan(kIcmpHeader), message.body);
  out[0] = message.type;
  out[1] = message.code;
  store_be16(&out[2], 0);
  store_be32(&out[4], message.rest);
  store_be16(&out[2], checksum_of_sum(add_to_sum(sum, out.first(length))));
  return length;
}

CodecVerdict decode_with_sum(ConstOctets packet, uint64_t sum, IcmpMessage& message) {
  message = IcmpMessage{};
  if (packet.size() < kIcmpHeader) return CodecVerdict::truncated;
  if (!checksum_ok(add_to_sum(sum, packet))) return CodecVerdict::bad_checksum;
  message.type = packet[0];
  message.code = packet[1];
  message.rest = load_be32(&packet[4]);
  message.body = packet.subspan(kIcmpHeader);
  return CodecVerdict::ok;
}

uint64_t icmpv6_sum(const AddressPair& addresses, size_t length) {
  return pseudo_header_sum(addresses, kProtocolIcmpv6, length);
}

bool reply_to_ipv4_echo(Octets packet) {
  Ipv4Header ip;
  IcmpMessage echo;
  if (decode(packet, ip) != CodecVerdict::ok || ip.header_length != kIpv4Header) return false;
  if (ip.protocol != kProtocolIcmp || ip.total_length != packet.size()) return false;
  if (ip.more_fragments || ip.fragment_offset != 0) return false;
  const Octets message = packet.subspan(kIpv4Header);
  if (decode(message, echo) != CodecVerdict::ok || echo.type != kIcmpEchoRequest) return false;
  echo.type = kIcmpEchoReply;
  std::swap(ip.source, ip.destination);
  ip.ttl = kAnswerTtl;
  encode(echo, message);
  encode(ip, packet);
  return true;
}

bool reply_to_ipv6_echo(Octets packet) {
  Ipv6Header ip;
  IcmpMessage echo;
  if (decode(packet, ip) != CodecVerdict::ok || ip.next_header != kProtocolIcmpv6) return false;
  if (kIpv6Header + ip.payload_length != packet.size()) return false;
  const Octets message = packet.subspan(kIpv6Header);
  if (decode_icmpv6(message, {ip.source, ip.destination}, echo) != CodecVerdict::ok) return false;
  if (echo.type != kIcmpv6EchoRequest) return false;
  echo.type = kIcmpv6EchoReply;
  std::swap(ip.source, ip.destination);
  ip.hop_limit = kAnswerTtl;
  encode_icmpv6(echo, {ip.source, ip.destination}, message);
  encode(ip, packet);
  return true;
}

bool is_icmpv4_error(uint8_t type) {
  constexpr uint8_t kSourceQuench = 4;
  constexpr uint8_t kRedirect = 5;
  constexpr uint8_t kParameterProblem = 12;
  return type == kIcmpUnreachable || type == kIcmpTimeExceeded || type == kSourceQuench ||
         type == kRedirect || type == kParameterProblem;
}

bool may_answer_ipv4(ConstOctets packet) {
  Ipv4Header ip;
  if (decode(packet, ip) != CodecVerdict::ok || ip.fragment_offset != 0) return false;
  const uint8_t source_top = static_cast<uint8_t>(ip.source.value >> 24);
  const uint8_t destination_top = static_cast<uint8_t>(ip.destination.value >> 24);
  if (source_top == 0 || source_top >= 224 || destination_top >= 224) return false;
  if (ip.protocol != kProtocolIcmp) return true;
  return packet.size() > ip.header_length && !is_icmpv4_error(packet[ip.header_length]);
}

// Errors are types below 128. An ICMPv6 message behind extension headers is not answered: reading
// on to its type is not worth an error message.
bool may_answer_ipv6(ConstOctets packet) {
  Ipv6Header ip;
  if (decode(packet, ip) != CodecVerdict::ok) return false;
  if (ip.source == Ipv6Address{}) return false;
  if (ip.source.octets[0] == 0xff || ip.destination.octets[0] == 0xff) return false;
  if (ip.next_header == kProtocolIcmpv6)
    return packet.size() > kIpv6Header && packet[kIpv6Header] >= kIcmpv6EchoRequest;
  return ip.next_header == kProtocolTcp || ip.next_header == kProtocolUdp;
}

struct TypeAndCode {
  uint8_t type;
  uint8_t code;
};

// RFC 792 and 1812; RFC 4443. In the order of IcmpErrorReason.
constexpr std::array<TypeAndCode, 6> kIpv4Errors = {{{kIcmpUnreachable, 0},
                                                     {kIcmpUnreachable, 1},
                                                     {kIcmpUnreachable, 3},
                                                     {kIcmpUnreachable, 13},
                                                     {kIcmpUnreachable, 4},
                                                     {kIcmpTimeExceeded, 0}}};
constexpr std::array<TypeAndCode, 6> kIpv6Errors = {{{kIcmpv6Unreachable, 0},
                                                     {kIcmpv6Unreachable, 3},
                                                     {kIcmpv6Unreachable, 4},
                                                     {kIcmpv6Unreachable, 1},
                                                     {kIcmpv6PacketTooBig, 0},
                                                     {kIcmpv6TimeExceeded, 0}}};

IcmpMessage error_message(const IcmpError& error, bool v4, ConstOctets quote) {
  const TypeAndCode which = (v4 ? kIpv4Errors : kIpv6Errors)[static_cast<size_t>(error.reason)];
  const bool too_big = error.reason == IcmpErrorReason::packet_too_big;
  return {which.type, which.code, too_big ? uint32_t{error.mtu} : 0, quote};
}

size_t encode_ipv4_error(const IcmpError& error, ConstOctets quote, Octets out) {
  Ipv4Header offender;
  if (decode(quote, offender) != CodecVerdict::ok) return 0;
  Ipv4Header ip;
  ip.dscp = kNetworkControl;
  ip.ttl = kAnswerTtl;
  ip.protocol = kProtocolIcmp;
  ip.total_length = static_cast<uint16_t>(kIpv4Header + kIcmpHeader + quote.size());
  ip.source = error.source.v4();
  ip.destination = offender.source;
  encode(error_message(error, true, quote), out.subspan(kIpv4Header));
  encode(ip, out);
  return ip.total_length;
}

size_t encode_ipv6_error(const IcmpError& error, ConstOctets quote, Octets out) {
  Ipv6Header offender;
  if (decode(quote, offender) != CodecVerdict::ok) return 0;
  Ipv6Header ip;
  ip.dscp = kNetworkControl;
  ip.hop_limit = kAnswerTtl;
  ip.next_header = kProtocolIcmpv6;
  ip.payload_length = static_cast<uint16_t>(kIcmpHeader + quote.size());
  ip.source = error.source.v6();
  ip.destination = offender.source;
  encode_icmpv6(error_message(error, false, quote), {ip.source, ip.destination},
                out.subspan(kIpv6Header));
  encode(ip, out);
  return kIpv6Header + ip.payload_length;
}

}  // namespace

size_t encode(const IcmpMessage& message, Octets out) {
  return encode_with_sum(message, 0, out);
}

CodecVerdict decode(ConstOctets packet, IcmpMessage& message) {
  return decode_with_sum(packet, 0, message);
}

size_t encode_icmpv6(const IcmpMessage& message, const AddressPair& addresses, Octets out) {
  return encode_with_sum(message, icmpv6_sum(addresses, kIcmpHeader + message.body.size()), out);
}

CodecVerdict decode_icmpv6(ConstOctets packet, const AddressPair& addresses, IcmpMessage& message) {
  return decode_with_sum(packet, icmpv6_sum(addresses, packet.size()), message);
}

bool turn_into_echo_reply(Octets ip_packet) {
  if (ip_packet.empty()) return false;
  return is_ipv6(ip_packet.data()) ? reply_to_ipv6_echo(ip_packet) : reply_to_ipv4_echo(ip_packet);
}

bool may_answer_with_error(ConstOctets ip_packet) {
  if (ip_packet.empty()) return false;
  return is_ipv6(ip_packet.data()) ? may_answer_ipv6(ip_packet) : may_answer_ipv4(ip_packet);
}

size_t encode_icmp_error(const IcmpError& error, ConstOctets offender, Octets out) {
  if (!may_answer_with_error(offender)) return 0;
  const bool v4 = !is_ipv6(offender.data());
  const size_t ip_header = v4 ? kIpv4Header : kIpv6Header;
  if (error.source.is_v4() != v4 || out.size() < ip_header + kMinimumError) return 0;
  const size_t limit = std::min(v4 ? kIcmpv4ErrorLimit : kIcmpv6ErrorLimit, out.size());
  const ConstOctets quote =
      offender.first(std::min(offender.size(), limit - ip_header - kIcmpHeader));
  return v4 ? encode_ipv4_error(error, quote, out) : encode_ipv6_error(error, quote, out);
}

}  // namespace eddy
