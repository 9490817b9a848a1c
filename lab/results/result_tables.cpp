#include "lab/results/result_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "host/nic.h"
#include "lab/results/claims.h"
#include "lab/results/result_warnings.h"
#include "lab/results/student.h"
#include "lab/results/tenant_tables.h"

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

CellTable main_table(const std::vector<VariantRuns>& variants) {
  CellTable table{.head = {"variant", "seeds", "flows"}, .rows = {}};
  for (const Column& column : kTableColumns) table.head.emplace_back(column.head);
  for (const VariantRuns& variant : variants) {
    std::vector<Cell>& row = table.rows.emplace_back();
    row = {label_cell(shown(variant.name)),
           {CellKind::count, std::to_string(variant.runs.size()), {}},
           mean_cell(values_of(variant.runs, "flows"))};
    for (const Column& column : kTableColumns)
      row.push_back(
          estimate_cell(values_of(variant.runs, column.key, column.scale), column.counted_to));
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
      table.rows.push_back({label_cell(shown(variant.name)), label_cell(name),
                            mean_cell(values_of(bins, "flows")),
                            estimate_cell(values_of(bins, "unfinished")),
                            estimate_cell(values_of(bins, "slowdown_p50")),
                            estimate_cell(values_of(bins, "slowdown_p95")),
                            estimate_cell(values_of(bins, "slowdown_p99"))});
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
    row = {label_cell(shown(variant.name)),
           estimate_cell(values_of(variant.runs, "rlb_precision", kHundred)),
           estimate_cell(values_of(variant.runs, "rlb_recall", kHundred)),
           estimate_cell(values_of(variant.runs, "rlb_lead_us")),
           estimate_cell(values_of(variant.runs, "rlb_wait_p99_ns", 0.001))};
    for (const RlbColumn& column : kRlbColumns)
      row.push_back(estimate_cell(counters_of(variant.runs, column.counter)));
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
  for (const auto& [title, table] : tenant_tables(variants))
    out += "\n" + title + "\n\n" + aligned(texts(table));
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
