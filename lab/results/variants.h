// VariantRuns: the runs of a result by variant, and what tables say of them: names, numbers, rows.
//
// Owner: the caller; runs point into the result. Cost: linear in the result.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lab/results/result_keys.h"

namespace eddy::lab {

// The runs of one variant in a result, in the order of their seeds.
struct VariantRuns {
  std::string name;
  std::vector<const Json*> runs;
};
// In the order of the result. The result must outlive it.
std::vector<VariantRuns> by_variant(const Json& result);

using TextRows = std::vector<std::vector<std::string>>;
// Columns between two blanks; the first one to the left, the others to the right.
std::string aligned(const TextRows& rows);

// A variant's name in a table.
std::string shown(const std::string& variant);
// As few digits as are worth reading.
std::string short_number(double value);
// Of a run: a key of its own, a counter, or a key of a traffic item: "NAME.KEY". Null: it has none.
Json value_of(const Json& run, std::string_view key);
// The values of a key (as value_of() knows it) in runs that have a number there, times `scale`.
std::vector<double> values_of(const std::vector<const Json*>& runs, std::string_view key,
                              double scale = 1);

}  // namespace eddy::lab
