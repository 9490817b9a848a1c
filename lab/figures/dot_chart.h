// A chart with a row for each name: a mark at its value, and the interval around it, as SVG.
//
// Sizes are in CSS pixels; the same chart gives the same text everywhere. Owner: the caller. Cost:
// linear in the rows.
#pragma once

#include <string>
#include <vector>

namespace eddy::lab {

struct DotRow {
  std::string name;
  double value = 0;
  double error = 0;  // half of an interval around it; 0: none
  size_t colour = 0;
};
struct DotChart {
  std::string title;
  std::string label;  // of the axis
  std::vector<DotRow> rows;
  std::string note;
};
std::string draw_dots(const DotChart& chart);

}  // namespace eddy::lab
