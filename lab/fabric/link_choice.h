// Applies what an experiment says of single links to a plan: `degraded` links get another rate,
// `failed` ones are down, and the paths that begin with `weighted` ones get their weight, at both
// ends.
//
// A fraction means so many of the fabric's links, rounded to the nearest whole number, all distinct
// and drawn uniformly from the topology's seed. A degraded link is drawn among those that are up.
// Source: reference E.1 (20 % of 144 links are 29).
#pragma once

#include "config/experiment.h"
#include "lab/fabric/fabric_plan.h"
#include "net/result.h"

namespace eddy::lab {

// What is wrong with the choices, each by its key.
[[nodiscard]] Problems apply_link_choices(const config::TopologyConfig& config, FabricPlan& plan);

}  // namespace eddy::lab
