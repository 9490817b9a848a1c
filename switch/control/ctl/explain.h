// eddyctl explain: what a switch would do with a packet that is described, step by step, without
// sending it (docs/explain.md).
#pragma once

#include <string>

#include "switch/control/ctl/arguments.h"

namespace eddy::control {

// The exit code.
int explain(const Arguments& arguments, const std::string& packet);

}  // namespace eddy::control
