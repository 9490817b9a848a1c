// Draws: a random stream read ahead, so that looking at the next draw is free of effect and of
// branches.
//
// A scheme peeks while it proposes and takes when it commits; taking none or one is arithmetic, so
// the hot loop does not branch on what it cannot predict. Owner: one selector. Octets: 464. Cost: a
// load; 64 draws are made at a time, about 8 cycles each. Source: architecture, sections 3 and 5.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

#include "lb/four_words.h"
#include "net/ids.h"
#include "net/random.h"

namespace eddy::lb {

class Draws {
 public:
  explicit Draws(const RandomStream& stream) : stream_(stream) {
    stream_.fill(std::span(words_).first(kMade + kBurst));
  }

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
    // Of four packets: the next draw for each, if those take one whose bits are set.
    FourWords peek_four(unsigned taking) const {
#ifdef __AVX2__
      const auto at = [](const void* octets) {
        return _mm_loadu_si128(static_cast<const __m128i*>(octets));
      };
      return std::bit_cast<FourWords>(
          _mm256_cvtepu32_epi64(_mm_shuffle_epi8(at(next_), at(&kTurns[taking]))));
#else
      return four_by([&](size_t lane) { return uint64_t{next_[before(taking, lane)]}; });
#endif
    }
    void take_four(unsigned taking) {
      next_ += std::popcount(taking);
    }

   private:
    friend class Draws;
    static constexpr size_t before(unsigned taking, size_t lane) {
      return static_cast<size_t>(std::popcount(taking & ((1u << lane) - 1)));
    }
    // By those that take one: where each one's draw has its octets, of those of four draws.
    using Turns = std::array<uint8_t, kFour * sizeof(uint32_t)>;
    static constexpr std::array<Turns, 1u << kFour> turns_of_four() {
      std::array<Turns, 1u << kFour> turns{};
      for (unsigned taking = 0; taking < turns.size(); ++taking)
        for (size_t octet = 0; octet < turns[taking].size(); ++octet) {
          const size_t draw = before(taking, octet / sizeof(uint32_t));
          turns[taking][octet] =
              static_cast<uint8_t>(draw * sizeof(uint32_t) + octet % sizeof(uint32_t));
        }
      return turns;
    }
    static const std::array<Turns, 1u << kFour> kTurns;

    explicit Ahead(const uint32_t* next) : next_(next) {}
    const uint32_t* next_;
  };
  Ahead ahead() const {
    return Ahead(&words_[taken_]);
  }
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
    stream_.fill(std::span(words_).subspan(kBurst, kMade));
    taken_ -= kMade;
  }

  RandomStream stream_;
  // A burst's are always there; behind them is what peek_four() reads and nobody takes.
  std::array<uint32_t, kMade + kBurst + kFour - 1> words_{};
  size_t taken_ = 0;  // less than kMade
};
inline constexpr std::array<Draws::Ahead::Turns, 1u << kFour> Draws::Ahead::kTurns =
    turns_of_four();

}  // namespace eddy::lb
