// LLDP frames: how the two ends of a fabric link learn each other's MAC address and port.
//
// We send chassis id (our MAC), port id (interface name), TTL, system name, end. Text is what the
// peer sent: up to 255 octets, not checked for printability. Source: 802.1AB clause 8, 9.
#pragma once

#include <cstdint>
#include <string_view>

#include "net/addresses.h"
#include "net/codec.h"

namespace eddy {

inline constexpr MacAddress kLldpDestination = {{0x01, 0x80, 0xc2, 0x00, 0x00, 0x0e}};
inline constexpr size_t kLldpTextLimit = 255;
inline constexpr size_t kLldpFrameLimit = 14 + 9 + 3 + kLldpTextLimit + 4 + 2 + kLldpTextLimit + 2;

struct LldpFrame {
  MacAddress source;
  MacAddress chassis;        // zero when the peer names its chassis otherwise
  std::string_view port;     // empty when the peer's port id is not text
  uint16_t ttl_seconds = 0;  // 0: the peer is shutting down
  std::string_view system_name;
  bool operator==(const LldpFrame&) const = default;
};

size_t encode(const LldpFrame& frame, Octets out);  // padded to 60 octets
// truncated; wrong_type: EtherType; bad_address: destination, or a multicast source; bad_option:
// the first three TLVs are not chassis id, port id and TTL, one of these is malformed or comes
// again, or a TLV leaves the frame. The end TLV may be missing.
[[nodiscard]] CodecVerdict decode(ConstOctets octets, LldpFrame& frame);

}  // namespace eddy
