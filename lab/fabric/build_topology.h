// build_topology: from an experiment to the values that its fabric is: switches with their ports,
// addresses and path sets, hosts, links and routes.
//
// Control plane only. Bounds and cost: topology.h. Source: reference A.16, A.17, E.0, E.7.
#pragma once

#include "config/experiment.h"
#include "lab/fabric/topology.h"
#include "net/result.h"

namespace eddy::lab {

// The fabric of an experiment. A host sends to the MAC of its switch port (port_mac). Problems
// begin with the key at fault ("topology.failed.0.links.1: ..."), or with file:line:column where
// they are in a topology file.
[[nodiscard]] Result<Topology> build_topology(const config::Experiment& experiment);

// Why the experiment's scheme does not cover its topology; empty: it does. build_topology() asks.
[[nodiscard]] Problems check_scheme(const config::Experiment& experiment);

}  // namespace eddy::lab
