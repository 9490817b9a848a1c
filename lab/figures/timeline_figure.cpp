#include "lab/figures/timeline_figure.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "lab/figures/svg.h"
#include "lab/figures/timeline_messages.h"

namespace eddy::lab {
namespace {

// In sizes of the text.
constexpr double kPanel = 14;  // height of a panel with an axis
constexpr double kLane = 5.2;  // between two switches
constexpr double kGap = 0.6;
constexpr double kLine = 1.3;
constexpr double kSample = 1.7;  // of a legend
constexpr double kKib = 1024;
constexpr std::string_view kDashed = " stroke-dasharray=\"4.5 3\"";
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

struct LegendItem {
  std::string name;
  std::string_view colour;
  bool is_bar = false;
  bool is_dashed = false;
};
struct Span {
  double top;
  double bottom;
};

class Drawing {
 public:
  Drawing(const TimelineData& data, std::string_view title, const FigureStyle& style)
      : data_(data), title_(title), style_(style), text_(style.text), last_(last_hop(data)) {
    left_ = text_width("packets", text_);  // numbers and a label beside them need as much
    for (size_t i = 0; i <= data.hops.size(); ++i)
      left_ = std::max(left_, text_width(switch_at(i), text_));
    left_ = std::min(left_ + 2 * kGap * text_, style.width / 3);
    right_ = style.width - 1.5 * kGap * text_;
  }

  // From top to bottom; what is drawn below a legend stands where that has ended.
  std::string write() {
    add_title();
    add_moments();
    add_held();
    add_messages();
    add_rates();
    add_times();
    add_moment_lines();
    return svg_head(style_, top_, title_) + below_ + out_ + "</svg>\n";
  }

 private:
  const std::string& switch_at(size_t i) const {
    return i == 0 ? data_.hops[0].from : data_.hops[i - 1].to;
  }
  double panel() const { return kPanel * text_; }
  double x_of(Instant at) const {
    const double span = micros(data_.to) - micros(data_.from);
    return left_ + (micros(at) - micros(data_.from)) / span * (right_ - left_);
  }
  Records of(TimelineKind kind, uint32_t hop) const {
    Records found;
    for (const TimelineRecord& record : data_.records)
      if (record.kind == kind && record.hop == hop) found.push_back(&record);
    return found;
  }

  void add_title() {
    top_ = kGap * text_;
    if (!style_.title) return;
    const double size = 1.25 * text_;
    for (const std::string& line : wrapped(title_, 1.1 * size, style_.width - 2 * kGap * text_)) {
      top_ += 1.2 * size;
      out_ += svg_text(kGap * text_, top_,
                       fmt::format("font-size=\"{:.2f}\" font-weight=\"bold\"", size), line);
    }
    top_ += kGap * text_;
  }

  // The moments, each with its number, side by side as far as they have room.
  void add_moments() {
    double x = kGap * text_;
    top_ += kLine * text_;
    int number = 1;
    for (const TimelineMoment& moment : moments_of(data_)) {
      const std::string says = fmt::format("{} {}", number, moment.says);
      const std::string when =
          moment.at ? fmt::format("{:+.1f} \u00b5s", micros(*moment.at) - micros(zero_of(data_)))
                    : "never";
      const double width = text_width(says, 1.1 * text_);  // bold is wider
      const double all = width + text_width(when, text_) + 0.5 * text_;
      if (number > 1 && x + all > right_) {
        x = kGap * text_;
        top_ += kLine * text_;
      }
      out_ += svg_text(x, top_, "font-weight=\"bold\"", says);
      out_ += svg_text(x + width + 0.5 * text_, top_, "fill=\"#555\"", when);
      x += all + 1.5 * text_;
      ++number;
    }
    top_ += kGap * text_;
  }

  // Numbered lines through all panels; the numbers stand above the first.
  void add_moment_lines() {
    double free = 0;  // to the right of the last number
    int number = 1;
    for (const TimelineMoment& moment : moments_of(data_)) {
      if (moment.at) {
        const double at = x_of(*moment.at);
        for (const Span& span : spans_)
          out_ += svg_line(at, span.top, at, span.bottom,
                           "stroke=\"#444\" stroke-width=\"0.75\" stroke-dasharray=\"2.25 2.25\"");
        const double where = std::max(at, free);
        free = where + text_;
        out_ += svg_text(where, spans_.front().top - 0.4 * text_,
                         "text-anchor=\"middle\" font-weight=\"bold\"", std::to_string(number));
      }
      ++number;
    }
  }

