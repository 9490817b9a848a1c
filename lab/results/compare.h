// Two results, or two variants of one, run by run: what changed from the first to the second, and
// whether it is more than chance.
//
// Runs are paired by seed, since runs of a seed have the same flows: of two results those of the
// same variant, within one result those of a variant and of its base (base_variants.h). A row is
// the mean of the differences within the pairs, and of the changes in percent, each with its 95 %
// confidence interval. Significance: the paired t test, two-sided; where all differences are the
// same and not 0, the sign test. p values are corrected by Holm's procedure for all rows that were
// tested, and a row is significant where the corrected one is below kSignificant. Units as in
// lab/results/result_keys.h. Owner: the caller. Cost: linear in the runs. Source: Student; Holm
// (docs/papers.md).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lab/results/result_tables.h"
#include "lab/results/student.h"
#include "net/result.h"

namespace eddy::lab {

inline constexpr double kSignificant = 0.05;

struct ComparedRow {
  std::string variant;
  std::string base;  // the variant that it is compared with; of two results: the same
  std::string head;  // of the column in the summary
  std::string key;   // as value_of() knows it
  size_t pairs = 0;
  double before = 0;  // means over the pairs
  double after = 0;
  Estimate difference;      // after - before
  Estimate change;          // the same in percent of before; no pairs: before is 0 in one
  std::optional<double> p;  // corrected; none: fewer than two pairs, or 0 in all
  bool significant = false;
};
struct Comparison {
  std::vector<ComparedRow> rows;  // by variant
  std::vector<std::string> remarks;
  size_t tested = 0;
  std::string base;  // within one result: the words that variants are compared with
};
// What is compared. Without an item: the columns of the summary and of every traffic item; what is
// 0 in all pairs is left out. With one: what happens to its flows, requests, pauses by kind, drops.
struct CompareWhat {
  std::string item;
};
Comparison compare(const Json& before, const Json& after);
Result<Comparison> compare(const Json& before, const Json& after, const CompareWhat& what);
Result<Comparison> compare_within(const Json& result, const std::string& base,
                                  const CompareWhat& what);

TextRows compared_rows(const Comparison& comparison);
std::string compared_text(const Comparison& comparison);
// A row a variant, a column a number that is compared: its change in percent with its interval.
TextRows wide_rows(const Comparison& comparison);
std::string wide_text(const Comparison& comparison, bool markdown);
// For the page and for scripts.
Json comparison_json(const Comparison& comparison, const std::string& before,
                     const std::string& after);

}  // namespace eddy::lab
