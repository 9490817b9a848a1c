// Rewrites of a frame that need the Packet line: taking off the headers between Ethernet and IP,
// putting a VLAN tag there, and counting the TTL down.
#pragma once

#include <cstring>

#include "net/byte_order.h"
#include "net/ip.h"
#include "net/packet.h"
#include "net/protocols.h"

namespace eddy {

inline constexpr uint32_t kMacs = kEthernetHeader - 2;  // octets

// Takes VLAN tags off, and the shim unless it is to be kept. The inner EtherType stands right
// before the network header, so a new Ethernet header fits in front of it; its MACs are still to be
// written. A free shim's octets were in no length.
inline void strip_headers(Packet& packet, bool keep_shim) {
  if (packet.l2_len == kEthernetHeader) [[likely]]
    return;
  const bool kept = keep_shim && packet.has(kPacketShim);
  const uint32_t wanted = kEthernetHeader + (kept ? kShimHeader : 0);
  const uint32_t stripped = packet.l2_len - wanted;
  packet.pop_front(stripped);
  packet.wire_len = static_cast<uint16_t>(packet.wire_len - stripped);
  packet.l2_len = static_cast<uint8_t>(wanted);
  if (kept || !packet.has(kPacketFreeShim)) return;
  packet.wire_len = static_cast<uint16_t>(packet.wire_len + kShimHeader);
  packet.flags = static_cast<uint16_t>(packet.flags & ~kPacketFreeShim);
}

// Of a frame that goes on as it came but for its MACs, which are still to be written.
inline void take_vlan_off(Packet& packet) {
  strip_headers(packet, /*keep_shim=*/false);
  packet.flags = static_cast<uint16_t>(packet.flags & ~kPacketTagged);
}

// Room for a VLAN tag behind the MACs, which are still to be written with it.
inline void make_room_for_tag(Packet& packet) {
  packet.push_front(kVlanTag);
  packet.wire_len = static_cast<uint16_t>(packet.wire_len + kVlanTag);
  packet.l2_len = static_cast<uint8_t>(packet.l2_len + kVlanTag);
}

// What such a frame has at `at`, behind its MACs.
inline void write_tag(uint8_t* at, uint16_t tci) {
  store_be16(at, kEtherTypeVlan);
  store_be16(at + 2, tci);
}

// A VLAN tag behind the MACs, or its VLAN in the tag that is there: of our own frames, some have
// one for its priority.
inline void put_tag(Packet& packet, uint16_t tci) {
  if (load_be16(packet.data() + kMacs) == kEtherTypeVlan) {
    uint8_t* own = packet.data() + kEthernetHeader;
    return store_be16(own, static_cast<uint16_t>((load_be16(own) & 0xe000) | (tci & 0x0fff)));
  }
  make_room_for_tag(packet);
  uint8_t* frame = packet.data();
  std::memmove(frame, frame + kVlanTag, kMacs);
  write_tag(frame + kMacs, tci);
}

// `network` is the packet's network header.
inline void decrement_ttl_of(const Packet& packet, uint8_t* network) {
  if (packet.has(kPacketIpv6)) [[unlikely]]
    return decrement_ipv6_hop_limit(network);
  decrement_ipv4_ttl(network);
}

}  // namespace eddy
