// The tag of a destination: 32 bits that stand for a host's address in what switches tell each
// other.
//
// Every switch computes the same tag from the address alone, so that a message needs no address of
// 4 or 16 octets. Two addresses may have one tag: whoever acts on a tag acts on both, which must do
// no harm. 0 is no tag. The values are part of what goes over the wire between switches. Cost: a
// hash_pair(), some 10 cycles.
#pragma once

#include <cstddef>
#include <cstdint>

#include "net/addresses.h"
#include "net/byte_order.h"
#include "net/hash.h"
#include "net/packet.h"

namespace eddy {

inline constexpr uint64_t kIpv4Tag = 0xffff;  // in place of the high half of an IPv6 address

namespace detail {
constexpr uint32_t folded_tag(uint64_t hash) {
  const auto tag = static_cast<uint32_t>(hash ^ hash >> 32);
  return tag == 0 ? 1 : tag;
}
}  // namespace detail

// Of an IPv4 address, in the order of the host.
constexpr uint32_t destination_tag(uint32_t address) {
  return detail::folded_tag(hash_pair(address, kIpv4Tag));
}
// Of an IPv6 address: its halves in the order of the host.
constexpr uint32_t destination_tag(uint64_t high, uint64_t low) {
  return detail::folded_tag(hash_pair(high, low));
}
inline uint32_t destination_tag(const IpAddress& address) {
  if (address.is_v4()) return destination_tag(address.v4().value);
  const uint8_t* octets = address.octets().data();
  return destination_tag(load_be64(octets), load_be64(octets + 8));
}

// Of a flow, in place of a destination's: all packets that must stay in order.
constexpr uint32_t flow_tag(uint64_t order_hash) {
  return detail::folded_tag(order_hash);
}

// Of the destination in a network header.
inline uint32_t destination_tag_of(const uint8_t* network, bool v4) {
  constexpr size_t kDestination4 = 16;
  constexpr size_t kDestination6 = 24;
  if (v4) return destination_tag(load_be32(network + kDestination4));
  return destination_tag(load_be64(network + kDestination6),
                         load_be64(network + kDestination6 + 8));
}
// Of a packet that has been parsed; 0 without a network header.
inline uint32_t destination_tag_of(const Packet& packet) {
  if (!packet.has(kPacketIp)) return 0;
  return destination_tag_of(packet.data() + packet.l2_len, !packet.has(kPacketIpv6));
}

}  // namespace eddy
