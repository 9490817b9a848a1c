#include "lab/figures/dot_chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "lab/figures/svg.h"

namespace eddy::lab {
namespace {

constexpr double kWidth = 860;
constexpr double kTop = 58;
constexpr double kBottom = 46;
constexpr double kRow = 24;
constexpr double kRight = 32;
constexpr double kLetter = 7.4;  // width of a letter, roughly
constexpr double kLongestName = 440;

}  // namespace

std::string draw_dots(const DotChart& chart) {
  double left = 60;
  double low = 0;
  double high = 0;
  for (const DotRow& row : chart.rows) {
    left = std::max(left, std::min(kLongestName, kLetter * static_cast<double>(row.name.size())));
    low = std::min(low, row.value - row.error);
    high = std::max(high, row.value + row.error);
  }
  left += 20;
  const std::vector<Tick> marks = ticks(low, high > low ? high : low + 1, false);
  const double bottom = kTop + kRow * static_cast<double>(chart.rows.size());
  const auto x_of = [&](double value) {
    return left + (value - marks.front().at) / (marks.back().at - marks.front().at) *
                      (kWidth - kRight - left);
  };
  std::string out = svg_head(kWidth, bottom + kBottom, chart.title);
  out += svg_text(left, 24, "font-size=\"16\" font-weight=\"bold\"", chart.title);
  out += svg_text(left, 43, "fill=\"#666\"", chart.note);
  for (const Tick& tick : marks) {
    out += svg_line(x_of(tick.at), kTop, x_of(tick.at), bottom, "stroke=\"#d9d9d9\"");
    out += svg_text(x_of(tick.at), bottom + 18, "text-anchor=\"middle\"", tick.label);
  }
  out += svg_text((left + kWidth - kRight) / 2, bottom + 36, "text-anchor=\"middle\"", chart.label);
  double y = kTop + kRow / 2;
  for (const DotRow& row : chart.rows) {
    out += svg_text(left - 10, y + 4, "text-anchor=\"end\"", row.name);
    if (row.error > 0)
      out += svg_line(x_of(row.value - row.error), y, x_of(row.value + row.error), y,
                      fmt::format("stroke=\"{}\" stroke-width=\"2\"", svg_colour(row.colour)));
    out += svg_marker(x_of(row.value), y, row.colour);
    y += kRow;
  }
  return out + "</svg>\n";
}

}  // namespace eddy::lab
