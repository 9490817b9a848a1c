// Whether lossless frames could wait for each other in a circle: a cycle in the graph of channels.
//
// A channel is a cable in one direction; it waits for another when some frame arrives by the first
// and goes on by the second. Up/down routing has no cycle; shortest ways in other graphs, and
// dragonfly's with one lossless priority, may. Control plane only. Cost: linear in leaves x path
// sets, and in the dependencies found. Source: reference A.16 (deadlock), A.17;
// "Channel dependency" in docs/papers.md.
#pragma once

#include <string>
#include <vector>

#include "lab/fabric/fabric_plan.h"

namespace eddy::lab {

// "leaf1 > leaf2 > leaf1", by the switches of one cycle; empty: there is none.
[[nodiscard]] std::string waiting_circle(const FabricPlan& plan);

}  // namespace eddy::lab
