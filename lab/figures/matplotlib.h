// A chart as a program of Python for matplotlib, which draws it from the chart's CSV.
//
// Run, it writes NAME-matplotlib.pdf beside itself, or the file that it is given; as a module it
// has figure(). Names stand as text, whatever characters they have. Owner: the caller. Cost: linear
// in the series.
#pragma once

#include <string>
#include <string_view>

#include "lab/figures/layout.h"

namespace eddy::lab {

// `csv`: the file's name, in the folder of the program.
std::string matplotlib_source(const ChartLayout& layout, std::string_view csv);

// `text` as a literal of Python that matplotlib shows as it is.
std::string python_text(std::string_view text);

}  // namespace eddy::lab
