// IPv4, IPv6, UDP and TCP headers, and the rewrites that forwarding does in place.
//
// Lengths are octets. IPv4 headers are encoded without options and decoded with them skipped.
// Cost: the in-place rewrites are a few instructions; they keep the IPv4 checksum right by RFC
// 1624. Source: RFC 791, 8200, 768, 9293, 3168.
#pragma once

#include <cstdint>
#include <cstring>

#include "net/addresses.h"
#include "net/byte_order.h"
#include "net/checksum.h"
#include "net/codec.h"
#include "net/protocols.h"

namespace eddy {

inline constexpr uint8_t kEcnNotCapable = 0;
inline constexpr uint8_t kEcnCapable1 = 1;
inline constexpr uint8_t kEcnCapable0 = 2;
inline constexpr uint8_t kEcnCongestion = 3;

// Both of one family.
struct AddressPair {
  IpAddress source;
  IpAddress destination;
  bool operator==(const AddressPair&) const = default;
};

struct Ipv4Header {
  uint8_t header_length = kIpv4Header;  // decode: with options; encode: 20
  uint8_t dscp = 0;
  uint8_t ecn = 0;
  uint16_t total_length = 0;
  uint16_t identification = 0;
  bool dont_fragment = false;
  bool more_fragments = false;
  uint16_t fragment_offset = 0;  // in units of 8 octets
  uint8_t ttl = 0;
  uint8_t protocol = 0;
  Ipv4Address source;
  Ipv4Address destination;
  bool operator==(const Ipv4Header&) const = default;
};

struct Ipv6Header {
  uint8_t dscp = 0;
  uint8_t ecn = 0;
  uint32_t flow_label = 0;  // 20 bits
  uint16_t payload_length = 0;
  uint8_t next_header = 0;
  uint8_t hop_limit = 0;
  Ipv6Address source;
  Ipv6Address destination;
  bool operator==(const Ipv6Header&) const = default;
};

struct UdpHeader {
  uint16_t source_port = 0;
  uint16_t destination_port = 0;
  uint16_t length = 0;    // header included
  uint16_t checksum = 0;  // 0: none
  bool operator==(const UdpHeader&) const = default;
};

struct TcpHeader {
  uint16_t source_port = 0;
  uint16_t destination_port = 0;
  uint32_t sequence = 0;
  uint32_t acknowledgment = 0;
  uint8_t header_length = kTcpHeader;  // decode: with options; encode: 20
  uint8_t flags = 0;                   // CWR ECE URG ACK PSH RST SYN FIN, from bit 7
  uint16_t window = 0;
  uint16_t checksum = 0;
  uint16_t urgent_pointer = 0;
  bool operator==(const TcpHeader&) const = default;
};

// Computes the header checksum.
size_t encode(const Ipv4Header& header, Octets out);
size_t encode(const Ipv6Header& header, Octets out);
size_t encode(const UdpHeader& header, Octets out);
size_t encode(const TcpHeader& header, Octets out);

// truncated, bad_version, bad_length (header length; total length below it), bad_checksum. Whether
// the packet is as long as it says is for the caller, who may hold headers only.
[[nodiscard]] CodecVerdict decode(ConstOctets packet, Ipv4Header& header);
[[nodiscard]] CodecVerdict decode(ConstOctets packet, Ipv6Header& header);   // no bad_checksum
[[nodiscard]] CodecVerdict decode(ConstOctets datagram, UdpHeader& header);  // no bad_version
[[nodiscard]] CodecVerdict decode(ConstOctets segment, TcpHeader& header);   // no bad_version

// The pseudo-header's part of a transport checksum.
uint64_t pseudo_header_sum(const AddressPair& addresses, uint8_t protocol, size_t length);

// In place, on a network header that has been parsed as valid. `ip` is its first octet.

inline bool is_ipv6(const uint8_t* ip) {
  return ip[0] >> 4 == 6;
}

inline void replace_word(uint8_t* ip, size_t offset, uint16_t word) {
  const uint16_t old_word = load_be16(ip + offset);
  store_be16(ip + 10, updated_checksum(load_be16(ip + 10), old_word, word));
  store_be16(ip + offset, word);
}

// The caller has checked that TTL or hop limit is above 1.
// RFC 1624 for the one word that loses 0x0100: the checksum gains as much, with the carry brought
// round.
inline void decrement_ipv4_ttl(uint8_t* ip) {
  --ip[8];
  auto checksum = load_raw<uint16_t>(ip + 10);
  const uint16_t lost = 1;  // 0x0100 as it lies in a little-endian load
  const bool carry = __builtin_add_overflow(checksum, lost, &checksum);
  checksum = static_cast<uint16_t>(checksum + (carry ? 1 : 0));
  std::memcpy(ip + 10, &checksum, sizeof checksum);
}
inline void decrement_ipv6_hop_limit(uint8_t* ip) {
  --ip[7];
}
inline void decrement_ttl(uint8_t* ip) {
  is_ipv6(ip) ? decrement_ipv6_hop_limit(ip) : decrement_ipv4_ttl(ip);
}

inline void mark_ipv4_ce(uint8_t* ip) {
  replace_word(ip, 0, static_cast<uint16_t>(load_be16(ip) | kEcnCongestion));
}
inline void mark_ipv6_ce(uint8_t* ip) {
  ip[1] |= kEcnCongestion << 4;
}

inline uint8_t ecn_of(const uint8_t* ip) {
  return (is_ipv6(ip) ? ip[1] >> 4 : ip[1]) & 3;
}

// Keeps the ECN bits.
inline void set_dscp(uint8_t* ip, uint8_t dscp) {
  if (is_ipv6(ip)) {
    const auto word = static_cast<uint16_t>((load_be16(ip) & 0xf03f) | dscp << 6);
    return store_be16(ip, word);
  }
  replace_word(ip, 0, static_cast<uint16_t>((load_be16(ip) & 0xff03) | dscp << 2));
}

// Congestion experienced, on either family. False, and nothing done, when the sender is not
// ECN-capable.
inline bool mark_ce(uint8_t* ip) {
  if (ecn_of(ip) == kEcnNotCapable) return false;
  is_ipv6(ip) ? mark_ipv6_ce(ip) : mark_ipv4_ce(ip);
  return true;
}

}  // namespace eddy
