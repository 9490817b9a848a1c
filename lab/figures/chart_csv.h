// A chart's points as CSV, for its pgfplots and matplotlib sources and for readers.
//
// Lines that begin with "#" say what it is: the title, the axes and, for each number of a series,
// its name. Then `series,x,y,low,high`: low and high are the ends of the interval around y, both y
// where there is none. In a chart of rows x is the row, from 0. There are numbers only below the
// head, as TeX can read them. Owner: the caller. Cost: linear in the points.
#pragma once

#include <string>

#include "lab/figures/layout.h"

namespace eddy::lab {

std::string chart_csv(const ChartLayout& layout);

}  // namespace eddy::lab
