// The Internet checksum and CRC-32.
//
// Sums are kept unfolded in 64 bits so that parts can be added in any order; a part of odd length
// must be the last. Checksums are host-order values. Cost: 4 octets a step for the sum, 8 octets a
// step for the CRC. Source: RFC 1071, RFC 1624 (eqn. 3), 802.3 clause 3.2.9.
#pragma once

#include <cstdint>

#include "net/codec.h"

namespace eddy {

// The ones' complement sum of big-endian words so far, plus `octets`.
uint64_t add_to_sum(uint64_t sum, ConstOctets octets);
// The checksum field that makes a packet with this sum valid.
uint16_t checksum_of_sum(uint64_t sum);

inline uint16_t internet_checksum(ConstOctets octets) {
  return checksum_of_sum(add_to_sum(0, octets));
}
// True for octets that contain their own valid checksum.
inline bool checksum_ok(uint64_t sum) {
  return checksum_of_sum(sum) == 0;
}

// The checksum after one 16-bit word of what it covers has changed.
constexpr uint16_t updated_checksum(uint16_t checksum, uint16_t old_word, uint16_t new_word) {
  uint32_t sum = static_cast<uint16_t>(~checksum) + static_cast<uint16_t>(~old_word) +
                 static_cast<uint32_t>(new_word);
  sum = (sum & 0xffff) + (sum >> 16);
  sum = (sum & 0xffff) + (sum >> 16);
  return static_cast<uint16_t>(~sum);
}

// CRC-32 of Ethernet, fed in pieces. value() is sent least significant octet first.
class Crc32 {
 public:
  void add(ConstOctets octets);
  void add_zeros(size_t count);
  uint32_t value() const { return ~state_; }

 private:
  uint32_t state_ = ~uint32_t{0};
};

// The frame check sequence of a frame, as its four octets on the wire read as a little-endian word.
uint32_t frame_check_sequence(ConstOctets frame);

}  // namespace eddy
