#include "lab/figures/timeline_figure.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "lab/figures/svg.h"

namespace eddy::lab {
namespace {

constexpr double kWidth = 960;
constexpr double kLeft = 92;
constexpr double kRight = 24;
constexpr double kTop = 104;
constexpr double kPanel = 170;  // height of a panel with an axis
constexpr double kLane = 62;    // between two switches
constexpr double kGap = 58;
constexpr double kBottom = 46;
constexpr double kLetter = 6.6;  // width of a letter, roughly
constexpr double kKib = 1024;
constexpr int kBins = 120;

constexpr std::string_view kCnmColour = "#0072b2";
constexpr std::string_view kPfcColour = "#d40000";
constexpr std::string_view kXonColour = "#999999";
constexpr std::string_view kAwayColour = "#d55e00";
constexpr std::string_view kHeldColour = "#009e73";

double micros(Instant at) {
  return static_cast<double>(at.ps()) * 1e-6;
}

using Records = std::vector<const TimelineRecord*>;

std::optional<Instant> first_of(const TimelineData& data, TimelineKind kind, uint32_t hop,
                                int64_t least = 1) {
  for (const TimelineRecord& record : data.records)
    if (record.kind == kind && record.hop == hop && record.value >= least) return record.at;
  return std::nullopt;
}

uint32_t last_hop(const TimelineData& data) {
  return static_cast<uint32_t>(data.hops.size() - 1);
}

class Drawing {
 public:
  Drawing(const TimelineData& data, std::string_view title)
      : data_(data), title_(title), last_(last_hop(data)) {
    messages_top_ = kTop + kPanel + kGap;
    const double lanes = kLane * static_cast<double>(data.hops.size());
    rates_top_ = messages_top_ + lanes + kGap + 14;
    height_ = rates_top_ + kPanel + kBottom;
  }

  std::string write() {
    out_ = svg_head(kWidth, height_, title_);
    out_ += svg_text(kLeft, 24, "font-size=\"16\" font-weight=\"bold\"", title_);
    add_moments();
    add_times();
    add_held();
    add_messages();
    add_rates();
    return std::move(out_) + "</svg>\n";
  }

 private:
  double x_of(Instant at) const {
    const double span = micros(data_.to) - micros(data_.from);
    return kLeft + (micros(at) - micros(data_.from)) / span * (kWidth - kLeft - kRight);
  }
  Records of(TimelineKind kind, uint32_t hop) const {
    Records found;
    for (const TimelineRecord& record : data_.records)
      if (record.kind == kind && record.hop == hop) found.push_back(&record);
    return found;
  }
  // Numbered lines through all panels, explained on top.
  void add_moments() {
    double x = kLeft;
    double free = 0;  // to the right of the last number
    int number = 1;
    for (const TimelineMoment& moment : moments_of(data_)) {
      const std::string label = fmt::format("{} {}", number, moment.says);
      const std::string when =
          moment.at ? fmt::format("{:+.1f} us", micros(*moment.at) - micros(zero_of(data_)))
                    : "never";
      out_ += svg_text(x, 46, "font-weight=\"bold\"", label);
      out_ += svg_text(x, 62, "fill=\"#666\"", when);
      if (moment.at) {
        const double at = x_of(*moment.at);
        out_ += svg_line(at, kTop - 14, at, height_ - kBottom,
                         "stroke=\"#444\" stroke-dasharray=\"3 3\"");
        const double where = std::max(at, free);
        free = where + 2 * kLetter;
        out_ += svg_text(where, kTop - 22, "text-anchor=\"middle\" font-weight=\"bold\"",
                         std::to_string(number));
      }
      x += (kWidth - kLeft - kRight) / 4;
      ++number;
    }
  }

  void add_times() {
    const double low = micros(data_.from) - micros(zero_of(data_));
    const double high = micros(data_.to) - micros(zero_of(data_));
    for (const Tick& tick : ticks(low, high, false)) {
      if (tick.at < low || tick.at > high) continue;
      const double x = kLeft + (tick.at - low) / (high - low) * (kWidth - kLeft - kRight);
      out_ += svg_line(x, kTop, x, kTop + kPanel, "stroke=\"#ececec\"");
      out_ += svg_line(x, rates_top_, x, rates_top_ + kPanel, "stroke=\"#ececec\"");
      out_ += svg_text(x, height_ - kBottom + 18, "text-anchor=\"middle\"", tick.label);
    }
    out_ += svg_text(kWidth / 2, height_ - 10, "text-anchor=\"middle\"", "time [us]");
  }

  void add_heading(double top, std::string_view text) {
    out_ += svg_text(kLeft, top - 6, "font-size=\"13\" font-weight=\"bold\"", text);
  }

