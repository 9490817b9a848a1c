#include "net/roce.h"

#include <algorithm>
#include <array>

#include "net/byte_order.h"
#include "net/checksum.h"

namespace eddy {
namespace {

constexpr size_t kReth = 16;
constexpr size_t kAeth = 4;
constexpr size_t kArrivedBits = 12;
constexpr size_t kImmediate = 4;
constexpr size_t kCnpReserved = 16;
constexpr uint8_t kFecn = 0x80;
constexpr uint8_t kBecn = 0x40;
constexpr uint8_t kSolicited = 0x80;
constexpr uint8_t kMigrated = 0x40;
constexpr uint8_t kAckRequest = 0x80;
constexpr uint8_t kTransportVersionMask = 0x0f;

// Which extension headers follow the BTH, in this order.
struct Extensions {
  bool known = false;
  bool reth = false;
  bool aeth = false;
  bool arrived = false;
  bool immediate = false;
  size_t reserved = 0;

  size_t length() const {
    return (reth ? kReth : 0) + (aeth ? kAeth : 0) + (arrived ? kArrivedBits : 0) +
           (immediate ? kImmediate : 0) + reserved;
  }
};

Extensions extensions_of(RoceOpcode opcode) {
  switch (opcode) {
    case RoceOpcode::send_first:
    case RoceOpcode::send_middle:
    case RoceOpcode::send_last:
    case RoceOpcode::send_only:
    case RoceOpcode::write_middle:
    case RoceOpcode::write_last:
    case RoceOpcode::read_response_middle:
      return {.known = true};
    case RoceOpcode::send_last_immediate:
    case RoceOpcode::send_only_immediate:
    case RoceOpcode::write_last_immediate:
      return {.known = true, .immediate = true};
    case RoceOpcode::write_first:
    case RoceOpcode::write_only:
    case RoceOpcode::read_request:
      return {.known = true, .reth = true};
    case RoceOpcode::write_only_immediate:
      return {.known = true, .reth = true, .immediate = true};
    case RoceOpcode::read_response_first:
    case RoceOpcode::read_response_last:
    case RoceOpcode::read_response_only:
    case RoceOpcode::acknowledge:
      return {.known = true, .aeth = true};
    case RoceOpcode::selective_acknowledge:
      return {.known = true, .aeth = true, .arrived = true};
    case RoceOpcode::cnp:
      return {.known = true, .reserved = kCnpReserved};
  }
  return {};  // an octet from the wire may be none of these
}

size_t ip_header_length(const RocePacket& packet) {
  return packet.addresses.source.is_v4() ? kIpv4Header : kIpv6Header;
}

uint32_t padding_of(uint32_t payload_len) {
  return (4 - payload_len % 4) % 4;
}

void encode_ip(const RocePacket& packet, size_t length, Octets out) {
  if (packet.addresses.source.is_v4()) {
    Ipv4Header ip;
    ip.dscp = packet.dscp;
    ip.ecn = packet.ecn;
    ip.total_length = static_cast<uint16_t>(length);
    ip.identification = packet.identification;
    ip.dont_fragment = true;
    ip.ttl = packet.ttl;
    ip.protocol = kProtocolUdp;
    ip.source = packet.addresses.source.v4();
    ip.destination = packet.addresses.destination.v4();
    encode(ip, out);
    return;
  }
  Ipv6Header ip;
  ip.dscp = packet.dscp;
  ip.ecn = packet.ecn;
  ip.payload_length = static_cast<uint16_t>(length - kIpv6Header);
  ip.next_header = kProtocolUdp;
  ip.hop_limit = packet.ttl;
  ip.source = packet.addresses.source.v6();
  ip.destination = packet.addresses.destination.v6();
  encode(ip, out);
}

void encode_bth(const Bth& bth, uint32_t padding, uint8_t* at) {
  at[0] = static_cast<uint8_t>(bth.opcode);
  at[1] = static_cast<uint8_t>((bth.solicited ? kSolicited : 0) | (bth.migrated ? kMigrated : 0) |
                               padding << 4);
  store_be16(at + 2, bth.partition_key);
  at[4] = static_cast<uint8_t>((bth.fecn ? kFecn : 0) | (bth.becn ? kBecn : 0));
  store_be24(at + 5, bth.destination_qpn);
  at[8] = bth.ack_request ? kAckRequest : 0;
  store_be24(at + 9, bth.psn);
}

void encode_extensions(const RocePacket& packet, uint8_t* at) {
  const Extensions extensions = extensions_of(packet.bth.opcode);
  if (extensions.reth) {
    store_be64(at, packet.reth.virtual_address);
    store_be32(at + 8, packet.reth.remote_key);
    store_be32(at + 12, packet.reth.dma_length);
    at += kReth;
  }
  if (extensions.aeth) {
    at[0] = packet.aeth.syndrome;
    store_be24(at + 1, packet.aeth.msn);
    at += kAeth;
  }
  if (extensions.arrived) {
    store_be32(at, packet.arrived.psn & kPsnMask);
    store_be64(at + 4, packet.arrived.bits);
    at += kArrivedBits;
  }
  if (extensions.immediate) store_be32(at, packet.immediate);
  std::fill_n(at, extensions.reserved, uint8_t{0});
}

// Where the UDP header starts, and how long it says that everything from there is.
struct UdpPart {
  size_t offset = 0;
  size_t length = 0;
};

CodecVerdict decode_ipv4(ConstOctets octets, RocePacket& packet, UdpPart& udp) {
  Ipv4Header ip;
  const CodecVerdict verdict = decode(octets, ip);
  if (verdict != CodecVerdict::ok) return verdict;
  if (ip.protocol != kProtocolUdp || ip.more_fragments || ip.fragment_offset != 0)
    return CodecVerdict::wrong_type;
  packet.addresses = {ip.source, ip.destination};
  packet.dscp = ip.dscp;
  packet.ecn = ip.ecn;
  packet.ttl = ip.ttl;
  packet.identification = ip.identification;
  udp = {ip.header_length, static_cast<size_t>(ip.total_length - ip.header_length)};
  return CodecVerdict::ok;
}

CodecVerdict decode_ipv6(ConstOctets octets, RocePacket& packet, UdpPart& udp) {
  Ipv6Header ip;
  const CodecVerdict verdict = decode(octets, ip);
  if (verdict != CodecVerdict::ok) return verdict;
  if (ip.next_header != kProtocolUdp) return CodecVerdict::wrong_type;
  packet.addresses = {ip.source, ip.destination};
  // IpAddress keeps IPv4 this way; on a wire it is a spoof.
  if (packet.addresses.source.is_v4() || packet.addresses.destination.is_v4())
    return CodecVerdict::bad_address;
  packet.dscp = ip.dscp;
  packet.ecn = ip.ecn;
  packet.ttl = ip.hop_limit;
  udp = {kIpv6Header, ip.payload_length};
  return CodecVerdict::ok;
}

CodecVerdict decode_udp(ConstOctets octets, const UdpPart& part, RocePacket& packet) {
  UdpHeader udp;
  const CodecVerdict verdict = decode(octets.subspan(part.offset), udp);
  if (verdict != CodecVerdict::ok) return verdict;
  if (udp.destination_port != kRocePort) return CodecVerdict::wrong_type;
  packet.source_port = udp.source_port;
  return udp.length == part.length ? CodecVerdict::ok : CodecVerdict::bad_length;
}

void decode_bth(const uint8_t* at, Bth& bth) {
  bth.opcode = static_cast<RoceOpcode>(at[0]);
  bth.solicited = (at[1] & kSolicited) != 0;
  bth.migrated = (at[1] & kMigrated) != 0;
  bth.partition_key = load_be16(at + 2);
  bth.fecn = (at[4] & kFecn) != 0;
  bth.becn = (at[4] & kBecn) != 0;
  bth.destination_qpn = load_be24(at + 5);
  bth.ack_request = (at[8] & kAckRequest) != 0;
  bth.psn = load_be24(at + 9);
}

void decode_extensions(const Extensions& extensions, const uint8_t* at, RocePacket& packet) {
  if (extensions.reth) {
    packet.reth = {load_be64(at), load_be32(at + 8), load_be32(at + 12)};
    at += kReth;
  }
  if (extensions.aeth) {
    packet.aeth = {at[0], load_be24(at + 1)};
    at += kAeth;
  }
  if (extensions.arrived) {
    packet.arrived = {load_be24(at + 1), load_be64(at + 4)};
    at += kArrivedBits;
  }
  if (extensions.immediate) packet.immediate = load_be32(at);
}

// `ib` starts at the BTH; `length` is what UDP says it has, ICRC included.
CodecVerdict decode_transport(ConstOctets ib, size_t length, RocePacket& packet) {
  if (length < kBthHeader + kIcrc) return CodecVerdict::bad_length;
  if (ib.size() < kBthHeader) return CodecVerdict::truncated;
  decode_bth(ib.data(), packet.bth);
  if ((ib[1] & kTransportVersionMask) != 0) return CodecVerdict::bad_version;
  const Extensions extensions = extensions_of(packet.bth.opcode);
  if (!extensions.known) return CodecVerdict::bad_value;
  const size_t padding = ib[1] >> 4 & 3;
  const size_t headers = kBthHeader + extensions.length();
  if (length < headers + padding + kIcrc) return CodecVerdict::bad_length;
  if (ib.size() < headers) return CodecVerdict::truncated;
  packet.payload_len = static_cast<uint32_t>(length - headers - padding - kIcrc);
  if (padding_of(packet.payload_len) != padding) return CodecVerdict::bad_length;
  decode_extensions(extensions, ib.data() + kBthHeader, packet);
  return CodecVerdict::ok;
}

// What the ICRC does not cover reads as ones.
void mask_ip(uint8_t* ip) {
  if (is_ipv6(ip)) {
    ip[0] |= 0x0f;  // traffic class and flow label
    std::fill_n(ip + 1, 3, uint8_t{0xff});
    ip[7] = 0xff;
    return;
  }
  ip[1] = 0xff;
  ip[8] = 0xff;
  std::fill_n(ip + 10, 2, uint8_t{0xff});
}

}  // namespace

RocePacket make_cnp(const AddressPair& addresses, uint32_t destination_qpn) {
  RocePacket packet;
  packet.addresses = addresses;
  packet.dscp = kCnpDscp;
  packet.bth.opcode = RoceOpcode::cnp;
  packet.bth.becn = true;
  packet.bth.destination_qpn = destination_qpn;
  return packet;
}

RocePacket make_ack(const AddressPair& addresses, uint32_t destination_qpn, uint32_t psn,
                    Aeth aeth) {
  RocePacket packet;
  packet.addresses = addresses;
  packet.bth.opcode = RoceOpcode::acknowledge;
  packet.bth.destination_qpn = destination_qpn;
  packet.bth.psn = psn & kPsnMask;
  packet.aeth = aeth;
  return packet;
}

size_t roce_header_length(const RocePacket& packet) {
  return ip_header_length(packet) + kUdpHeader + kBthHeader +
         extensions_of(packet.bth.opcode).length();
}

size_t roce_packet_length(const RocePacket& packet) {
  return roce_header_length(packet) + packet.payload_len + padding_of(packet.payload_len) + kIcrc;
}

size_t encode_headers(const RocePacket& packet, Octets out) {
  const size_t length = roce_packet_length(packet);
  const size_t ip_header = ip_header_length(packet);
  ASSERT(out.size() >= roce_header_length(packet) && length <= UINT16_MAX);
  encode_ip(packet, length, out);
  const UdpHeader udp = {packet.source_port, kRocePort, static_cast<uint16_t>(length - ip_header),
                         0};
  encode(udp, out.subspan(ip_header));
  uint8_t* bth = out.data() + ip_header + kUdpHeader;
  encode_bth(packet.bth, padding_of(packet.payload_len), bth);
  encode_extensions(packet, bth + kBthHeader);
  return roce_header_length(packet);
}

size_t encode(const RocePacket& packet, ConstOctets payload, Octets out) {
  const size_t length = roce_packet_length(packet);
  ASSERT(payload.size() == packet.payload_len && out.size() >= length);
  size_t end = encode_headers(packet, out);
  end += put(out.subspan(end), payload);
  zero_front(out.subspan(end), padding_of(packet.payload_len));
  const uint32_t icrc = roce_icrc(out.first(length - kIcrc), 0);
  store_be32(out.data() + length - kIcrc, __builtin_bswap32(icrc));
  return length;
}

CodecVerdict decode(ConstOctets ip_packet, RocePacket& packet) {
  packet = RocePacket{};
  if (ip_packet.empty()) return CodecVerdict::truncated;
  UdpPart udp;
  const CodecVerdict ip = is_ipv6(ip_packet.data()) ? decode_ipv6(ip_packet, packet, udp)
                                                    : decode_ipv4(ip_packet, packet, udp);
  if (ip != CodecVerdict::ok) return ip;
  const CodecVerdict verdict = decode_udp(ip_packet, udp, packet);
  if (verdict != CodecVerdict::ok) return verdict;
  return decode_transport(ip_packet.subspan(udp.offset + kUdpHeader), udp.length - kUdpHeader,
                          packet);
}

uint32_t roce_icrc(ConstOctets covered, size_t zeros) {
  constexpr size_t kLocalRoute = 8;  // in place of InfiniBand's local route header
  constexpr size_t kLongestIpHeader = 60;
  std::array<uint8_t, kLocalRoute + kLongestIpHeader + kUdpHeader + kBthHeader> head;
  const size_t ip_header =
      is_ipv6(covered.data()) ? kIpv6Header : static_cast<size_t>(covered[0] & 0x0f) * 4;
  const size_t headers = ip_header + kUdpHeader + kBthHeader;
  ASSERT(covered.size() >= headers);
  std::fill_n(head.begin(), kLocalRoute, uint8_t{0xff});
  put(Octets(head).subspan(kLocalRoute), covered.first(headers));
  uint8_t* ip = head.data() + kLocalRoute;
  mask_ip(ip);
  std::fill_n(ip + ip_header + 6, 2, uint8_t{0xff});  // UDP checksum
  ip[ip_header + kUdpHeader + 4] = 0xff;              // FECN, BECN and resv8a
  Crc32 crc;
  crc.add(ConstOctets(head).first(kLocalRoute + headers));
  crc.add(covered.subspan(headers));
  crc.add_zeros(zeros);
  return crc.value();
}

bool icrc_ok(ConstOctets ip_packet) {
  const size_t covered = ip_packet.size() - kIcrc;
  const uint32_t sent = __builtin_bswap32(load_be32(ip_packet.data() + covered));
  return roce_icrc(ip_packet.first(covered), 0) == sent;
}

}  // namespace eddy
