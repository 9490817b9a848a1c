// What a packet costs more while it is captured: the leaf of pipeline.letflow.10k with a tap less
// the same leaf beside it, frames of 64 octets, a reader that keeps up.
//
//   capture.overhead.all  each packet twice: as it comes in and as it goes out
//   capture.overhead.in   as it comes in
//   capture.overhead.full the same as all, but nobody reads: every packet is counted as lost
//
// Units: TSC cycles a packet. Source: docs/adr/0043.
#pragma once

#include <vector>

#include "bench/counted.h"
#include "bench/report.h"

namespace eddy::bench {

std::vector<Result> measure_capture(int rounds);
// For callgrind: capture.all and capture.in.
std::vector<Counted> counted_capture();

}  // namespace eddy::bench
