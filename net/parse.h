// The frame parser of the hot path: one pass, bounds-checked, a verdict for every way a frame can
// be wrong.
//
// Input is hostile. `data_len` bounds every read; `wire_len` (>= data_len) is what lengths inside
// the frame are checked against, since a virtual-time fabric carries headers only. Nothing is
// allocated or kept. Control frames (PFC, CNM, ARP, ...) are only recognised here; net/ has one
// decoder a format. Cost: an untagged IPv4/UDP frame without IP options takes the short way, inline
// here. Source: 802.1Q, RFC 791, 8200, 768, 9293, reference 1.5, 1.6, C.1, D.1.
#pragma once

#include <cstdint>
#include <string_view>

#include "net/byte_order.h"
#include "net/hash.h"
#include "net/packet.h"
#include "net/protocols.h"

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
  ipv6_bad_extension,  // a chain that leaves the packet, or is over 8 headers or 215 octets
  ip_bad_source,       // an address that may not be on a wire, see below
  udp_truncated,
  udp_bad_length,
  tcp_truncated,
  tcp_bad_offset,
  bth_truncated,  // less than BTH and ICRC
  shim_truncated,
  shim_bad_version,
};
inline constexpr int kParseVerdicts = static_cast<int>(ParseVerdict::shim_bad_version) + 1;
std::string_view to_string(ParseVerdict verdict);  // "ipv4_bad_ihl"

// ip_bad_source is: a loopback, multicast, broadcast or 0/8 source; a loopback destination; an
// IPv6 address that maps an IPv4 one (IpAddress would take it for IPv4); an unspecified IPv6
// source, unless the destination is multicast (duplicate address detection).

// Control kinds are known by EtherType alone, untagged; cnm and cim may be tagged. Only ipv4 and
// ipv6 are taken out of a shim, whatever else is in one is `other`.
enum class FrameKind : uint8_t {
  other,
  ipv4,
  ipv6,
  arp,
  mac_control,  // PFC or PAUSE
  cnm,
  cim,  // of congestion isolation
  lldp,
  shim_control,  // a shim with a kind other than data
  link_local     // to 01:80:c2:00:00:00..0f and none of the above
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
  uint16_t payload_len = 0;  // transport payload (RoCE: after the BTH, ICRC included)
  uint16_t source_port = 0;  // 0 for fragments: kPacketFragment
  uint16_t destination_port = 0;
  uint8_t bth_opcode = 0;
  uint8_t shim_offset = 0;  // of the shim, when kPacketShim
  uint32_t destination_qpn = 0;
  uint32_t ipv4_destination = 0;  // host order, IPv4 only; IPv6: data + l2_len + 24
  uint32_t balance_hash = 0;      // the 5-tuple; every fragment of a datagram: without ports
  uint64_t order_hash = 0;        // RoCE: (SIP, DIP, destination QPN), else as balance_hash
};

// Fills `out`; after a verdict other than ok only kind, l2_len and what precedes the fault are set.
[[nodiscard]] inline ParseVerdict parse_frame(const uint8_t* data, uint32_t data_len,
                                              uint32_t wire_len, ParsedFrame& out);

// Of a packet as it is, whose shim may be free (kPacketFreeShim): its octets are not in wire_len
// then. The flag counts only where there is a shim, and out.flags has it again.
[[nodiscard]] ParseVerdict parse_packet(const Packet& packet, ParsedFrame& out);

// The same as parse_frame() for a valid, untagged, whole, unicast IPv4/UDP frame only; false, and
// `out` undefined, for any other. `out` comes in with its defaults; a caller that keeps it to
// itself gets its fields in registers.
[[nodiscard]] inline bool parse_plain_udp(const uint8_t* data, uint32_t data_len, uint32_t wire_len,
                                          ParsedFrame& out);

