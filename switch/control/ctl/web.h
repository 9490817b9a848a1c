// `eddyctl web`: the live page of a switch, or of all switches of a folder, until it is ended by a
// signal. Returns an exit code.
#pragma once

#include "switch/control/ctl/arguments.h"

namespace eddy::control {

// What is wrong with the options; no switch is asked.
Problems check_web(const Arguments& arguments);
int web(Arguments& arguments);

}  // namespace eddy::control
