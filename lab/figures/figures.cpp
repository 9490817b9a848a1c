#include "lab/figures/figures.h"
#include "lab/figures/axis_figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "lab/figures/svg.h"
#include "lab/results/result_tables.h"
#include "lab/results/results.h"

namespace eddy::lab {
namespace {

namespace fs = std::filesystem;

constexpr double kNanosecondsAMicrosecond = 1e3;
constexpr double kNanosecondsAMillisecond = 1e6;
constexpr double kKib = 1024;
constexpr size_t kCurvePoints = 400;
constexpr size_t kBinsADecade = 3;
constexpr size_t kFewestFlows = 10;  // of a point in slowdown by size

std::string legend_name(const VariantData& variant) {
  return variant.name.empty() ? "all" : variant.name;
}

Series distribution(const VariantData& variant, size_t colour) {
  std::vector<double> values;
  for (const StoredRun& run : variant.runs)
    for (const StoredFlow& flow : run.flows)
      values.push_back(static_cast<double>(flow.fct_ns) / kNanosecondsAMicrosecond);
  std::ranges::sort(values);
  Series series{
      .name = legend_name(variant), .points = {}, .colour = colour, .kind = SeriesKind::steps};
  const size_t points = std::min(values.size(), kCurvePoints);
  if (points > 0) series.points.push_back({values.front(), 0});
  for (size_t i = 1; i <= points; ++i) {
    const size_t rank = i * values.size() / points;
    series.points.push_back(
        {values[rank - 1], static_cast<double>(rank) / static_cast<double>(values.size())});
  }
  return series;
}

// Slowdowns by the logarithm of the size.
std::map<int64_t, std::vector<double>> by_size(const VariantData& variant) {
  std::map<int64_t, std::vector<double>> bins;
  for (const StoredRun& run : variant.runs)
    for (const StoredFlow& flow : run.flows)
      bins[static_cast<int64_t>(std::floor(std::log10(static_cast<double>(flow.size)) *
                                           static_cast<double>(kBinsADecade)))]
          .push_back(flow.slowdown);
  std::erase_if(bins, [](const auto& bin) { return bin.second.size() < kFewestFlows; });
  return bins;
}

Result<std::vector<VariantData>> read_all(const fs::path& size_folder, const Json& result) {
  std::vector<VariantData> variants;
  Problems problems;
  for (const VariantRuns& variant : by_variant(result)) {
    VariantData& data = variants.emplace_back(VariantData{variant.name, {}});
    for (const Json* run : variant.runs) {
      const fs::path folder =
          run_folder(size_folder, variant.name, run->value("seed", uint64_t{0}));
      Result<StoredRun> stored = read_flows(folder / "flows.sqlite");
      if (stored)
        data.runs.push_back(std::move(*stored));
      else
        problems.insert(problems.end(), stored.problems().begin(), stored.problems().end());
    }
  }
  if (!problems.empty()) return problems;
  return variants;
}

}  // namespace

Chart fct_chart(const std::vector<VariantData>& variants) {
  Chart chart{.title = "Flow completion time",
              .x = {.label = "FCT [us]", .logarithmic = true},
              .y = {.label = "share of flows", .logarithmic = false},
              .series = {},
              .note = "measured flows that finished, all seeds"};
  for (size_t i = 0; i < variants.size(); ++i) chart.series.push_back(distribution(variants[i], i));
  return chart;
}

Chart slowdown_chart(const std::vector<VariantData>& variants) {
  Chart chart{.title = "Slowdown by flow size",
              .x = {.label = "flow size [octets]", .logarithmic = true},
              .y = {.label = "slowdown", .logarithmic = true},
              .series = {},
              .note = fmt::format("99th percentile; dotted: median; sizes with at least {} flows",
                                  kFewestFlows),
              .thin_means = "median"};
  for (size_t i = 0; i < variants.size(); ++i) {
    Series tail{.name = legend_name(variants[i]), .points = {}, .colour = i, .dots = true};
    Series median{.name = "", .points = {}, .colour = i, .thin = true};
    for (auto& [bin, slowdowns] : by_size(variants[i])) {
      const Statistics of_bin = statistics(slowdowns);
      const double middle = (static_cast<double>(bin) + 0.5) / static_cast<double>(kBinsADecade);
      const double size = std::pow(10, middle);
      tail.points.push_back({size, of_bin.p99});
      median.points.push_back({size, of_bin.p50});
    }
    chart.series.push_back(std::move(median));
    chart.series.push_back(std::move(tail));
  }
  return chart;
}

Chart queue_chart(const std::vector<VariantData>& variants) {
  Chart chart{.title = "Longest queue over time",
              .x = {.label = "time [ms]", .logarithmic = false},
              .y = {.label = "longest egress queue [KiB]", .logarithmic = false},
              .series = {},
              .note = "over all switch ports; the first seed; largest value of each interval"};
  for (size_t i = 0; i < variants.size(); ++i) {
    Series series{.name = legend_name(variants[i]), .points = {}, .colour = i};
    if (!variants[i].runs.empty()) {
      const std::vector<StoredSample>& samples = variants[i].runs.front().samples;
      const size_t step = samples.size() / kCurvePoints + 1;
      for (size_t at = 0; at < samples.size(); at += step) {
        int64_t largest = 0;
        for (size_t j = at; j < std::min(at + step, samples.size()); ++j)
          largest = std::max(largest, samples[j].max_queue_bytes);
        series.points.push_back({static_cast<double>(samples[at].at_ns) / kNanosecondsAMillisecond,
                                 static_cast<double>(largest) / kKib});
      }
    }
    chart.series.push_back(std::move(series));
  }
  return chart;
}

Result<std::vector<fs::path>> write_figures(const fs::path& size_folder, const Json& result,
                                            const fs::path& to) {
  const Result<std::vector<VariantData>> variants = read_all(size_folder, result);
  if (!variants) return variants.problems();
  std::error_code error;
  fs::create_directories(to, error);
  if (error) return Result<std::vector<fs::path>>::failure(to.string() + ": " + error.message());
  const std::string where =
      fmt::format(" - {} ({})", result.value("experiment", ""), result.value("size", ""));
  std::vector<fs::path> written;
  std::vector<NamedChart> charts = axis_charts(result);
  charts.push_back({"fct_cdf", fct_chart(variants.value())});
  charts.push_back({"slowdown_by_size", slowdown_chart(variants.value())});
  charts.push_back({"queues", queue_chart(variants.value())});
  for (NamedChart& named : charts) {
    named.chart.title += where;
    const fs::path file = to / (named.id + ".svg");
    if (Problems problems = write_text(file, draw(named.chart)); !problems.empty()) return problems;
    written.push_back(file);
  }
  return written;
}

}  // namespace eddy::lab
