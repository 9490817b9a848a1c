#include "lab/figures/chart_csv.h"

#include <fmt/format.h>

namespace eddy::lab {
namespace {

// TeX reads comments, too, as far as braces and backslashes go.
std::string in_comment(std::string text) {
  for (char& c : text)
    if (c == '{')
      c = '(';
    else if (c == '}')
      c = ')';
    else if (c == '\\')
      c = '/';
  return text;
}

std::string one_line(const std::vector<std::string>& lines) {
  return fmt::format("{}", fmt::join(lines, " "));
}

}  // namespace

std::string chart_csv(const ChartLayout& layout) {
  const AxisLayout& x = layout.has_rows() ? layout.up : layout.across;
  std::string out = fmt::format("# {}\n# x: {}\n# y: {}\n", in_comment(layout.name),
                                layout.has_rows() ? "row" : in_comment(one_line(x.label)),
                                in_comment(one_line(layout.values().label)));
  for (size_t i = 0; i < layout.series.size(); ++i)
    if (!layout.series[i].name.empty())
      out += fmt::format("# series {}: {}\n", i, in_comment(layout.series[i].name));
  for (size_t i = 0; i < layout.rows.size(); ++i)
    out += fmt::format("# row {}: {}\n", i, in_comment(layout.rows[i]));
  out += "series,x,y,low,high\n";
  for (size_t i = 0; i < layout.series.size(); ++i)
    for (const LaidSeries::Point& point : layout.series[i].points)
      out += fmt::format("{},{:.9g},{:.9g},{:.9g},{:.9g}\n", i, point.x, point.y, point.low,
                         point.high);
  return out;
}

}  // namespace eddy::lab
