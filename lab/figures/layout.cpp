#include "lab/figures/layout.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "lab/figures/look.h"
#include "net/text/printable.h"

namespace eddy::lab {
namespace {

// In sizes of the text.
constexpr double kGap = 0.6;
constexpr double kAtEdge = 0.45;  // of the gap, what a number may take
constexpr double kLine = 1.2;
constexpr double kTitle = 1.25;
constexpr double kSample = 2.2;      // of the legend
constexpr double kMarkEvery = 7;     // of a line
constexpr double kMarkShift = 0.85;  // from one line to the next
constexpr double kArrowRow = 5.2;    // height of a row where arrows go from one to the next
// In widths of the figure.
constexpr double kHeightWide = 0.42;
constexpr double kHeightNarrow = 0.48;
constexpr double kMostOfLegend = 0.42;
constexpr double kRoomOfSetting = 0.04;  // of its span
constexpr double kMostOfRowNames = 0.44;

struct Range {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();

  void take(double value) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
};

bool shows(const Axis& axis, double value) {
  return std::isfinite(value) && (!axis.logarithmic || value > 0);
}

// A span that is not empty, with what the axis begins with by its meaning.
Range range_for(const Axis& axis, Range found) {
  if (found.low > found.high) return axis.logarithmic ? Range{1, 10} : Range{0, 1};
  if (!axis.logarithmic && axis.begin != AxisBegin::data) found.take(0);
  if (found.low == found.high)
    found.high = axis.logarithmic ? 2 * found.low : found.low + std::max(1.0, std::abs(found.low));
  return found;
}

LaidSeries::Point point_of(const Chart& chart, const Series::Point& point) {
  LaidSeries::Point out{.x = point.x, .y = point.y, .low = point.y, .high = point.y};
  if (!(point.error > 0) || !std::isfinite(point.error)) return out;
  out.high = point.y + point.error;
  out.low = point.y - point.error;
  if (chart.y.begin == AxisBegin::zero && !chart.y.logarithmic)
    out.low = std::max(out.low, std::min(0.0, point.y));
  return out;
}

// Paper is no terminal, and has the sign of micro.
std::string words_of(const std::string& text) {
  std::string out = printable(text);
  for (const std::string_view unit : {"[us]", "(us)", " us"}) {
    const size_t at = out.rfind(unit);
    if (at == std::string::npos || (unit.front() == ' ' && at + unit.size() != out.size()))
      continue;
    out.replace(at + 1, 1, "\u00b5");
  }
  return out;
}

// Labels that would touch one another go: of a logarithmic axis first those between decades.
void thin_labels(std::vector<Tick>& all, const AxisLayout& axis,
                 const std::function<double(const Tick&)>& size, double gap) {
  struct Kept {
    double from;
    double to;
  };
  std::vector<Kept> kept;
  const auto room = [&](const Tick& tick) {
    const double at = axis.place(tick.at);
    const Kept mine{at - size(tick) / 2 - gap / 2, at + size(tick) / 2 + gap / 2};
    for (const Kept& other : kept)
      if (mine.from < other.to && other.from < mine.to) return false;
    kept.push_back(mine);
    return true;
  };
  const auto is_decade = [&](const Tick& tick) {
    const double power = std::log10(tick.at);
    return std::abs(power - std::round(power)) < 1e-6;
  };
  std::vector<size_t> order;
  for (const bool decades : {true, false})
    for (size_t i = 0; i < all.size(); ++i)
      if (!all[i].label.empty() && (!axis.logarithmic || is_decade(all[i])) == decades)
        order.push_back(i);
  // Every other, third, ... decade, so that what is left is even.
  const auto decades = static_cast<size_t>(std::ranges::count_if(
      all, [&](const Tick& t) { return !t.label.empty() && (!axis.logarithmic || is_decade(t)); }));
  for (size_t step = 1; step <= decades; ++step) {
    kept.clear();
    bool fits = true;
    for (size_t i = 0; i < decades && fits; i += step) fits = room(all[order[i]]);
    if (!fits) continue;
    for (size_t i = 0; i < decades; ++i)
      if (i % step != 0) all[order[i]].label.clear();
    break;
  }
  for (size_t i = decades; i < order.size(); ++i)
    if (!room(all[order[i]])) all[order[i]].label.clear();
}

class Layout {
 public:
  Layout(const Chart& chart, const FigureStyle& style) : chart_(chart), text_(style.text) {
    out_.width = style.width;
    out_.text = style.text;
    out_.fonts = style.fonts;
    out_.name = words_of(chart.title);
    narrow_ = style.is_narrow();
    if (style.title) add_title();
  }

  ChartLayout lay_out() {
    for (const std::string& name : chart_.x.names) out_.rows.push_back(printable(name));
    add_points();
    add_legend();
    if (out_.has_rows())
      lay_out_rows();
    else
      lay_out_plot();
    place_legend();
    limit_intervals();
    choose_marks();
    return std::move(out_);
  }

