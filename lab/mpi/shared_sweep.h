// SharedSweep: every variant and seed of an experiment, one run after the other, each on all ranks.
//
// Rank 0 reads what is finished, says which run is next, and writes all files; the others follow.
// It knows ranks by Exchange alone. Owner: main; one call a process.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lab/world/exchange.h"

namespace eddy::lab {

struct SharedArguments {
  std::string experiment;  // ID or file
  std::string size = "full";
  std::string seeds;  // empty: the experiment's
  std::vector<std::string> sets;
  std::vector<std::string> variants;  // empty: all
  size_t threads = 1;                 // of a rank
  std::string out = "results";
  bool resume = true;
  bool progress = false;
  bool quiet = false;
  bool stats = false;       // what ranks sent each other
  uint64_t memory_mib = 0;  // of a rank; 0: its share of what its machine has free
  size_t neighbors = 1;     // ranks on this machine
};

// Returns the exit code, the same on all ranks. Throws ExchangeError.
int shared_sweep(const SharedArguments& arguments, Exchange& exchange);

}  // namespace eddy::lab
