// What DPDK itself says of a process's ports and memory, over its telemetry socket.
//
// Asks only commands that tell of devices and memory, none that tells the command line. Thread:
// any. Bounds: answers of 64 KiB and 2 s each.
#pragma once

#include <string>

#include "net/result.h"
#include "switch/control/report/json.h"

namespace eddy::control {

// Command ("/ethdev/stats,0") -> its answer.
Result<Json> dpdk_view(const std::string& socket);

}  // namespace eddy::control
