// eddyctl capture: packets of a running switch, as pcapng, into a file or a pipe.
//
// The switch's workers write into rings of memory that it hands over (serve/capture_memory.h); here
// they are read, filtered, put in the order of their stamps and written. The capture lasts as long
// as the connection. Thread: main's; takes SIGINT, SIGTERM and SIGHUP as its end.
#pragma once

#include <string>

#include "switch/control/ctl/arguments.h"

namespace eddy::control {

// What is wrong with the options, all at once; no switch is asked.
Problems check_capture(const Arguments& arguments);

// `port`: its name, or "all".
int capture(Arguments arguments, const std::string& port);

}  // namespace eddy::control
