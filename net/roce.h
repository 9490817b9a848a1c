// RoCEv2: whole packets (IPv4 or IPv6, UDP 4791, BTH, extension headers, payload, ICRC).
//
// Reliable-connection opcodes up to ACK, CNP, and a selective ACK of Eddy's own; atomics and
// datagrams are refused. Lengths are
// octets. A payload may be virtual: encode_headers writes what stands before it with all lengths
// as if it followed, and the ICRC can be computed over zeros instead. Cost: the ICRC reads the
// whole packet, 8 octets a step. Source: InfiniBand 9.2-9.3, annex 17, reference D.1.
#pragma once

#include <cstdint>

#include "net/addresses.h"
#include "net/codec.h"
#include "net/ip.h"
#include "net/protocols.h"

namespace eddy {

enum class RoceOpcode : uint8_t {
  send_first = 0x00,
  send_middle = 0x01,
  send_last = 0x02,
  send_last_immediate = 0x03,
  send_only = 0x04,
  send_only_immediate = 0x05,
  write_first = 0x06,
  write_middle = 0x07,
  write_last = 0x08,
  write_last_immediate = 0x09,
  write_only = 0x0a,
  write_only_immediate = 0x0b,
  read_request = 0x0c,
  read_response_first = 0x0d,
  read_response_middle = 0x0e,
  read_response_last = 0x0f,
  read_response_only = 0x10,
  acknowledge = kBthAcknowledge,
  cnp = kBthCnp,
  selective_acknowledge = kBthSelectiveAcknowledge,
};

inline constexpr uint16_t kDefaultPartitionKey = 0xffff;
inline constexpr uint32_t kPsnMask = 0xffffff;
inline constexpr uint8_t kCnpDscp = 48;
inline constexpr uint8_t kRoceTtl = 64;

// How far a PSN is ahead of a sequence number whose last 24 bits are one: -2^23 .. 2^23 - 1.
constexpr int32_t psn_distance(uint32_t psn, uint64_t from) {
  return static_cast<int32_t>((psn - static_cast<uint32_t>(from)) << 8) >> 8;
}
constexpr uint32_t psn_after(uint32_t psn) {
  return (psn + 1) & kPsnMask;
}

struct Bth {
  RoceOpcode opcode = RoceOpcode::send_only;
  bool solicited = false;
  bool migrated = false;
  uint16_t partition_key = kDefaultPartitionKey;
  bool fecn = false;
  bool becn = false;
  uint32_t destination_qpn = 0;  // 24 bits
  bool ack_request = false;
  uint32_t psn = 0;  // 24 bits
  bool operator==(const Bth&) const = default;
};

struct Reth {
  uint64_t virtual_address = 0;
  uint32_t remote_key = 0;
  uint32_t dma_length = 0;
  bool operator==(const Reth&) const = default;
};

inline constexpr uint8_t kAethAckUnlimited = 0x1f;  // ACK without a credit limit
inline constexpr uint8_t kAethNakSequence = 0x60;

struct Aeth {
  uint8_t syndrome = kAethAckUnlimited;
  uint32_t msn = 0;  // 24 bits
  bool operator==(const Aeth&) const = default;
};

// ACK and NAK, with a bitmap or without.
constexpr bool is_reply(RoceOpcode opcode) {
  return opcode == RoceOpcode::acknowledge || opcode == RoceOpcode::selective_acknowledge;
}

// Which packets have arrived, behind the AETH of a selective ACK: 4 octets, of which the last three
// are the PSN of bit 0, and 8 of bits; bit i stands for the packet i later.
struct ArrivedBits {
  uint32_t psn = 0;  // 24 bits
  uint64_t bits = 0;
  bool operator==(const ArrivedBits&) const = default;
};

struct RocePacket {
  AddressPair addresses;
  uint8_t dscp = 0;
  uint8_t ecn = kEcnCapable0;
  uint8_t ttl = kRoceTtl;
  uint16_t identification = 0;  // IPv4 only; don't-fragment is always set
  uint16_t source_port = 0;
  Bth bth;
  Reth reth;  // only with opcodes that carry one, as the next three
  Aeth aeth;
  ArrivedBits arrived;
  uint32_t immediate = 0;
  uint32_t payload_len = 0;  // without padding to 4
  bool operator==(const RocePacket&) const = default;
};

RocePacket make_cnp(const AddressPair& addresses, uint32_t destination_qpn);
RocePacket make_ack(const AddressPair& addresses, uint32_t destination_qpn, uint32_t psn,
                    Aeth aeth);

// From the IP header to the payload, and to the end of the ICRC.
size_t roce_header_length(const RocePacket& packet);
size_t roce_packet_length(const RocePacket& packet);

// IP header, UDP, BTH and extension headers; UDP checksum 0.
size_t encode_headers(const RocePacket& packet, Octets out);
// The whole packet; payload.size() is packet.payload_len.
size_t encode(const RocePacket& packet, ConstOctets payload, Octets out);

// Reads headers only; the payload may be missing. truncated; wrong_type: not UDP to 4791, a
// fragment, IPv6 extension headers; bad_version: IP or BTH transport version; bad_length: UDP
// length against IP's, or too short for what the opcode carries; bad_checksum: IPv4 header;
// bad_value: an opcode that we do not speak.
[[nodiscard]] CodecVerdict decode(ConstOctets ip_packet, RocePacket& packet);

// The ICRC of a packet whose IP, UDP and BTH headers are all in `covered` (which ends before the
// ICRC itself), followed by `zeros` octets of virtual payload. Sent least significant octet first.
uint32_t roce_icrc(ConstOctets covered, size_t zeros);
// `ip_packet` ends with its ICRC and has decoded ok.
[[nodiscard]] bool icrc_ok(ConstOctets ip_packet);

}  // namespace eddy
