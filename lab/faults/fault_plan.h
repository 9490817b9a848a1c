// FaultPlan: one fault of an experiment with its names resolved: which lines, switches, hosts and
// pairs of hosts it concerns, and when.
//
// Links are named as in Topology::links; a link counts in both directions. Hosts are selected as in
// traffic; of a host, its link counts. `fraction` draws from the fabric's links (for faults of
// links), from all switches (of switches), from all hosts (of hosts) or from the ordered pairs of
// hosts (black_hole) instead. Random choices depend on (seed, number of the fault) alone. Problems
// begin with the key: "faults.0.links.1: what, what would be valid". Owner: Faults. Cost: linear in
// the names. Source: reference E.1 (rlb-f7), E.0.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "config/experiment.h"
#include "lab/fabric/topology.h"
#include "lab/world/world.h"
#include "net/result.h"

namespace eddy::lab {

struct FaultPlan {
  size_t index = 0;  // of Experiment::faults
  config::FaultConfig config;
  std::vector<uint32_t> lines;     // the directions concerned; link_flap: one of each link
  std::vector<uint32_t> switches;  // each list sorted, without doubles
  std::vector<uint32_t> hosts;
  std::vector<uint64_t> pairs;  // black_hole: source << 32 | destination
  uint64_t pair_threshold = 0;  // black_hole by fraction: pairs whose hash is below
};

// How lines are numbered: those of a world, or any numbers where names alone are looked at.
struct LineNumbers {
  std::function<uint32_t(size_t switch_index, PortId port)> of_port;
  std::function<uint32_t(size_t host)> of_host;
  std::function<uint32_t(uint32_t line)> reverse;
};

// All faults, or all problems.
[[nodiscard]] Result<std::vector<FaultPlan>> plan_faults(const config::Experiment& experiment,
                                                         const Topology& topology,
                                                         const LineNumbers& lines, uint64_t seed);
[[nodiscard]] Result<std::vector<FaultPlan>> plan_faults(const config::Experiment& experiment,
                                                         const Topology& topology,
                                                         const World& world, uint64_t seed);

}  // namespace eddy::lab
