#include "net/nd.h"

#include <algorithm>

#include "net/byte_order.h"
#include "net/ethernet.h"
#include "net/icmp.h"
#include "net/ip.h"

namespace eddy {
namespace {

constexpr uint8_t kHopLimit = 255;
constexpr uint8_t kNetworkControl = 48;  // DSCP CS6
constexpr uint32_t kRouterFlag = 1U << 31;
constexpr uint32_t kSolicitedFlag = 1U << 30;
constexpr uint32_t kOverrideFlag = 1U << 29;
constexpr uint8_t kSourceLinkOption = 1;
constexpr uint8_t kTargetLinkOption = 2;
constexpr size_t kOptionUnit = 8;  // octets a unit of an option's length; also a MAC option's size
constexpr size_t kTarget = 16;     // octets of body before the options

uint8_t link_option_of(NdKind kind) {
  return kind == NdKind::solicitation ? kSourceLinkOption : kTargetLinkOption;
}

bool is_solicited_node(const Ipv6Address& address) {
  return address == solicited_node_address(address);
}

CodecVerdict take_options(ConstOctets options, NdMessage& message) {
  while (!options.empty()) {
    if (options.size() < 2 || options[1] == 0) return CodecVerdict::bad_option;
    const size_t length = options[1] * kOptionUnit;
    if (length > options.size()) return CodecVerdict::bad_option;
    if (options[0] == link_option_of(message.kind)) {
      if (length != kOptionUnit) return CodecVerdict::bad_option;
      message.has_link_address = true;
      message.link_address = load_mac(&options[2]);
    }
    options = options.subspan(length);
  }
  return CodecVerdict::ok;
}

CodecVerdict check_addresses(const NdMessage& message) {
  if (message.target.octets[0] == 0xff) return CodecVerdict::bad_address;
  if (message.kind == NdKind::advertisement)
    return message.solicited && message.destination.octets[0] == 0xff ? CodecVerdict::bad_address
                                                                      : CodecVerdict::ok;
  if (message.source != Ipv6Address{}) return CodecVerdict::ok;
  if (!is_solicited_node(message.destination)) return CodecVerdict::bad_address;
  return message.has_link_address ? CodecVerdict::bad_option : CodecVerdict::ok;
}

CodecVerdict take_message(const IcmpMessage& icmp, NdMessage& message) {
  message.kind = static_cast<NdKind>(icmp.type);
  if (message.kind != NdKind::solicitation && message.kind != NdKind::advertisement)
    return CodecVerdict::wrong_type;
  if (icmp.code != 0) return CodecVerdict::bad_value;
  if (icmp.body.size() < kTarget) return CodecVerdict::bad_length;
  std::copy_n(icmp.body.begin(), kTarget, message.target.octets.begin());
  if (message.kind == NdKind::advertisement) {
    message.router = (icmp.rest & kRouterFlag) != 0;
    message.solicited = (icmp.rest & kSolicitedFlag) != 0;
    message.override_cached = (icmp.rest & kOverrideFlag) != 0;
  }
  const CodecVerdict options = take_options(icmp.body.subspan(kTarget), message);
  return options == CodecVerdict::ok ? check_addresses(message) : options;
}

}  // namespace

size_t encode(const NdMessage& message, Octets out) {
  std::array<uint8_t, kTarget + kOptionUnit> body{};
  put(body, message.target.octets);
  size_t body_length = kTarget;
  if (message.has_link_address) {
    body[kTarget] = link_option_of(message.kind);
    body[kTarget + 1] = 1;
    store_mac(&body[kTarget + 2], message.link_address);
    body_length += kOptionUnit;
  }
  const uint32_t flags = (message.router ? kRouterFlag : 0) |
                         (message.solicited ? kSolicitedFlag : 0) |
                         (message.override_cached ? kOverrideFlag : 0);
  const IcmpMessage icmp = {static_cast<uint8_t>(message.kind), 0, flags,
                            ConstOctets(body).first(body_length)};
  Ipv6Header ip;
  ip.dscp = kNetworkControl;
  ip.payload_length = static_cast<uint16_t>(kIcmpHeader + body_length);
  ip.next_header = kProtocolIcmpv6;
  ip.hop_limit = kHopLimit;
  ip.source = message.source;
  ip.destination = message.destination;
  ASSERT(out.size() >= kIpv6Header);
  encode_icmpv6(icmp, {ip.source, ip.destination}, out.subspan(kIpv6Header));
  return encode(ip, out) + ip.payload_length;
}

CodecVerdict decode(ConstOctets ip_packet, NdMessage& message) {
  message = NdMessage{};
  Ipv6Header ip;
  const CodecVerdict header = decode(ip_packet, ip);
  if (header != CodecVerdict::ok) return header;
  if (ip.next_header != kProtocolIcmpv6) return CodecVerdict::wrong_type;
  const ConstOctets after = ip_packet.subspan(kIpv6Header);
  if (after.size() < ip.payload_length) return CodecVerdict::truncated;
  IcmpMessage icmp;
  const CodecVerdict verdict =
      decode_icmpv6(after.first(ip.payload_length), {ip.source, ip.destination}, icmp);
  if (verdict != CodecVerdict::ok) return verdict;
  if (ip.hop_limit != kHopLimit) return CodecVerdict::bad_value;
  message.source = ip.source;
  message.destination = ip.destination;
  return take_message(icmp, message);
}

Ipv6Address solicited_node_address(const Ipv6Address& address) {
  Ipv6Address group = {{0xff, 0x02, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0xff}};
  std::copy(address.octets.begin() + 13, address.octets.end(), group.octets.begin() + 13);
  return group;
}

MacAddress multicast_mac(const Ipv6Address& group) {
  const auto& octets = group.octets;
  return {{0x33, 0x33, octets[12], octets[13], octets[14], octets[15]}};
}

}  // namespace eddy
