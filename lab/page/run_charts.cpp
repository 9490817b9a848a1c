#include "lab/page/run_charts.h"

#include <algorithm>
#include <map>

namespace eddy::lab {
namespace {

constexpr double kNanosecondsAMillisecond = 1e6;
constexpr double kNanosecondsAMicrosecond = 1e3;
constexpr double kBitsAnOctet = 8;

double microseconds_of(const Json& run) {
  const auto found = run.find("simulated_us");
  return found != run.end() && found->is_number() ? found->get<double>() : 0;
}

// Sums over the runs, by distance.
std::vector<double> distances(const VariantData& variant) {
  std::vector<double> sums;
  for (const Json* run : variant.values) {
    const auto found = run->find("ood_histogram");
    if (found == run->end()) continue;
    sums.resize(std::max(sums.size(), found->size()));
    for (size_t i = 0; i < found->size(); ++i) sums[i] += (*found)[i].get<double>();
  }
  return sums;
}

// Every distance up to 32, then ones that are further and further apart.
size_t next_distance(size_t distance) {
  constexpr size_t kEach = 32;
  return distance < kEach ? distance + 1 : distance + distance / kEach;
}

struct LinkEnd {
  std::string name;
  double sum = 0;
};

// Means over the runs of what `value` says of a link and its run.
template <class Value>
LinkCurve by_rank(const VariantData& variant, Chart chart, Value value) {
  std::map<std::pair<std::string, std::string>, double> sums;
  for (size_t i = 0; i < variant.runs.size(); ++i)
    for (const StoredLink& link : variant.runs[i].links)
      sums[{link.link, link.sender}] += value(link, *variant.values[i]);
  std::vector<LinkEnd> ends;
  ends.reserve(sums.size());
  for (const auto& [key, sum] : sums) ends.push_back({key.first + " from " + key.second, sum});
  std::ranges::stable_sort(ends, std::ranges::greater(), &LinkEnd::sum);
  LinkCurve curve{.chart = std::move(chart), .names = {}};
  Series series{.name = variant.name, .points = {}, .dots = ends.size() <= kMostPoints / 4};
  const size_t step = ends.size() / kMostPoints + 1;
  for (size_t i = 0; i < ends.size(); i += step) {
    series.points.push_back(
        {static_cast<double>(i + 1), ends[i].sum / static_cast<double>(variant.runs.size())});
    curve.names.push_back(ends[i].name);
  }
  curve.chart.series.push_back(std::move(series));
  return curve;
}

}  // namespace

Chart ood_chart(const VariantData& variant) {
  Chart chart{.title = "Out-of-order distance",
              .x = {.label = "at least so many packets off [packets]", .logarithmic = true},
              .y = {.label = "share of the packets out of order", .logarithmic = true},
              .series = {},
              .note = "received PSN - expected PSN; the last distance stands for that or more"};
  const std::vector<double> counts = distances(variant);
  std::vector<double> at_least(counts.size() + 1);
  for (size_t i = counts.size(); i-- > 1;) at_least[i] = at_least[i + 1] + counts[i];
  Series series{.name = variant.name, .points = {}, .kind = SeriesKind::steps_before};
  for (size_t i = 1; i < counts.size() && at_least[i] > 0; i = next_distance(i))
    series.points.push_back({static_cast<double>(i), at_least[i] / at_least[1]});
  chart.series.push_back(std::move(series));
  return chart;
}

Chart paused_chart(const VariantData& variant) {
  Chart chart{.title = "Paused queues over time",
              .x = {.label = "time [ms]", .logarithmic = false},
              .y = {.label = "paused queues", .logarithmic = false},
              .series = {},
              .note =
                  "queues that PFC keeps from sending, over all switch ports; the first seed; "
                  "largest value of each interval"};
  Series series{.name = variant.name, .points = {}};
  if (!variant.runs.empty()) {
    const std::vector<StoredSample>& samples = variant.runs.front().samples;
    const size_t step = samples.size() / kMostPoints + 1;
    for (size_t at = 0; at < samples.size(); at += step) {
      int64_t largest = 0;
      for (size_t j = at; j < std::min(at + step, samples.size()); ++j)
        largest = std::max(largest, samples[j].paused_queues);
      series.points.push_back({static_cast<double>(samples[at].at_ns) / kNanosecondsAMillisecond,
                               static_cast<double>(largest)});
    }
  }
  chart.series.push_back(std::move(series));
  return chart;
}

LinkCurve load_chart(const VariantData& variant) {
  Chart chart{.title = "Load of the links between switches",
              .x = {.label = "rank of the link's end, the busiest first", .begin = AxisBegin::data},
              .y = {.label = "sent [Gb/s]", .logarithmic = false},
              .series = {},
              .note = "mean over the whole run; a flat line: all paths carry the same"};
  return by_rank(variant, std::move(chart), [](const StoredLink& link, const Json& run) {
    const double time = microseconds_of(run);
    return time > 0
               ? static_cast<double>(link.bytes) * kBitsAnOctet / (time * kNanosecondsAMicrosecond)
               : 0;
  });
}

LinkCurve pause_chart(const VariantData& variant) {
  Chart chart{
      .title = "Pauses of the links between switches",
      .x = {.label = "rank of the link's end, the longest paused first", .begin = AxisBegin::data},
      .y = {.label = "paused [us]", .logarithmic = false},
      .series = {},
      .note = "in the whole run, summed over priorities"};
  return by_rank(variant, std::move(chart), [](const StoredLink& link, const Json&) {
    return static_cast<double>(link.paused_ns) / kNanosecondsAMicrosecond;
  });
}

}  // namespace eddy::lab