namespace detail {

// Every frame that is not an untagged, unfragmented, unicast, valid IPv4/UDP one.
ParseVerdict parse_frame_slowly(const uint8_t* data, uint32_t data_len, uint32_t wire_len,
                                ParsedFrame& out);

// What stands beside the addresses in a key: protocol and ports, or a RoCE queue pair.
inline constexpr uint64_t kRoceKey = uint64_t{1} << 63;
constexpr uint64_t tuple_key(uint8_t protocol, uint32_t raw_ports) {
  return static_cast<uint64_t>(protocol) << 32 | raw_ports;
}
// The key of two IPv6 addresses of 16 octets each; IPv4's are their own.
inline uint64_t ipv6_address_key(const uint8_t* source, const uint8_t* destination) {
  return hash_pair(hash_pair(load_be64(source), load_be64(source + 8)),
                   hash_pair(load_be64(destination), load_be64(destination + 8)));
}

// The flags of each ECN value, an octet each, so that no branch depends on the traffic's mix; CE is
// ECN-capable, too.
inline constexpr uint32_t kEcnFlags =
    kPacketEct << 8 | kPacketEct << 16 | uint32_t{kPacketEct | kPacketCe} << 24;
static_assert((kPacketEct | kPacketCe) < 256);
constexpr uint16_t ecn_flags(uint8_t ecn) {
  return static_cast<uint16_t>(kEcnFlags >> (8 * ecn) & 0xff);
}

// RFC 1071: the ones' complement sum of a valid header is a multiple of 0xffff (and not 0, since
// its version is not). `header_len` is a multiple of 4.
inline bool ipv4_checksum_ok(const uint8_t* ip, uint32_t header_len) {
  uint64_t sum = 0;
  for (uint32_t i = 0; i < header_len; i += 4) sum += load_raw<uint32_t>(ip + i);
  return sum % 0xffff == 0;
}

// Any of 0/8, 127/8, 224/3 as source or 127/8 as destination: the slow way decides which are bad.
constexpr bool suspect_addresses(uint8_t source_top, uint8_t destination_top) {
  return static_cast<uint8_t>(source_top - 1) >= 223 || source_top == 127 || destination_top == 127;
}

// Octets, as they lie in a little-endian load.
inline constexpr uint64_t kEitherMacIsMulticast = 0x0001000000000001;
inline constexpr uint32_t kTypeAndVersionMask = 0x00ffffff;
inline constexpr uint32_t kIpv4WithoutOptions = 0x00450008;
inline constexpr uint32_t kFragmentAndProtocolMask = 0xff00ff3f;
inline constexpr uint32_t kWholeUdp = uint32_t{kProtocolUdp} << 24;

// An untagged IPv4/UDP frame whose headers are all readable and whose addresses are plain.
inline bool is_plain_udp(const uint8_t* data, uint32_t data_len) {
  constexpr uint32_t kHeaders = kEthernetHeader + kIpv4Header + kUdpHeader;
  if (data_len < kHeaders) return false;
  const bool unicast = (load_raw<uint64_t>(data) & kEitherMacIsMulticast) == 0;
  const bool ipv4 = (load_raw<uint32_t>(data + 12) & kTypeAndVersionMask) == kIpv4WithoutOptions;
  const bool udp = (load_raw<uint32_t>(data + 20) & kFragmentAndProtocolMask) == kWholeUdp;
  return unicast && ipv4 && udp && !suspect_addresses(data[26], data[30]);
}

// The BTH behind a whole UDP header; the caller has checked that BTH and ICRC fit.
inline void take_bth(const uint8_t* bth, uint64_t address_key, ParsedFrame& out) {
  out.bth_opcode = bth[0];
  out.destination_qpn = load_be24(bth + 5);
  out.payload_len = static_cast<uint16_t>(out.payload_len - kBthHeader);
  const bool control = out.bth_opcode == kBthAcknowledge || out.bth_opcode == kBthCnp ||
                       out.bth_opcode == kBthSelectiveAcknowledge;
  out.flags = static_cast<uint16_t>(out.flags | kPacketRoce | (control ? kPacketRoceControl : 0));
  out.order_hash = hash_pair(address_key, kRoceKey | out.destination_qpn);
}

}  // namespace detail

inline bool parse_plain_udp(const uint8_t* data, uint32_t data_len, uint32_t wire_len,
                            ParsedFrame& out) {
  constexpr uint32_t kBth = kEthernetHeader + kIpv4Header + kUdpHeader;
  if (!detail::is_plain_udp(data, data_len)) return false;
  const uint8_t* ip = data + kEthernetHeader;
  const uint32_t total_len = load_be16(ip + 2);
  const uint32_t udp_len = load_be16(ip + 24);
  const bool lengths_ok = kEthernetHeader + total_len <= wire_len && udp_len >= kUdpHeader &&
                          kIpv4Header + udp_len <= total_len;
  if (!lengths_ok || !detail::ipv4_checksum_ok(ip, kIpv4Header)) return false;

  const uint64_t addresses = load_raw<uint64_t>(ip + 12);
  const uint64_t tuple_hash =
      hash_pair(addresses, detail::tuple_key(kProtocolUdp, load_raw<uint32_t>(ip + 20)));
  const uint8_t traffic_class = ip[1];
  out.kind = FrameKind::ipv4;
  out.l2_len = kEthernetHeader;
  out.l3_len = kIpv4Header;
  out.l4_protocol = kProtocolUdp;
  out.dscp = traffic_class >> 2;
  out.ecn = traffic_class & 3;
  out.ttl = ip[8];
  out.flags = static_cast<uint16_t>(kPacketIp | detail::ecn_flags(out.ecn));
  out.ethertype = kEtherTypeIpv4;
  out.payload_len = static_cast<uint16_t>(udp_len - kUdpHeader);
  out.source_port = load_be16(ip + 20);
  out.destination_port = load_be16(ip + 22);
  out.ipv4_destination = load_be32(ip + 16);
  out.balance_hash = static_cast<uint32_t>(tuple_hash >> 32);
  out.order_hash = tuple_hash;
  if (out.destination_port != kRocePort) return true;
  if (data_len < kBth + kBthHeader || out.payload_len < kBthHeader + kIcrc) return false;
  detail::take_bth(data + kBth, addresses, out);
  return true;
}

inline ParseVerdict parse_frame(const uint8_t* data, uint32_t data_len, uint32_t wire_len,
                                ParsedFrame& out) {
  out = ParsedFrame{};
  if (parse_plain_udp(data, data_len, wire_len, out)) [[likely]]
    return ParseVerdict::ok;
  out = ParsedFrame{};
  return detail::parse_frame_slowly(data, data_len, wire_len, out);
}

}  // namespace eddy
