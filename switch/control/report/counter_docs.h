// docs/counters.md, from the one list of counters (switch/dataplane/state/counters.h). Same list,
// same text, byte for byte.
#pragma once

#include <string>

namespace eddy::control {

std::string counters_markdown();
// The same for a terminal: one aligned line a counter.
std::string counters_text();

}  // namespace eddy::control
