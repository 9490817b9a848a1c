// What reception asks of a frame that has been parsed (docs/packet_walk.md, 2a, 3 and 4b).
//
// Pure functions. Cost: a few compares.
#pragma once

#include <cstdint>

#include "net/byte_order.h"
#include "net/packet.h"
#include "net/parse.h"
#include "net/protocols.h"
#include "switch/dataplane/state/snapshot.h"

namespace eddy {

inline constexpr uint8_t kFirstNdType = 133;  // ICMPv6: router solicitation
inline constexpr uint8_t kLastNdType = 137;   // redirect

inline bool is_to(const uint8_t* frame, const MacAddress& mac) {
  const uint8_t* octets = mac.octets.data();
  return load_raw<uint32_t>(frame) == load_raw<uint32_t>(octets) &&
         load_raw<uint16_t>(frame + 4) == load_raw<uint16_t>(octets + 4);
}

// Of two tags the outer one counts. Frames of the link itself have none on any port.
inline bool serves_vlan(const ParsedFrame& frame, const PortSettings& settings) {
  if (frame.vlan_id != 0) return frame.vlan_id == settings.vlan;
  return settings.takes_untagged || frame.kind == FrameKind::mac_control ||
         frame.kind == FrameKind::lldp || frame.kind == FrameKind::link_local;
}

inline bool is_neighbor_discovery(const Packet& packet, const ParsedFrame& frame) {
  const uint32_t type_at = frame.l2_len + frame.l3_len;
  if (frame.kind != FrameKind::ipv6 || frame.l4_protocol != kProtocolIcmpv6) return false;
  if (packet.data_len() <= type_at) return false;
  const uint8_t type = packet.data()[type_at];
  return type >= kFirstNdType && type <= kLastNdType;
}

}  // namespace eddy
