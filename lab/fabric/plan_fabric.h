// plan_fabric: the plan of an experiment's fabric, of whatever kind: leaf-spine, fat tree or
// dragonfly by their sizes, or a file.
//
// Control plane only. Cost: linear in switches, hosts and cables. Source: reference A.16, A.17,
// E.0.
#pragma once

#include "config/experiment.h"
#include "lab/fabric/fabric_plan.h"
#include "net/result.h"

namespace eddy::lab {

// Before cables degrade or fail.
[[nodiscard]] Result<FabricPlan> plan_fabric(const config::TopologyConfig& config);

}  // namespace eddy::lab
