#include "lab/page/figure.h"

#include <algorithm>
#include <array>
#include <functional>

#include "lab/figures/axis_figures.h"
#include "lab/page/run_charts.h"
#include "lab/results/claims.h"

namespace eddy::lab {
namespace {

// A figure of curves that are made from the runs of one variant.
struct Recipe {
  std::string_view id;
  std::function<LinkCurve(const VariantData&)> make;  // names only where points have some
};

std::function<LinkCurve(const VariantData&)> plain(Chart (*make)(const VariantData&)) {
  return [make](const VariantData& variant) { return LinkCurve{make(variant), {}}; };
}
std::function<LinkCurve(const VariantData&)> single(
    Chart (*make)(const std::vector<VariantData>&)) {
  return [make](const VariantData& variant) { return LinkCurve{make({variant}), {}}; };
}

std::vector<Recipe> recipes() {
  return {{"fct_cdf", single(fct_chart)},  {"slowdown_by_size", single(slowdown_chart)},
          {"ood", plain(ood_chart)},       {"queues", single(queue_chart)},
          {"paused", plain(paused_chart)}, {"link_load", load_chart},
          {"link_pauses", pause_chart}};
}

struct Metric {
  std::string_view id;
  std::string_view key;
  std::string_view title;
  std::string_view label;
  double scale = 1;
};
constexpr std::array<Metric, 4> kMetrics = {
    {{"fct_p99", "fct_p99_us", "99th percentile of the flow completion time", "FCT [us]"},
     {"out_of_order", "ooo_ratio", "Packets out of order", "share [%]", 100},
     {"pfc_events", "pfc_events", "PFC events", "pauses begun in a run"},
     {"pfc_paused", "pfc_paused_us", "Time paused by PFC",
      "all ports of switches and hosts [us]"}}};

void add_curves(PageFigure& figure, LinkCurve made, size_t variant, std::optional<uint64_t> seed) {
  figure.frame = made.chart;
  figure.frame.series.clear();
  for (Series& series : made.chart.series) {
    series.colour = variant;
    if (!series.points.empty())
      figure.curves.push_back({variant, {variant}, seed, std::move(series), made.names});
  }
}

void add_variant(std::vector<PageFigure>& figures, PageSource& source, size_t variant) {
  const VariantData all = read_variant(source, variant);
  const std::vector<Recipe> made = recipes();
  for (size_t i = 0; i < made.size(); ++i) {
    add_curves(figures[i], made[i].make(all), variant, std::nullopt);
    if (source.seeds.size() < 2) continue;
    for (size_t run = 0; run < all.runs.size(); ++run) {
      const VariantData one{.name = all.name, .runs = {all.runs[run]}, .values = {all.values[run]}};
      add_curves(figures[i], made[i].make(one), variant,
                 all.values[run]->at("seed").get<uint64_t>());
    }
  }
}

void add_dot(PageFigure& figure, const Metric& metric, const VariantRuns& runs, size_t variant,
             std::optional<uint64_t> seed) {
  const Estimate found = estimate(values_of(runs.runs, metric.key, metric.scale));
  if (found.count == 0) return;
  Series series{.name = runs.name, .points = {{0, found.mean, found.half_width}}};
  series.colour = variant;
  figure.curves.push_back({variant, {variant}, seed, std::move(series), {}});
}

PageFigure dots_of(const PageSource& source, const Metric& metric) {
  PageFigure figure{
      .id = std::string(metric.id), .kind = FigureKind::dots, .frame = {}, .curves = {}};
  figure.frame.title = metric.title;
  figure.frame.y.label = metric.label;
  figure.frame.note = "mean over seeds with its 95 % confidence interval";
  for (size_t i = 0; i < source.variants.size(); ++i) {
    const VariantRuns& all = source.variants[i];
    add_dot(figure, metric, all, i, std::nullopt);
    if (source.seeds.size() < 2) continue;
    for (const Json* run : all.runs)
      add_dot(figure, metric, {all.name, {run}}, i, run->at("seed").get<uint64_t>());
  }
  return figure;
}

// Over an axis of the matrix: a series is of many variants.
std::vector<PageFigure> axis_figures_of(const PageSource& source) {
  std::vector<PageFigure> figures;
  for (NamedChart& named : axis_charts(source.result)) {
    PageFigure figure{.id = named.id, .frame = named.chart, .curves = {}};
    figure.frame.series.clear();
    for (Series& series : named.chart.series) {
      const size_t number = series.colour;
      figure.curves.push_back(
          {number, named.variants[number], std::nullopt, std::move(series), {}});
    }
    figures.push_back(std::move(figure));
  }
  return figures;
}

std::string where(const PageSource& source) {
  return " - " + source.result.value("experiment", "") + " (" + source.result.value("size", "") +
         ")";
}

// A variant's name between brackets.
std::string called(const std::string& text, const VariantChoice& choice) {
  const size_t open = text.find('[');
  const size_t close = text.rfind(']');
  if (open == std::string::npos || close == std::string::npos || close < open) return text;
  return text.substr(0, open + 1) + choice.shown(text.substr(open + 1, close - open - 1)) +
         text.substr(close);
}

// Nothing was out of order, or paused, or there is one variant only: the table says as much.
bool says_something(const PageFigure& figure, size_t variants) {
  if (figure.kind == FigureKind::dots && variants < 2) return false;
  for (const PageFigure::Curve& curve : figure.curves)
    for (const Series::Point& point : curve.series.points)
      if (point.y != 0) return true;
  return false;
}

}  // namespace

std::vector<PageFigure> page_figures(PageSource& source) {
  std::vector<PageFigure> figures;
  for (const Recipe& recipe : recipes())
    figures.push_back({.id = std::string(recipe.id), .frame = {}, .curves = {}});
  for (size_t i = 0; i < source.variants.size(); ++i) add_variant(figures, source, i);
  for (const Metric& metric : kMetrics) figures.push_back(dots_of(source, metric));
  std::vector<PageFigure> out = axis_figures_of(source);
  for (const std::string_view id :
       {"fct_cdf", "fct_p99", "slowdown_by_size", "out_of_order", "ood", "pfc_events", "pfc_paused",
        "paused", "queues", "link_load", "link_pauses"}) {
    const auto found = std::ranges::find(figures, id, &PageFigure::id);
    if (found != figures.end() && says_something(*found, source.variants.size()))
      out.push_back(std::move(*found));
  }
  return out;
}

Chart paper_chart(const PageFigure& figure, const PageSource& source, const VariantChoice& choice) {
  Chart chart = figure.frame;
  chart.title += where(source);
  const bool rows = figure.kind == FigureKind::dots;
  for (const PageFigure::Curve& curve : figure.curves) {
    if (curve.seed) continue;
    Series series = curve.series;
    if (!series.name.empty()) series.name = choice.shown(series.name);
    if (rows) {
      series.points.front().x = static_cast<double>(chart.x.names.size());
      series.kind = SeriesKind::bars;
      chart.x.names.push_back(choice.shown(shown(curve.series.name)));
      series.name.clear();
    }
    chart.series.push_back(std::move(series));
  }
  return chart;
}

std::vector<FoundClaim> found_claims(const PageSource& source) {
  std::vector<FoundClaim> out;
  for (const JudgedClaim& judged :
       judge_claims(source.result.value("expect", Json::array()), source.variants)) {
    if (judged.found.count == 0 || judged.claim->kind != ClaimKind::change) continue;
    out.push_back({judged.claim->key + " of " + judged.of_text(),
                   "[" + judged.claim->baseline + "]", judged.claim->value, judged.found});
  }
  return out;
}

Chart claims_chart(const PageSource& source, const VariantChoice& choice) {
  Chart chart{.title = "Claimed and found" + where(source),
              .x = {},
              .y = {.label = "change [%]", .begin = AxisBegin::either},
              .series = {},
              .note = "the change within a seed, mean over seeds with its 95 % interval"};
  Series found{.name = "found", .points = {}, .colour = 0, .kind = SeriesKind::bars};
  Series claimed{.name = "claimed", .points = {}, .colour = 1, .kind = SeriesKind::dots};
  for (const FoundClaim& claim : found_claims(source)) {
    const auto row = static_cast<double>(chart.x.names.size());
    chart.x.names.push_back(called(claim.of, choice) + " against " + called(claim.against, choice));
    found.points.push_back({row, claim.found.mean, claim.found.half_width});
    claimed.points.push_back({row, claim.claimed});
  }
  if (!chart.x.names.empty()) chart.series = {std::move(found), std::move(claimed)};
  return chart;
}

}  // namespace eddy::lab
