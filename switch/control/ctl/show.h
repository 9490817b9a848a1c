// The commands of eddyctl that print one report or change one thing. Each returns an exit code.
#pragma once

#include "switch/control/ctl/arguments.h"
#include "switch/control/report/json.h"
#include "switch/control/report/words.h"

namespace eddy::control {

// Once, or every --watch seconds until it fails.
int show(const Arguments& arguments, Report report);
int change(const Arguments& arguments, const Json& request);
int top(const Arguments& arguments);

}  // namespace eddy::control
