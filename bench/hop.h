// What it costs a packet to cross from one worker to another at bursts of 32: it is received on one
// shard and sent on another, against the same switch with one shard.
//
//   worker.hop          both shards polled in turn by one thread: the instructions of the hop (a
//                       message, a credit back, a second poll), with warm caches
//   worker.hop.threads  a thread a shard, each on its own core: busy cycles of both, so the caches'
//                       traffic between cores is in it
#pragma once

#include <vector>

#include "bench/report.h"

namespace eddy::bench {

std::vector<Result> measure_hop(int rounds);

}  // namespace eddy::bench
