// How many flows the resequencers of a fabric remember, where its experiment does not say.
//
// A flow keeps its place until nothing of it was seen for ResequencePlan::age(). A leaf has eight
// places for each of the queue pairs that begin at other leaves' hosts within four times that age,
// and no fewer than it has by itself: a flow is looked for in four neighbouring places, of which
// one is free then but for about one in 100,000 flows. Owner: one run, before its world. Cost: a
// pass over the flows for each leaf, and a sort of its own.
#pragma once

#include <span>

#include "config/experiment.h"
#include "lab/fabric/topology.h"
#include "lab/traffic/flow.h"

namespace eddy::lab {

// Of an experiment and topology with the times of the flows. Explicit numbers stay.
void size_order_tables(const config::Experiment& experiment, std::span<const Flow> flows,
                       Topology& topology);

}  // namespace eddy::lab
