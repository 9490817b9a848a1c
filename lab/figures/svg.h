// A chart of lines as SVG: axes (linear or logarithmic), grid, legend.
//
// Sizes are in CSS pixels. The same chart gives the same text on every machine. Values that an axis
// cannot show (not finite; not positive on a logarithmic one) are left out. Eight colours that
// colour-blind readers can tell apart, each with a mark of its own, then the same ones dashed.
// Owner: the caller. Cost: linear in the points.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace eddy::lab {

struct Axis {
  std::string label;
  bool logarithmic = false;
};

struct Series {
  struct Point {
    double x = 0;
    double y = 0;
    double error = 0;  // half of an interval around y; 0: none
  };
  std::string name;           // empty: not in the legend
  std::vector<Point> points;  // by x
  size_t colour = 0;
  bool thin = false;  // of a lesser kind: thin and dashed
  bool dots = false;  // marks on the points
};

struct Chart {
  std::string title;
  Axis x;
  Axis y;
  std::vector<Series> series;
  std::string note;  // below the title
};

std::string draw(const Chart& chart);

// Elements; `extra` and `style` are attributes.
std::string svg_text(double x, double y, std::string_view extra, std::string_view content);
std::string svg_line(double x1, double y1, double x2, double y2, std::string_view style);
// The page's opening tag, its title and a white ground.
std::string svg_head(double width, double height, std::string_view title);

// Of the series with this number: its colour, and its mark around a point.
std::string_view svg_colour(size_t index);
std::string svg_marker(double x, double y, size_t index);

// `text` for the inside of an element or an attribute.
std::string svg_escaped(std::string_view text);

struct Tick {
  double at = 0;
  std::string label;  // empty: a lesser one
};
// Where an axis from `low` to `high` has its marks; both are at marks or inside of them.
std::vector<Tick> ticks(double low, double high, bool logarithmic);

}  // namespace eddy::lab
