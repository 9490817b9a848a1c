// ARP for IPv4 over Ethernet: the 28 octets behind the Ethernet header.
//
// Source: RFC 826, RFC 5227 (probes have a zero sender address).
#pragma once

#include <cstdint>

#include "net/addresses.h"
#include "net/codec.h"

namespace eddy {

inline constexpr size_t kArpMessage = 28;

enum class ArpOperation : uint16_t { request = 1, reply = 2 };

struct ArpMessage {
  ArpOperation operation = ArpOperation::request;
  MacAddress sender_mac;
  Ipv4Address sender_ip;
  MacAddress target_mac;  // zero in a request
  Ipv4Address target_ip;
  bool operator==(const ArpMessage&) const = default;
};

size_t encode(const ArpMessage& message, Octets out);
// truncated; wrong_type: hardware or protocol other than Ethernet and IPv4; bad_length: their
// address sizes; bad_value: the operation; bad_address: a multicast sender.
[[nodiscard]] CodecVerdict decode(ConstOctets payload, ArpMessage& message);

}  // namespace eddy
