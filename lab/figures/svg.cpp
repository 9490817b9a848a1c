#include "lab/figures/svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace eddy::lab {
namespace {

// Okabe and Ito's palette; its yellow, pale on white, is last and darkened.
constexpr std::array<std::string_view, 8> kColours = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                                      "#56b4e9", "#e69f00", "#000000", "#a89200"};
constexpr std::array<std::string_view, 3> kDashes = {"8 4", "3 3", "9 3 2 3"};
constexpr double kWidth = 860;
constexpr double kHeight = 480;
constexpr double kLeft = 76;
constexpr double kTop = 58;
constexpr double kBottom = 56;
constexpr double kRightWithoutLegend = 24;
constexpr double kLegendLine = 18;
constexpr double kLegendSample = 26;
constexpr double kLetter = 7.4;  // width of a letter of the legend, roughly
constexpr size_t kLongestName = 34;
constexpr int kTicksWanted = 8;
constexpr double kMarkEvery = 110;
constexpr double kMarkShift = 13;

// One axis in pixels.
struct Scale {
  double low = 0;
  double high = 1;
  bool logarithmic = false;
  double from = 0;  // pixel of low
  double to = 1;    // pixel of high

  bool shows(double value) const { return std::isfinite(value) && (!logarithmic || value > 0); }
  double pixel(double value) const {
    const double share =
        logarithmic ? (std::log10(value) - std::log10(low)) / (std::log10(high) - std::log10(low))
                    : (value - low) / (high - low);
    return from + share * (to - from);
  }
};

double step_of(double span) {
  const double raw = span / kTicksWanted;
  const double decade = std::pow(10, std::floor(std::log10(raw)));
  for (const double factor : {1.0, 2.0, 5.0})
    if (raw <= factor * decade * (1 + 1e-9)) return factor * decade;
  return 10 * decade;
}

// "0.5", "200", "10k", "3M".
std::string number(double value) {
  constexpr double kTenThousand = 1e4;
  constexpr double kThousand = 1e3;
  constexpr std::array<std::string_view, 5> kUnits = {"", "k", "M", "G", "T"};
  if (std::abs(value) < kTenThousand) return fmt::format("{:.6g}", value);
  size_t unit = 0;
  while (std::abs(value) >= kThousand * (1 - 1e-9) && unit + 1 < kUnits.size()) {
    value /= kThousand;
    ++unit;
  }
  return fmt::format("{:.6g}{}", value, kUnits[unit]);
}

std::vector<Tick> linear_ticks(double low, double high) {
  const double step = step_of(high - low);
  std::vector<Tick> out;
  const auto first = static_cast<int64_t>(std::floor(low / step + 1e-9));
  const auto last = static_cast<int64_t>(std::ceil(high / step - 1e-9));
  for (int64_t i = first; i <= last; ++i) {
    const double at = static_cast<double>(i) * step;
    out.push_back({at, number(at)});
  }
  return out;
}

// Decades, with 2 and 5 between them named where there are few.
std::vector<Tick> logarithmic_ticks(double low, double high) {
  const int first = static_cast<int>(std::floor(std::log10(low) + 1e-9));
  const int last = static_cast<int>(std::ceil(std::log10(high) - 1e-9));
  constexpr int kFew = 3;
  const bool few = last - first <= kFew;
  std::vector<Tick> all;
  for (int decade = first; decade <= last; ++decade)
    for (int digit = 1; digit <= (decade == last ? 1 : 9); ++digit) {
      const double at = digit * std::pow(10, decade);
      const bool named = digit == 1 || (few && (digit == 2 || digit == 5));
      all.push_back({at, named ? number(at) : ""});
    }
  // From the last mark at or below `low` to the first at or above `high`.
  size_t from = 0;
  while (from + 1 < all.size() && all[from + 1].at <= low * (1 + 1e-9)) ++from;
  size_t to = all.size() - 1;
  while (to > from + 1 && all[to - 1].at >= high * (1 - 1e-9)) --to;
  return {all.begin() + static_cast<ptrdiff_t>(from), all.begin() + static_cast<ptrdiff_t>(to) + 1};
}

// Of the values that the axis shows; a span that is not empty.
struct Range {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();
};
Range range_of(const Chart& chart, const Axis& axis, double Series::Point::*member) {
  Range range;
  for (const Series& series : chart.series)
    for (const Series::Point& point : series.points) {
      const double value = point.*member;
      if (!std::isfinite(value) || (axis.logarithmic && value <= 0)) continue;
      range.low = std::min(range.low, value);
      range.high = std::max(range.high, value);
    }
  if (range.low > range.high) return {axis.logarithmic ? 1.0 : 0.0, axis.logarithmic ? 10.0 : 1.0};
  if (!axis.logarithmic) range.low = std::min(range.low, 0.0);
  if (range.low == range.high) range.high = axis.logarithmic ? 2 * range.low : range.low + 1;
  return range;
}

