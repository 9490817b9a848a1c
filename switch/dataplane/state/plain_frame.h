// The short way into a frame: whole UDP datagrams over IPv4 without options or IPv6 without
// extension headers, to one MAC, untagged, tagged once or behind a shim; and feedback of paths.
//
// A kind of frame is a row of masked octets that all its frames share, so that one comparison tells
// that EtherType, version, fragment and protocol are right and the frame is to us, from one
// station. What is left are lengths, checksum, TTL and addresses; whoever fails here is nobody's
// fault yet: parse_frame() says what it is. What both read of a frame is the same, which tests hold
// side by side. Input is hostile, `data_len` and `wire_len` as for parse_frame(). Source: as
// net/parse.h.
#pragma once

#include <array>
#include <cstdint>

#include "net/addresses.h"
#include "net/byte_order.h"
#include "net/hash.h"
#include "net/packet.h"
#include "net/parse.h"
#include "net/protocols.h"
#include "net/shim.h"
#include "switch/dataplane/state/octets32.h"

namespace eddy {

// What is to be read, and what is before its network header.
struct PlainInput {
  const uint8_t* frame;
  uint32_t l2_len;
  uint32_t data_len;  // at least up to the UDP header's end
  uint32_t wire_len;
  bool checked = false;  // somebody has found the IPv4 header's checksum good
};

// What it says beside what its kind says.
struct PlainFrame {
  uint64_t order_hash = 0;
  uint32_t balance_hash = 0;
  uint16_t payload_len = 0;
  uint16_t flags = 0;  // PacketFlag: what makes it RoCE
};

// The head of a kind. `from_ipv4`: exclusive or with the head of untagged IPv4.
struct PlainKind {
  Octets32 from_ipv4;
  Octets32 mask;
};

// Too short for any kind.
inline constexpr uint32_t kShortestPlain = kEthernetHeader + kIpv4Header + kUdpHeader;

namespace detail {

struct HeadParts {
  Octets32 value;
  Octets32 mask;

  constexpr HeadParts& octet(size_t at, uint8_t is, uint8_t of = 0xff) {
    value.at[at] = is;
    mask.at[at] = of;
    return *this;
  }
  // EtherType and what follows it: no options, whole, UDP; or no extension headers, UDP.
  constexpr HeadParts& ip(size_t at, bool v4) {
    type(at, v4 ? kEtherTypeIpv4 : kEtherTypeIpv6);
    const size_t header = at + 2;
    if (!v4) return octet(header, 0x60, 0xf0).octet(header + 6, kProtocolUdp);
    return octet(header, 0x45)
        .octet(header + 6, 0, 0x3f)
        .octet(header + 7, 0)
        .octet(header + 9, kProtocolUdp);
  }
  constexpr HeadParts& type(size_t at, uint16_t is) {
    return octet(at, static_cast<uint8_t>(is >> 8)).octet(at + 1, static_cast<uint8_t>(is));
  }
  // To a MAC that the port's head has, from a station's.
  constexpr HeadParts& between_stations() {
    for (size_t i = 0; i < 6; ++i) mask.at[i] = 0xff;
    return octet(6, 0, 0x01);
  }
};

inline constexpr size_t kTypeAt = 12;  // of the EtherType
constexpr Octets32 ipv4_head() {
  return HeadParts{}.between_stations().ip(kTypeAt, true).value;
}
constexpr PlainKind kind_of(const HeadParts& head) {
  return {head.value ^ ipv4_head(), head.mask};
}

}  // namespace detail

inline constexpr PlainKind kPlainIpv4 =
    detail::kind_of(detail::HeadParts{}.between_stations().ip(detail::kTypeAt, true));
inline constexpr PlainKind kPlainIpv6 =
    detail::kind_of(detail::HeadParts{}.between_stations().ip(detail::kTypeAt, false));
// Whatever is behind the tag or the shim, which carries data.
inline constexpr PlainKind kTagged =
    detail::kind_of(detail::HeadParts{}.between_stations().type(detail::kTypeAt, kEtherTypeVlan));
inline constexpr PlainKind kShimmed =
    detail::kind_of(detail::HeadParts{}
                        .between_stations()
                        .type(detail::kTypeAt, kEtherTypeShim)
                        .octet(kEthernetHeader, kShimVersion << 4));

// What a leaf tells another of its paths, to whatever MAC: control frames are not asked for it.
inline constexpr PlainKind kFeedback = detail::kind_of(
    detail::HeadParts{}
        .octet(6, 0, 0x01)
        .type(detail::kTypeAt, kEtherTypeShim)
        .octet(kEthernetHeader, kShimVersion << 4 | static_cast<uint8_t>(ShimKind::feedback)));

namespace detail {

// What an untagged frame's first 32 octets may be, in one look: as its kind has it, with a TTL that
// does not end here, and no suspect addresses (net/parse.h) as far as they stand there.
struct HeadRanges {
  Octets32 least;  // but for the MAC
  Ranges32 ranges;

