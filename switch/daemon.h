// Daemon: a switch on DPDK ports, from its configuration until somebody ends it.
//
// Gives up the rights that its ports do not need, brings up EAL, pools, ports, the Switch, one
// worker thread a shard and control, in that order; watches ports; tells a service manager; on
// SIGTERM or SIGINT sends XON, drains, and takes everything down in reverse.
// Thread: the process's main one. Source: architecture, sections 1 and 6.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "config/config.h"
#include "config/plugin_source.h"
#include "net/units.h"

namespace eddy {

// Exit codes of eddyd.
inline constexpr int kExitOk = 0;
inline constexpr int kExitFailure = 1;
inline constexpr int kExitBadConfig = 2;

struct DaemonOptions {
  std::string config_path;
  config::SwitchConfig config;              // as loaded, before scaled()
  config::PluginSource* plugins = nullptr;  // for reloads
  std::vector<std::string> eal_arguments;
  bool json_log = false;
  Duration ready_within = Duration::seconds(10);  // for a service manager, with ports down
  std::optional<Duration> patience;               // with network interfaces that are not there yet
};

int run_daemon(const DaemonOptions& options);

}  // namespace eddy
