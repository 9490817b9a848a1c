// What a reader of a report may ask for beside its name. Plain values.
#pragma once

#include <optional>
#include <string>

namespace eddy::control {

struct ReportOptions {
  bool all = false;                 // rows in which nothing has happened, too
  std::optional<std::string> port;  // only rows of this port
};

}  // namespace eddy::control
