// Reload: what a new configuration file would change in a running switch, and whether it may.
//
// All or nothing: a plan with problems is refused whole, with every problem. Keys classed `hot` go
// in with the next snapshot, `port` keys restart that port only, `restart` keys are refused. Pure
// but for Backend::check_port(). Source: architecture, sections 6 and 8.
#pragma once

#include <vector>

#include "config/config.h"
#include "config/diff.h"
#include "config/load.h"
#include "config/places.h"
#include "net/result.h"
#include "switch/control/report/backend.h"
#include "switch/control/report/json.h"

namespace eddy::control {

struct ReloadPlan {
  std::vector<config::Change> changes;
  config::Seating seating;       // what would be in force, scaled, with ports by place
  std::vector<PortId> restarts;  // ports with a changed key classed `port`, ascending
  Problems problems;             // why it is refused; empty = go
};

// `running`: as loaded. `in_force`: what the switch has of it. A file of another switch is one
// problem, whatever else it would change. A port that comes or goes is a change of class `port`, or
// `restart` where it cannot: then `problems` says why.
ReloadPlan plan_reload(const config::SwitchConfig& running, const config::SwitchConfig& in_force,
                       const config::LoadedConfig& next, Backend& backend);
// [{"key", "class", "before", "after"}, ...]
Json changes_as_json(const std::vector<config::Change>& changes);
// What a reload would do: {"applies": "yes" | "no", "class": "none" | "hot" | "port" | "restart",
// "changes", "restarts", "additions", "removals": [names of ports], "problems"}. The class is that
// of the change that asks for most.
Json foretold(const ReloadPlan& plan, const config::SwitchConfig& in_force);
// Their names in `config`, by place.
Json names_of_ports(const std::vector<PortId>& ports, const config::SwitchConfig& config);

}  // namespace eddy::control
