// FlowTable: bounded state per flow, 4-way set-associative, the least recently used way replaced.
//
// Keyed by the order hash (63 bits of it; equal keys are taken for one flow). With a State of 8
// octets a set of ways is one cache line. Recency is the order of the ways, so there are no stamps
// and no ageing. Owner: the selector. Cost: one line; touch() moves up to 4 ways. Source:
// architecture, section 5 (bounded tables); reference 1.7.
#pragma once

#include <rte_prefetch.h>

#include <array>
#include <cstdint>
#include <vector>

#include "lb/members.h"

namespace eddy::lb {

template <class State>
class FlowTable {
 public:
  static constexpr size_t kWays = 4;

  explicit FlowTable(size_t flows) : sets_((flows + kWays - 1) / kWays) {}

  void prefetch(uint64_t key) const { rte_prefetch0(&sets_[index_of(key)]); }

  // nullptr when the flow is not known.
  const State* find(uint64_t key) const {
    for (const Way& way : sets_[index_of(key)].ways)
      if (way.key == (key | kInUse)) return &way.state;
    return nullptr;
  }

  // The flow's state, now the most recently used; a default one in place of the least recently used
  // when it was not known.
  State& touch(uint64_t key) {
    std::array<Way, kWays>& ways = sets_[index_of(key)].ways;
    size_t at = 0;
    while (at < kWays && ways[at].key != (key | kInUse)) ++at;
    if (at == 0) return ways[0].state;
    const Way front = at < kWays ? ways[at] : Way{key | kInUse, {}};
    for (size_t i = at < kWays ? at : kWays - 1; i > 0; --i) ways[i] = ways[i - 1];
    ways[0] = front;
    return ways[0].state;
  }

 private:
  static constexpr uint64_t kInUse = 1;  // bit of every key present
  struct Way {
    uint64_t key = 0;
    State state{};
  };
  struct alignas(64) Set {
    std::array<Way, kWays> ways{};
  };

  size_t index_of(uint64_t key) const {
    return scaled_to(static_cast<uint32_t>(key >> 32), static_cast<uint32_t>(sets_.size()));
  }

  std::vector<Set> sets_;
};

}  // namespace eddy::lb
