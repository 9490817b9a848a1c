#include "switch/control/top/marked_table.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string_view>
#include <utility>

#include "switch/control/report/table.h"

namespace eddy::control {
namespace {

constexpr std::string_view kMark = "\033[7m";
constexpr std::string_view kPlain = "\033[0m";
constexpr size_t kGap = 2;  // between columns

// What says which row a row is.
std::string labels_of(const Json& row) {
  static constexpr std::array<const char*, 20> kLabels = {
      "switch", "port",      "prio", "queue",   "pg",     "reason", "leaf",
      "member", "path",      "host", "address", "prefix", "flow",   "worker",
      "scheme", "parameter", "name", "number",  "what",   "pool"};
  std::string labels;
  for (const char* label : kLabels) {
    const auto found = row.find(label);
    if (found == row.end()) continue;
    labels += std::string(label) + "=" + found->dump(-1, ' ', true) + "\n";
  }
  return labels;
}

// A line that grows up to the width of the terminal.
class Line {
 public:
  explicit Line(size_t columns) : room_(columns) {}
  void add(std::string_view text, bool marked) {
    const std::string_view shown = text.substr(0, std::min(room_, text.size()));
    room_ -= shown.size();
    if (shown.empty()) return;
    if (marked) out_ += kMark;
    out_ += shown;
    if (marked) out_ += kPlain;
  }
  std::string take() && { return std::move(out_); }

 private:
  size_t room_;
  std::string out_;
};

// The text of a cell without what pads it: where it begins, and how long it is.
std::pair<size_t, size_t> text_of(std::string_view cell) {
  const size_t first = cell.find_first_not_of(' ');
  if (first == std::string_view::npos) return {0, 0};
  return {first, cell.find_last_not_of(' ') + 1 - first};
}

}  // namespace

std::vector<std::string> MarkedTable::lines(const Json& report, size_t columns) {
  const TableCells table = table_cells(report);
  std::map<std::string, std::string> now;
  std::map<std::string, size_t> seen;  // rows of the same labels
  std::vector<std::string> out;
  for (size_t i = 0; i < table.lines.size() && table.lines.size() > 1; ++i) {
    std::string row;
    if (i > 0) {
      row = labels_of(report.at("rows").at(i - 1));
      row += std::to_string(seen[row]++) + "\n";
    }
    Line line(columns);
    for (size_t j = 0; j < table.lines[i].size(); ++j) {
      const std::string_view cell = table.lines[i][j];
      const auto [begin, length] = text_of(cell);
      bool changed = false;
      if (i > 0) {
        const std::string key = row + table.keys[j];
        const auto before = before_.find(key);
        changed =
            !first_ && (before == before_.end() || before->second != cell.substr(begin, length));
        now[key] = cell.substr(begin, length);
      }
      if (j > 0) line.add(std::string(kGap, ' '), false);
      line.add(cell.substr(0, begin), false);
      line.add(cell.substr(begin, length), changed);
      line.add(cell.substr(begin + length), false);
    }
    out.push_back(std::move(line).take());
  }
  std::istringstream below(table.below);
  for (std::string text; std::getline(below, text);) out.push_back(text.substr(0, columns));
  before_ = std::move(now);
  first_ = false;
  return out;
}

}  // namespace eddy::control