 private:
  void add_title() {
    const double room = out_.width - 2 * kGap * text_;
    out_.title_size = kTitle * text_;
    out_.title = wrapped(out_.name, out_.title_size * 1.1, room);  // bold is wider
    out_.note = wrapped(words_of(chart_.note), text_, room);
    top_ = kGap * text_ + out_.title_size;
    out_.title_base = top_;
    top_ += kLine * out_.title_size * static_cast<double>(out_.title.size() - 1);
    out_.note_base = top_ + kLine * text_;
    top_ += kLine * text_ * static_cast<double>(out_.note.size()) + kGap * text_;
  }

  void add_points() {
    for (const Series& series : chart_.series) {
      LaidSeries& laid = out_.series.emplace_back();
      laid.name = printable(series.name);
      laid.look = series;
      laid.look.points.clear();
      for (const Series::Point& point : series.points) {
        if (!shows(chart_.x, point.x) || !shows(chart_.y, point.y)) continue;
        if (out_.has_rows() && point.x >= static_cast<double>(out_.rows.size())) continue;
        const LaidSeries::Point shown = point_of(chart_, point);
        laid.points.push_back(shown);
        laid.has_intervals |= shown.low < shown.high && !is_of_intervals(series.kind);
        x_.take(point.x);
        for (const double value : {shown.low, shown.y, shown.high})
          if (shows(chart_.y, value)) y_.take(value);
      }
    }
    x_ = range_for(chart_.x, x_);
    y_ = range_for(chart_.y, y_);
  }

  void add_legend() {
    LegendLayout& legend = out_.legend;
    legend.is_above = narrow_ || out_.has_rows();
    legend.sample = kSample * text_;
    legend.line = 1.3 * text_;
    const double most = (legend.is_above ? out_.width : kMostOfLegend * out_.width) -
                        legend.sample - 3 * kGap * text_;
    bool thin = false;
    for (size_t i = 0; i < out_.series.size(); ++i) {
      thin |= out_.series[i].look.thin;
      if (!out_.series[i].name.empty())
        legend.entries.push_back({i, fitted(out_.series[i].name, text_, most)});
    }
    if (thin && !chart_.thin_means.empty() && !legend.entries.empty())
      legend.entries.push_back({std::nullopt, printable(chart_.thin_means)});
    for (const LegendEntry& entry : legend.entries)
      legend.column = std::max(legend.column, text_width(entry.name, text_));
    legend.column += legend.sample + 2.5 * kGap * text_;
    if (legend.entries.empty() || !legend.is_above) return;
    legend.columns = std::clamp<size_t>(
        static_cast<size_t>((out_.width - kGap * text_) / legend.column), 1, legend.entries.size());
    const size_t lines = (legend.entries.size() + legend.columns - 1) / legend.columns;
    legend.top = top_ + legend.line / 2 + kGap * text_ / 2;
    top_ += legend.line * static_cast<double>(lines) + kGap * text_;
  }

  // Beside the plot, or above it and in its middle.
  void place_legend() {
    LegendLayout& legend = out_.legend;
    if (!legend.is_above) {
      legend.left = out_.across.to + kGap * text_ * 1.5;
      legend.top = out_.up.to + legend.line / 2;
      return;
    }
    const double width = legend.column * static_cast<double>(legend.columns) - kGap * text_;
    const double middle =
        out_.has_rows() ? out_.width / 2 : (out_.across.from + out_.across.to) / 2;
    legend.left = std::max(kGap * text_ / 2, std::min(middle - width / 2, out_.width - width));
  }

  // As many marks as have room for what stands at them.
  void add_ticks(AxisLayout& axis, const Axis& of, Range range, bool is_across) const {
    axis.logarithmic = of.logarithmic;
    const double length = std::abs(axis.to - axis.from);
    const auto size = [&](const Tick& tick) {
      return is_across ? text_width(tick.label, text_) : text_;
    };
    const double gap = (is_across ? 0.8 : 0.5) * text_;
    for (int wanted = kTicksWanted; wanted >= 1; --wanted) {
      axis.ticks = ticks(range.low, range.high, of.logarithmic, wanted);
      axis.low = axis.ticks.front().at;
      axis.high = axis.ticks.back().at;
      double needed = 0;
      for (const Tick& tick : axis.ticks) needed = std::max(needed, size(tick) + gap);
      if (of.logarithmic || needed * static_cast<double>(axis.ticks.size() - 1) <= length) break;
    }
    // A setting has no values beside its own.
    if (!of.logarithmic && of.begin == AxisBegin::data) {
      const double room = kRoomOfSetting * (range.high - range.low);  // for what is around a point
      axis.low = range.low - room;
      axis.high = range.high + room;
      std::erase_if(axis.ticks,
                    [&](const Tick& tick) { return tick.at < axis.low || tick.at > axis.high; });
    }
    thin_labels(axis.ticks, axis, size, gap);
  }

