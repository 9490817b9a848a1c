// Gives up, before anything else is started, all rights of eddyd that its ports do not need, and
// says what is left. Thread: the process's only one. Source:
// docs/adr/0022-eddyd-gives-up-rights.md.
#pragma once

#include <string>

#include "config/config.h"
#include "net/result.h"
#include "switch/dpdk/plan.h"

namespace eddy {

// `config` as scaled. The umask lets the group of a socket use it, and nobody else.
Problems narrow_privileges(const config::SwitchConfig& config, const DaemonPlan& plan,
                           const std::string& config_path);

}  // namespace eddy
