// Neighbor Discovery: solicitations and advertisements as whole IPv6 packets.
//
// Encoded packets have hop limit 255, DSCP 48 and a right checksum. Source: RFC 4861
// (4.3, 4.4, 7.1), RFC 4291 (2.7.1), RFC 2464 (7).
#pragma once

#include <cstdint>

#include "net/addresses.h"
#include "net/codec.h"

namespace eddy {

inline constexpr size_t kNdPacketLimit = 72;  // octets, of what encode writes

enum class NdKind : uint8_t { solicitation = 135, advertisement = 136 };

struct NdMessage {
  NdKind kind = NdKind::solicitation;
  Ipv6Address source;       // of the IPv6 header; unspecified: duplicate address detection
  Ipv6Address destination;  // of the IPv6 header
  Ipv6Address target;
  bool router = false;  // advertisement only, as the next two
  bool solicited = false;
  bool override_cached = false;
  bool has_link_address = false;
  MacAddress link_address;  // source's (solicitation) or target's (advertisement)
  bool operator==(const NdMessage&) const = default;
};

size_t encode(const NdMessage& message, Octets out);
// All checks of RFC 4861 7.1. truncated; wrong_type: not an ICMPv6 NS or NA right behind the IPv6
// header; bad_version; bad_length; bad_checksum; bad_value: hop limit or code; bad_address:
// multicast target, a DAD solicitation not to a solicited-node address, a solicited advertisement
// to multicast; bad_option: zero length, beyond the packet, a link address of another size, or one
// in a DAD solicitation.
[[nodiscard]] CodecVerdict decode(ConstOctets ip_packet, NdMessage& message);

Ipv6Address solicited_node_address(const Ipv6Address& address);  // ff02::1:ffxx:xxxx
MacAddress multicast_mac(const Ipv6Address& group);              // 33:33:xx:xx:xx:xx

}  // namespace eddy
