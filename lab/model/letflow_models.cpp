#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "lab/model/letflow_chain.h"
#include "lab/model/models.h"
#include "lab/model/run_source.h"
#include "lab/results/cells.h"
#include "lab/results/student.h"
#include "lb/registry.h"

namespace eddy::lab {
namespace {

constexpr double kMicrosecond = 1e-6;
constexpr double kGiga = 1e9;
constexpr double kPicosecondsASecond = 1e12;
constexpr double kBitsAnOctet = 8;
constexpr double kMostSteps = 1e15;
constexpr double kMostFlows = LetFlowChain::kMostFlows;
constexpr ModelKey kPacketKey{"packet",
                              ModelUnit::size,
                              false,
                              1,
                              65'536,
                              "1500B",
                              "of every packet; the paper does not give it"};
constexpr ModelKey kFormulaKey{
    "formula",
    ModelUnit::number,
    false,
    1,
    2,
    "1",
    "of the chance of a timeout: the paper's (1) or its approximation (2)"};

constexpr std::array kSplitKeys = {
    ModelKey{"rates", ModelUnit::rate, true, 1e6, 1e15, "40Gbps,10Gbps", "of the two paths"},
    ModelKey{"flows", ModelUnit::number, false, 2, kMostFlows, "100", "on both paths together"},
    ModelKey{"start", ModelUnit::number, false, 0, kMostFlows, "auto",
             "flows on the first path to begin with; auto: half of them"},
    ModelKey{"gap", ModelUnit::time, true, 1e-9, 10, "30us,50us,300us,500us,900us",
             "of silence, after which a flow may take the other path"},
    ModelKey{"steps", ModelUnit::number, false, 0, kMostSteps, "100000000000",
             "packets of all flows, after which the split is shown"},
    kPacketKey,
    ModelKey{"burst", ModelUnit::number, false, 1, 10'000, "1",
             "packets that a flow sends at once; steps are bursts then"},
    kFormulaKey,
};

constexpr std::array kRangeKeys = {
    ModelKey{"rates", ModelUnit::rate, true, 1e6, 1e15, "20Gbps,10Gbps,40Gbps,10Gbps",
             "of the two paths; a pair for each case"},
    ModelKey{"flows", ModelUnit::number, true, 2, kMostFlows, "5,8,12,16,20,25,30,40,50",
             "on both paths together"},
    ModelKey{"off", ModelUnit::number, false, 1, 50, "10",
             "how far from the ideal split is near it, on the average: percent of the flows; the "
             "paper does not give it"},
    ModelKey{"steps", ModelUnit::number, false, 0, kMostSteps, "100000000",
             "bursts of all flows, after which the split is judged"},
    kPacketKey,
    ModelKey{"burst", ModelUnit::number, false, 1, 10'000, "10",
             "packets that a flow sends at once"},
    kFormulaKey,
};

ChainSetting chain_setting(const ModelSettings& settings, size_t pair) {
  const std::vector<double>& rates = settings.all("rates");
  return {.first_rate = rates[2 * pair],
          .second_rate = rates[2 * pair + 1],
          .burst = settings.one("packet") * settings.one("burst"),
          .formula = static_cast<ChainFormula>(static_cast<int>(settings.one("formula")))};
}

std::string gap_text(double gap) {
  return model_text(ModelUnit::time, gap);
}

std::string tenths(double value) {
  return fmt::format("{:.1f}", value);
}

// lf-7.

Problems check_split(const ModelSettings& settings) {
  Problems problems;
  if (settings.all("rates").size() != 2)
    problems.push_back("--set rates: two values, such as 40Gbps,10Gbps");
  if (settings.has("start") && settings.one("start") > settings.one("flows"))
    problems.push_back(fmt::format("--set start: {} is more than the {} flows there are",
                                   settings.text("start"), settings.text("flows")));
  return problems;
}

size_t start_of(const ModelSettings& settings, size_t flows) {
  return settings.has("start") ? static_cast<size_t>(settings.one("start")) : flows / 2;
}

Series series_of(const FlowSplit& split, double gap, size_t colour) {
  constexpr double kNothing = 1e-6;
  Series series{.name = "gap " + gap_text(gap), .points = {}, .colour = colour};
  for (size_t first = 0; first < split.size(); ++first)
    if (split[first] >= kNothing)
      series.points.push_back({static_cast<double>(first), split[first]});
  return series;
}

Result<ModelFigure> compute_split(const ModelSettings& settings) {
  if (Problems problems = check_split(settings); !problems.empty()) return problems;
  ChainSetting setting = chain_setting(settings, 0);
  setting.flows = static_cast<size_t>(settings.one("flows"));
  const double ideal = ideal_first(setting);
  ModelFigure figure;
  figure.table.text = {{"GAP", "mean", "5 %", "95 %", "from ideal", "at last", "balanced"}};
  figure.table.notes = {
      fmt::format("ideal: {} of {} flows on the first path", tenths(ideal), setting.flows)};
  figure.chart = {.title = "Flows on the first path",
                  .x = {"flows"},
                  .y = {"probability"},
                  .series = {},
                  .note = figure.table.notes.front()};
  for (const double gap : settings.all("gap")) {
    setting.gap = gap;
    const LetFlowChain chain(setting);
    const FlowSplit split = chain.after(static_cast<uint64_t>(settings.one("steps")),
                                        start_of(settings, setting.flows));
    const double at_last = mean_of(chain.at_last());
    const size_t low = quantile_of(split, 0.05), high = quantile_of(split, 0.95);
    figure.table.text.push_back({gap_text(gap), tenths(mean_of(split)), std::to_string(low),
                                 std::to_string(high), tenths(distance_from(split, ideal)),
                                 tenths(at_last), tenths(balanced_first(setting))});
    figure.table.rows.push_back({{"gap_us", microseconds(gap)},
                                 {"mean", mean_of(split)},
                                 {"p5", low},
                                 {"p95", high},
                                 {"from_ideal", distance_from(split, ideal)},
                                 {"ideal", ideal},
                                 {"at_last", at_last},
                                 {"balanced", balanced_first(setting)},
                                 {"split", split}});
    figure.chart.series.push_back(series_of(split, gap, figure.chart.series.size()));
  }
  return figure;
}

// What a run shows of it: the ends of links of the one switch that has a choice of two.

struct Paths {
  std::string at;
  std::vector<std::string> links;  // by name
};

Result<Paths> paths_of(const ModelRun& run) {
  std::map<std::string, std::set<std::string>> links;
  for (const FlowCount& count : run.counts) links[count.at].insert(count.link);
  std::vector<Paths> found;
  for (const auto& [at, names] : links)
    if (names.size() > 1) found.push_back({at, {names.begin(), names.end()}});
  if (found.size() != 1 || found.front().links.size() != 2)
    return Result<Paths>::failure(
        fmt::format("{}: the model is of one switch that sends data on two links; here {} switches "
                    "have a choice",
                    shown(run.variant), found.size()));
  return found.front();
}

// Flows on the first path, as a mean over the second half of the run.
double later_mean(const ModelRun& run, const Paths& paths) {
  std::map<int64_t, double> by_time;  // also where all are on the other path
  for (const FlowCount& count : run.counts) {
    if (count.at != paths.at) continue;
    by_time[count.at_ns] += count.link == paths.links.front() ? count.flows : 0;
  }
  const int64_t half = by_time.rbegin()->first / 2;
  double sum = 0;
  size_t samples = 0;
  for (const auto& [at, flows] : by_time) {
    if (at < half) continue;
    sum += flows;
    ++samples;
  }
  return sum / static_cast<double>(samples);
}

// In seconds.
Result<double> gap_of(const ModelRun& run) {
  const config::LoadBalancerConfig& chosen = run.experiment.load_balancer;
  const lb::SchemeInfo* const letflow = lb::find_scheme("letflow");
  if (letflow == nullptr || lb::scheme_of(chosen) != letflow)
    return Result<double>::failure(fmt::format("{}: the model is of letflow, and this is {}",
                                               shown(run.variant), chosen.scheme));
  const auto info = std::ranges::find(letflow->parameters, "gap", &ParameterInfo::name);
  const auto given = chosen.parameters.find("gap");
  if (given == chosen.parameters.end())
    return static_cast<double>(info->fallback) / kPicosecondsASecond;
  const Result<int64_t> gap = parse_value(*info, given->second);
  if (!gap) return gap.problems();
  return static_cast<double>(gap.value()) / kPicosecondsASecond;
}

// The chain's split for the run's gap, flows, packets and length; it begins as in `settings`.
double expected_mean(const ModelSettings& settings, const ModelRun& run, double gap) {
  ChainSetting setting = chain_setting(settings, 0);
  setting.flows = run.values.value("flows_total", size_t{0});
  setting.gap = gap;
  setting.burst = run.experiment.host.mtu * settings.one("burst");
  const double bursts_a_second =
      (setting.first_rate + setting.second_rate) / (kBitsAnOctet * setting.burst);
  const double seconds = run.values.value("simulated_us", 0.0) * kMicrosecond;
  const LetFlowChain chain(setting);
  return mean_of(chain.after(static_cast<uint64_t>(bursts_a_second * seconds),
                             std::min(start_of(settings, setting.flows), setting.flows)));
}

Problems check_run(const ModelRun& run) {
  const size_t flows = run.values.value("flows_total", size_t{0});
  if (flows >= 2 && flows <= LetFlowChain::kMostFlows) return {};
  return {fmt::format("{}: {} flows; the model is of 2 to {}", shown(run.variant), flows,
                      LetFlowChain::kMostFlows)};
}

double ideal_of(const ModelSettings& settings, size_t flows) {
  ChainSetting setting = chain_setting(settings, 0);
  setting.flows = flows;
  return ideal_first(setting);
}

struct SplitOfVariant {
  double gap = 0;
  size_t flows = 0;
  double expected = 0;
  std::vector<double> measured;  // by seed
};

Result<std::vector<std::pair<std::string, SplitOfVariant>>> splits_of(
    const ModelSettings& settings, const std::vector<ModelRun>& runs) {
  std::vector<std::pair<std::string, SplitOfVariant>> variants;
  for (const ModelRun& run : runs) {
    if (Problems problems = check_run(run); !problems.empty()) return problems;
    const Result<double> gap = gap_of(run);
    if (!gap) return gap.problems();
    const Result<Paths> paths = paths_of(run);
    if (!paths) return paths.problems();
    if (variants.empty() || variants.back().first != run.variant)
      variants.push_back({run.variant,
                          {.gap = gap.value(),
                           .flows = run.values.value("flows_total", size_t{0}),
                           .expected = expected_mean(settings, run, gap.value()),
                           .measured = {}}});
    variants.back().second.measured.push_back(later_mean(run, paths.value()));
  }
  return variants;
}

Result<ModelTable> compare_split(const ModelSettings& settings, const std::filesystem::path& from) {
  if (Problems problems = check_split(settings); !problems.empty()) return problems;
  const Result<std::vector<ModelRun>> runs = read_model_runs(from, read_link_flows);
  if (!runs) return runs.problems();
  auto variants = splits_of(settings, runs.value());
  if (!variants) return variants.problems();
  std::ranges::stable_sort(*variants, {}, [](const auto& each) { return each.second.gap; });
  ModelTable table;
  table.text = {{"VARIANT", "gap", "flows", "run", "model", "ideal"}};
  for (const auto& [variant, split] : variants.value()) {
    const double ideal = ideal_of(settings, split.flows);
    table.text.push_back({shown(variant), gap_text(split.gap), std::to_string(split.flows),
                          estimate_cell(split.measured).text, tenths(split.expected),
                          tenths(ideal)});
    table.rows.push_back({{"variant", variant},
                          {"gap_us", microseconds(split.gap)},
                          {"flows", split.flows},
                          {"run", estimate(split.measured).mean},
                          {"model", split.expected},
                          {"ideal", ideal}});
  }
  table.notes = {
      "run: flows on the first path, mean over the second half of the run; 95 % over seeds",
      "model: the same chain with the run's gap, flows and MTU, after the run's packets"};
  return table;
}

// lf-8.

struct Range {
  double least = 0;
  double most = 0;  // 0: no gap is good
};

constexpr double kSearchFrom = 10e-6;
constexpr double kSearchTo = 100e-3;

// The gaps that are good lie side by side: a grid finds them, halving finds their ends.
class RangeSearch {
 public:
  RangeSearch(const ChainSetting& setting, double off, uint64_t steps)
      : setting_(setting), off_(off), steps_(steps) {}

