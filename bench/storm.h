// What a storm of warnings costs a switch that has other work.
//
// A leaf that forwards two bursts a poll gets one more by an uplink: 32 CNMs from 64 congestion
// points, each with a new sequence number. Beside it runs the same leaf with as many frames of an
// EtherType that nobody knows, which any switch must receive and drop.
#pragma once

#include <vector>

#include "bench/counted.h"
#include "bench/report.h"

namespace eddy::bench {

// rlb.storm: the share of the poll's cycles that reading warnings takes, in %.
std::vector<Result> measure_storm(int rounds);
// For callgrind: `polls` polls of storm.cnm or storm.calm; false: no such case.
std::vector<Counted> counted_storm();

}  // namespace eddy::bench
