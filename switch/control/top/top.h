// `eddyctl top`: reads reports again and again and shows them on a terminal.
//
// On anything but a terminal it prints every view once, as text. The terminal gets its own settings
// back however the program ends, but for SIGKILL. Thread: the caller's, which it keeps; it owns
// stdin, stdout and the signals that concern a terminal meanwhile.
#pragma once

#include <functional>
#include <span>
#include <string_view>

#include "net/result.h"
#include "switch/control/report/json.h"
#include "switch/control/report/words.h"

namespace eddy::control {

// What is looked at: views by name, and a report for the one at a position.
struct TopSource {
  std::span<const std::string_view> views;
  std::function<Result<Json>(size_t view)> read;
};
// The views of one switch, whose reports `read` fetches.
using ReadReport = std::function<Result<Json>(Report)>;
TopSource source_of_one(ReadReport read);

// `interval_ms`: between two readings. The problems that kept it from starting; empty: it has
// ended.
[[nodiscard]] Problems run_top(const TopSource& source, int interval_ms);

}  // namespace eddy::control
