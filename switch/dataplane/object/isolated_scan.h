// Fills an IsolatedScan: who congests a port of the shard, and who is isolated here, or was lately.
//
// The places of the ports are numbered first, then those of the table of isolated hosts. Owner: the
// shard, between two bursts. Bounds and cost: IsolatedScan::kPlaces places, 92 KiB, whatever the
// table's size.
#pragma once

#include "switch/dataplane/queues/hot_ports.h"
#include "switch/dataplane/state/command.h"
#include "switch/dataplane/state/shard_context.h"

namespace eddy {

void scan_isolated(ShardContext& context, const HotPorts& ports, IsolatedScan& scan);

}  // namespace eddy
