#include "net/ip.h"

#include <algorithm>

namespace eddy {
namespace {

constexpr uint16_t kDontFragment = 0x4000;
constexpr uint16_t kMoreFragments = 0x2000;
constexpr uint16_t kOffsetMask = 0x1fff;

Ipv6Address load_ipv6(const uint8_t* at) {
  Ipv6Address address;
  std::copy_n(at, address.octets.size(), address.octets.begin());
  return address;
}

}  // namespace

size_t encode(const Ipv4Header& header, Octets out) {
  ASSERT(out.size() >= kIpv4Header && header.header_length == kIpv4Header);
  uint8_t* ip = out.data();
  ip[0] = 0x45;
  ip[1] = static_cast<uint8_t>(header.dscp << 2 | (header.ecn & 3));
  store_be16(ip + 2, header.total_length);
  store_be16(ip + 4, header.identification);
  store_be16(ip + 6, static_cast<uint16_t>((header.dont_fragment ? kDontFragment : 0) |
                                           (header.more_fragments ? kMoreFragments : 0) |
                                           (header.fragment_offset & kOffsetMask)));
  ip[8] = header.ttl;
  ip[9] = header.protocol;
  store_be16(ip + 10, 0);
  store_be32(ip + 12, header.source.value);
  store_be32(ip + 16, header.destination.value);
  store_be16(ip + 10, internet_checksum(out.first(kIpv4Header)));
  return kIpv4Header;
}

CodecVerdict decode(ConstOctets packet, Ipv4Header& header) {
  header = Ipv4Header{};
  if (packet.size() < kIpv4Header) return CodecVerdict::truncated;
  const uint8_t* ip = packet.data();
  if (ip[0] >> 4 != 4) return CodecVerdict::bad_version;
  header.header_length = static_cast<uint8_t>((ip[0] & 0x0f) * 4);
  header.total_length = load_be16(ip + 2);
  if (header.header_length < kIpv4Header) return CodecVerdict::bad_length;
  if (header.total_length < header.header_length) return CodecVerdict::bad_length;
  if (packet.size() < header.header_length) return CodecVerdict::truncated;
  if (!checksum_ok(add_to_sum(0, packet.first(header.header_length))))
    return CodecVerdict::bad_checksum;
  const uint16_t fragment = load_be16(ip + 6);
  header.dscp = ip[1] >> 2;
  header.ecn = ip[1] & 3;
  header.identification = load_be16(ip + 4);
  header.dont_fragment = (fragment & kDontFragment) != 0;
  header.more_fragments = (fragment & kMoreFragments) != 0;
  header.fragment_offset = fragment & kOffsetMask;
  header.ttl = ip[8];
  header.protocol = ip[9];
  header.source.value = load_be32(ip + 12);
  header.destination.value = load_be32(ip + 16);
  return CodecVerdict::ok;
}

size_t encode(const Ipv6Header& header, Octets out) {
  ASSERT(out.size() >= kIpv6Header);
  uint8_t* ip = out.data();
  const uint32_t traffic_class = static_cast<uint32_t>(header.dscp << 2 | (header.ecn & 3));
  store_be32(ip, 6U << 28 | traffic_class << 20 | (header.flow_label & 0xfffff));
  store_be16(ip + 4, header.payload_length);
  ip[6] = header.next_header;
  ip[7] = header.hop_limit;
  put(out.subspan(8), header.source.octets);
  put(out.subspan(24), header.destination.octets);
  return kIpv6Header;
}

CodecVerdict decode(ConstOctets packet, Ipv6Header& header) {
  header = Ipv6Header{};
  if (packet.size() < kIpv6Header) return CodecVerdict::truncated;
  const uint8_t* ip = packet.data();
  if (ip[0] >> 4 != 6) return CodecVerdict::bad_version;
  const uint32_t first = load_be32(ip);
  header.dscp = static_cast<uint8_t>(first >> 22 & 0x3f);
  header.ecn = static_cast<uint8_t>(first >> 20 & 3);
  header.flow_label = first & 0xfffff;
  header.payload_length = load_be16(ip + 4);
  header.next_header = ip[6];
  header.hop_limit = ip[7];
  header.source = load_ipv6(ip + 8);
  header.destination = load_ipv6(ip + 24);
  return CodecVerdict::ok;
}

size_t encode(const UdpHeader& header, Octets out) {
  ASSERT(out.size() >= kUdpHeader);
  store_be16(&out[0], header.source_port);
  store_be16(&out[2], header.destination_port);
  store_be16(&out[4], header.length);
  store_be16(&out[6], header.checksum);
  return kUdpHeader;
}

CodecVerdict decode(ConstOctets datagram, UdpHeader& header) {
  header = UdpHeader{};
  if (datagram.size() < kUdpHeader) return CodecVerdict::truncated;
  header.source_port = load_be16(&datagram[0]);
  header.destination_port = load_be16(&datagram[2]);
  header.length = load_be16(&datagram[4]);
  header.checksum = load_be16(&datagram[6]);
  return header.length < kUdpHeader ? CodecVerdict::bad_length : CodecVerdict::ok;
}

size_t encode(const TcpHeader& header, Octets out) {
  ASSERT(out.size() >= kTcpHeader && header.header_length == kTcpHeader);
  store_be16(&out[0], header.source_port);
  store_be16(&out[2], header.destination_port);
  store_be32(&out[4], header.sequence);
  store_be32(&out[8], header.acknowledgment);
  out[12] = kTcpHeader / 4 << 4;
  out[13] = header.flags;
  store_be16(&out[14], header.window);
  store_be16(&out[16], header.checksum);
  store_be16(&out[18], header.urgent_pointer);
  return kTcpHeader;
}

CodecVerdict decode(ConstOctets segment, TcpHeader& header) {
  header = TcpHeader{};
  if (segment.size() < kTcpHeader) return CodecVerdict::truncated;
  header.source_port = load_be16(&segment[0]);
  header.destination_port = load_be16(&segment[2]);
  header.sequence = load_be32(&segment[4]);
  header.acknowledgment = load_be32(&segment[8]);
  header.header_length = static_cast<uint8_t>((segment[12] >> 4) * 4);
  header.flags = segment[13];
  header.window = load_be16(&segment[14]);
  header.checksum = load_be16(&segment[16]);
  header.urgent_pointer = load_be16(&segment[18]);
  return header.header_length < kTcpHeader ? CodecVerdict::bad_length : CodecVerdict::ok;
}

uint64_t pseudo_header_sum(const AddressPair& addresses, uint8_t protocol, size_t length) {
  const size_t skipped = addresses.source.is_v4() ? 12 : 0;
  const uint64_t sum = protocol + uint64_t{length};
  return add_to_sum(add_to_sum(sum, ConstOctets(addresses.source.octets()).subspan(skipped)),
                    ConstOctets(addresses.destination.octets()).subspan(skipped));
}

}  // namespace eddy
