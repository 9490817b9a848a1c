#include "lab/results/cells.h"

#include <algorithm>
#include <utility>

#include "lab/results/student.h"

namespace eddy::lab {

TextRows texts(const CellTable& table) {
  TextRows rows = {table.head};
  for (const std::vector<Cell>& from : table.rows)
    for (std::vector<std::string>& row = rows.emplace_back(); const Cell& each : from)
      row.push_back(each.text);
  return rows;
}

Cell label_cell(std::string text) {
  return {CellKind::label, std::move(text), {}};
}

Cell mean_cell(std::vector<double> values) {
  std::string text = short_number(estimate(values).mean);
  return {CellKind::mean, std::move(text), std::move(values)};
}

Cell estimate_cell(std::vector<double> values, double counted_to) {
  const Estimate found = estimate(values);
  if (found.count == 0) return {CellKind::estimate, "-", {}};
  const bool at_end = counted_to > 0 && std::ranges::max(values) >= counted_to;
  std::string out = (at_end ? ">=" : "") + short_number(found.mean);
  if (found.half_width > 0) out += " +-" + short_number(found.half_width);
  return {CellKind::estimate, std::move(out), std::move(values)};
}

}  // namespace eddy::lab
