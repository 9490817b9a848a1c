// A random fabric in the lab's world, its hosts, flows and faults, all from one seed, under the
// checker.
//
// Drawn: kind and size of the topology, scheme, RLB with its preset, guard, detector and ways out,
// resequencing, recovery, congestion control, thresholds, poll model, flows and up to three faults
// of any kind, live reconfigurations of all of these among them. At the end every invariant of the
// checker holds. Owner: one test.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "config/experiment.h"
#include "lab/traffic/traffic.h"
#include "net/result.h"

namespace eddy::test {

struct RandomLabResult {
  uint64_t digest = 0;
  uint64_t packet_hops = 0;
  uint64_t checks = 0;
  size_t flows = 0;
  size_t flows_ended = 0;
  std::vector<config::FaultType> faults;  // that began
  uint64_t paths_failed = 0;              // times a failure detector excluded one
  Problems problems;                      // empty: every invariant held
};

struct RandomLab {
  config::Experiment experiment;
  std::vector<lab::Flow> flows;
  uint64_t seed = 0;
};
RandomLab make_random_lab(uint64_t seed);
RandomLabResult run_random_lab(uint64_t seed);
// "7 0123456789abcdef: 12 of 12 flows, 3456 hops"
std::string digest_line(uint64_t seed, const RandomLabResult& result);

}  // namespace eddy::test
