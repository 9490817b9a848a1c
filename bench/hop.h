// What it costs a packet to cross from one worker to another at bursts of 32.
//
//   worker.hop          two shards that receive a burst each a poll, polled in turn by one thread:
//                       every packet leaves by the other shard's ports, less the same with every
//                       packet leaving by its own shard's. A lane and a credit a burst are in it
//   worker.hop.threads  a thread a shard, each on its own core, one receives and one sends: busy
//                       cycles of both less those of one shard, so every line of a packet that
//                       moves between the cores' caches is in it
#pragma once

#include <vector>

#include "bench/counted.h"
#include "bench/report.h"

namespace eddy::bench {

std::vector<Result> measure_hop(int rounds);

// For callgrind: "worker.stay" and "worker.cross". False for any other name.
std::vector<Counted> counted_hop();

}  // namespace eddy::bench