  constexpr HeadRanges(const Octets32& head, const Octets32& mask) : least(head) {
    ranges.mask = mask;
  }
  constexpr void octet(size_t at, uint8_t from, uint8_t to) {
    least.at[at] = from;
    ranges.mask.at[at] = 0xff;
    ranges.span.at[at] = static_cast<uint8_t>(to - from);
  }
};

// A source's first octet is asked twice, for the second time where the octet behind it stands.
constexpr HeadRanges ipv4_ranges() {
  constexpr size_t kTtlAt = kEthernetHeader + 8;
  constexpr size_t kSourceAt = kEthernetHeader + 12;
  constexpr size_t kDestinationAt = kEthernetHeader + 16;
  HeadRanges out(ipv4_head(), kPlainIpv4.mask);
  out.octet(kTtlAt, 2, 0xff);
  out.octet(kSourceAt, 1, 223);
  out.octet(kSourceAt + 1, 128, 126);  // all but 127
  out.ranges.from.at[kSourceAt + 1] = kSourceAt % 16;
  out.octet(kDestinationAt, 128, 126);
  return out;
}
// Sources that begin with eight zeros are loopback or translated ones, which go the long way; those
// with eight ones are multicast.
constexpr HeadRanges ipv6_ranges() {
  HeadRanges out(kPlainIpv6.from_ipv4 ^ ipv4_head(), kPlainIpv6.mask);
  out.octet(kEthernetHeader + 7, 2, 0xff);
  out.octet(kEthernetHeader + 8, 1, 0xfe);
  return out;
}
inline constexpr HeadRanges kIpv4Ranges = ipv4_ranges();
inline constexpr HeadRanges kIpv6Ranges = ipv6_ranges();

}  // namespace detail

// How an untagged IPv4 frame to the MAC begins; where it may begin so or so, with the least.
constexpr Octets32 head_to(const MacAddress& mac) {
  Octets32 head = detail::kIpv4Ranges.least;
  for (size_t i = 0; i < 6; ++i) head.at[i] = mac.octets[i];
  return head;
}

// The same over IPv6, from that head.
inline Octets32 ipv6_head_of(const Octets32& head) {
  constexpr Octets32 kFromIpv4 = detail::kIpv6Ranges.least ^ detail::kIpv4Ranges.least;
  return head ^ kFromIpv4;
}

// Untagged and of the kind, and its TTL and its addresses as the short way has them: of IPv6 its
// hop limit and its source.
inline bool is_plain_ipv4(const uint8_t* frame, const Octets32& head) {
  return !strays(frame, head, detail::kIpv4Ranges.ranges);
}
inline bool is_plain_ipv6(const uint8_t* frame, const Octets32& ipv6_head) {
  return !strays(frame, ipv6_head, detail::kIpv6Ranges.ranges);
}
inline bool is_of(const PlainKind& kind, const uint8_t* frame, const Octets32& head) {
  return !differs(frame, head, kind.from_ipv4, kind.mask);
}
// From the EtherType of a network header on, 32 octets.
inline bool is_plain_behind(const uint8_t* type, bool v4) {
  constexpr detail::HeadParts kIpv4 = detail::HeadParts{}.ip(0, true);
  constexpr detail::HeadParts kIpv6 = detail::HeadParts{}.ip(0, false);
  return v4 ? !differs(type, kIpv4.value, kIpv4.mask) : !differs(type, kIpv6.value, kIpv6.mask);
}

namespace detail {

// Addresses of which some are bad, by their first octet, which is faster than to ask which.
struct SuspectOctets {
  std::array<uint8_t, 256> source{};
  std::array<uint8_t, 256> destination{};
};
constexpr SuspectOctets suspect_octets() {
  SuspectOctets out;
  for (size_t top = 0; top < 256; ++top) {
    out.source[top] = suspect_addresses(static_cast<uint8_t>(top), 1) ? 1 : 0;
    out.destination[top] = suspect_addresses(1, static_cast<uint8_t>(top)) ? 1 : 0;
  }
  return out;
}
inline constexpr SuspectOctets kSuspect = suspect_octets();

// The sum of a header without options is a multiple of 0xffff, as for ipv4_checksum_ok(): its five
// words added with the carry that comes round again.
inline bool plain_checksum_ok(const uint8_t* ip) {
  uint64_t sum;
  const bool first =
      __builtin_add_overflow(load_raw<uint64_t>(ip), load_raw<uint64_t>(ip + 12), &sum);
  const bool second =
      __builtin_add_overflow(sum, uint64_t{load_raw<uint32_t>(ip + 8)} + (first ? 1 : 0), &sum);
  return (sum + (second ? 1 : 0)) % 0xffff == 0;  // what overflowed is small: no third carry
}

inline constexpr uint32_t kLeastRoce = kUdpHeader + kBthHeader + kIcrc;
inline bool is_to_roce(const uint8_t* udp) {
  return load_raw<uint16_t>(udp + 2) == __builtin_bswap16(kRocePort);
}

// As load_be16(), in 32 bits all the way: as one of 16 the length was kept in memory and swapped on
// its way back.
inline uint32_t length_at(const uint8_t* length) {
  return __builtin_bswap32(load_raw<uint16_t>(length)) >> 16;
}

// A whole UDP header, which is there to be read, and, to RoCE's port, a BTH and what ends it. The
// network header says at `length` how many octets follow it, of which `readable` are there to be
// read, or more.
inline bool is_plain_udp_header(const uint8_t* udp, uint32_t readable, const uint8_t* length) {
  if (load_raw<uint16_t>(udp + 4) != load_raw<uint16_t>(length)) [[unlikely]]
    return false;
  const uint32_t carried = length_at(length);
  if (!is_to_roce(udp)) [[likely]]
    return carried >= kUdpHeader;
  return carried >= kLeastRoce && readable >= kUdpHeader + kBthHeader;
}

// Of such a one, whose length is `carried`.
inline void read_plain_udp(const uint8_t* udp, uint32_t carried, uint64_t address_key,
                           PlainFrame& out) {
  const auto ports = load_raw<uint32_t>(udp);
  const uint64_t tuple_hash = hash_pair(address_key, tuple_key(kProtocolUdp, ports));
  out.order_hash = tuple_hash;
  out.balance_hash = static_cast<uint32_t>(tuple_hash >> 32);
  out.payload_len = static_cast<uint16_t>(carried - kUdpHeader);
  if (!is_to_roce(udp)) return;
  const uint8_t* const bth = udp + kUdpHeader;
  const uint8_t opcode = bth[0];
  const bool control =
      opcode == kBthAcknowledge || opcode == kBthCnp || opcode == kBthSelectiveAcknowledge;
  out.order_hash = hash_pair(address_key, kRoceKey | (load_be32(bth + 4) & 0xffffff));
  out.payload_len = static_cast<uint16_t>(out.payload_len - kBthHeader);
  out.flags = static_cast<uint16_t>(kPacketRoce | (control ? kPacketRoceControl : 0));
}

}  // namespace detail

// Whether lengths and checksum are as the short way has them, of IPv4 and the UDP header behind it.
inline bool is_sound_plain_ipv4(const PlainInput& in) {
  constexpr uint32_t kHeaders = kIpv4Header + kUdpHeader;
  const uint8_t* const ip = in.frame + in.l2_len;
  const uint8_t* const udp = ip + kIpv4Header;
  const uint32_t total_len = load_be16(ip + 2);
  // Modulo 2^16: one that is too short for its header is found to be short of a UDP header.
  const auto by_udp = static_cast<uint16_t>(load_be16(udp + 4) + kIpv4Header);
  if (in.l2_len + total_len > in.wire_len || by_udp != static_cast<uint16_t>(total_len))
      [[unlikely]]
    return false;
  const bool may_be_roce = total_len >= kIpv4Header + detail::kLeastRoce &&
                           in.data_len >= in.l2_len + kHeaders + kBthHeader;
  if (!may_be_roce && (total_len < kHeaders || detail::is_to_roce(udp))) [[unlikely]]
    return false;
  return in.checked || detail::plain_checksum_ok(ip);
}
// The same and TTL and addresses, behind the head of another kind with IPv4.
inline bool is_rest_plain_ipv4(const PlainInput& in) {
  const uint8_t* const ip = in.frame + in.l2_len;
  return (detail::kSuspect.source[ip[12]] | detail::kSuspect.destination[ip[16]]) == 0 &&
         ip[8] > 1 && is_sound_plain_ipv4(in);
}
// Type of service, or traffic class.
inline uint8_t tos_of_ipv4(const uint8_t* ip) {
  return ip[1];
}
inline uint8_t tos_of_ipv6(const uint8_t* ip) {
  return static_cast<uint8_t>(load_be16(ip) >> 4);
}
// Of such a frame.
inline PlainFrame read_plain_ipv4(const uint8_t* ip) {
  PlainFrame out;
  const uint8_t* const udp = ip + kIpv4Header;
  detail::read_plain_udp(udp, load_be16(udp + 4), load_raw<uint64_t>(ip + 12), out);
  return out;
}

// The same of IPv6: whether lengths are as the short way has them, and the destination. Bad
// addresses begin with 64 zeros, or are a multicast source.
inline bool is_sound_plain_ipv6(const PlainInput& in) {
  const uint8_t* const ip = in.frame + in.l2_len;
  const uint32_t carried = detail::length_at(ip + 4);
  return load_raw<uint64_t>(ip + 24) != 0 && in.l2_len + kIpv6Header + carried <= in.wire_len &&
         detail::is_plain_udp_header(ip + kIpv6Header, in.data_len - in.l2_len - kIpv6Header,
                                     ip + 4);
}
inline bool is_rest_plain_ipv6(const PlainInput& in) {
  const uint8_t* const ip = in.frame + in.l2_len;
  const auto source = load_raw<uint64_t>(ip + 8);
  return source != 0 && ip[8] != 0xff && ip[7] > 1 && is_sound_plain_ipv6(in);
}
inline PlainFrame read_plain_ipv6(const uint8_t* ip) {
  PlainFrame out;
  detail::read_plain_udp(ip + kIpv6Header, detail::length_at(ip + 4),
                         detail::ipv6_address_key(ip + 8, ip + 24), out);
  return out;
}

}  // namespace eddy