  // The frame of a panel from 0 to `high`; returns its pixels a unit.
  double add_frame(double top, double high, std::string_view unit) {
    const std::vector<Tick> marks = ticks(0, high, false);
    const double most = marks.back().at;
    for (const Tick& tick : marks) {
      const double y = top + kPanel * (1 - tick.at / most);
      out_ += svg_line(kLeft, y, kWidth - kRight, y, "stroke=\"#ececec\"");
      out_ += svg_text(kLeft - 8, y + 4, "text-anchor=\"end\"", tick.label);
    }
    out_ += svg_line(kLeft, top, kLeft, top + kPanel, "stroke=\"#444\"");
    out_ += svg_line(kLeft, top + kPanel, kWidth - kRight, top + kPanel, "stroke=\"#444\"");
    const double middle = top + kPanel / 2;
    out_ += svg_text(
        20, middle,
        fmt::format("text-anchor=\"middle\" transform=\"rotate(-90 20 {:.1f})\"", middle), unit);
    return kPanel / most;
  }

  // A level that holds until it changes.
  void add_steps(const Records& records, double bottom, double scale, std::string_view style) {
    if (records.empty()) return;
    std::string points;
    double y = bottom - static_cast<double>(records.front()->value) * scale;
    for (const TimelineRecord* record : records) {
      const double x = x_of(record->at);
      points += fmt::format("{:.1f},{:.1f} ", x, y);
      y = bottom - static_cast<double>(record->value) * scale;
      points += fmt::format("{:.1f},{:.1f} ", x, y);
    }
    points += fmt::format("{:.1f},{:.1f}", kWidth - kRight, y);
    out_ += fmt::format("<polyline points=\"{}\" fill=\"none\" {}/>\n", points, style);
  }

  void add_held() {
    const TimelineData::Hop& hop = data_.hops[last_];
    add_heading(kTop, fmt::format("What {} holds of what came from {}", hop.to, hop.from));
    const Records held = of(TimelineKind::pg_bytes, last_);
    const Records limits = of(TimelineKind::xoff_bytes, last_);
    double most = 1;
    for (const Records* records : {&held, &limits})
      for (const TimelineRecord* record : *records)
        most = std::max(most, static_cast<double>(record->value) / kKib);
    const double scale = add_frame(kTop, most, "KiB");
    const double bottom = kTop + kPanel;
    add_steps(limits, bottom, scale / kKib,
              fmt::format("stroke=\"{}\" stroke-dasharray=\"6 4\"", kPfcColour));
    if (!limits.empty())
      out_ += svg_text(kWidth - kRight - 4,
                       bottom - static_cast<double>(limits.back()->value) / kKib * scale - 5,
                       fmt::format("text-anchor=\"end\" fill=\"{}\"", kPfcColour),
                       "above this it sends PFC");
    add_steps(held, bottom, scale / kKib,
              fmt::format("stroke=\"{}\" stroke-width=\"2\"", kHeldColour));
  }

  // The path's last switch is on top, as its messages go down to the first.
  double lane(size_t position) const {
    return messages_top_ + 16 + kLane * static_cast<double>(data_.hops.size() - position);
  }

  void add_messages() {
    add_heading(messages_top_, "What they tell each other");
    double x = kLeft + 200;
    for (const auto& [name, colour] :
         {std::pair{"warning", kCnmColour}, std::pair{"PFC: stop", kPfcColour},
          std::pair{"clear, PFC: go on", kXonColour}, std::pair{"path warned", kAwayColour},
          std::pair{"paused", kPfcColour}}) {
      const bool bar =
          name == std::string_view("path warned") || name == std::string_view("paused");
      out_ += svg_line(x, messages_top_ - 10, x + 20, messages_top_ - 10,
                       fmt::format("stroke=\"{}\" stroke-width=\"{}\"{}", colour, bar ? 8 : 2,
                                   bar ? " stroke-opacity=\"0.45\"" : ""));
      out_ += svg_text(x + 26, messages_top_ - 6, "", name);
      x += 38 + kLetter * static_cast<double>(std::string_view(name).size());
    }
    for (size_t i = 0; i <= data_.hops.size(); ++i) {
      const std::string& name = i == 0 ? data_.hops[0].from : data_.hops[i - 1].to;
      out_ += svg_text(kLeft - 8, lane(i) + 4, "text-anchor=\"end\"", name);
      out_ += svg_line(kLeft, lane(i), kWidth - kRight, lane(i), "stroke=\"#888\"");
    }
    for (uint32_t hop = 0; hop < data_.hops.size(); ++hop) add_messages_of(hop);
  }

  void add_messages_of(uint32_t hop) {
    add_bars(of(TimelineKind::warned, hop), lane(hop) + 5, kAwayColour);
    add_bars(of(TimelineKind::paused, hop), lane(hop) + 11, kPfcColour);
    for (const auto kind : {TimelineKind::cnm, TimelineKind::cnm_relayed})
      for (const TimelineRecord* record : of(kind, hop))
        add_arrow(hop, *record, record->value == 0 ? kXonColour : kCnmColour);
    for (const TimelineRecord* record : of(TimelineKind::pfc, hop))
      add_arrow(hop, *record, record->value == 0 ? kXonColour : kPfcColour);
  }

