// TurnList: for each path set a short cyclic list of its members, in which each stands as often as
// its weight asks.
//
// Round robin walks this list, and a weighted draw picks from it. Equal weights give a list with
// one slot for each member. Other weights are reduced by their common divisor, and to about 256
// slots where that is not enough, at least one for each member. Immutable. Octets: slots of all
// sets. Cost: one or two loads. Source: reference A.3, A.4.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "lb/buckets.h"
#include "lb/members.h"
#include "lb/path_set.h"

namespace eddy::lb {

using TurnIndex = uint16_t;

class TurnList {
 public:
  TurnList(std::span<const PathSet> sets, BucketShare share);

  std::span<const MemberIndex> of(uint16_t set) const {
    return std::span(slots_).subspan(starts_[set], starts_[set + 1u] - starts_[set]);
  }

  // The first turn at or after `from`, wrapping, of a member of `mask`; the mask is not empty.
  TurnIndex next(uint16_t set, uint32_t from, MemberMask mask) const {
    const std::span<const MemberIndex> slots = of(set);
    size_t turn = from < slots.size() ? from : from % slots.size();
    while (!contains(mask, slots[turn])) turn = turn + 1 == slots.size() ? 0 : turn + 1;
    return static_cast<TurnIndex>(turn);
  }

  // A random member of `mask`, by share; what members outside the mask would have had is spread
  // evenly over it.
  MemberIndex draw(uint16_t set, MemberMask mask, uint32_t random) const {
    const MemberIndex member = at(set, random);
    if (contains(mask, member)) [[likely]]
      return member;
    return draw_again(mask, random);
  }
  // By share, of all members; and what draw() takes instead of one that is not in the mask.
  MemberIndex at(uint16_t set, uint32_t random) const {
    const std::span<const MemberIndex> slots = of(set);
    return slots[scaled_to(random, static_cast<uint32_t>(slots.size()))];
  }
  // At least one set, and all sets have so many members, of which each has one turn, one behind the
  // other: at() is the turn. Else 0.
  uint32_t alike() const;
  static constexpr uint32_t kGolden = 0x9E3779B9;  // 2^32 / golden ratio: spreads what is left over
  static MemberIndex draw_again(MemberMask mask, uint32_t random) {
    return random_of(mask, random * kGolden);
  }

  // What draw() takes before it looks whether the member lives; for a loop that keeps it in
  // registers.
  class Cursor {
   public:
    explicit Cursor(const TurnList& turns)
        : starts_(turns.starts_.data()), slots_(turns.slots_.data()) {}
    MemberIndex at(uint16_t set, uint32_t random) const {
      const size_t start = starts_[set];
      return slots_[start + scaled_to(random, starts_[set + 1u] - static_cast<uint32_t>(start))];
    }

   private:
    const uint32_t* starts_;
    const MemberIndex* slots_;
  };

 private:
  std::vector<uint32_t> starts_;  // of each set, and one past the last
  std::vector<MemberIndex> slots_;
};

}  // namespace eddy::lb
