#include "lab/results/tenant_tables.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace eddy::lab {
namespace {

struct Column {
  std::string_view head;
  std::string_view key;
  double scale = 1;
};
constexpr std::array<Column, 8> kColumns = {{{"unfinished", "unfinished"},
                                             {"FCT mean us", "fct_mean_us"},
                                             {"FCT p99 us", "fct_p99_us"},
                                             {"slowdown p50", "slowdown_p50"},
                                             {"slowdown p99", "slowdown_p99"},
                                             {"OOO %", "ooo_ratio", 100},
                                             {"Gb/s", "goodput_gbps"},
                                             {"fairness", "fairness"}}};
constexpr std::array<Column, 6> kFlowColumns = {{{"slowdown mean", "slowdown_mean"},
                                                 {"p99 below 100 kB", "short_slowdown_p99"},
                                                 {"slowdown p99", "slowdown_p99"},
                                                 {"FCT p99 us", "fct_p99_us"},
                                                 {"OOO %", "ooo_ratio", 100},
                                                 {"unfinished", "unfinished"}}};
constexpr std::array<Column, 6> kRequestColumns = {{{"unfinished", "requests_unfinished"},
                                                    {"mean us", "request_mean_us"},
                                                    {"p50 us", "request_p50_us"},
                                                    {"p99 us", "request_p99_us"},
                                                    {"max us", "request_max_us"},
                                                    {"slowdown", "request_slowdown_mean"}}};

std::vector<double> values(const VariantRuns& variant, const std::string& tenant,
                           std::string_view key, double scale = 1) {
  return values_of(variant.runs, tenant + "." + std::string(key), scale);
}

bool has_requests(const VariantRuns& variant, const std::string& tenant) {
  const std::vector<double> counts = values(variant, tenant, "requests");
  return std::ranges::any_of(counts, [](double count) { return count > 0; });
}

template <class Columns>
void add_row(CellTable& table, const VariantRuns& variant, const std::string& tenant,
             std::string_view count, const Columns& columns) {
  std::vector<double> counts = values(variant, tenant, count);
  if (counts.empty()) return;
  std::vector<Cell>& row = table.rows.emplace_back();
  row = {label_cell(shown(variant.name)), label_cell(tenant), mean_cell(std::move(counts))};
  for (const Column& column : columns)
    row.push_back(estimate_cell(values(variant, tenant, column.key, column.scale)));
}

template <class Columns>
CellTable headed(std::vector<std::string> head, const Columns& columns) {
  for (const Column& column : columns) head.emplace_back(column.head);
  return {.head = std::move(head), .rows = {}};
}

ComparedKey compared(const std::string& tenant, const Column& column, std::string_view what = "") {
  return {tenant + ": " + std::string(what) + std::string(column.head),
          tenant + "." + std::string(column.key), column.scale};
}

void add_request_keys(const std::string& tenant, const std::vector<VariantRuns>& variants,
                      std::vector<ComparedKey>& keys) {
  if (!std::ranges::any_of(variants, [&](const auto& each) { return has_requests(each, tenant); }))
    return;
  for (const Column& column : {kRequestColumns[1], kRequestColumns[3]})
    keys.push_back(compared(tenant, column, "requests "));
}

// The bins of one name that a tenant has in a variant's runs.
std::vector<const Json*> bins_of(const VariantRuns& variant, const std::string& tenant,
                                 size_t number) {
  std::vector<const Json*> bins;
  for (const Json* run : variant.runs) {
    if (!run->contains("tenants")) continue;
    for (const Json& each : run->at("tenants"))
      if (each.value("name", "") == tenant && each.contains("bins") &&
          number < each.at("bins").size())
        bins.push_back(&each.at("bins")[number]);
  }
  return bins;
}

}  // namespace

std::vector<std::string> tenant_names(const std::vector<VariantRuns>& variants) {
  std::vector<std::string> names;
  for (const VariantRuns& variant : variants)
    for (const Json* run : variant.runs)
      for (const Json& tenant : run->value("tenants", Json::array()))
        if (const std::string name = tenant.value("name", "");
            std::ranges::find(names, name) == names.end())
          names.push_back(name);
  return names;
}

CellTable tenant_table(const std::vector<VariantRuns>& variants) {
  CellTable table = headed({"variant", "traffic", "flows"}, kColumns);
  for (const std::string& tenant : tenant_names(variants))
    for (const VariantRuns& variant : variants) add_row(table, variant, tenant, "flows", kColumns);
  return table;
}

CellTable request_table(const std::vector<VariantRuns>& variants) {
  CellTable table = headed({"variant", "traffic", "requests"}, kRequestColumns);
  for (const std::string& tenant : tenant_names(variants))
    for (const VariantRuns& variant : variants)
      if (has_requests(variant, tenant))
        add_row(table, variant, tenant, "requests", kRequestColumns);
  return table;
}

CellTable tenant_bin_table(const std::vector<VariantRuns>& variants) {
  constexpr size_t kTenths = 10;
  CellTable table{.head = {"variant", "traffic", "flows by size", "up to octets", "slowdown mean",
                           "p50", "p95", "p99"},
                  .rows = {}};
  for (const std::string& tenant : tenant_names(variants))
    for (const VariantRuns& variant : variants)
      for (size_t i = 0; i < kTenths; ++i) {
        const std::vector<const Json*> bins = bins_of(variant, tenant, i);
        if (bins.empty()) continue;
        table.rows.push_back({label_cell(shown(variant.name)), label_cell(tenant),
                              label_cell(bins.front()->value("name", "")),
                              mean_cell(values_of(bins, "to_bytes")),
                              estimate_cell(values_of(bins, "slowdown_mean")),
                              estimate_cell(values_of(bins, "slowdown_p50")),
                              estimate_cell(values_of(bins, "slowdown_p95")),
                              estimate_cell(values_of(bins, "slowdown_p99"))});
      }
  return table;
}

std::vector<TitledTable> tenant_tables(const std::vector<VariantRuns>& variants) {
  std::vector<TitledTable> tables;
  const bool several = tenant_names(variants).size() > 1;
  if (several) tables.push_back({"By traffic item", tenant_table(variants)});
  if (CellTable requests = request_table(variants); !requests.rows.empty())
    tables.push_back({"Requests and collectives: completion time", std::move(requests)});
  return tables;
}

std::vector<ComparedKey> compared_tenant_keys(const std::vector<VariantRuns>& variants) {
  std::vector<ComparedKey> keys;
  const std::vector<std::string> names = tenant_names(variants);
  for (const std::string& tenant : names) {
    if (names.size() > 1)
      for (const Column& column : {kColumns[1], kColumns[2], kColumns[4]})
        keys.push_back(compared(tenant, column));
    add_request_keys(tenant, variants, keys);
  }
  return keys;
}

std::vector<ComparedKey> compared_keys_of(const std::string& of,
                                          const std::vector<VariantRuns>& variants) {
  std::vector<ComparedKey> keys;
  for (const Column& column : kFlowColumns) keys.push_back(compared(of, column));
  for (const std::string& tenant : tenant_names(variants)) add_request_keys(tenant, variants, keys);
  return keys;
}

}  // namespace eddy::lab
