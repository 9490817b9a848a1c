// Two results, run by run: what changed from the first to the second, and whether it is more than
// chance.
//
// Runs are paired by variant and seed, since runs of a seed have the same flows; a row is the mean
// of the differences within the pairs with its 95 % confidence interval. Significance: the paired t
// test, two-sided; where all differences are the same and not 0, the sign test. p values are
// corrected by Holm's procedure for all rows that were tested, and a row is significant where the
// corrected one is below kSignificant. Units as in lab/results/result_keys.h. Owner: the caller.
// Cost: linear in the runs. Source: Student; Holm (docs/papers.md).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lab/results/result_tables.h"
#include "lab/results/student.h"

namespace eddy::lab {

inline constexpr double kSignificant = 0.05;

struct ComparedRow {
  std::string variant;
  std::string head;  // of the column in the summary
  size_t pairs = 0;
  double before = 0;  // means over the pairs
  double after = 0;
  Estimate difference;      // after - before
  std::optional<double> p;  // corrected; none: fewer than two pairs
  bool significant = false;
};
struct Comparison {
  std::vector<ComparedRow> rows;  // by variant; columns that are 0 in all pairs are left out
  std::vector<std::string> remarks;
  size_t tested = 0;
};
Comparison compare(const Json& before, const Json& after);

TextRows compared_rows(const Comparison& comparison);
std::string compared_text(const Comparison& comparison);
// For the page.
Json comparison_json(const Comparison& comparison, const std::string& before,
                     const std::string& after);

}  // namespace eddy::lab
