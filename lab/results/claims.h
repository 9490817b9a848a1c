// Claims: what an experiment's `expect` says in numbers, beside what came out.
//
// A text of one of these forms is a claim; any other is words, which nobody can look up:
//
//   fct_p99_us of [scheme=drill rlb=default] against [scheme=drill rlb=off]: -72 %
//   fct_p99_us of [scheme=hula] against [scheme=ecmp]: less       (or more)
//   fct_p99_us of [scheme=hula] against [scheme=ecmp]: at most 10 %  (or at least)
//   ooo_ratio of [scheme=ecmp]: at most 0                         (or at least)
//   lossless_drops of every []: at most 0
//
// Two variants are compared by the change of the first against the second, in percent: the mean
// over seeds of the change within a seed, since variants of a seed have the same flows. A bound
// holds for each run of the variant, or of every variant whose name contains the text. Owner: the
// caller. Cost: linear in claims and runs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lab/results/result_keys.h"
#include "lab/results/student.h"
#include "lab/results/variants.h"

namespace eddy::lab {

enum class ClaimKind : uint8_t { change, less, more, at_most, at_least };
struct Claim {
  ClaimKind kind = ClaimKind::change;
  // Of a run in result.json, or of its counters, or of a traffic item of it: "NAME.KEY".
  std::string key;
  std::string variant;
  bool every = false;     // `variant` is a part of their names
  bool compares = false;  // with `baseline`; always, but with bounds of a key itself
  std::string baseline;
  double value = 0;  // in percent, or of the key itself
};
std::optional<Claim> parse_claim(std::string_view text);

enum class Verdict : uint8_t {
  holds,
  half,            // of the change or more
  less_than_half,  // but in its direction
  not_at_all,
  not_run,    // a variant has no run
  no_number,  // there are runs, but nothing to compare: no such number, or a baseline of 0
  in_words,   // nothing that could be looked up
};
std::string_view name_of(Verdict verdict);

struct JudgedClaim {
  std::string text;
  std::optional<Claim> claim;  // none: words
  // Of a comparison in percent; of a bound the run that is nearest to breaking it.
  Estimate found;
  Verdict verdict = Verdict::in_words;

  // Of a claim: "fct_p99_us", "[scheme=drill]" or "every [rlb=off]", "-72 %" or "at most 0",
  // "-40 +-4 %" or "0". found() is a dash where nothing was.
  std::string of_text() const;
  std::string claimed_text() const;
  std::string found_text() const;
};
// Every text of `expect`, in its order.
std::vector<JudgedClaim> judge_claims(const Json& expect, const std::vector<VariantRuns>& variants);

// Of a comparison in percent, one value a seed that both variants have.
std::vector<double> changes(const Claim& claim, const std::vector<VariantRuns>& variants);

// A head, and a row for each claim whose variants have run.
TextRows claims_rows(const Json& expect, const std::vector<VariantRuns>& variants);

}  // namespace eddy::lab
