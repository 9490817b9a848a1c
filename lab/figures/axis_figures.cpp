#include "lab/figures/axis_figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <set>
#include <sstream>

#include "lab/results/result_tables.h"
#include "lab/results/results.h"
#include "lab/results/student.h"

namespace eddy::lab {
namespace {

constexpr size_t kFewestValues = 3;

struct Metric {
  std::string_view key;
  std::string_view label;
  double scale = 1;
};
constexpr std::array<Metric, 4> kMetrics = {{{"fct_mean_us", "mean FCT [us]"},
                                             {"fct_p99_us", "99th percentile of FCT [us]"},
                                             {"ooo_ratio", "packets out of order [%]", 100},
                                             {"pfc_pause_rate", "pauses a second and port"}}};

// "load=0.6" or "size=10MB": the number in front, whatever its unit.
struct Part {
  std::string key;
  double value = 0;
};
std::optional<Part> numeric(const std::string& word) {
  const size_t equals = word.find('=');
  if (equals == std::string::npos) return std::nullopt;
  Part part{word.substr(0, equals), 0};
  const char* end = word.data() + word.size();
  if (std::from_chars(word.data() + equals + 1, end, part.value).ec != std::errc{})
    return std::nullopt;
  return part;
}

std::vector<std::string> words_of(const std::string& name) {
  std::istringstream stream(name);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

std::string axis_of(const std::vector<VariantRuns>& variants) {
  std::vector<std::string> order;
  std::map<std::string, std::set<double>> values;
  for (const VariantRuns& variant : variants)
    for (const std::string& word : words_of(variant.name))
      if (const auto part = numeric(word)) {
        if (values[part->key].empty()) order.push_back(part->key);
        values[part->key].insert(part->value);
      }
  for (const std::string& key : order)
    if (values[key].size() >= kFewestValues) return key;
  return "";
}

// A variant's place on the axis, and the series that it belongs to.
struct Place {
  std::string series;
  double at = 0;
};
std::optional<Place> place_of(const std::string& name, const std::string& axis) {
  Place place;
  bool found = false;
  for (const std::string& word : words_of(name)) {
    const auto part = numeric(word);
    if (part && part->key == axis) {
      place.at = part->value;
      found = true;
    } else {
      place.series += (place.series.empty() ? "" : " ") + word;
    }
  }
  return found ? std::optional(place) : std::nullopt;
}

Estimate estimate_of(const VariantRuns& variant, const Metric& metric) {
  std::vector<double> values;
  for (const Json* run : variant.runs)
    if (const Json value = run->value(std::string(metric.key), Json()); value.is_number())
      values.push_back(value.get<double>() * metric.scale);
  return estimate(values);
}

NamedChart chart_of(const std::vector<VariantRuns>& variants, const std::string& axis,
                    const Metric& metric) {
  std::vector<std::vector<size_t>> members;
  Chart chart{.title = std::string(metric.label),
              .x = {.label = axis, .begin = AxisBegin::data},
              .y = {.label = std::string(metric.label)},
              .series = {},
              .note = "means over seeds with their 95 % confidence intervals"};
  for (size_t i = 0; i < variants.size(); ++i) {
    const VariantRuns& variant = variants[i];
    const auto place = place_of(variant.name, axis);
    const Estimate found = estimate_of(variant, metric);
    if (!place || found.count == 0) continue;
    auto series = std::ranges::find(chart.series, place->series, &Series::name);
    if (series == chart.series.end()) {
      const size_t colour = chart.series.size();
      series = chart.series.insert(
          series, Series{.name = place->series, .points = {}, .colour = colour, .dots = true});
      members.emplace_back();
    }
    members[series->colour].push_back(i);
    series->points.push_back({place->at, found.mean, found.half_width});
  }
  for (Series& series : chart.series) std::ranges::sort(series.points, {}, &Series::Point::x);
  return {.id = fmt::format("{}_by_{}", metric.key, in_file_name(axis)),
          .chart = std::move(chart),
          .variants = std::move(members)};
}

}  // namespace

std::vector<NamedChart> axis_charts(const Json& result) {
  const std::vector<VariantRuns> variants = by_variant(result);
  const std::string axis = axis_of(variants);
  std::vector<NamedChart> charts;
  if (axis.empty()) return charts;
  for (const Metric& metric : kMetrics) charts.push_back(chart_of(variants, axis, metric));
  return charts;
}

}  // namespace eddy::lab
