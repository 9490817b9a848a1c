// A counter-based random stream: the same (seed, entity, purpose) gives the same words everywhere.
//
// Two streams that differ in any of the three are independent, so adding a consumer never shifts
// another's draws. Philox4x32-10: key = seed, counter = (block, entity, purpose). A stream is a
// 48-byte value with one owner; copying it copies its future. Period 2^66 words. Cost: a block of 4
// words is about 30 cycles, next() otherwise a load. Source: Philox.
#pragma once

#include <cstdint>
#include <span>

#include "net/philox_blocks.h"

namespace eddy {

class RandomStream {
 public:
  RandomStream(uint64_t seed, uint32_t entity, uint32_t purpose)
      : seed_(seed), entity_(entity), purpose_(purpose) {}

  uint32_t next() {
    if (used_ == kBlockWords) refill();
    return words_[used_++];
  }

  // The next words, all at once; for streams read ahead.
  void fill(std::span<uint32_t> out) {
    size_t done = 0;
    for (; used_ == kBlockWords && out.size() - done >= detail::kPhiloxWords;
         done += detail::kPhiloxWords, block_ += detail::kPhiloxWords / kBlockWords)
      detail::philox_blocks({seed_, entity_, purpose_}, block_, out.data() + done);
    for (; done < out.size(); ++done) out[done] = next();
  }

  uint64_t next64() {
    const uint64_t high = next();
    return high << 32 | next();
  }

  // Uniform in [0, n), n > 0, by multiply-shift. Some values are one draw in 2^32 likelier than
  // others: the relative bias is below n / 2^32, which 2^32 draws would be needed to see.
  uint32_t below(uint32_t n) {
    return static_cast<uint32_t>((static_cast<uint64_t>(next()) * n) >> 32);
  }

 private:
  static constexpr uint32_t kBlockWords = detail::kPhiloxBlockWords;

  void refill() {
    detail::philox_block({seed_, entity_, purpose_}, block_++, words_);
    used_ = 0;
  }

  uint64_t seed_;
  uint64_t block_ = 0;
  uint32_t entity_;
  uint32_t purpose_;
  uint32_t words_[kBlockWords] = {};
  uint32_t used_ = kBlockWords;
};

}  // namespace eddy
