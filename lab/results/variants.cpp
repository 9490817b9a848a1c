#include "lab/results/variants.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace eddy::lab {

std::vector<VariantRuns> by_variant(const Json& result) {
  std::vector<VariantRuns> variants;
  for (const Json& run : result.at("runs")) {
    const std::string name = run.value("variant", "");
    auto found = std::ranges::find(variants, name, &VariantRuns::name);
    if (found == variants.end()) found = variants.insert(variants.end(), {name, {}});
    found->runs.push_back(&run);
  }
  return variants;
}

std::string aligned(const std::vector<std::vector<std::string>>& rows) {
  std::vector<size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string out;
  for (const auto& row : rows) {
    std::string line;
    for (size_t i = 0; i < row.size(); ++i)
      line += i == 0 ? fmt::format("{:<{}}", row[i], widths[i])
                     : fmt::format("  {:>{}}", row[i], widths[i]);
    out += line + "\n";
  }
  return out;
}

std::string shown(const std::string& variant) {
  return variant.empty() ? "(only)" : variant;
}

std::string short_number(double value) {
  const double size = std::abs(value);
  constexpr double kTen = 10;
  constexpr double kHundred = 100;
  if (value == std::floor(value) && size < 1e15) return fmt::format("{:.0f}", value);
  if (size >= kHundred) return fmt::format("{:.0f}", value);
  if (size >= kTen) return fmt::format("{:.1f}", value);
  return size >= 1 ? fmt::format("{:.2f}", value) : fmt::format("{:.3g}", value);
}

Json value_of(const Json& run, std::string_view key) {
  if (const auto found = run.find(std::string(key)); found != run.end()) return *found;
  if (const auto counters = run.find("counters"); counters != run.end() && counters->contains(key))
    return counters->at(std::string(key));
  const size_t dot = key.rfind('.');
  if (dot == std::string_view::npos || !run.contains("tenants")) return {};
  for (const Json& tenant : run.at("tenants"))
    if (tenant.value("name", "") == key.substr(0, dot))
      return tenant.value(std::string(key.substr(dot + 1)), Json());
  return {};
}

std::vector<double> values_of(const std::vector<const Json*>& runs, std::string_view key,
                              double scale) {
  std::vector<double> values;
  for (const Json* run : runs) {
    const Json found = value_of(*run, key);
    if (found.is_number()) values.push_back(found.get<double>() * scale);
  }
  return values;
}

}  // namespace eddy::lab
