#include "lab/results/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "lab/results/base_variants.h"
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

// The runs of a variant and of what it is compared with.
struct Group {
  std::string variant;
  std::string base;
  std::vector<Pair> pairs;
};

// How zeros are shown: left out where only differences are of interest.
enum class Zeros : uint8_t { left_out, shown };

struct Differences {
  std::vector<double> absolute;
  std::vector<double> percent;
  bool all_zero = true;

  void add(double before, double after) {
    constexpr double kPercent = 100;
    absolute.push_back(after - before);
    if (before != 0) percent.push_back((after - before) / before * kPercent);
    all_zero &= before == 0 && after == 0;
  }
};

void add_row(Comparison& out, const Group& group, const ComparedKey& column, Zeros zeros) {
  Differences differences;
  ComparedRow row{.variant = shown(group.variant),
                  .base = shown(group.base),
                  .head = column.head,
                  .key = column.key,
                  .difference = {},
                  .change = {},
                  .p = {}};
  for (const Pair& pair : group.pairs) {
    const std::vector<double> values =
        values_of({pair.before, pair.after}, column.key, column.scale);
    if (values.size() != 2) continue;
    differences.add(values[0], values[1]);
    row.before += values[0];
    row.after += values[1];
  }
  row.pairs = differences.absolute.size();
  if (row.pairs == 0 || (differences.all_zero && zeros == Zeros::left_out)) return;
  row.before /= static_cast<double>(row.pairs);
  row.after /= static_cast<double>(row.pairs);
  row.difference = estimate(differences.absolute);
  if (differences.percent.size() == row.pairs) row.change = estimate(differences.percent);
  if (row.pairs >= 2 && !differences.all_zero)
    row.p = p_value(differences.absolute, row.difference);
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
  size_t single = 0;       // runs that only one of the two has
  size_t unfinished = 0;   // pairs that have measured flows without an end
};

void say_other_experiments(Comparison& out, const Json& before, const Json& after) {
  const auto differ = [&](const char* key) {
    return before.value(key, "") != after.value(key, "");
  };
  if (differ("experiment") || differ("size"))
    out.remarks.push_back(fmt::format("These are different experiments: {} ({}) and {} ({}).",
                                      before.value("experiment", ""), before.value("size", ""),
                                      after.value("experiment", ""), after.value("size", "")));
}

void say_counts(Comparison& out, const PairCounts& counts) {
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
  if (counts.unfinished > 0)
    out.remarks.push_back(fmt::format(
        "{} of {} pairs have flows that had not ended with the run; no mean and no percentile "
        "holds them.",
        counts.unfinished, counts.pairs));
}

