// Flows by size: below and from one bandwidth-delay product, and by decades.
//
// A bin is [from, to) in octets of payload. Only measured flows count; slowdowns are of those that
// finished. Bins without a flow are left out. Cost: linear in the flows. Source: reference D.5.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "lab/run/run.h"

namespace eddy::lab {

struct SizeBin {
  std::string name;  // "< 1 BDP", "10 kB to 100 kB"
  int64_t from_bytes = 0;
  int64_t to_bytes = 0;  // 0: open
  size_t flows = 0;
  size_t unfinished = 0;
  Statistics slowdown;
};

std::vector<SizeBin> size_bins(std::span<const FlowResult> flows, int64_t bdp_bytes);

}  // namespace eddy::lab
