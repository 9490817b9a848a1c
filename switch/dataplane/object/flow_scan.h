// Fills a FlowScan: which flows RLB's order guard watches, and how full the scheme's own table is.
//
// The places of the guard's table are numbered first, then the scheme's. Owner: the shard, between
// two bursts. Bounds and cost: FlowScan::kPlaces places, 64 KiB, whatever the tables' size.
#pragma once

#include "switch/dataplane/state/command.h"
#include "switch/dataplane/state/shard_context.h"

namespace eddy {

void scan_flows(const ShardContext& context, FlowScan& scan);

}  // namespace eddy
