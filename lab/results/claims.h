// Claims: what an experiment's `expect` says in numbers, beside what came out.
//
// "fct_p99_us of [scheme=drill rlb=default] against [scheme=drill rlb=off]: -72 %" claims by how
// much a key of the first variant's runs differs from that of the second's. A text of another form
// is no claim. What came out is the mean over seeds of the change within a seed, since variants of
// a seed have the same flows. Owner: the caller. Cost: linear in claims and runs.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lab/results/result_keys.h"
#include "lab/results/variants.h"

namespace eddy::lab {

struct Claim {
  // Of a run in result.json, or of its counters, or of a traffic item of it: "NAME.KEY".
  std::string key;
  std::string variant;
  std::string baseline;
  double change = 0;  // in percent
};
std::optional<Claim> parse_claim(std::string_view text);

// In percent, one value a seed that both variants have.
std::vector<double> changes(const Claim& claim, const std::vector<VariantRuns>& variants);

// A head, and a row for each claim of which both variants have run.
TextRows claims_rows(const Json& expect, const std::vector<VariantRuns>& variants);

}  // namespace eddy::lab
