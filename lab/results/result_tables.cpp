#include "lab/results/result_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "host/nic.h"
#include "lab/results/claims.h"
#include "lab/results/result_warnings.h"
#include "lab/results/student.h"

namespace eddy::lab {
namespace {

struct Column {
  std::string_view head;
  std::string_view key;
  double scale = 1;
  double counted_to = 0;  // from here on values are not told apart; 0: all are
};
constexpr double kLastOod = host::Nic::kOodBuckets - 1;
constexpr std::array<Column, 10> kTableColumns = {{{"FCT mean us", "fct_mean_us"},
                                                   {"FCT p99 us", "fct_p99_us"},
                                                   {"slowdown p50", "slowdown_p50"},
                                                   {"slowdown p99", "slowdown_p99"},
                                                   {"OOO %", "ooo_ratio", 100},
                                                   {"OOD p99", "ood_p99", 1, kLastOod},
                                                   {"PFC events", "pfc_events"},
                                                   {"paused us", "pfc_paused_us"},
                                                   {"drops", "lossless_drops"},
                                                   {"unfinished", "unfinished"}}};

constexpr double kHundred = 100;

Cell label(std::string text) {
  return {CellKind::label, std::move(text), {}};
}
Cell mean(std::vector<double> values) {
  std::string text = short_number(estimate(values).mean);
  return {CellKind::mean, std::move(text), std::move(values)};
}
// "12.3 +-0.4"; without the interval when all are the same; "-": no run has a number; ">=": a value
// is `counted_to`, which stands for all above it.
Cell cell(std::vector<double> values, double counted_to = 0) {
  const Estimate found = estimate(values);
  if (found.count == 0) return {CellKind::estimate, "-", {}};
  const bool at_end = counted_to > 0 && std::ranges::max(values) >= counted_to;
  std::string out = (at_end ? ">=" : "") + short_number(found.mean);
  if (found.half_width > 0) out += " +-" + short_number(found.half_width);
  return {CellKind::estimate, std::move(out), std::move(values)};
}

// The bins of all runs of a variant that have this name.
std::vector<const Json*> bins_named(const VariantRuns& variant, const std::string& name) {
  std::vector<const Json*> bins;
  for (const Json* run : variant.runs)
    if (run->contains("bins"))
      for (const Json& bin : run->at("bins"))
        if (bin.value("name", "") == name) bins.push_back(&bin);
  return bins;
}

// Names of all bins: those of the bandwidth-delay product, then by size.
std::vector<std::string> bin_names(const std::vector<VariantRuns>& variants) {
  std::vector<std::pair<int64_t, std::string>> found;
  for (const VariantRuns& variant : variants)
    for (const Json* run : variant.runs)
      for (const Json& bin : run->value("bins", Json::array())) {
        const std::string name = bin.value("name", "");
        const bool product = name.ends_with("BDP");
        const int64_t rank =
            product ? (name.starts_with("<") ? -2 : -1) : bin.value("from_bytes", int64_t{0});
        found.emplace_back(rank, name);
      }
  std::ranges::sort(found);
  std::vector<std::string> names;
  for (const auto& [ignored, name] : found)
    if (std::ranges::find(names, name) == names.end()) names.push_back(name);
  return names;
}

struct RlbColumn {
  std::string_view head;
  std::string_view counter;
};
constexpr std::array<RlbColumn, 9> kRlbColumns = {{{"foreseen", "pfc_predicted"},
                                                   {"CNM sent", "cnm_tx_packets"},
                                                   {"relayed", "cnm_relayed_packets"},
                                                   {"warned", "path_warnings_begun"},
                                                   {"cleared", "path_warnings_cleared"},
                                                   {"expired", "path_warnings_expired"},
                                                   {"rerouted", "rlb_rerouted_packets"},
                                                   {"all warned", "rlb_all_warned_packets"},
                                                   {"suspended", "rlb_suspended_packets"}}};

std::vector<double> counters_of(const std::vector<const Json*>& runs, std::string_view name) {
  std::vector<double> values;
  for (const Json* run : runs)
    if (const Json all = run->value("counters", Json::object()); all.contains(name))
      values.push_back(all.at(std::string(name)).get<double>());
  return values;
}

}  // namespace

TextRows texts(const CellTable& table) {
  TextRows rows = {table.head};
  for (const std::vector<Cell>& from : table.rows)
    for (std::vector<std::string>& row = rows.emplace_back(); const Cell& each : from)
      row.push_back(each.text);
  return rows;
}

CellTable main_table(const std::vector<VariantRuns>& variants) {
  CellTable table{.head = {"variant", "seeds", "flows"}, .rows = {}};
  for (const Column& column : kTableColumns) table.head.emplace_back(column.head);
  for (const VariantRuns& variant : variants) {
    std::vector<Cell>& row = table.rows.emplace_back();
    row = {label(shown(variant.name)),
           {CellKind::count, std::to_string(variant.runs.size()), {}},
           mean(values_of(variant.runs, "flows"))};
    for (const Column& column : kTableColumns)
      row.push_back(cell(values_of(variant.runs, column.key, column.scale), column.counted_to));
  }
  return table;
}

CellTable bin_table(const std::vector<VariantRuns>& variants) {
  CellTable table{
      .head = {"variant", "flow size", "flows", "unfinished", "slowdown p50", "p95", "p99"},
      .rows = {}};
  for (const VariantRuns& variant : variants)
    for (const std::string& name : bin_names(variants)) {
      const std::vector<const Json*> bins = bins_named(variant, name);
      if (bins.empty()) continue;
      table.rows.push_back(
          {label(shown(variant.name)), label(name), mean(values_of(bins, "flows")),
           cell(values_of(bins, "unfinished")), cell(values_of(bins, "slowdown_p50")),
           cell(values_of(bins, "slowdown_p95")), cell(values_of(bins, "slowdown_p99"))});
    }
  return table;
}

CellTable rlb_table(const std::vector<VariantRuns>& variants) {
  CellTable table{.head = {"variant", "precision %", "recall %", "lead us", "wait p99 us"},
                  .rows = {}};
  for (const RlbColumn& column : kRlbColumns) table.head.emplace_back(column.head);
  for (const VariantRuns& variant : variants) {
    if (!variant.runs.front()->contains("rlb") || variant.runs.front()->at("rlb").is_null())
      continue;
    std::vector<Cell>& row = table.rows.emplace_back();
    row = {label(shown(variant.name)), cell(values_of(variant.runs, "rlb_precision", kHundred)),
           cell(values_of(variant.runs, "rlb_recall", kHundred)),
           cell(values_of(variant.runs, "rlb_lead_us")),
           cell(values_of(variant.runs, "rlb_wait_p99_ns", 0.001))};
    for (const RlbColumn& column : kRlbColumns)
      row.push_back(cell(counters_of(variant.runs, column.counter)));
  }
  return table;
}

std::vector<MainKey> main_keys() {
  std::vector<MainKey> keys;
  keys.reserve(kTableColumns.size());
  for (const Column& column : kTableColumns)
    keys.push_back({std::string(column.head), std::string(column.key), column.scale});
  return keys;
}

std::string text_of_result(const Json& result) {
  const std::vector<VariantRuns> variants = by_variant(result);
  std::string out = warning_lines(result, "warning: ");
  if (!out.empty()) out += "\n";
  out += fmt::format("{} ({}): {}\n", result.value("experiment", ""), result.value("size", ""),
                     result.value("title", ""));
  out += "Means over seeds +- half of the 95 % confidence interval.\n\n";
  out += aligned(texts(main_table(variants)));
  out += "\nSlowdown by flow size\n\n" + aligned(texts(bin_table(variants)));
  if (const CellTable rlb = rlb_table(variants); !rlb.rows.empty())
    out += "\nRLB\n\n" + aligned(texts(rlb));
  const Json expected = result.value("expect", Json::array());
  if (const TextRows claims = claims_rows(expected, variants); claims.size() > 1)
    out += "\nClaimed and found, the change within a seed\n\n" + aligned(claims);
  std::string words;
  for (const Json& text : expected)
    if (!parse_claim(text.get<std::string>())) words += "  " + text.get<std::string>() + "\n";
  if (!words.empty()) out += "\nExpected\n\n" + words;
  return out.ends_with('\n') ? out : out + "\n";
}

}  // namespace eddy::lab