std::string shortened(const std::string& name) {
  if (name.size() <= kLongestName) return name;
  size_t kept = kLongestName - 3;
  constexpr int kFirstTwoBits = 0xc0;
  constexpr int kContinued = 0x80;  // an octet in the middle of a character of UTF-8
  while (kept > 0 && (name[kept] & kFirstTwoBits) == kContinued) --kept;
  return name.substr(0, kept) + "...";
}

std::string style_of(const Series& series) {
  std::string style = fmt::format("fill=\"none\" stroke=\"{}\" stroke-width=\"{}\"",
                                  svg_colour(series.colour), series.thin ? "1.2" : "2");
  if (series.thin)
    style += " stroke-dasharray=\"2 3\"";
  else if (series.colour >= kColours.size())
    style += fmt::format(" stroke-dasharray=\"{}\"",
                         kDashes[(series.colour / kColours.size() - 1) % kDashes.size()]);
  return style;
}

class Drawing {
 public:
  explicit Drawing(const Chart& chart) : chart_(chart) {
    double legend = 0;
    for (const Series& series : chart.series)
      legend = std::max(legend, kLetter * static_cast<double>(shortened(series.name).size()));
    right_ = legend == 0 ? kRightWithoutLegend : legend + kLegendSample + 36;
    const auto named = static_cast<double>(std::ranges::count_if(
        chart.series, [](const Series& series) { return !series.name.empty(); }));
    height_ = std::max(kHeight, kTop + kBottom + named * kLegendLine);
    x_ = scale(chart.x, &Series::Point::x, kLeft, kWidth - right_, x_ticks_);
    y_ = scale(chart.y, &Series::Point::y, height_ - kBottom, kTop, y_ticks_);
  }

  std::string write() {
    out_ = svg_head(kWidth, height_, chart_.title);
    out_ += svg_text(kLeft, 24, "font-size=\"16\" font-weight=\"bold\"", chart_.title);
    if (!chart_.note.empty()) out_ += svg_text(kLeft, 43, "fill=\"#666\"", chart_.note);
    add_grid();
    add_labels();
    for (const Series& series : chart_.series) add_series(series);
    add_legend();
    return std::move(out_) + "</svg>\n";
  }

 private:
  Scale scale(const Axis& axis, double Series::Point::*member, double from, double to,
              std::vector<Tick>& marks) const {
    const Range range = range_of(chart_, axis, member);
    marks = ticks(range.low, range.high, axis.logarithmic);
    return {.low = marks.front().at,
            .high = marks.back().at,
            .logarithmic = axis.logarithmic,
            .from = from,
            .to = to};
  }

  void add_grid() {
    constexpr std::string_view kMain = "stroke=\"#d9d9d9\"";
    constexpr std::string_view kLesser = "stroke=\"#f0f0f0\"";
    for (const Tick& tick : x_ticks_) {
      const double at = x_.pixel(tick.at);
      out_ += svg_line(at, y_.from, at, y_.to, tick.label.empty() ? kLesser : kMain);
      if (!tick.label.empty())
        out_ += svg_text(at, y_.from + 18, "text-anchor=\"middle\"", tick.label);
    }
    for (const Tick& tick : y_ticks_) {
      const double at = y_.pixel(tick.at);
      out_ += svg_line(x_.from, at, x_.to, at, tick.label.empty() ? kLesser : kMain);
      if (!tick.label.empty())
        out_ += svg_text(x_.from - 8, at + 4, "text-anchor=\"end\"", tick.label);
    }
    out_ += svg_line(x_.from, y_.from, x_.to, y_.from, "stroke=\"#444\"");
    out_ += svg_line(x_.from, y_.from, x_.from, y_.to, "stroke=\"#444\"");
  }

  void add_labels() {
    const double middle = (x_.from + x_.to) / 2;
    out_ += svg_text(middle, height_ - 14, "text-anchor=\"middle\"", chart_.x.label);
    const double y = (y_.from + y_.to) / 2;
    out_ += svg_text(18, y,
                     fmt::format("text-anchor=\"middle\" transform=\"rotate(-90 18 {:.1f})\"", y),
                     chart_.y.label);
  }

