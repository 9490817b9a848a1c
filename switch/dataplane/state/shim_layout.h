// Where the fields of a shim are among its 32 octets, for who writes or reads only some of them.
//
// Offsets are octets from the shim's first; encode() and decode() of net/shim.h have them all.
// Source: reference 1.6.
#pragma once

#include <cstddef>
#include <cstdint>

namespace eddy::shim_at {

inline constexpr size_t kFlags = 1;
inline constexpr size_t kSource = 2;
inline constexpr size_t kDestination = 4;
inline constexpr size_t kPath = 6;
inline constexpr size_t kReportPath = 8;
inline constexpr size_t kCongestion = 10;
inline constexpr size_t kReportLoad = 11;
inline constexpr size_t kHops = 12;
inline constexpr size_t kService = 13;
inline constexpr size_t kTolerableDelay = 14;
inline constexpr size_t kSent = 16;
inline constexpr size_t kEchoed = 20;
inline constexpr size_t kHold = 24;
inline constexpr size_t kPackets = 28;
inline constexpr size_t kMarked = 29;
inline constexpr size_t kInnerEtherType = 30;

// The virtual channel, 2 bits of kHops.
constexpr uint8_t channel_of(const uint8_t* shim) {
  return shim[kHops] >> 2 & 3;
}
constexpr void put_channel(uint8_t* shim, size_t channel) {
  shim[kHops] = static_cast<uint8_t>((shim[kHops] & ~0xc) | (channel & 3) << 2);
}

}  // namespace eddy::shim_at
