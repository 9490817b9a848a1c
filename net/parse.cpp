#include "net/parse.h"

#include <array>

namespace eddy {
namespace {

constexpr uint32_t kMaxTags = 2;
constexpr uint32_t kMaxExtensionHeaders = 8;
constexpr uint32_t kMaxIpHeader = 255;  // ParsedFrame::l3_len is one octet
constexpr uint16_t kMoreFragmentsOrOffsetV4 = 0x3fff;
constexpr uint16_t kMoreFragmentsOrOffsetV6 = 0xfff9;
constexpr uint8_t kShimKindData = 0;
constexpr uint32_t kShimInnerType = 30;

// Octets from some header to the end: those that may be read, and those the frame has.
struct Span {
  const uint8_t* at;
  uint32_t readable;
  uint32_t length;

  Span from(uint32_t offset) const { return {at + offset, readable - offset, length - offset}; }
  // The first `n` of them: what a length field says is there.
  Span first(uint32_t n) const { return {at, readable < n ? readable : n, n}; }
};

void add_flag(ParsedFrame& out, int flag) {
  out.flags = static_cast<uint16_t>(out.flags | flag);
}

bool is_tag(uint16_t ethertype) {
  return ethertype == kEtherTypeVlan || ethertype == kEtherTypeServiceVlan;
}

// 01:80:c2:00:00:00..0f: 802.1Q 8.6.3, never forwarded.
bool is_link_local(const uint8_t* mac) {
  constexpr uint64_t kMask = 0x0000f0ffffffffff;
  constexpr uint64_t kReserved = 0x0000000000c28001;
  return (load_raw<uint64_t>(mac) & kMask) == kReserved;
}

ParseVerdict take_tags(const Span& frame, ParsedFrame& out) {
  uint16_t ethertype = load_be16(frame.at + 12);
  uint32_t end = kEthernetHeader;
  for (uint32_t tags = 0; is_tag(ethertype); ++tags) {
    if (tags == kMaxTags) return ParseVerdict::vlan_too_many;
    if (frame.readable < end + kVlanTag) return ParseVerdict::vlan_truncated;
    const uint16_t tci = load_be16(frame.at + end);
    if (tags == 0) {
      out.pcp = static_cast<uint8_t>(tci >> 13);
      out.vlan_id = tci & 0x0fff;
      add_flag(out, kPacketTagged);
    }
    ethertype = load_be16(frame.at + end + 2);
    end += kVlanTag;
  }
  out.ethertype = ethertype;
  out.l2_len = static_cast<uint8_t>(end);
  return ParseVerdict::ok;
}

FrameKind control_kind(const Span& frame, const ParsedFrame& out) {
  const bool tagged = (out.flags & kPacketTagged) != 0;
  if (out.ethertype == kEtherTypeMacControl && !tagged) return FrameKind::mac_control;
  if (out.ethertype == kEtherTypeLldp && !tagged) return FrameKind::lldp;
  if (out.ethertype == kEtherTypeCnm) return FrameKind::cnm;
  if (out.ethertype == kEtherTypeCim) return FrameKind::cim;
  if (is_link_local(frame.at)) return FrameKind::link_local;
  return out.ethertype == kEtherTypeArp ? FrameKind::arp : FrameKind::other;
}

// Reads the shim and, when it carries data, steps over it to the inner EtherType.
ParseVerdict take_shim(const Span& frame, ParsedFrame& out) {
  out.shim_offset = out.l2_len;
  add_flag(out, kPacketShim);
  if (frame.readable < out.shim_offset + kShimHeader) return ParseVerdict::shim_truncated;
  const uint8_t* shim = frame.at + out.shim_offset;
  if (shim[0] >> 4 != kShimVersion) return ParseVerdict::shim_bad_version;
  if ((shim[0] & 0x0f) != kShimKindData) {
    out.kind = FrameKind::shim_control;
    return ParseVerdict::ok;
  }
  out.ethertype = load_be16(shim + kShimInnerType);
  out.l2_len = static_cast<uint8_t>(out.l2_len + kShimHeader);
  return ParseVerdict::ok;
}

ParseVerdict take_udp(const Span& l4, uint64_t address_key, ParsedFrame& out) {
  if (l4.readable < kUdpHeader) return ParseVerdict::udp_truncated;
  const uint16_t udp_len = load_be16(l4.at + 4);
  if (udp_len < kUdpHeader || udp_len > l4.length) return ParseVerdict::udp_bad_length;
  out.payload_len = static_cast<uint16_t>(udp_len - kUdpHeader);
  if (out.destination_port != kRocePort) return ParseVerdict::ok;
  if (l4.readable < kUdpHeader + kBthHeader || out.payload_len < kBthHeader + kIcrc)
    return ParseVerdict::bth_truncated;
  detail::take_bth(l4.at + kUdpHeader, address_key, out);
  return ParseVerdict::ok;
}

ParseVerdict take_tcp(const Span& l4, ParsedFrame& out) {
  if (l4.readable < kTcpHeader) return ParseVerdict::tcp_truncated;
  const uint32_t header = (l4.at[12] >> 4) * 4U;
  if (header < kTcpHeader || header > l4.length) return ParseVerdict::tcp_bad_offset;
  out.payload_len = static_cast<uint16_t>(l4.length - header);
  return ParseVerdict::ok;
}

// `l4` is what the network header says it carries; `address_key` stands for both addresses.
ParseVerdict take_transport(const Span& l4, uint64_t address_key, ParsedFrame& out) {
  const bool fragment = (out.flags & kPacketFragment) != 0;
  const bool has_ports = out.l4_protocol == kProtocolUdp || out.l4_protocol == kProtocolTcp;
  uint32_t raw_ports = 0;
  if (has_ports && !fragment && l4.readable >= 4) {
    raw_ports = load_raw<uint32_t>(l4.at);
    out.source_port = load_be16(l4.at);
    out.destination_port = load_be16(l4.at + 2);
  }
  out.payload_len = static_cast<uint16_t>(l4.length);
  out.order_hash = hash_pair(address_key, detail::tuple_key(out.l4_protocol, raw_ports));
  out.balance_hash = static_cast<uint32_t>(out.order_hash >> 32);
  if (!has_ports || fragment) return ParseVerdict::ok;
  return out.l4_protocol == kProtocolUdp ? take_udp(l4, address_key, out) : take_tcp(l4, out);
}

bool bad_ipv4_addresses(const uint8_t* ip) {
  const uint8_t source = ip[12];
  const bool multicast = source >= 224 && source < 240;
  const bool broadcast = load_raw<uint32_t>(ip + 12) == ~uint32_t{0};
  return source == 0 || source == 127 || multicast || broadcast || ip[16] == 127;
}

ParseVerdict take_ipv4(const Span& packet, ParsedFrame& out) {
  out.kind = FrameKind::ipv4;
  if (packet.readable < kIpv4Header) return ParseVerdict::ipv4_truncated;
  const uint8_t* ip = packet.at;
  const uint32_t header = (ip[0] & 0x0f) * 4U;
  const uint32_t total = load_be16(ip + 2);
  if (ip[0] >> 4 != 4) return ParseVerdict::ipv4_bad_version;
  if (header < kIpv4Header) return ParseVerdict::ipv4_bad_ihl;
  if (total < header || total > packet.length) return ParseVerdict::ipv4_bad_length;
  if (packet.readable < header) return ParseVerdict::ipv4_truncated;
  if (!detail::ipv4_checksum_ok(ip, header)) return ParseVerdict::ipv4_bad_checksum;
  if (bad_ipv4_addresses(ip)) return ParseVerdict::ip_bad_source;
  out.l3_len = static_cast<uint8_t>(header);
  out.dscp = ip[1] >> 2;
  out.ecn = ip[1] & 3;
  out.ttl = ip[8];
  out.l4_protocol = ip[9];
  out.ipv4_destination = load_be32(ip + 16);
  add_flag(out, kPacketIp | detail::ecn_flags(out.ecn));
  if ((load_be16(ip + 6) & kMoreFragmentsOrOffsetV4) != 0) add_flag(out, kPacketFragment);
  return take_transport(packet.first(total).from(header), load_raw<uint64_t>(ip + 12), out);
}

bool is_extension(uint8_t protocol) {
  return protocol == kProtocolHopByHop || protocol == kProtocolRouting ||
         protocol == kProtocolFragment || protocol == kProtocolAuthentication ||
         protocol == kProtocolDestinationOptions || protocol == kProtocolMobility;
}

uint32_t extension_length(uint8_t protocol, const uint8_t* header) {
  if (protocol == kProtocolFragment) return 8;
  if (protocol == kProtocolAuthentication) return (header[1] + 2U) * 4;  // RFC 4302, 2.2
  return (header[1] + 1U) * 8;
}

// RFC 8200, 4: steps over the chain up to the transport header, or to the fragment header when
// the packet is a fragment, since only the first fragment has what follows.
ParseVerdict take_extensions(const Span& packet, ParsedFrame& out) {
  constexpr uint32_t kSmallest = 8;
  uint32_t end = kIpv6Header;
  uint8_t next = packet.at[6];
  for (uint32_t headers = 0; is_extension(next) && (out.flags & kPacketFragment) == 0; ++headers) {
    if (headers == kMaxExtensionHeaders || end + kSmallest > packet.length)
      return ParseVerdict::ipv6_bad_extension;
    if (packet.readable < end + kSmallest) return ParseVerdict::ipv6_truncated;
    const uint8_t* header = packet.at + end;
    if (next == kProtocolFragment && (load_be16(header + 2) & kMoreFragmentsOrOffsetV6) != 0)
      add_flag(out, kPacketFragment);
    end += extension_length(next, header);
    if (end > packet.length || end > kMaxIpHeader) return ParseVerdict::ipv6_bad_extension;
    if (packet.readable < end) return ParseVerdict::ipv6_truncated;
    next = header[0];
  }
  out.l3_len = static_cast<uint8_t>(end);
  out.l4_protocol = next;
  return ParseVerdict::ok;
}

// One address as two words in host order.
struct WideAddress {
  uint64_t high;
  uint64_t low;