  void add_series(const Series& series) {
    std::string points;
    std::string dots;
    // Marks tell curves apart without their colours; those of one curve beside those of another.
    double next_mark = x_.from + kMarkShift * static_cast<double>(series.colour % kColours.size());
    for (const Series::Point& point : series.points) {
      if (!x_.shows(point.x) || !y_.shows(point.y)) continue;
      const double x = x_.pixel(point.x);
      const double y = y_.pixel(point.y);
      points += fmt::format("{}{:.1f},{:.1f}", points.empty() ? "" : " ", x, y);
      if (point.error > 0) dots += error_bar(x, point, svg_colour(series.colour));
      if (series.dots || (!series.thin && x >= next_mark)) {
        dots += svg_marker(x, y, series.colour);
        next_mark = x + kMarkEvery;
      }
    }
    if (!points.empty())
      out_ += fmt::format("<polyline points=\"{}\" {} stroke-linejoin=\"round\"/>\n", points,
                          style_of(series));
    out_ += dots;
  }

  std::string error_bar(double x, const Series::Point& point, std::string_view colour) const {
    constexpr double kCap = 3;
    const auto inside = [this](double value) {
      return std::clamp(y_.shows(value) ? y_.pixel(value) : y_.from, kTop, y_.from);
    };
    const double top = inside(point.y + point.error);
    const double bottom = inside(point.y - point.error);
    const std::string style = fmt::format("stroke=\"{}\"", colour);
    return svg_line(x, top, x, bottom, style) + svg_line(x - kCap, top, x + kCap, top, style) +
           svg_line(x - kCap, bottom, x + kCap, bottom, style);
  }

  void add_legend() {
    double y = kTop + 8;
    const double x = kWidth - right_ + 16;
    for (const Series& series : chart_.series) {
      if (series.name.empty()) continue;
      out_ += svg_line(x, y, x + kLegendSample, y, style_of(series));
      if (!series.thin) out_ += svg_marker(x + kLegendSample / 2, y, series.colour);
      out_ += svg_text(x + kLegendSample + 8, y + 4, "", shortened(series.name));
      y += kLegendLine;
    }
  }

  const Chart& chart_;
  double right_ = 0;
  double height_ = kHeight;
  std::vector<Tick> x_ticks_;
  std::vector<Tick> y_ticks_;
  Scale x_;
  Scale y_;
  std::string out_;
};

}  // namespace

std::string_view svg_colour(size_t index) {
  return kColours[index % kColours.size()];
}

std::string svg_marker(double x, double y, size_t index) {
  // Around the point, about 7 pixels wide.
  static constexpr std::array<std::string_view, 8> kShapes = {
      "m-3.2,0a3.2,3.2 0 1 0 6.4,0a3.2,3.2 0 1 0 -6.4,0z",
      "m-3,-3h6v6h-6z",
      "m0,-3.8l3.6,6.6h-7.2z",
      "m0,-4l4,4l-4,4l-4,-4z",
      "m0,3.8l3.6,-6.6h-7.2z",
      "m-3.4,-3.4l6.8,6.8m0,-6.8l-6.8,6.8",
      "m-4,0h8m-4,-4v8",
      "m-4,-1.4h8v2.8h-8z"};
  return fmt::format(
      "<path d=\"M{:.1f},{:.1f}{}\" fill=\"{}\" stroke=\"{}\" stroke-width=\"1.2\"/>\n", x, y,
      kShapes[index % kShapes.size()], svg_colour(index), svg_colour(index));
}

std::vector<Tick> ticks(double low, double high, bool logarithmic) {
  return logarithmic ? logarithmic_ticks(low, high) : linear_ticks(low, high);
}

std::string svg_text(double x, double y, std::string_view extra, std::string_view content) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\"{}{}>{}</text>\n", x, y,
                     extra.empty() ? "" : " ", extra, svg_escaped(content));
}

std::string svg_line(double x1, double y1, double x2, double y2, std::string_view style) {
  return fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" {}/>\n", x1, y1,
                     x2, y2, style);
}

std::string svg_head(double width, double height, std::string_view title) {
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" "
      "viewBox=\"0 0 {0:.0f} {1:.0f}\" font-family=\"Helvetica, Arial, sans-serif\" "
      "font-size=\"12\" fill=\"#222\">\n<title>{2}</title>\n"
      "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n",
      width, height, svg_escaped(title));
}

std::string svg_escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '&')
      out += "&amp;";
    else if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '"')
      out += "&quot;";
    else if (static_cast<unsigned char>(c) < ' ' || c == '\x7f')
      out += ' ';  // no character of XML
    else
      out += c;
  }
  return out;
}

std::string draw(const Chart& chart) {
  return Drawing(chart).write();
}

}  // namespace eddy::lab
