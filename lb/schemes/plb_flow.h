// PlbFlow: where a flow goes and since when, as the table of `plb` keeps it.
//
// Times are nanoseconds modulo 2^32. Owner: the selector. Octets: 12, and 4 of the table's tag.
#pragma once

#include <cstdint>

#include "lb/either.h"
#include "lb/members.h"

namespace eddy::lb {

struct PlbFlow {
  static constexpr uint32_t kMoved = 1 << 16;
  uint32_t last_ns = 0;   // of its last packet
  uint32_t moved_ns = 0;  // when it took another path, if it has
  uint32_t way = 0;       // set << 6 | member, modulo 2^16; kMoved

  static uint32_t way_of(uint16_t set, MemberIndex member) {
    return static_cast<uint16_t>(set << 6 | member);
  }
  MemberIndex member() const { return way & (kMaxPaths - 1); }
  bool is_of(uint16_t set) const { return static_cast<uint16_t>(way ^ way_of(set, 0)) < kMaxPaths; }
  bool moved() const { return (way & kMoved) != 0; }
  // It was not silent for so long that it counts as new.
  bool lives(uint32_t now_ns, uint32_t life_ns) const { return now_ns - last_ns <= life_ns; }

  // Its packet goes by `to`. kept: as the ones before, and it lives; known: there were any.
  void go(uint32_t to, bool known, bool kept, uint32_t now_ns) {
    // Whether a flow has been silent for so long is what no predictor can know.
    const bool moves = known & (static_cast<uint16_t>(way) != to);
    way = either(kept, way, to | (moves ? kMoved : 0));
    moved_ns = either(kept, moved_ns, now_ns);
    last_ns = now_ns;
  }
};
static_assert(sizeof(PlbFlow) == 12 && kMaxPaths == 64);

}  // namespace eddy::lb