void count_pairs(PairCounts& counts, const std::vector<Pair>& pairs) {
  const auto same = [](const Pair& pair, const char* key) {
    return pair.before->value(key, "") == pair.after->value(key, "");
  };
  counts.pairs += pairs.size();
  for (const Pair& pair : pairs) {
    counts.other_flows += same(pair, "trace_digest") ? 0 : 1;
    counts.same_run += same(pair, "digest") && !pair.before->value("digest", "").empty() ? 1 : 0;
    const auto left = [](const Json* run) { return run->value("unfinished", uint64_t{0}); };
    counts.unfinished += left(pair.before) + left(pair.after) > 0 ? 1 : 0;
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

// "-29.1 [-33.0, -24.2]"
std::string percent_text(const ComparedRow& row) {
  if (row.change.count == 0) return "-";
  if (row.change.count < 2) return fmt::format("{:+.1f}", row.change.mean);
  return fmt::format("{:+.1f} [{:+.1f}, {:+.1f}]", row.change.mean,
                     row.change.mean - row.change.half_width,
                     row.change.mean + row.change.half_width);
}

// Where there is nothing to be a hundred percent: both values.
std::string wide_cell(const ComparedRow& row) {
  if (row.before == 0 && row.after == 0) return "0";
  if (row.change.count == 0) return short_number(row.before) + " -> " + short_number(row.after);
  return percent_text(row) + (row.significant ? " *" : "");
}

std::string preamble(const Comparison& comparison) {
  std::string out = "Differences within a variant and seed";
  if (!comparison.base.empty())
    out = fmt::format("Differences within a seed, against the variant with [{}] in its place",
                      comparison.base);
  out += ": the mean +- half of its 95 % confidence interval.\n";
  return out + fmt::format(
                   "* significant: paired t test, p below {} after Holm's correction for {} "
                   "comparisons.\n",
                   kSignificant, comparison.tested);
}

std::string remarks_text(const Comparison& comparison) {
  std::string out;
  for (const std::string& said : comparison.remarks) out += "\n" + said;
  return out.empty() ? out : out + "\n";
}

// What is compared in pairs of one of these results.
struct Columns {
  std::vector<ComparedKey> keys;
  Zeros zeros = Zeros::left_out;
};

Result<Columns> columns_of(const std::vector<VariantRuns>& variants, const CompareWhat& what) {
  Columns columns;
  if (what.item.empty()) {
    for (const MainKey& key : main_keys()) columns.keys.push_back({key.head, key.key, key.scale});
    const std::vector<ComparedKey> more = compared_tenant_keys(variants);
    columns.keys.insert(columns.keys.end(), more.begin(), more.end());
    return columns;
  }
  const std::vector<std::string> names = tenant_names(variants);
  if (std::ranges::find(names, what.item) == names.end())
    return Result<Columns>::failure(
        fmt::format("--item {}: no traffic item is called so; there {}", what.item,
                    names.empty() ? "is none" : "are " + fmt::to_string(fmt::join(names, ", "))));
  columns.keys = compared_keys_of(what.item, variants);
  for (const auto& [head, key] :
       {std::pair<const char*, const char*>{"pauses of switches", "pfc_switch_events"},
        {"pauses of hosts", "pfc_host_events"},
        {"lossless drops", "lossless_drops"}})
    columns.keys.push_back({head, key});
  columns.zeros = Zeros::shown;
  return columns;
}

void add_group(Comparison& out, PairCounts& counts, const Group& group, const Columns& columns) {
  count_pairs(counts, group.pairs);
  for (const ComparedKey& column : columns.keys) add_row(out, group, column, columns.zeros);
}

}  // namespace

Result<Comparison> compare(const Json& before, const Json& after, const CompareWhat& what) {
  const std::vector<VariantRuns> first = by_variant(before);
  const std::vector<VariantRuns> second = by_variant(after);
  Result<Columns> columns = columns_of(first, what);
  if (!columns) return columns.problems();
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
    const Group group{variant.name, variant.name, pairs_of(variant, *other)};
    counts.single += variant.runs.size() + other->runs.size() - 2 * group.pairs.size();
    add_group(out, counts, group, *columns);
  }
  correct_p_values(out);
  say_other_experiments(out, before, after);
  say_counts(out, counts);
  for (const std::string& said : {only_in(only_first, "first"), only_in(only_second, "second")})
    if (!said.empty()) out.remarks.push_back(said);
  return out;
}

Comparison compare(const Json& before, const Json& after) {
  return *compare(before, after, {});  // without an item nothing can be missing
}

Result<Comparison> compare_within(const Json& result, const std::string& base,
                                  const CompareWhat& what) {
  const std::vector<VariantRuns> variants = by_variant(result);
  Result<Columns> columns = columns_of(variants, what);
  if (!columns) return columns.problems();
  Result<BasePairs> found = pairs_with_base(variants, base);
  if (!found) return found.problems();
  Comparison out{.rows = {}, .remarks = {}, .base = base};
  PairCounts counts;
  for (const BasePair& pair : found->pairs) {
    const Group group{pair.other->name, pair.base->name, pairs_of(*pair.base, *pair.other)};
    counts.single += pair.other->runs.size() - group.pairs.size();
    add_group(out, counts, group, *columns);
  }
  correct_p_values(out);
  say_counts(out, counts);
  const std::set<std::string> without(found->without.begin(), found->without.end());
  if (!without.empty())
    out.remarks.push_back(only_in(without, "result, without a base to be compared with"));
  return out;
}

