// Rewrites of a routed frame that need the Packet line: taking off the headers between Ethernet and
// IP, and counting the TTL down.
#pragma once

#include "net/ip.h"
#include "net/packet.h"
#include "net/protocols.h"

namespace eddy {

// Takes VLAN tags off, and the shim unless it is to be kept. The inner EtherType stands right
// before the network header, so a new Ethernet header fits in front of it; its MACs are still to be
// written.
inline void strip_headers(Packet& packet, bool keep_shim) {
  if (packet.l2_len == kEthernetHeader) [[likely]]
    return;
  const bool kept = keep_shim && packet.has(kPacketShim);
  const uint32_t wanted = kEthernetHeader + (kept ? kShimHeader : 0);
  const uint32_t stripped = packet.l2_len - wanted;
  rte_mbuf* mbuf = packet.mbuf();
  mbuf->data_off = static_cast<uint16_t>(mbuf->data_off + stripped);
  mbuf->data_len = static_cast<uint16_t>(mbuf->data_len - stripped);
  mbuf->pkt_len -= stripped;
  packet.wire_len -= stripped;
  packet.l2_len = static_cast<uint8_t>(wanted);
}

// `network` is the packet's network header.
inline void decrement_ttl_of(const Packet& packet, uint8_t* network) {
  if (packet.has(kPacketIpv6)) [[unlikely]]
    return decrement_ipv6_hop_limit(network);
  decrement_ipv4_ttl(network);
}

}  // namespace eddy
