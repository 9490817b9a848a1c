// What a result.json says, for a terminal: plain tables by variant, over seeds.
//
// Values are means over the seeds with the half width of their 95 % confidence interval. Owner: the
// caller. Cost: linear in the result. Source: reference D.5, E.0.
#pragma once

#include <string>
#include <vector>

#include "lab/result_keys.h"

namespace eddy::lab {

// The runs of one variant in a result, in the order of their seeds.
struct VariantRuns {
  std::string name;
  std::vector<const Json*> runs;
};
// In the order of the result. The result must outlive it.
std::vector<VariantRuns> by_variant(const Json& result);

std::string report(const Json& result);

// Columns between two blanks; the first one to the left, the others to the right.
std::string aligned(const std::vector<std::vector<std::string>>& rows);

}  // namespace eddy::lab
