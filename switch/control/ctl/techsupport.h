// `eddyctl techsupport`: one archive of all that helps to find a fault, of one switch or of all of
// a folder. Returns an exit code.
#pragma once

#include "switch/control/ctl/arguments.h"

namespace eddy::control {

// What is wrong with the options; no switch is asked.
Problems check_techsupport(const Arguments& arguments);
int techsupport(Arguments arguments);

}  // namespace eddy::control
