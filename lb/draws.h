// Draws: a random stream read ahead, so that looking at the next draw is free of effect and of
// branches.
//
// A scheme peeks while it proposes and takes when it commits; taking none or one is arithmetic, so
// the hot loop does not branch on what it cannot predict. Owner: one selector. Octets: 256. Cost: a
// load; 64 draws are made at a time, about 8 cycles each. Source: architecture, sections 3 and 5.
#pragma once

#include <array>
#include <cstdint>

#include "net/random.h"

namespace eddy::lb {

class Draws {
 public:
  explicit Draws(const RandomStream& stream) : stream_(stream) { refill(); }

  // 32 uniform bits: the same until take(true).
  uint32_t peek() const { return words_[taken_]; }

  void take(bool used) {
    taken_ += used ? 1 : 0;
    if (taken_ == words_.size()) [[unlikely]]
      refill();
  }

  // Takes a draw below n at once; for commits that need several.
  uint32_t take_below(uint32_t n) {
    const auto draw = static_cast<uint32_t>((uint64_t{peek()} * n) >> 32);
    take(true);
    return draw;
  }

 private:
  [[gnu::noinline]] void refill() {
    stream_.fill(words_);
    taken_ = 0;
  }

  RandomStream stream_;
  std::array<uint32_t, 64> words_{};
  size_t taken_ = 0;
};

}  // namespace eddy::lb
