// PathArrivals: before which step of time all that was given to a path has arrived, a word for each
// path, for who asks that of every packet.
//
// PathTable, which owns it, says the same to the picosecond (arrived_before) and keeps the words up
// to date. A word is found without a branch by what a flow's slot says (flow_slots.h): the path set
// modulo kRows, and the member. Where two sets would have the same row nothing in it is to be
// asked. Steps count from long before any instant that a clock shows, so that 0 is before them all:
// nothing has arrived. Owner: PathTable; the shard of a path's port writes its words, every shard
// reads them. Bounds: 8 octets for each of kRows sets and the members of the largest one; the
// pages of rows that were never written are not backed by memory. Cost: a load. Source: reference
// B.10; docs/adr/0031.
#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "lb/path_set.h"
#include "net/memory/reserved.h"
#include "net/units.h"

namespace eddy::lb {

class PathArrivals {
 public:
  static constexpr size_t kRows = 1'024;
  static constexpr int kStepBits = 12;  // of picoseconds

  // `most`: members that a set has.
  explicit PathArrivals(size_t most)
      : shift_(std::bit_width(most > 1 ? most - 1 : 0)), words_(kRows << shift_) {}

  static constexpr uint64_t step_of(Instant at) {
    return kZero + static_cast<uint64_t>(at.ps() >> kStepBits);
  }

  // What a loop over a burst keeps in registers.
  class Reader {
   public:
    Reader() = default;  // to be asked nothing
    // Steps before `now`; far more than any clock has shown: nothing has arrived.
    uint64_t ago(size_t row, MemberIndex member, uint64_t now) const {
      return now - at(row << shift_ | member);
    }
    // For who looks for many words at once: where rows begin, and what the word at a place says.
    int row_shift() const { return shift_; }
    uint64_t at(size_t place) const { return words_[place].load(std::memory_order_relaxed); }

   private:
    friend class PathArrivals;
    Reader(const std::atomic<uint64_t>* words, int shift) : words_(words), shift_(shift) {}
    const std::atomic<uint64_t>* words_ = nullptr;
    int shift_ = 0;
  };
  Reader reader() const { return {words_.begin(), shift_}; }

  // What was given before the instant has arrived; Instant{}: nothing has.
  void put(size_t row, size_t member, Instant before) {
    const uint64_t step = before == Instant{} ? 0 : step_of(before);
    words_[row << shift_ | member].store(step, std::memory_order_relaxed);
  }

 private:
  static constexpr uint64_t kZero = uint64_t{1} << 62;

  int shift_;
  Reserved<std::atomic<uint64_t>> words_;
};

}  // namespace eddy::lb
