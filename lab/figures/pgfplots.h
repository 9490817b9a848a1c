// A chart as LaTeX for the package pgfplots, which draws it from the chart's CSV.
//
// The text is for \input: letters are those of the document around it. \eddyfigures is the folder
// of the CSV, `.` unless the document says otherwise. Names stand as text, whatever characters they
// have. Owner: the caller. Cost: linear in the series.
#pragma once

#include <string>
#include <string_view>

#include "lab/figures/layout.h"

namespace eddy::lab {

// `csv`: the file's name.
std::string pgfplots_source(const ChartLayout& layout, std::string_view csv);

// `text` as LaTeX prints it.
std::string tex_escaped(std::string_view text);

}  // namespace eddy::lab
