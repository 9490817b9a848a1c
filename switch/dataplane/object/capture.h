// Captures packets of a shard, between two of its polls, for worlds that poll it themselves. A
// daemon asks by Command::Kind::capture.
//
// Of a shard of a Switch. Owner: whoever polls the shard; `order` as net/capture/capture_order.h.
#pragma once

#include "net/capture/capture_order.h"
#include "switch/dataplane/object/shard.h"

namespace eddy {

// Null: it ends.
void capture(Shard& shard, const CaptureOrder* order);

}  // namespace eddy
