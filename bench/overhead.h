// What RLB costs a packet: a leaf with preset default over letflow less the same leaf with letflow
// alone, both beside each other.
//
// Idle: nothing is warned; unguarded: neither, and guard.mode is off, so that what is left is
// measuring the paths. Warned: half of the uplinks are, for every leaf, all the time. The other
// leaves answer: each stamp that the leaf sends is echoed a poll later by a feedback frame, so that
// paths are measured, arrivals proven, and flows free to move. Writing and hearing those frames is
// in the cost. Units: TSC cycles a packet of a host. Source: reference B.14.
#pragma once

#include <vector>

#include "bench/counted.h"
#include "bench/report.h"

namespace eddy::bench {

// rlb.overhead.idle, .unguarded and .warned.
std::vector<Result> measure_overhead(int rounds);
// For callgrind: `polls` polls of rlb.bare, .unguarded, .idle or .warned; false: no such case.
std::vector<Counted> counted_overhead();

}  // namespace eddy::bench
