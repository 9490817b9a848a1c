#include "lab/page/timeline_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "lab/figures/timeline_figure.h"
#include "lab/figures/timeline_messages.h"
#include "lab/page/rounded.h"

namespace eddy::lab {
namespace {

constexpr size_t kMostSteps = 3'000;
constexpr size_t kMostMarks = 1'500;
constexpr size_t kBins = 240;
constexpr double kKib = 1024;

struct Step {
  double at = 0;
  double value = 0;
};

class Panels {
 public:
  explicit Panels(const TimelineData& data) : data_(data), zero_(zero_of(data)) {}

  Json write() {
    Json panels = Json::array();
    for (uint32_t hop = 0; hop < data_.hops.size(); ++hop) panels.push_back(levels(hop));
    if (Json said = messages(); !said.at("lanes").empty()) panels.push_back(std::move(said));
    panels.push_back(rates());
    return {{"from", us(data_.from)}, {"to", us(data_.to)}, {"panels", std::move(panels)},
            {"moments", moments()},   {"path", path()},     {"thinned", thinned_}};
  }

 private:
  double us(Instant at) const { return rounded(static_cast<double>((at - zero_).ps()) * 1e-6); }
  std::string named(uint32_t hop) const {
    return data_.hops[hop].from + " to " + data_.hops[hop].to;
  }
  std::string path() const {
    std::string out = data_.hops.front().from;
    for (const TimelineData::Hop& hop : data_.hops) out += " to " + hop.to;
    return out;
  }
  std::vector<Step> of(TimelineKind kind, uint32_t hop) const {
    std::vector<Step> steps;
    for (const TimelineRecord& record : data_.records)
      if (record.kind == kind && record.hop == hop)
        steps.push_back({us(record.at), static_cast<double>(record.value)});
    return steps;
  }

  Json moments() const {
    Json out = Json::array();
    for (const TimelineMoment& moment : moments_of(data_))
      out.push_back({{"says", moment.says}, {"at", moment.at ? Json(us(*moment.at)) : Json()}});
    return out;
  }

  // The least and the most of each interval, in the order in which they came.
  std::vector<Step> thin(std::vector<Step> steps) {
    if (steps.size() <= kMostSteps) return steps;
    thinned_ = true;
    const size_t width = steps.size() * 2 / kMostSteps + 1;
    std::vector<Step> out;
    for (size_t at = 0; at < steps.size(); at += width) {
      const auto first = steps.begin() + static_cast<ptrdiff_t>(at);
      const auto last = steps.begin() + static_cast<ptrdiff_t>(std::min(at + width, steps.size()));
      auto [least, most] = std::minmax_element(
          first, last, [](const Step& a, const Step& b) { return a.value < b.value; });
      if (least > most) std::swap(least, most);
      out.push_back(*least);
      if (most != least) out.push_back(*most);
    }
    return out;
  }

  Json curve(std::string_view name, std::vector<Step> steps, double unit, bool thinnest = false) {
    Json x = Json::array();
    Json y = Json::array();
    const std::vector<Step> kept = thin(std::move(steps));
    for (const Step& step : kept) {
      x.push_back(step.at);
      y.push_back(rounded(step.value / unit));
    }
    if (!kept.empty()) {
      x.push_back(us(data_.to));
      y.push_back(rounded(kept.back().value / unit));
    }
    return {{"name", name}, {"x", std::move(x)}, {"y", std::move(y)}, {"thin", thinnest}};
  }

  Json levels(uint32_t hop) {
    using enum TimelineKind;
    const TimelineData::Hop& of_hop = data_.hops[hop];
    Json curves = {
        curve("held by " + of_hop.to + " of what came from " + of_hop.from, of(pg_bytes, hop),
              kKib),
        curve("waiting at " + of_hop.from + " for " + of_hop.to, of(queue_bytes, hop), kKib),
        curve("above this " + of_hop.to + " sends PFC", of(xoff_bytes, hop), kKib, true)};
    return {{"kind", "steps"},
            {"title", "Buffers, " + named(hop)},
            {"label", "octets [KiB]"},
            {"curves", std::move(curves)}};
  }

