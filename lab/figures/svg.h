// Elements of SVG, and a chart as SVG: axes, grid, curves or rows, legend.
//
// The same chart gives the same text on every machine. Owner: the caller. Cost: linear in the
// points.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lab/figures/layout.h"

namespace eddy::lab {

std::string draw(const ChartLayout& layout);
std::string draw(const Chart& chart, const FigureStyle& style = {});

// Elements; `extra` and `style` are attributes.
std::string svg_text(double x, double y, std::string_view extra, std::string_view content);
std::string svg_line(double x1, double y1, double x2, double y2, std::string_view style);
// Down to `to`, with its head there.
struct SvgPlace {
  double x = 0;
  double y = 0;
};
std::string svg_arrow(SvgPlace from, SvgPlace to, std::string_view colour, double text);
// The opening tag of a figure of this height in points, its title and a white ground.
std::string svg_head(const FigureStyle& style, double height, std::string_view title);
// Lines one below the other, each around or from x; `base` is that of the first.
std::string svg_lines(const std::vector<std::string>& lines, double x, double base, double step,
                      std::string_view extra);

// `text` for the inside of an element or an attribute.
std::string svg_escaped(std::string_view text);

}  // namespace eddy::lab