  // While a level is above 0.
  void add_bars(const Records& records, double y, std::string_view colour) {
    for (size_t i = 0; i < records.size(); ++i) {
      if (records[i]->value <= 0) continue;
      const double end = i + 1 < records.size() ? x_of(records[i + 1]->at) : kWidth - kRight;
      out_ +=
          svg_line(x_of(records[i]->at), y, end, y,
                   fmt::format("stroke=\"{}\" stroke-width=\"6\" stroke-opacity=\"0.45\"", colour));
    }
  }

  void add_arrow(uint32_t hop, const TimelineRecord& record, std::string_view colour) {
    const double x = x_of(record.at);
    const double from = std::max(kLeft, x_of(record.at - data_.hops[hop].delay));
    const double y = lane(hop);
    out_ += svg_line(from, lane(hop + 1), x, y,
                     fmt::format("stroke=\"{}\" stroke-width=\"1.4\"", colour));
    out_ += fmt::format("<path d=\"M{0:.1f},{1:.1f} l-3.2,-7 l5.4,0 z\" fill=\"{2}\"/>\n", x, y,
                        colour);
  }

  // Packets a microsecond, by bins.
  std::vector<double> rates(const Records& records, bool frames) const {
    std::vector<double> bins(kBins);
    const double span = micros(data_.to) - micros(data_.from);
    for (const TimelineRecord* record : records) {
      const double share = (micros(record->at) - micros(data_.from)) / span;
      const int bin = std::clamp(static_cast<int>(share * kBins), 0, kBins - 1);
      bins[static_cast<size_t>(bin)] += frames ? 1 : static_cast<double>(record->value);
    }
    for (double& bin : bins) bin *= kBins / span;
    return bins;
  }

  void add_curve(const std::vector<double>& bins, double scale, std::string_view colour,
                 std::string_view name, double name_at) {
    const double bottom = rates_top_ + kPanel;
    const double step = (kWidth - kLeft - kRight) / kBins;
    std::string points;
    for (size_t i = 0; i < bins.size(); ++i)
      points +=
          fmt::format("{0:.1f},{2:.1f} {1:.1f},{2:.1f} ", kLeft + step * static_cast<double>(i),
                      kLeft + step * static_cast<double>(i + 1), bottom - bins[i] * scale);
    out_ += fmt::format(
        "<polyline points=\"{0}\" fill=\"none\" stroke=\"{1}\" stroke-width=\"1.8\"/>\n", points,
        colour);
    out_ += svg_line(name_at, rates_top_ - 10, name_at + 20, rates_top_ - 10,
                     fmt::format("stroke=\"{}\" stroke-width=\"2\"", colour));
    out_ += svg_text(name_at + 26, rates_top_ - 6, "", name);
  }

  void add_rates() {
    const TimelineData::Hop& hop = data_.hops[0];
    add_heading(rates_top_, fmt::format("What {} does", hop.from));
    const std::vector<double> sent = rates(of(TimelineKind::sent_bytes, 0), true);
    const std::vector<double> away = rates(of(TimelineKind::rerouted, 0), false);
    double most = 1;
    for (const auto* bins : {&sent, &away}) most = std::max(most, std::ranges::max(*bins));
    const double scale = add_frame(rates_top_, most, "packets a us");
    add_curve(sent, scale, kCnmColour, fmt::format("sends to {}", hop.to), kLeft + 200);
    add_curve(away, scale, kAwayColour, "takes off warned paths", kLeft + 400);
  }

  const TimelineData& data_;
  std::string title_;
  uint32_t last_;
  double messages_top_ = 0;
  double rates_top_ = 0;
  double height_ = 0;
  std::string out_;
};

}  // namespace

std::vector<TimelineMoment> moments_of(const TimelineData& data) {
  const uint32_t last = last_hop(data);
  std::optional<Instant> pause = first_of(data, TimelineKind::pfc, last);
  if (pause) pause = *pause - data.hops[last].delay;
  const auto told = last == 0 ? TimelineKind::cnm : TimelineKind::cnm_relayed;
  return {{"PFC is predicted", first_of(data, TimelineKind::predicted, last)},
          {"the source leaf knows", first_of(data, told, 0)},
          {"packets take other paths", first_of(data, TimelineKind::rerouted, 0)},
          {"PFC is sent", pause}};
}

Instant zero_of(const TimelineData& data) {
  return first_of(data, TimelineKind::predicted, last_hop(data)).value_or(data.from);
}

std::string draw_timeline(const TimelineData& data, std::string_view title) {
  return Drawing(data, title).write();
}

}  // namespace eddy::lab