  Range find() {
    constexpr int kADecade = 10;
    constexpr double kTen = 10;
    const int count = static_cast<int>(std::lround(kADecade * std::log10(kSearchTo / kSearchFrom)));
    Range range;
    double before = kSearchFrom, behind = kSearchTo;
    for (int i = 0; i <= count; ++i) {
      const double gap = kSearchFrom * std::pow(kTen, static_cast<double>(i) / kADecade);
      if (is_good(gap)) {
        if (range.most == 0) range.least = gap;
        range.most = gap;
      } else if (range.most == 0) {
        before = gap;
      } else {
        behind = gap;
        break;
      }
    }
    if (range.most == 0) return range;
    return {end_between(before, range.least), end_between(behind, range.most)};
  }

 private:
  bool is_good(double gap) {
    setting_.gap = gap;
    const FlowSplit split = LetFlowChain(setting_).after(steps_, setting_.flows / 2);
    return distance_from(split, ideal_first(setting_)) <= off_;
  }
  double end_between(double bad, double good) {
    constexpr int kHalvings = 5;
    for (int i = 0; i < kHalvings; ++i) {
      const double middle = std::sqrt(bad * good);
      (is_good(middle) ? good : bad) = middle;
    }
    return good;
  }

  ChainSetting setting_;
  double off_;
  uint64_t steps_;
};

// Rounded to what the search tells apart.
double rounded_gap(double gap) {
  return std::round(gap / kMicrosecond) * kMicrosecond;
}

// Which gaps are good for most of the cases, and for how many.
std::string best_gaps(const std::vector<Range>& ranges) {
  size_t most = 0;
  Range best;
  for (const Range& from : ranges) {
    size_t covered = 0;
    double end = kSearchTo;
    for (const Range& each : ranges) {
      if (from.least < each.least || from.least > each.most) continue;
      ++covered;
      end = std::min(end, each.most);
    }
    if (from.most == 0 || covered <= most) continue;
    most = covered;
    best = {from.least, end};
  }
  if (most == 0) return "no gap is good for any";
  return fmt::format("gaps of {} to {} are good for {} of {}, more than any other",
                     gap_text(rounded_gap(best.least)), gap_text(rounded_gap(best.most)), most,
                     ranges.size());
}

// Adds a pair of rates: its rows, and two series.
void add_pair(const ModelSettings& settings, size_t pair, ModelFigure& figure,
              std::vector<Range>& ranges) {
  ChainSetting setting = chain_setting(settings, pair);
  const std::string rates = fmt::format("{}/{}", model_text(ModelUnit::rate, setting.first_rate),
                                        model_text(ModelUnit::rate, setting.second_rate));
  Series least{.name = rates + ", least", .points = {}, .colour = pair, .dots = true};
  Series most{.name = rates + ", most", .points = {}, .colour = pair, .thin = true, .dots = true};
  for (const double flows : settings.all("flows")) {
    setting.flows = static_cast<size_t>(flows);
    const double rate = (setting.first_rate + setting.second_rate) / flows / kGiga;
    const double off = settings.one("off") / 100 * flows;
    const Range range =
        RangeSearch(setting, off, static_cast<uint64_t>(settings.one("steps"))).find();
    ranges.push_back(range);
    const bool any = range.most > 0;
    figure.table.text.push_back({rates, std::to_string(setting.flows), fmt::format("{:.2f}", rate),
                                 any ? gap_text(rounded_gap(range.least)) : "-",
                                 any ? gap_text(rounded_gap(range.most)) : "-"});
    figure.table.rows.push_back(
        {{"rates_gbps", {setting.first_rate / kGiga, setting.second_rate / kGiga}},
         {"flows", setting.flows},
         {"flow_gbps", rate},
         {"least_gap_us", any ? Json(microseconds(range.least)) : Json()},
         {"most_gap_us", any ? Json(microseconds(range.most)) : Json()}});
    if (!any) continue;
    least.points.insert(least.points.begin(), {rate, range.least / kMicrosecond});
    most.points.insert(most.points.begin(), {rate, range.most / kMicrosecond});
  }
  figure.chart.series.push_back(std::move(least));
  figure.chart.series.push_back(std::move(most));
}

Result<ModelFigure> compute_ranges(const ModelSettings& settings) {
  const size_t rates = settings.all("rates").size();
  if (rates % 2 != 0)
    return Result<ModelFigure>::failure(
        "--set rates: pairs of values, such as 20Gbps,10Gbps,40Gbps,10Gbps");
  ModelFigure figure;
  figure.table.text = {{"RATES", "flows", "Gb/s a flow", "least gap", "most gap"}};
  figure.chart = {.title = "Gaps that split flows well over two paths",
                  .x = {"average rate of a flow (Gb/s)", true},
                  .y = {"gap (us)", true},
                  .series = {},
                  .note = {}};
  std::vector<Range> ranges;
  for (size_t pair = 0; pair < rates / 2; ++pair) add_pair(settings, pair, figure, ranges);
  figure.table.notes = {best_gaps(ranges)};
  figure.chart.note = figure.table.notes.front();
  return figure;
}

constexpr std::array kModels = {
    Model{"lf-7", "LetFlow's chain: how many flows are on the first of two paths",
          "LetFlow paper, figure 7", kSplitKeys, compute_split, compare_split},
    Model{"lf-8", "LetFlow's chain: which gaps split flows well over two paths",
          "LetFlow paper, figure 8", kRangeKeys, compute_ranges, nullptr},
};

}  // namespace

std::span<const Model> letflow_models() {
  return kModels;
}

}  // namespace eddy::lab
