// Division: which nodes of a topology run together, and for how long they can run by themselves.
//
// A switch is one partition with its hosts (a rack), so that what a window touches stays in the
// cache. Partitions meet only through lines whose delay is at least `window`, so what one does in a
// window of that length concerns the others in a later one. Where lines are short, the nodes at
// both ends are one partition, as are those that meet through it: a window must be worth what it
// costs. Ranks share the partitions out by tiers, and the threads of a rank share out what it has:
// in each tier neighbours by number go together, so that a pod of a fat tree is on one thread, and
// every one has its part of every tier. Source: architecture, section 3; decisions 0032 and 0034.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "lab/fabric/topology.h"
#include "lab/world/world_options.h"
#include "net/units.h"

namespace eddy::lab {

struct Division {
  std::vector<uint16_t> partition_of;  // by node: switches, then hosts
  size_t partitions = 1;
  Duration window{};                // that of one partition says nothing
  std::vector<size_t> tier_of;      // by partition: how far from hosts; 0 has some
  size_t threads = 1;               // of each rank
  std::vector<uint16_t> thread_of;  // by partition: which of its rank's, at first
  size_t windows_a_look = 0;        // DivisionOptions
  // By partition: 0 where there are hosts, and each line between two of them joins side 0 and side
  // 1. Empty: they have no such sides.
  std::vector<uint8_t> side_of;
  // With several ranks: who has each partition, and the least delay of a line between two ranks.
  std::vector<uint16_t> rank_of;  // by partition; empty: there is one rank
  Duration rank_window{};

  uint16_t rank_of_node(uint32_t node) const {
    return rank_of.empty() ? uint16_t{0} : rank_of[partition_of[node]];
  }
};

Division divide(const Topology& topology, const DivisionOptions& options);

}  // namespace eddy::lab
