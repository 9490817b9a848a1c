// Division: which nodes of a topology run together, and for how long they can run by themselves.
//
// A switch is one partition with its hosts (a rack), so that what a window touches stays in the
// cache. Partitions meet only through lines whose delay is at least `window`, so what one does in a
// window of that length concerns the others in a later one. Where lines are short, the nodes at
// both ends are one partition, as are those that meet through it: a window must be worth what it
// costs. Source: architecture, section 3.
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
  Duration window{};  // that of one partition says nothing
  size_t threads = 1;
};

Division divide(const Topology& topology, const DivisionOptions& options);

}  // namespace eddy::lab
