// Whether the algorithms of this folder can work with a configuration, wherever it came from: what
// would divide by nothing, never end or overflow is refused here in words.
//
// The YAML loader knows narrower ranges and positions in the file; this is the last gate, also for
// configurations built by programs. Owner: control. Source: reference C.
#pragma once

#include "config/config.h"
#include "net/result.h"

namespace eddy::pfc {

// Adds every problem that is found.
void check_lossless_config(const config::SwitchConfig& config, Problems& problems);

}  // namespace eddy::pfc
