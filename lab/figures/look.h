// The look of a series by its number: colour, mark and dashes, the same wherever a chart is drawn.
//
// Eight colours that colour-blind readers can tell apart, each with a mark of its own, then the
// same ones dashed. Constants. Source of the palette: Okabe and Ito, "Color Universal Design".
#pragma once

#include <array>
#include <string_view>
#include <vector>

#include "lab/figures/chart.h"

namespace eddy::lab {

inline constexpr size_t kLooks = 8;
inline constexpr double kSpan = 0.5;  // how broad spans are, in sizes of the text

struct SeriesLook {
  std::string_view colour;     // "#0072b2"
  size_t mark = 0;             // below kLooks
  std::vector<double> dashes;  // on and off by turns, in sizes of the text; empty: none
  double width = 0;            // of the line, in sizes of the text
};
SeriesLook look_of(const Series& series);
std::string_view colour_of(size_t index);

// The mark around 0,0 as a path of SVG, about 0.6 wide.
std::string_view mark_path(size_t mark);

}  // namespace eddy::lab
