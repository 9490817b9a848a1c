// `eddylab up`, `eddylab down` and `eddylab run --real`: an experiment as real processes.
//
// Owner: main; one call a process. Source: docs/testbed.md.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lab/program/run_command.h"

namespace eddy::lab {

struct RealArguments {
  std::string experiment;
  std::string size = "full";
  std::string seeds;  // up: one; empty: the experiment's (up: its first)
  std::vector<std::string> sets;
  std::vector<std::string> variants;
  std::string name;            // empty: the experiment's ID
  bool in_containers = false;  // instead of network namespaces
  std::string engine;          // docker, podman; empty: what there is
  int64_t time_dilation = 0;   // 0 = the experiment's; where that is 1, what is needed
  std::string out = "results/real";
  bool resume = true;
  bool quiet = false;
};

int run_real_command(const RealArguments& arguments);
int up_command(const RealArguments& arguments);
// Of `arguments` the name is not looked at.
int down_command(const std::vector<std::string>& names, const RealArguments& arguments);

}  // namespace eddy::lab