  void add_times() {
    const double low = micros(data_.from) - micros(zero_of(data_));
    const double high = micros(data_.to) - micros(zero_of(data_));
    double free = 0;
    for (const Tick& tick : ticks(low, high, false)) {
      if (tick.at < low || tick.at > high) continue;
      const double x = left_ + (tick.at - low) / (high - low) * (right_ - left_);
      for (const Span& span : spans_)
        below_ += svg_line(x, span.top, x, span.bottom, "stroke=\"#ececec\" stroke-width=\"0.75\"");
      const double width = text_width(tick.label, text_);
      if (x - width / 2 < free || x + width / 2 > style_.width) continue;
      out_ += svg_text(x, top_ + kLine * text_, "text-anchor=\"middle\"", tick.label);
      free = x + width / 2 + kGap * text_;
    }
    top_ += 2 * kLine * text_;
    out_ += svg_text((left_ + right_) / 2, top_ + 0.2 * text_, "text-anchor=\"middle\"",
                     "time [\u00b5s]");
    top_ += 1.5 * kGap * text_;
  }

  void add_heading(std::string_view text) {
    top_ += kGap * text_;
    for (const std::string& line : wrapped(text, 1.1 * text_, right_ - kGap * text_)) {
      top_ += kLine * text_;
      out_ += svg_text(kGap * text_, top_, "font-weight=\"bold\"", line);
    }
    top_ += kGap * text_;
  }

  // In as many lines as the items need.
  void add_legend(const std::vector<LegendItem>& items) {
    double x = kGap * text_;
    top_ += kGap * text_;
    for (const LegendItem& item : items) {
      const double width = (kSample + 0.5) * text_ + text_width(item.name, text_);
      if (x > kGap * text_ && x + width > right_) {
        x = kGap * text_;
        top_ += kLine * text_;
      }
      out_ += svg_line(x, top_, x + kSample * text_, top_,
                       fmt::format("stroke=\"{}\" stroke-width=\"{:.2f}\"{}{}", item.colour,
                                   (item.is_bar ? 0.6 : 0.17) * text_,
                                   item.is_bar ? " stroke-opacity=\"0.45\"" : "",
                                   item.is_dashed ? kDashed : ""));
      out_ += svg_text(x + (kSample + 0.5) * text_, top_ + 0.35 * text_, "", item.name);
      x += width + text_;
    }
    top_ += 1.3 * text_;
  }

  // The frame of a panel from 0 to `high`; returns its points a unit.
  double add_frame(double high, std::string_view unit) {
    const std::vector<Tick> marks = ticks(0, high, false);
    const double most = marks.back().at;
    for (const Tick& tick : marks) {
      const double y = top_ + panel() * (1 - tick.at / most);
      out_ += svg_line(left_, y, right_, y, "stroke=\"#ececec\" stroke-width=\"0.75\"");
      out_ += svg_text(left_ - 0.6 * text_, y + 0.35 * text_, "text-anchor=\"end\"", tick.label);
    }
    constexpr std::string_view kFrame = "stroke=\"#444\" stroke-width=\"0.75\"";
    out_ += svg_line(left_, top_, left_, top_ + panel(), kFrame);
    out_ += svg_line(left_, top_ + panel(), right_, top_ + panel(), kFrame);
    const double middle = top_ + panel() / 2;
    const double x = 1.3 * text_;
    out_ += svg_text(
        x, middle,
        fmt::format("text-anchor=\"middle\" transform=\"rotate(-90 {:.2f} {:.2f})\"", x, middle),
        unit);
    spans_.push_back({top_, top_ + panel()});
    return panel() / most;
  }

  // A level that holds until it changes.
  void add_steps(const Records& records, double bottom, double scale, std::string_view style) {
    if (records.empty()) return;
    std::string points;
    double y = bottom - static_cast<double>(records.front()->value) * scale;
    for (const TimelineRecord* record : records) {
      const double x = x_of(record->at);
      points += fmt::format("{:.2f},{:.2f} ", x, y);
      y = bottom - static_cast<double>(record->value) * scale;
      points += fmt::format("{:.2f},{:.2f} ", x, y);
    }
    points += fmt::format("{:.2f},{:.2f}", right_, y);
    out_ += fmt::format("<polyline points=\"{}\" fill=\"none\" {}/>\n", points, style);
  }

  void add_held() {
    const TimelineData::Hop& hop = data_.hops[last_];
    add_heading(fmt::format("What {} holds of what came from {}", hop.to, hop.from));
    add_legend({{"holds", kHeldColour}, {"above this it sends PFC", kPfcColour, false, true}});
    top_ += kLine * text_;  // numbers of the moments
    const Records held = of(TimelineKind::pg_bytes, last_);
    const Records limits = of(TimelineKind::xoff_bytes, last_);
    double most = 1;
    for (const Records* records : {&held, &limits})
      for (const TimelineRecord* record : *records)
        most = std::max(most, static_cast<double>(record->value) / kKib);
    const double scale = add_frame(most, "KiB");
    const double bottom = top_ + panel();
    add_steps(limits, bottom, scale / kKib, fmt::format("stroke=\"{}\"{}", kPfcColour, kDashed));
    add_steps(held, bottom, scale / kKib,
              fmt::format("stroke=\"{}\" stroke-width=\"{:.2f}\"", kHeldColour, 0.17 * text_));
    top_ = bottom + kGap * text_;
  }

