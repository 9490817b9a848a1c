// WatchedRun: one run of an experiment, as a command line chooses it, for commands that look into
// the run and write no results.
//
// Owner: one command. Cost: the run's, as far as it goes.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "config/experiment_load.h"
#include "lab/fabric/topology.h"
#include "lab/world/world.h"
#include "net/result.h"
#include "net/units.h"

namespace eddy::lab {

struct RunChoice {
  std::string experiment;  // ID or file
  std::string size = "full";
  std::vector<std::string> sets;
  std::string variant;
  uint64_t seed = 0;  // 0: the experiment's first
};
// The experiment first, then what chooses one of its runs.
void declare_experiment(CLI::App& command, RunChoice& choice);
void declare_choice(CLI::App& command, RunChoice& choice);

class WatchedRun {
 public:
  static Result<std::unique_ptr<WatchedRun>> load(const RunChoice& choice);

  const Topology& topology() const { return topology_; }
  // A moment of the experiment in the world's time, and back in nanoseconds.
  Instant in_world(Duration at) const { return Instant{} + at * dilation(); }
  int64_t dilation() const { return run_->experiment.run.time_dilation; }
  // `begun` is called when the world has been built; what it returns watches, unless null.
  Problems go(const std::function<Watcher*(World&)>& begun) const;

 private:
  WatchedRun() = default;

  config::LoadedExperiment loaded_;
  const config::ExperimentRun* run_ = nullptr;  // of loaded_
  uint64_t seed_ = 1;
  Topology topology_;
};

// --at: a duration that is not negative.
Result<Duration> read_instant(const std::string& text);
// --switch: its index.
Result<size_t> find_switch(const Topology& topology, const std::string& name);
// "leaf1, leaf2, ...": the first of them.
std::string switch_names(const Topology& topology);

}  // namespace eddy::lab
