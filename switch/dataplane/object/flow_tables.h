// How many flows the scheme of a switch's shard remembers, all at once, for worlds that record it.
//
// Of a shard of a Switch, between two polls. A daemon asks in slices: flow_scan.h. Owner: whoever
// polls the shard. Cost: a walk over the scheme's table.
#pragma once

#include "lb/selector.h"
#include "net/units.h"
#include "switch/dataplane/object/shard.h"

namespace eddy {

lb::FlowTableUse flow_table_of(Shard& shard, Instant now);

}  // namespace eddy
