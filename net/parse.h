// The frame parser of the hot path: one pass, bounds-checked, a verdict for every way a frame can
// be wrong.
//
// Input is hostile. `data_len` bounds every read; `wire_len` (>= data_len) is what lengths inside
// the frame are checked against, since a virtual-time fabric carries headers only. Nothing is
// allocated or kept. Control frames (PFC, CNM, ARP, ...) are only recognised here; net/ has one
// decoder a format. Cost: an untagged IPv4/UDP frame takes the short way, about 20 cycles. Source:
// 802.1Q, RFC 791, 8200, 768, 9293, reference 1.5, C.1, D.1.
#pragma once

#include <cstdint>
#include <string_view>

namespace eddy {

enum class ParseVerdict : uint8_t {
  ok,
  runt,                  // shorter than an Ethernet header
  vlan_truncated,        // a tag without its two octets of TCI and the next EtherType
  vlan_too_many,         // more than two tags
  source_mac_multicast,  // the group bit is set in the source address
  ipv4_truncated,
  ipv4_bad_version,
  ipv4_bad_ihl,
  ipv4_bad_length,  // total length below the header's or beyond the frame
  ipv4_bad_checksum,
  ipv6_truncated,
  ipv6_bad_version,
  ipv6_bad_length,
  ipv6_bad_extension,  // a chain that leaves the frame or is longer than 8 headers
  ip_bad_source,       // loopback, multicast or broadcast source, or a loopback destination
  udp_truncated,
  udp_bad_length,
  tcp_truncated,
  tcp_bad_offset,
  bth_truncated,
  shim_truncated,
  shim_bad_version,
};
inline constexpr int kParseVerdicts = static_cast<int>(ParseVerdict::shim_bad_version) + 1;
std::string_view to_string(ParseVerdict verdict);  // "ipv4_bad_ihl"

enum class FrameKind : uint8_t {
  other,
  ipv4,
  ipv6,
  arp,
  mac_control,
  cnm,
  lldp,
  shim_control,
  link_local
};

struct ParsedFrame {
  FrameKind kind = FrameKind::other;
  uint8_t l2_len = 0;       // octets before the network header, tags and shim included
  uint8_t l3_len = 0;       // network header with options or extension headers
  uint8_t l4_protocol = 0;  // after IPv6 extension headers
  uint8_t dscp = 0;
  uint8_t ecn = 0;
  uint8_t ttl = 0;           // or hop limit
  uint8_t pcp = 0;           // outer tag; meaningful with kPacketTagged
  uint16_t flags = 0;        // PacketFlag
  uint16_t vlan_id = 0;      // outer tag
  uint16_t ethertype = 0;    // innermost
  uint16_t payload_len = 0;  // transport payload (RoCE: after the BTH)
  uint16_t source_port = 0;
  uint16_t destination_port = 0;
  uint8_t bth_opcode = 0;
  uint8_t shim_offset = 0;  // of the shim, when kPacketShim
  uint32_t destination_qpn = 0;
  uint32_t ipv4_destination = 0;  // host order, IPv4 only; IPv6: data + l2_len + 24
  uint32_t balance_hash =
      0;  // symmetric in nothing: (SIP, DIP, protocol, ports); fragments without ports
  uint64_t order_hash = 0;  // RoCE: (SIP, DIP, destination QPN), else the 5-tuple
};

ParseVerdict parse_frame(const uint8_t* data, uint32_t data_len, uint32_t wire_len,
                         ParsedFrame& out);

}  // namespace eddy