  explicit WideAddress(const uint8_t* at) : high(load_be64(at)), low(load_be64(at + 8)) {}
  bool is_multicast() const { return high >> 56 == 0xff; }
  bool is_unspecified() const { return (high | low) == 0; }
  bool is_loopback() const { return high == 0 && low == 1; }
  bool maps_ipv4() const { return high == 0 && low >> 32 == 0xffff; }
};

bool bad_ipv6_addresses(const WideAddress& source, const WideAddress& destination) {
  if (source.is_multicast() || source.is_loopback() || source.maps_ipv4()) return true;
  if (destination.is_loopback() || destination.maps_ipv4()) return true;
  return source.is_unspecified() && !destination.is_multicast();
}

ParseVerdict take_ipv6(const Span& frame, ParsedFrame& out) {
  out.kind = FrameKind::ipv6;
  if (frame.readable < kIpv6Header) return ParseVerdict::ipv6_truncated;
  const uint8_t* ip = frame.at;
  if (ip[0] >> 4 != 6) return ParseVerdict::ipv6_bad_version;
  const uint32_t total = kIpv6Header + load_be16(ip + 4);
  if (total > frame.length) return ParseVerdict::ipv6_bad_length;
  const WideAddress source(ip + 8);
  const WideAddress destination(ip + 24);
  if (bad_ipv6_addresses(source, destination)) return ParseVerdict::ip_bad_source;
  const Span packet = frame.first(total);
  const uint8_t traffic_class = static_cast<uint8_t>(load_be16(ip) >> 4);
  out.dscp = traffic_class >> 2;
  out.ecn = traffic_class & 3;
  out.ttl = ip[7];
  add_flag(out, kPacketIp | kPacketIpv6 | detail::ecn_flags(out.ecn));
  const ParseVerdict verdict = take_extensions(packet, out);
  if (verdict != ParseVerdict::ok) return verdict;
  return take_transport(packet.from(out.l3_len), detail::ipv6_address_key(ip + 8, ip + 24), out);
}

ParseVerdict take_network(const Span& frame, ParsedFrame& out) {
  const Span packet = frame.from(out.l2_len);
  if (out.ethertype == kEtherTypeIpv4) return take_ipv4(packet, out);
  if (out.ethertype == kEtherTypeIpv6) return take_ipv6(packet, out);
  return ParseVerdict::ok;
}

}  // namespace

namespace detail {

ParseVerdict parse_frame_slowly(const uint8_t* data, uint32_t data_len, uint32_t wire_len,
                                ParsedFrame& out) {
  out = ParsedFrame{};
  const Span frame{data, data_len, wire_len};
  if (data_len < kEthernetHeader) return ParseVerdict::runt;
  if ((data[6] & 1) != 0) return ParseVerdict::source_mac_multicast;
  const ParseVerdict tags = take_tags(frame, out);
  if (tags != ParseVerdict::ok) return tags;
  out.kind = control_kind(frame, out);
  if (out.kind != FrameKind::other) return ParseVerdict::ok;
  if (out.ethertype == kEtherTypeShim) {
    const ParseVerdict shim = take_shim(frame, out);
    if (shim != ParseVerdict::ok || out.kind == FrameKind::shim_control) return shim;
  }
  return take_network(frame, out);
}

}  // namespace detail

ParseVerdict parse_packet(const Packet& packet, ParsedFrame& out) {
  const ParseVerdict verdict = parse_frame(packet.data(), packet.data_len(), packet.wire_len, out);
  constexpr uint16_t kBoth = kPacketShim | kPacketFreeShim;
  if (((packet.flags & kPacketFreeShim) | (out.flags & kPacketShim)) != kBoth ||
      out.kind == FrameKind::shim_control)
    return verdict;
  const ParseVerdict whole =
      parse_frame(packet.data(), packet.data_len(), packet.wire_len + kShimHeader, out);
  add_flag(out, kPacketFreeShim);
  return whole;
}

std::string_view to_string(ParseVerdict verdict) {
  static constexpr std::array<std::string_view, kParseVerdicts> kNames = {
      "ok",
      "runt",
      "vlan_truncated",
      "vlan_too_many",
      "source_mac_multicast",
      "ipv4_truncated",
      "ipv4_bad_version",
      "ipv4_bad_ihl",
      "ipv4_bad_length",
      "ipv4_bad_checksum",
      "ipv6_truncated",
      "ipv6_bad_version",
      "ipv6_bad_length",
      "ipv6_bad_extension",
      "ip_bad_source",
      "udp_truncated",
      "udp_bad_length",
      "tcp_truncated",
      "tcp_bad_offset",
      "bth_truncated",
      "shim_truncated",
      "shim_bad_version",
  };
  return kNames[static_cast<size_t>(verdict)];
}

}  // namespace eddy
