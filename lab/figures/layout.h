// ChartLayout: a chart laid out for a style: where its axes begin and end, their marks, what of
// each series can be shown, the limits of intervals, the legend. Every way to draw a chart writes
// down what stands here.
//
// Lengths are points from the top left. Values that an axis cannot show (not finite; not positive
// on a logarithmic one) are left out. An interval of a quantity that is never below 0 ends there,
// as nothing below it can be; axes are long enough for all of every interval. Owner: the caller.
// Cost: linear in the points.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lab/figures/chart.h"
#include "lab/figures/style.h"
#include "lab/figures/ticks.h"

namespace eddy::lab {

struct AxisLayout {
  double low = 0;
  double high = 1;
  bool logarithmic = false;
  double from = 0;  // place of `low`
  double to = 1;    // and of `high`
  std::vector<Tick> ticks;
  std::vector<std::string> label;  // in lines

  double place(double value) const;
};

struct LaidSeries {
  struct Point {
    double x = 0;
    double y = 0;
    double low = 0;  // of the interval around y; both y: there is none
    double high = 0;
  };
  std::string name;  // as the legend has it
  Series look;       // without points
  std::vector<Point> points;
  std::vector<size_t> marks;  // numbers of points that have a mark
  bool has_intervals = false;
};

struct LegendEntry {
  std::optional<size_t> series;  // none: what thin lines are
  std::string name;
};
struct LegendLayout {
  std::vector<LegendEntry> entries;
  bool is_above = false;  // the plot; else it stands to the right
  size_t columns = 1;
  double left = 0;
  double top = 0;     // middle of the first line
  double column = 0;  // width
  double line = 0;    // height
  double sample = 0;  // width
};

struct ChartLayout {
  double width = 0;
  double height = 0;
  double text = 0;  // size
  std::vector<std::string> fonts;
  std::string name;                // the title, shown or not
  std::vector<std::string> title;  // in lines
  std::vector<std::string> note;
  double title_size = 0;
  double title_base = 0;  // of the first line
  double note_base = 0;
  AxisLayout across;
  AxisLayout up;
  // Not empty: points stand in rows, the first on top; x counts them and y goes across.
  std::vector<std::string> rows;
  std::vector<std::vector<std::string>> row_lines;  // the same, broken
  double row = 0;                                   // height
  LegendLayout legend;
  std::vector<LaidSeries> series;

  double line() const { return 1.2 * text; }
  bool has_rows() const { return !rows.empty(); }
  // Of the axis that values y are on, and of that of x.
  const AxisLayout& values() const { return has_rows() ? across : up; }
};

ChartLayout lay_out(const Chart& chart, const FigureStyle& style);

}  // namespace eddy::lab
