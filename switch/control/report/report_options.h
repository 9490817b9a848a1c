// What a reader of a report may ask for beside its name. Plain values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace eddy::control {

inline constexpr uint64_t kMostTop = 100'000;

struct ReportOptions {
  bool all = false;                 // rows in which nothing has happened, too
  std::optional<std::string> port;  // only rows of this port
  std::optional<uint64_t> leaf;     // only rows of this destination leaf
  std::optional<uint64_t> top;      // at most so many rows, 1 to kMostTop
};

}  // namespace eddy::control
