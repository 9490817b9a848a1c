// Cells: tables of values by variant, each the mean over seeds with half of its 95 % interval.
//
// Values. Owner: the caller. Cost: linear in the values.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lab/results/variants.h"

namespace eddy::lab {

enum class CellKind : uint8_t {
  label,
  count,     // of runs
  mean,      // of `values`
  estimate,  // of `values`, with half of its 95 % interval
};
struct Cell {
  CellKind kind = CellKind::label;
  std::string text;
  std::vector<double> values;  // of the runs that have one; a label and a count have none
};
struct CellTable {
  std::vector<std::string> head;
  std::vector<std::vector<Cell>> rows;  // the first column is the variant
};
// With the head.
TextRows texts(const CellTable& table);

Cell label_cell(std::string text);
Cell mean_cell(std::vector<double> values);
// "12.3 +-0.4"; without the interval when all are the same; "-": no run has a number; ">=": a value
// is `counted_to`, which stands for all above it.
Cell estimate_cell(std::vector<double> values, double counted_to = 0);

}  // namespace eddy::lab