  // The path's last switch is on top, as its messages go down to the first.
  double lane(size_t position) const {
    return top_ + 1.3 * text_ + kLane * text_ * static_cast<double>(data_.hops.size() - position);
  }

  void add_messages() {
    add_heading("What they tell each other");
    add_legend({{"warning", kCnmColour},
                {"PFC: stop", kPfcColour},
                {"clear, PFC: go on", kXonColour},
                {"path warned", kAwayColour, true},
                {"paused", kPfcColour, true}});
    spans_.push_back({lane(data_.hops.size()), lane(0) + 1.2 * text_});
    for (size_t i = 0; i <= data_.hops.size(); ++i) {
      out_ += svg_text(left_ - 0.6 * text_, lane(i) + 0.35 * text_, "text-anchor=\"end\"",
                       fitted(switch_at(i), text_, left_ - kGap * text_));
      out_ += svg_line(left_, lane(i), right_, lane(i), "stroke=\"#888\" stroke-width=\"0.75\"");
    }
    for (uint32_t hop = 0; hop < data_.hops.size(); ++hop) add_messages_of(hop);
    top_ = lane(0) + 1.8 * text_;
  }

  void add_messages_of(uint32_t hop) {
    add_bars(spans_of(data_, hop, TimelineKind::warned), lane(hop) + 0.42 * text_, kAwayColour);
    add_bars(spans_of(data_, hop, TimelineKind::paused), lane(hop) + 0.92 * text_, kPfcColour);
    for (const TimelineMessage& message : messages_of(data_, hop))
      out_ += svg_arrow({x_of(message.left), lane(hop + 1)}, {x_of(message.arrived), lane(hop)},
                        colour_of(message.says), text_);
  }

  static std::string_view colour_of(TimelineMessage::Says says) {
    switch (says) {
      case TimelineMessage::Says::warning:
        return kCnmColour;
      case TimelineMessage::Says::stop:
        return kPfcColour;
      case TimelineMessage::Says::go:
        return kXonColour;
    }
    return "";
  }

  void add_bars(const std::vector<TimelineSpan>& spans, double y, std::string_view colour) {
    for (const TimelineSpan& span : spans)
      out_ += svg_line(x_of(span.from), y, x_of(span.to), y,
                       fmt::format("stroke=\"{}\" stroke-width=\"{:.2f}\" stroke-opacity=\"0.45\"",
                                   colour, 0.5 * text_));
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

  void add_curve(const std::vector<double>& bins, double scale, std::string_view colour) {
    const double bottom = top_ + panel();
    const double step = (right_ - left_) / kBins;
    std::string points;
    for (size_t i = 0; i < bins.size(); ++i)
      points +=
          fmt::format("{0:.2f},{2:.2f} {1:.2f},{2:.2f} ", left_ + step * static_cast<double>(i),
                      left_ + step * static_cast<double>(i + 1), bottom - bins[i] * scale);
    out_ += fmt::format(
        "<polyline points=\"{0}\" fill=\"none\" stroke=\"{1}\" stroke-width=\"{2:.2f}\"/>\n",
        points, colour, 0.15 * text_);
  }

  void add_rates() {
    const TimelineData::Hop& hop = data_.hops[0];
    add_heading(fmt::format("What {} does", hop.from));
    add_legend({{fmt::format("sends to {}", hop.to), kCnmColour},
                {"takes off warned paths", kAwayColour}});
    const std::vector<double> sent = rates(of(TimelineKind::sent_bytes, 0), true);
    const std::vector<double> away = rates(of(TimelineKind::rerouted, 0), false);
    double most = 1;
    for (const auto* bins : {&sent, &away}) most = std::max(most, std::ranges::max(*bins));
    const double scale = add_frame(most, "packets a \u00b5s");
    add_curve(sent, scale, kCnmColour);
    add_curve(away, scale, kAwayColour);
    top_ += panel();
  }

  const TimelineData& data_;
  std::string title_;
  const FigureStyle& style_;
  double text_;
  uint32_t last_;
  double left_ = 0;
  double right_ = 0;
  double top_ = 0;           // what is free from here on
  std::vector<Span> spans_;  // of the panels
  std::string below_;        // what the panels stand on
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

std::string draw_timeline(const TimelineData& data, std::string_view title,
                          const FigureStyle& style) {
  return Drawing(data, title, style).write();
}

}  // namespace eddy::lab
