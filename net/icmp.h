// ICMP and ICMPv6: messages, the echo reply made in place, and error messages for packets that
// cannot be forwarded.
//
// A message is what follows the IP header. The two families differ in type numbers and in the
// pseudo-header under ICMPv6's checksum. Limiting the rate of error messages is left to the caller.
// Source: RFC 792, 1812 (4.3.2), 4443.
#pragma once

#include <cstdint>

#include "net/addresses.h"
#include "net/codec.h"
#include "net/ip.h"

namespace eddy {

inline constexpr size_t kIcmpHeader = 8;

inline constexpr uint8_t kIcmpEchoReply = 0;
inline constexpr uint8_t kIcmpUnreachable = 3;
inline constexpr uint8_t kIcmpEchoRequest = 8;
inline constexpr uint8_t kIcmpTimeExceeded = 11;
inline constexpr uint8_t kIcmpv6Unreachable = 1;
inline constexpr uint8_t kIcmpv6PacketTooBig = 2;
inline constexpr uint8_t kIcmpv6TimeExceeded = 3;
inline constexpr uint8_t kIcmpv6EchoRequest = 128;
inline constexpr uint8_t kIcmpv6EchoReply = 129;

struct IcmpMessage {
  uint8_t type = 0;
  uint8_t code = 0;
  uint32_t rest = 0;  // octets 4-7: echo identifier and sequence, next-hop MTU, or unused
  ConstOctets body;
};

size_t encode(const IcmpMessage& message, Octets out);  // ICMP
// truncated, bad_checksum. `packet` ends where the IP header says.
[[nodiscard]] CodecVerdict decode(ConstOctets packet, IcmpMessage& message);

size_t encode_icmpv6(const IcmpMessage& message, const AddressPair& addresses, Octets out);
[[nodiscard]] CodecVerdict decode_icmpv6(ConstOctets packet, const AddressPair& addresses,
                                         IcmpMessage& message);

// Turns a whole, unfragmented echo request (IPv4 or IPv6, without options or extension headers, as
// long as its header says) into its reply: addresses swapped, TTL 64, checksums right. False, and
// nothing done, for anything else.
[[nodiscard]] bool turn_into_echo_reply(Octets ip_packet);

enum class IcmpErrorReason : uint8_t {
  no_route,
  host_unreachable,
  port_unreachable,
  prohibited,
  packet_too_big,
  time_exceeded,
};

struct IcmpError {
  IcmpErrorReason reason = IcmpErrorReason::no_route;
  uint16_t mtu = 0;  // packet_too_big only
  IpAddress source;  // ours, of the offender's family
};

inline constexpr size_t kIcmpv4ErrorLimit = 576;   // octets of the whole answer, RFC 1812
inline constexpr size_t kIcmpv6ErrorLimit = 1280;  // RFC 4443

// False for what must not be answered: an ICMP error, a fragment other than the first, and packets
// from or to multicast, broadcast or the unspecified address.
[[nodiscard]] bool may_answer_with_error(ConstOctets ip_packet);

// The whole IP packet to the sender of `offender` (an IP packet that parse_frame accepted, cut
// where readable octets end), quoting as much of it as the limit and `out` allow. 0 when
// may_answer_with_error says no, when the families differ, or when `out` has no room for headers
// and 28 octets of quote.
size_t encode_icmp_error(const IcmpError& error, ConstOctets offender, Octets out);

}  // namespace eddy
