// What would become of a packet, asked of a shard between two of its polls, for worlds that poll it
// themselves. A daemon asks by Command::Kind::explain.
//
// Of a shard of a Switch that owns the packet's port. Owner: whoever polls the shard. It changes
// nothing of the switch. Cost: some microseconds, with a path set of 64 members about ten.
#pragma once

#include "net/units.h"
#include "switch/dataplane/object/shard.h"
#include "switch/dataplane/state/explanation.h"

namespace eddy {

// `now`: not before the shard's last poll. False: the shard has not been polled yet.
bool explain_packet(Shard& shard, Explanation& explanation, Instant now);

}  // namespace eddy
