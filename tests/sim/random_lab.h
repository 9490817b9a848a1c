// A random fabric in the lab's world, its hosts, flows and faults, all from one seed, under the
// checker.
//
// Drawn: kind and size of the topology, scheme, RLB with its preset, guard, detector and ways out,
// resequencing, recovery, congestion control, thresholds, poll model, flows and up to three faults
// of any kind, live reconfigurations of all of these among them. At the end every invariant of the
// checker holds. Owner: one test.
#pragma once

#include <cstdint>

#include "tests/sim/lab.h"

namespace eddy::test {

Lab make_random_lab(uint64_t seed);
LabResult run_random_lab(uint64_t seed);

}  // namespace eddy::test
