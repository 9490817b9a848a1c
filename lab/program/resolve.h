// What can be known of an experiment's runs before one of them begins.
//
// Owner: main. Cost: that of building the fabrics, each once, and of the first flows of each kind
// of traffic.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "config/experiment_load.h"
#include "lab/run/sweep.h"
#include "net/result.h"

namespace eddy::lab {

// What the fabrics of these runs are warned of, such as too little headroom; each text once.
std::vector<std::string> fabric_warnings(const config::LoadedExperiment& loaded,
                                         const std::vector<WorkItem>& items);

// An experiment's file with every size, variant, file and name that it has.
// Packet hops of all of these runs, as far as their flows tell them (lab/run/expected_cost.h); runs
// that cannot be made count nothing.
uint64_t hops_of(const config::LoadedExperiment& loaded, const std::vector<WorkItem>& items);

struct Resolved {
  Problems problems;  // each once; of all sizes and variants
  std::vector<std::string> warnings;
  std::vector<std::string> sizes;
  size_t variants = 0;  // at full size
};
Resolved resolve_experiment(const std::filesystem::path& file);

}  // namespace eddy::lab
