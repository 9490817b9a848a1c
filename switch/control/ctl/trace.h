// eddyctl trace: the next real packets that match, explained step by step as they come, and where
// each of them went (docs/explain.md).
//
// Thread: one. The switch is never waited for by its workers: what they cannot write is counted.
#pragma once

#include "switch/control/ctl/arguments.h"

namespace eddy::control {

// What is wrong with the options, all at once; no switch is asked.
Problems check_trace(const Arguments& arguments);

// Until --count packets are told of, or a signal; the exit code.
int trace(const Arguments& arguments);

}  // namespace eddy::control
