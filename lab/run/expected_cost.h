// What a run will cost, before it is made: packet hops, by its flows and their ways.
//
// A hop is a frame over a link, as RunResult counts them: data and ACKs of every flow that will
// start, none sent again; of collectives and flows that wait, too. PFC, CNPs and frames of switches
// are few. Pure functions. Cost: linear in the flows. Source: docs/lab.md.
#pragma once

#include <cstdint>
#include <span>

#include "config/experiment.h"
#include "lab/fabric/topology.h"
#include "lab/traffic/flow.h"

namespace eddy::lab {

// Hops a second of CPU where nothing has been measured yet: lab.hops_per_second of a fabric of some
// hundred hosts (docs/performance.md).
inline constexpr double kUsualHopsASecond = 3e6;

uint64_t expected_hops(const config::Experiment& experiment, const Topology& topology,
                       std::span<const Flow> flows);

// Of the same fabric, flows (by seed) and packets: their runs cost the same.
bool cost_the_same(const config::Experiment& a, const config::Experiment& b);

}  // namespace eddy::lab
