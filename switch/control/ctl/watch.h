// eddyctl watch, and --watch of show: a report again and again, until Ctrl-C, q or a switch that
// does not answer.
//
// On a terminal on a screen of its own, where what has changed stands out; else every reading
// whole, below a line with the time, and with --json one value a line. Returns an exit code.
#pragma once

#include "switch/control/ctl/arguments.h"
#include "switch/control/report/words.h"

namespace eddy::control {

int watch(const Arguments& arguments, Report report);

}  // namespace eddy::control
