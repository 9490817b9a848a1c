// What a result.json says, for a terminal: plain tables by variant, over seeds.
//
// Values are means over the seeds with the half width of their 95 % confidence interval. Owner: the
// caller. Cost: linear in the result. Source: reference D.5, E.0.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lab/results/cells.h"
#include "lab/results/result_keys.h"
#include "lab/results/variants.h"

namespace eddy::lab {

// What is said of a result: its warnings, then its tables and the claims.
std::string text_of_result(const Json& result);

// The tables.
CellTable main_table(const std::vector<VariantRuns>& variants);
CellTable bin_table(const std::vector<VariantRuns>& variants);
CellTable rlb_table(const std::vector<VariantRuns>& variants);  // no rows: nobody has RLB
// The keys that the columns of main_table are made from.
struct MainKey {
  std::string head;
  std::string key;
  double scale = 1;
};
std::vector<MainKey> main_keys();

}  // namespace eddy::lab