TextRows compared_rows(const Comparison& comparison) {
  TextRows rows = {{"variant", "of", "seeds", "before", "after", "difference", "%", "p", ""}};
  for (const ComparedRow& row : comparison.rows) {
    std::string difference = signed_number(row.difference.mean);
    if (row.difference.half_width > 0)
      difference += " +-" + short_number(row.difference.half_width);
    rows.push_back({row.variant, row.head, std::to_string(row.pairs), short_number(row.before),
                    short_number(row.after), difference, percent_text(row), p_text(row),
                    row.significant ? "*" : ""});
  }
  return rows;
}

std::string compared_text(const Comparison& comparison) {
  std::string out = preamble(comparison) + "\n";
  out += aligned(compared_rows(comparison));
  return out + remarks_text(comparison);
}

TextRows wide_rows(const Comparison& comparison) {
  TextRows rows = {{"variant"}};
  std::vector<std::string>& head = rows.front();
  for (const ComparedRow& row : comparison.rows)
    if (std::ranges::find(head, row.head) == head.end()) head.push_back(row.head);
  const size_t columns = head.size();
  for (const ComparedRow& row : comparison.rows) {
    if (rows.size() == 1 || rows.back().front() != row.variant) {
      rows.emplace_back(columns, "-");
      rows.back().front() = row.variant;
    }
    const auto column = std::ranges::find(rows.front(), row.head) - rows.front().begin();
    rows.back()[static_cast<size_t>(column)] = wide_cell(row);
  }
  return rows;
}

std::string wide_text(const Comparison& comparison, bool markdown) {
  const TextRows rows = wide_rows(comparison);
  if (!markdown)
    return preamble(comparison) + "A cell is the change in percent and its interval.\n\n" +
           aligned(rows) + remarks_text(comparison);
  std::string out;
  for (size_t i = 0; i < rows.size(); ++i) {
    out += fmt::format("| {} |\n", fmt::join(rows[i], " | "));
    if (i != 0) continue;
    out += "|---|";
    for (size_t k = 1; k < rows[i].size(); ++k) out += "---:|";
    out += "\n";
  }
  return out + remarks_text(comparison);
}

namespace {

// Of what is not known null.
Json bound(const Estimate& found, double sign) {
  return found.count < 2 ? Json() : Json(found.mean + sign * found.half_width);
}

Json row_json(const ComparedRow& row) {
  return {{"variant", row.variant},
          {"base", row.base},
          {"of", row.head},
          {"key", row.key},
          {"pairs", row.pairs},
          {"before", row.before},
          {"after", row.after},
          {"difference", row.difference.mean},
          {"difference_low", bound(row.difference, -1)},
          {"difference_high", bound(row.difference, 1)},
          {"change_percent", row.change.count == 0 ? Json() : Json(row.change.mean)},
          {"change_low", bound(row.change, -1)},
          {"change_high", bound(row.change, 1)},
          {"p", row.p ? Json(*row.p) : Json()},
          {"significant", row.significant}};
}

}  // namespace

Json comparison_json(const Comparison& comparison, const std::string& before,
                     const std::string& after) {
  Json table_rows = Json::array();
  Json rows = Json::array();
  const TextRows found = compared_rows(comparison);
  for (size_t i = 1; i < found.size(); ++i) {
    const ComparedRow& row = comparison.rows[i - 1];
    table_rows.push_back({{"v", -1}, {"s", ""}, {"t", found[i]}, {"significant", row.significant}});
    rows.push_back(row_json(row));
  }
  return {{"before", before},
          {"after", after},
          {"base", comparison.base.empty() ? Json() : Json(comparison.base)},
          {"tested", comparison.tested},
          {"level", kSignificant},
          {"remarks", comparison.remarks},
          {"rows", std::move(rows)},
          {"table",
           {{"id", "compare"},
            {"title", "Differences"},
            {"note", "within a variant and seed: the mean and half of its 95 % interval"},
            {"head", found.front()},
            {"rows", std::move(table_rows)}}}};
}

}  // namespace eddy::lab
