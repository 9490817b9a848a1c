// `eddyctl healthy`: asks one switch or all of a folder, at once, and says what is not as it should
// be. Each is asked twice or until all its workers have polled; a switch that does not answer is a
// problem of its own and holds up nobody else. Returns an exit code.
#pragma once

#include "switch/control/ctl/arguments.h"

namespace eddy::control {

int healthy(const Arguments& arguments);

}  // namespace eddy::control
