// PFC frames and legacy PAUSE frames, whole: 60 octets without FCS.
//
// Pause times are quanta of 512 bit times. A legacy PAUSE reads as a frame that enables all eight
// priorities with one time, so a receiver needs one way only. Source: 802.1Q clause 36, 802.3 annex
// 31B and 31D, reference C.1.
#pragma once

#include <array>
#include <cstdint>

#include "net/addresses.h"
#include "net/codec.h"
#include "net/ids.h"

namespace eddy {

inline constexpr MacAddress kPauseDestination = {{0x01, 0x80, 0xc2, 0x00, 0x00, 0x01}};
inline constexpr uint16_t kLongestPause = 0xffff;

struct PauseFrame {
  MacAddress source;
  bool legacy = false;                         // PAUSE: enabled is 0xff, all quanta are equal
  uint8_t enabled = 0;                         // bit i: quanta[i] counts
  std::array<uint16_t, kPriorities> quanta{};  // 0 with its bit set: resume

  void set(Priority priority, uint16_t time) {
    enabled = static_cast<uint8_t>(enabled | 1U << priority.index());
    quanta[priority.index()] = time;
  }
  static PauseFrame all_priorities(const MacAddress& source, uint16_t time);  // legacy
  bool operator==(const PauseFrame&) const = default;
};

size_t encode(const PauseFrame& frame, Octets out);
// truncated; wrong_type: EtherType or opcode; bad_address: not to 01:80:c2:00:00:01, or from a
// multicast address. The reserved high octet of the enable vector is ignored, as 802.1Q says.
[[nodiscard]] CodecVerdict decode(ConstOctets octets, PauseFrame& frame);

}  // namespace eddy
