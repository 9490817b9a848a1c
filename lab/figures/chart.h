// Chart: what a figure shows, apart from how it is drawn: axes, series of points with intervals.
//
// Everything that draws a chart (SVG for eyes and PDF, CSV, pgfplots, matplotlib) starts from this
// one description, by way of layout.h, so that they cannot disagree. Values have the unit of their
// axis's label. Owner: the caller. Cost: a plain value.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace eddy::lab {

// Where an axis of numbers begins: where its quantity does, whatever the points.
enum class AxisBegin : uint8_t {
  zero,    // it is never below 0: a time, a size, a share, a count
  data,    // a setting, such as the load: with the least of them
  either,  // it has both signs; 0 is on the axis
};

struct Axis {
  std::string label;
  bool logarithmic = false;
  AxisBegin begin = AxisBegin::zero;  // of a linear one; a logarithmic one begins with the data
  // Of the axis x: points stand at 0, 1, ... under these instead of numbers. They are drawn as
  // rows, so that long names can be read.
  std::vector<std::string> names{};
};

enum class SeriesKind : uint8_t {
  line,          // what is between points is between their values
  steps,         // a value holds up to the next point: a distribution
  steps_before,  // a value holds from the point before
  dots,          // marks alone
  bars,          // of a chart of rows: from 0 to the value
  // Of a chart of rows, from the begin of each point's interval to its end:
  arrows,  // from the row above to the point's
  spans,   // broad lines
};

inline bool is_of_intervals(SeriesKind kind) {
  return kind == SeriesKind::arrows || kind == SeriesKind::spans;
}

struct Series {
  struct Point {
    double x = 0;
    double y = 0;
    double error = 0;  // half of an interval around y; 0: none
  };
  std::string name;           // empty: not in the legend
  std::vector<Point> points;  // by x
  size_t colour = 0;
  bool thin = false;  // of a lesser kind: thin and dotted
  bool dots = false;  // marks on all points
  SeriesKind kind = SeriesKind::line;
};

struct Chart {
  std::string title;
  Axis x;
  Axis y;
  std::vector<Series> series;
  std::string note;          // below the title
  std::string thin_means{};  // what thin series show, for the legend; empty: not in it
};

}  // namespace eddy::lab
