// SequenceSets: for each QP of a NIC, which sequences ahead of a moving point are in a set.
//
// A QP's set is a ring of bits: it can hold sequences less than size() apart. Owner: one Nic.
// Bounds: queue_pairs x packets bits, `packets` rounded up to a power of two, taken at
// construction. Cost: one word an operation.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

namespace eddy::host {

class SequenceSets {
 public:
  SequenceSets() = default;
  SequenceSets(size_t queue_pairs, size_t packets)
      : size_(std::bit_ceil(std::max(packets, kWordBits))),
        words_(queue_pairs * size_ / kWordBits) {}

  uint64_t size() const { return size_; }

  bool has(uint32_t qpn, uint64_t sequence) const {
    return (word(qpn, sequence) >> (sequence % kWordBits) & 1) != 0;
  }
  // False when it was in the set before.
  bool add(uint32_t qpn, uint64_t sequence) {
    if (has(qpn, sequence)) return false;
    words_[index(qpn, sequence)] |= uint64_t{1} << (sequence % kWordBits);
    return true;
  }
  // False when it was not in the set.
  bool remove(uint32_t qpn, uint64_t sequence) {
    if (!has(qpn, sequence)) return false;
    words_[index(qpn, sequence)] &= ~(uint64_t{1} << (sequence % kWordBits));
    return true;
  }

  // Those of the 64 from `from` on that are in the set: bit i is from + i.
  uint64_t bits(uint32_t qpn, uint64_t from) const {
    const auto shift = static_cast<int>(from % kWordBits);
    const uint64_t low = word(qpn, from) >> shift;
    return shift == 0 ? low : low | word(qpn, from + kWordBits) << (kWordBits - shift);
  }

 private:
  static constexpr size_t kWordBits = 64;

  size_t index(uint32_t qpn, uint64_t sequence) const {
    return (qpn * size_ + (sequence & (size_ - 1))) / kWordBits;
  }
  uint64_t word(uint32_t qpn, uint64_t sequence) const { return words_[index(qpn, sequence)]; }

  size_t size_ = 0;
  std::vector<uint64_t> words_;
};

}  // namespace eddy::host
