// MarkedTable: a table of which each reading shows what has changed since the one before.
//
// A row is the same row when its labels are (port, priority, reason, ...), wherever it stands. What
// has changed stands out in reverse video; lines are cut to the terminal. Pure but for what it
// remembers. Bounds: one text a cell. Owner and thread: the caller's.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "switch/control/report/json.h"

namespace eddy::control {

class MarkedTable {
 public:
  // Without newlines. Of the first reading nothing stands out.
  std::vector<std::string> lines(const Json& report, size_t columns);

 private:
  std::map<std::string, std::string> before_;  // labels of the row and key -> cell
  bool first_ = true;
};

}  // namespace eddy::control