  static std::string last_label(const AxisLayout& axis) {
    return axis.ticks.empty() ? "" : axis.ticks.back().label;
  }

  double label_height(const AxisLayout& axis) const {
    return kLine * text_ * static_cast<double>(axis.label.size());
  }

  void lay_out_plot() {
    const LegendLayout& legend = out_.legend;
    const double beside = legend.is_above || legend.entries.empty() ? 0 : legend.column;
    double height = out_.width * (narrow_ ? kHeightNarrow : kHeightWide);
    if (beside > 0)
      height = std::max(height, legend.line * static_cast<double>(legend.entries.size()));
    AxisLayout& up = out_.up;
    up.to = top_ + kGap * text_;
    up.from = up.to + height;
    up.label = wrapped(words_of(chart_.y.label), text_, height);
    add_ticks(up, chart_.y, y_, false);
    double numbers = 0;
    for (const Tick& tick : up.ticks) numbers = std::max(numbers, text_width(tick.label, text_));
    AxisLayout& across = out_.across;
    across.from = kGap * text_ + label_height(up) + numbers + kGap * text_;
    across.to = out_.width - beside - kGap * text_ * (beside > 0 ? 2 : 1);
    add_ticks(across, chart_.x, x_, true);
    // The last number stands beyond the end by half.
    const double over = text_width(last_label(across), text_) / 2 - kAtEdge * text_;
    if (over > 0 && beside == 0) {
      across.to -= over;
      add_ticks(across, chart_.x, x_, true);
    }
    across.label = wrapped(words_of(chart_.x.label), text_, across.to - across.from);
    out_.height = up.from + kLine * text_ + 0.2 * text_ + label_height(across) + kGap * text_;
  }

  void lay_out_rows() {
    size_t most_lines = 1;
    double names = 0;
    for (const std::string& name : out_.rows) {
      const double most = kMostOfRowNames * out_.width;
      std::vector<std::string> lines = wrapped(name, text_, most);
      for (std::string& line : lines) {
        line = fitted(line, text_, most);
        names = std::max(names, text_width(line, text_));
      }
      most_lines = std::max(most_lines, lines.size());
      out_.row_lines.push_back(std::move(lines));
    }
    out_.row = kLine * text_ * static_cast<double>(most_lines) + kGap * text_;
    if (std::ranges::find(chart_.series, SeriesKind::arrows, &Series::kind) != chart_.series.end())
      out_.row = std::max(out_.row, kArrowRow * text_);
    AxisLayout& up = out_.up;
    up.to = top_ + kGap * text_ / 2;
    up.from = up.to + out_.row * static_cast<double>(out_.rows.size());
    up.low = static_cast<double>(out_.rows.size()) - 0.5;
    up.high = -0.5;
    AxisLayout& across = out_.across;
    across.from = 2 * kGap * text_ + names;
    across.to = out_.width - kGap * text_;
    add_ticks(across, chart_.y, y_, true);
    across.to -= std::max(0.0, text_width(last_label(across), text_) / 2 - kAtEdge * text_);
    add_ticks(across, chart_.y, y_, true);
    across.label = wrapped(words_of(chart_.y.label), text_, across.to - across.from);
    out_.height = up.from + kLine * text_ + 0.2 * text_ + label_height(across) + kGap * text_;
  }

  // On a logarithmic axis an interval can reach below all that it shows.
  void limit_intervals() {
    const double low = out_.values().low;
    for (LaidSeries& series : out_.series)
      for (LaidSeries::Point& point : series.points)
        if (chart_.y.logarithmic) point.low = std::max(point.low, low);
  }

  // Marks tell lines apart without their colours; those of one beside those of another.
  void choose_marks() {
    for (LaidSeries& series : out_.series) {
      if (series.look.kind == SeriesKind::bars || is_of_intervals(series.look.kind)) continue;
      double next =
          out_.across.from + kMarkShift * text_ * static_cast<double>(series.look.colour % kLooks);
      for (size_t i = 0; i < series.points.size(); ++i) {
        const double at = out_.across.place(series.points[i].x);
        const bool all = series.look.dots || series.look.kind == SeriesKind::dots;
        if (!all && (series.look.thin || at < next)) continue;
        series.marks.push_back(i);
        next = at + kMarkEvery * text_;
      }
    }
  }

  const Chart& chart_;
  double text_;
  bool narrow_ = false;
  double top_ = 0;  // what is free from here on
  Range x_;
  Range y_;
  ChartLayout out_;
};

}  // namespace

double AxisLayout::place(double value) const {
  const double share =
      logarithmic ? (std::log10(value) - std::log10(low)) / (std::log10(high) - std::log10(low))
                  : (value - low) / (high - low);
  return from + share * (to - from);
}

ChartLayout lay_out(const Chart& chart, const FigureStyle& style) {
  return Layout(chart, style).lay_out();
}

}  // namespace eddy::lab
