// Draws: a random stream read ahead, so that looking at the next draw is free of effect and of
// branches.
//
// A scheme peeks while it proposes and takes when it commits; taking none or one is arithmetic, so
// the hot loop does not branch on what it cannot predict. Owner: one selector. Octets: 448. Cost: a
// load; 64 draws are made at a time, about 8 cycles each. Source: architecture, sections 3 and 5.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "net/ids.h"
#include "net/random.h"

namespace eddy::lb {

class Draws {
 public:
  explicit Draws(const RandomStream& stream) : stream_(stream) { stream_.fill(words_); }

  // 32 uniform bits: the same until take(true).
  uint32_t peek() const { return words_[taken_]; }

  void take(bool used) {
    taken_ += used ? 1 : 0;
    if (taken_ == kMade) [[unlikely]]
      make_more();
  }

  // The same for a burst, with its place in a register: at most kBurst are taken, and take(Ahead)
  // is told of them before anybody else takes one.
  class Ahead {
   public:
    uint32_t peek() const { return *next_; }
    void take(bool used) { next_ += used ? 1 : 0; }
    // By a mask of all bits, where none is to be taken, or of none.
    void take_unless(uint64_t kept) { next_ += 1 + static_cast<int64_t>(kept); }

   private:
    friend class Draws;
    explicit Ahead(const uint32_t* next) : next_(next) {}
    const uint32_t* next_;
  };
  Ahead ahead() const { return Ahead(&words_[taken_]); }
  void take(const Ahead& ahead) {
    taken_ = static_cast<size_t>(ahead.next_ - words_.data());
    if (taken_ >= kMade) [[unlikely]]
      make_more();
  }

  // Takes a draw below n at once; for commits that need several.
  uint32_t take_below(uint32_t n) {
    const auto draw = static_cast<uint32_t>((uint64_t{peek()} * n) >> 32);
    take(true);
    return draw;
  }

 private:
  static constexpr size_t kMade = 64;  // at a time

  [[gnu::noinline]] void make_more() {
    std::copy_n(words_.begin() + kMade, kBurst, words_.begin());
    stream_.fill(std::span(words_).subspan(kBurst));
    taken_ -= kMade;
  }

  RandomStream stream_;
  std::array<uint32_t, kMade + kBurst> words_{};  // a burst's are always there
  size_t taken_ = 0;                              // less than kMade
};

}  // namespace eddy::lb
