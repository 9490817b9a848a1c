// Within one sweep: which variant each other one is compared with.
//
// A base is a part of variants' names, such as "rlb=off". A variant is compared with the one whose
// name has the base in the place where its own has something else; where several have, with the one
// that shares most of its name. Owner: the caller; pairs point to the variants. Cost: quadratic in
// the variants.
#pragma once

#include <string_view>
#include <vector>

#include "lab/results/variants.h"
#include "net/result.h"

namespace eddy::lab {

struct BasePair {
  const VariantRuns* base = nullptr;
  const VariantRuns* other = nullptr;
};
struct BasePairs {
  std::vector<BasePair> pairs;       // in the order of the variants
  std::vector<std::string> without;  // variants that have no base
};
// A problem: no name has the part, or two bases are as near to a variant.
Result<BasePairs> pairs_with_base(const std::vector<VariantRuns>& variants, std::string_view base);

}  // namespace eddy::lab
