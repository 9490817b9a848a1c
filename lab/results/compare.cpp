#include "lab/results/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "lab/results/tenant_tables.h"

namespace eddy::lab {
namespace {

struct Pair {
  const Json* before = nullptr;
  const Json* after = nullptr;
};

uint64_t seed_of(const Json& run) {
  return run.value("seed", uint64_t{0});
}

std::vector<Pair> pairs_of(const VariantRuns& before, const VariantRuns& after) {
  std::vector<Pair> pairs;
  for (const Json* run : before.runs)
    for (const Json* other : after.runs)
      if (seed_of(*run) == seed_of(*other)) pairs.push_back({run, other});
  return pairs;
}

// Two-sided, of the mean of `differences`; what it needs is there.
double p_value(const std::vector<double>& differences, const Estimate& found) {
  const size_t degrees = found.count - 1;
  if (found.half_width > 0) {
    const double error = found.half_width / student_t_975(degrees);
    return student_p(found.mean / error, degrees);
  }
  if (found.mean == 0) return 1;
  return std::min(1.0, 2 * std::pow(0.5, static_cast<double>(differences.size())));
}

void add_row(Comparison& out, const std::string& variant, const std::vector<Pair>& pairs,
             const MainKey& column) {
  std::vector<double> differences;
  ComparedRow row{.variant = shown(variant), .head = column.head, .difference = {}, .p = {}};
  bool all_zero = true;
  for (const Pair& pair : pairs) {
    const std::vector<double> values =
        values_of({pair.before, pair.after}, column.key, column.scale);
    if (values.size() != 2) continue;
    differences.push_back(values[1] - values[0]);
    row.before += values[0];
    row.after += values[1];
    all_zero &= values[0] == 0 && values[1] == 0;
  }
  if (differences.empty() || all_zero) return;
  row.pairs = differences.size();
  row.before /= static_cast<double>(row.pairs);
  row.after /= static_cast<double>(row.pairs);
  row.difference = estimate(differences);
  if (row.pairs >= 2) row.p = p_value(differences, row.difference);
  out.rows.push_back(std::move(row));
}

// Holm's procedure: of n p values the i-th smallest, from 0, is multiplied by n - i, and none falls
// below one that is smaller before the correction.
void correct_p_values(Comparison& comparison) {
  std::vector<ComparedRow*> tested;
  for (ComparedRow& row : comparison.rows)
    if (row.p) tested.push_back(&row);
  std::ranges::stable_sort(tested, {}, [](const ComparedRow* row) { return *row->p; });
  double least = 0;
  for (size_t i = 0; i < tested.size(); ++i) {
    least = std::max(least, std::min(1.0, *tested[i]->p * static_cast<double>(tested.size() - i)));
    tested[i]->p = least;
    tested[i]->significant = least < kSignificant;
  }
  comparison.tested = tested.size();
}

std::string only_in(const std::set<std::string>& names, std::string_view which) {
  std::string list;
  for (const std::string& name : names) list += (list.empty() ? "[" : ", [") + shown(name) + "]";
  return names.empty() ? "" : fmt::format("Only in the {}: {}.", which, list);
}

struct PairCounts {
  size_t pairs = 0;
  size_t other_flows = 0;  // pairs whose runs had different flows
  size_t same_run = 0;     // pairs whose runs are the same, event for event
  size_t single = 0;       // runs that only one of the two results has
};

void add_remarks(Comparison& out, const Json& before, const Json& after, const PairCounts& counts) {
  const auto differ = [&](const char* key) {
    return before.value(key, "") != after.value(key, "");
  };
  if (differ("experiment") || differ("size"))
    out.remarks.push_back(fmt::format("These are different experiments: {} ({}) and {} ({}).",
                                      before.value("experiment", ""), before.value("size", ""),
                                      after.value("experiment", ""), after.value("size", "")));
  if (counts.other_flows > 0)
    out.remarks.push_back(
        fmt::format("{} of {} pairs had different flows: their differences are of the flows, too.",
                    counts.other_flows, counts.pairs));
  if (counts.same_run > 0)
    out.remarks.push_back(fmt::format("{} of {} pairs are the same run, event for event.",
                                      counts.same_run, counts.pairs));
  if (counts.single > 0)
    out.remarks.push_back(
        fmt::format("{} runs have no other of their seed to be paired with.", counts.single));
}

void count_pairs(PairCounts& counts, const std::vector<Pair>& pairs) {
  const auto same = [](const Pair& pair, const char* key) {
    return pair.before->value(key, "") == pair.after->value(key, "");
  };
  counts.pairs += pairs.size();
  for (const Pair& pair : pairs) {
    counts.other_flows += same(pair, "trace_digest") ? 0 : 1;
    counts.same_run += same(pair, "digest") && !pair.before->value("digest", "").empty() ? 1 : 0;
  }
}

std::string p_text(const ComparedRow& row) {
  constexpr double kLeastShown = 0.001;
  if (!row.p) return "-";
  return *row.p < kLeastShown ? "< 0.001" : fmt::format("{:.3f}", *row.p);
}

std::string signed_number(double value) {
  return (value > 0 ? "+" : "") + short_number(value);
}

}  // namespace

Comparison compare(const Json& before, const Json& after) {
  const std::vector<VariantRuns> first = by_variant(before);
  const std::vector<VariantRuns> second = by_variant(after);
  Comparison out;
  PairCounts counts;
  std::set<std::string> only_first;
  std::set<std::string> only_second;
  for (const VariantRuns& variant : second) only_second.insert(variant.name);
  for (const VariantRuns& variant : first) {
    const auto other = std::ranges::find(second, variant.name, &VariantRuns::name);
    if (other == second.end()) {
      only_first.insert(variant.name);
      continue;
    }
    only_second.erase(variant.name);
    const std::vector<Pair> pairs = pairs_of(variant, *other);
    count_pairs(counts, pairs);
    counts.single += variant.runs.size() + other->runs.size() - 2 * pairs.size();
    for (const MainKey& column : main_keys()) add_row(out, variant.name, pairs, column);
    for (const ComparedKey& key : compared_tenant_keys(first))
      add_row(out, variant.name, pairs, {.head = key.head, .key = key.key});
  }
  correct_p_values(out);
  add_remarks(out, before, after, counts);
  for (const std::string& said : {only_in(only_first, "first"), only_in(only_second, "second")})
    if (!said.empty()) out.remarks.push_back(said);
  return out;
}

TextRows compared_rows(const Comparison& comparison) {
  constexpr double kPercent = 100;
  TextRows rows = {{"variant", "of", "seeds", "before", "after", "difference", "%", "p", ""}};
  for (const ComparedRow& row : comparison.rows) {
    std::string difference = signed_number(row.difference.mean);
    if (row.difference.half_width > 0)
      difference += " +-" + short_number(row.difference.half_width);
    rows.push_back({row.variant, row.head, std::to_string(row.pairs), short_number(row.before),
                    short_number(row.after), difference,
                    row.before == 0
                        ? "-"
                        : fmt::format("{:+.1f}", row.difference.mean / row.before * kPercent),
                    p_text(row), row.significant ? "*" : ""});
  }
  return rows;
}

std::string compared_text(const Comparison& comparison) {
  std::string out =
      "Differences within a variant and seed, the mean +- half of its 95 % confidence interval.\n";
  out += fmt::format(
      "* significant: paired t test, p below {} after Holm's correction for {} comparisons.\n\n",
      kSignificant, comparison.tested);
  out += aligned(compared_rows(comparison));
  for (const std::string& said : comparison.remarks) out += "\n" + said;
  return out.ends_with('\n') ? out : out + "\n";
}

Json comparison_json(const Comparison& comparison, const std::string& before,
                     const std::string& after) {
  Json rows = Json::array();
  const TextRows found = compared_rows(comparison);
  for (size_t i = 1; i < found.size(); ++i)
    rows.push_back({{"v", -1},
                    {"s", ""},
                    {"t", found[i]},
                    {"significant", comparison.rows[i - 1].significant}});
  return {{"before", before},
          {"after", after},
          {"tested", comparison.tested},
          {"level", kSignificant},
          {"remarks", comparison.remarks},
          {"table",
           {{"id", "compare"},
            {"title", "Differences"},
            {"note", "within a variant and seed: the mean and half of its 95 % interval"},
            {"head", found.front()},
            {"rows", std::move(rows)}}}};
}

}  // namespace eddy::lab
