// Figures over an axis of the matrix, such as the load: a mean over seeds with its 95 % interval
// for each variant, as the papers draw them.
//
// The axis is the first part "key=number" of the variants' names that has at least three values;
// what is left of a name is a series. Owner: the caller. Cost: linear in the runs.
#pragma once

#include <string>
#include <vector>

#include "lab/figures/chart.h"
#include "lab/results/result_keys.h"

namespace eddy::lab {

struct NamedChart {
  std::string id;  // a file's name without its ending
  Chart chart;
  std::vector<std::vector<size_t>> variants{};  // of each series: numbers of by_variant()
};
// Empty: the experiment has no such axis.
std::vector<NamedChart> axis_charts(const Json& result);

}  // namespace eddy::lab
