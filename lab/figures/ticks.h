// Where an axis has its marks, and what stands at them.
//
// Pure functions. Cost: linear in the marks.
#pragma once

#include <string>
#include <vector>

namespace eddy::lab {

struct Tick {
  double at = 0;
  std::string label;  // empty: a lesser one
};

inline constexpr int kTicksWanted = 8;

// Where an axis from `low` to `high` has its marks, about `wanted` of a linear one; both ends are
// at marks or inside of them.
std::vector<Tick> ticks(double low, double high, bool logarithmic, int wanted = kTicksWanted);

}  // namespace eddy::lab