  // From each record above 0 to the next one.
  Json spans(TimelineKind kind, uint32_t hop) const {
    const std::vector<Step> steps = of(kind, hop);
    Json out = Json::array();
    for (size_t i = 0; i < steps.size() && out.size() < kMostMarks; ++i)
      if (steps[i].value > 0)
        out.push_back({steps[i].at, i + 1 < steps.size() ? steps[i + 1].at : us(data_.to)});
    return out;
  }
  Json marks(TimelineKind kind, uint32_t hop, bool positive) {
    std::vector<Step> steps = of(kind, hop);
    std::erase_if(steps, [&](const Step& step) { return (step.value > 0) != positive; });
    const size_t every = steps.size() / kMostMarks + 1;
    thinned_ |= every > 1;
    Json out = Json::array();
    for (size_t i = 0; i < steps.size(); i += every) out.push_back(steps[i].at);
    return out;
  }
  void lane(Json& lanes, std::string_view name, Json marks, Json spans) const {
    if (!marks.empty() || !spans.empty())
      lanes.push_back({{"name", name}, {"marks", std::move(marks)}, {"spans", std::move(spans)}});
  }

  Json messages() {
    using enum TimelineKind;
    Json lanes = Json::array();
    for (uint32_t hop = static_cast<uint32_t>(data_.hops.size()); hop-- > 0;) {
      const TimelineData::Hop& at = data_.hops[hop];
      const Json none = Json::array();
      lane(lanes, at.to + " predicts PFC", marks(predicted, hop, true), none);
      lane(lanes, "warnings reach " + at.from, marks(cnm, hop, true), none);
      lane(lanes, "relayed warnings reach " + at.from, marks(cnm_relayed, hop, true), none);
      lane(lanes, at.from + " holds a warning", none, spans(warned, hop));
      lane(lanes, "PFC stop reaches " + at.from, marks(pfc, hop, true), none);
      lane(lanes, "PFC go reaches " + at.from, marks(pfc, hop, false), none);
      lane(lanes, at.from + " may not send", none, spans(paused, hop));
    }
    return {{"kind", "events"}, {"title", "What they tell each other"}, {"lanes", lanes}};
  }

  // Packets a microsecond, by bins.
  Json rate(std::string_view name, TimelineKind kind, bool frames) {
    const double from = us(data_.from);
    const double width = std::max((us(data_.to) - from) / kBins, 1e-3);
    std::array<double, kBins> bins{};
    for (const Step& step : of(kind, 0)) {
      const auto bin = static_cast<int64_t>((step.at - from) / width);
      bins[static_cast<size_t>(std::clamp<int64_t>(bin, 0, kBins - 1))] += frames ? 1 : step.value;
    }
    std::vector<Step> steps;
    for (size_t i = 0; i < kBins; ++i)
      steps.push_back({rounded(from + width * static_cast<double>(i)), bins[i] / width});
    return curve(name, std::move(steps), 1);
  }

  Json rates() {
    using enum TimelineKind;
    const TimelineData::Hop& hop = data_.hops[0];
    Json curves = {rate("sent to " + hop.to, sent_bytes, true),
                   rate("taken off warned paths", rerouted, false),
                   rate("all paths warned", all_warned, false)};
    return {{"kind", "steps"},
            {"title", "What " + hop.from + " does"},
            {"label", "packets a us"},
            {"curves", std::move(curves)}};
  }

  const TimelineData& data_;
  Instant zero_;
  bool thinned_ = false;
};

}  // namespace

Json timeline_page(const TimelineData& data) {
  return Panels(data).write();
}

std::vector<NamedChart> timeline_charts(const TimelineData& data) {
  const Json page = timeline_page(data);
  std::vector<NamedChart> charts;
  for (const Json& panel : page.at("panels")) {
    if (panel.at("kind") != "steps") continue;
    Chart chart{.title = panel.at("title"),
                .x = {.label = "time [us]", .begin = AxisBegin::data},
                .y = {.label = panel.at("label")},
                .series = {},
                .note = "time is counted from the first prediction of PFC"};
    for (const Json& curve : panel.at("curves")) {
      Series series{.name = curve.at("name"),
                    .points = {},
                    .colour = chart.series.size(),
                    .kind = SeriesKind::steps};
      for (size_t i = 0; i < curve.at("x").size(); ++i)
        series.points.push_back({curve.at("x")[i], curve.at("y")[i]});
      chart.series.push_back(std::move(series));
    }
    const std::string id =
        charts.size() < data.hops.size() ? "buffers_" + data.hops[charts.size()].from : "rates";
    charts.push_back({.id = id, .chart = std::move(chart)});
  }
  if (Chart messages = messages_chart(data, zero_of(data)); !messages.series.empty())
    charts.push_back({.id = "messages", .chart = std::move(messages)});
  return charts;
}

std::string timeline_option(const TimelineData& data) {
  std::string path = data.hops.front().from;
  for (const TimelineData::Hop& hop : data.hops) path += ":" + hop.to;
  return fmt::format("--timeline {}@{}ns-{}ns", path, data.from.since_zero().ns(),
                     data.to.since_zero().ns());
}

}  // namespace eddy::lab
