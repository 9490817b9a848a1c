// One run: an experiment with one seed, from its configuration to what was measured.
//
// Flows are measured if they start in [warmup, warmup + duration) and their item says so. The run
// ends when all flows have ended, or `drain` after the last may start; what has not ended by then
// is unfinished, counted with its age, and makes the run censored. FCT is the sender's, slowdown
// against the ideal FCT of the flow's path (reference D.5). Times are the experiment's own:
// time_dilation is divided out again. Owner: the caller. Cost: the world's; the results hold every
// flow. Source: reference D.5, D.6, E.0.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>

#include "config/experiment.h"
#include "lab/faults/faults.h"
#include "lab/run/run_result.h"
#include "lab/traffic/flow.h"
#include "lab/world/world.h"
#include "net/result.h"
#include "net/units.h"

namespace eddy::lab {

struct Progress {
  Instant now;
  Instant end;  // the latest possible
  size_t flows_ended = 0;
  size_t flows = 0;
  uint64_t packet_hops = 0;
};

// A run's world before its first event.
struct BuiltRun {
  World& world;
  const Topology& topology;
  Duration file_origin;  // the time in the first trace's file that is the run's beginning
};

struct RunOptions {
  uint64_t seed = 1;
  bool check = false;                             // invariants after every instant: slow
  std::string replay;                             // for violations: the line that runs this again
  SetKey set_key;                                 // for faults that reconfigure switches
  std::function<void(const Progress&)> progress;  // about every 0.2 s of CPU time
  const std::atomic<bool>* interrupt = nullptr;   // ends the run early with what it has
  ReadTrafficFile read;
  // Of the scaled experiment; null: it is built for the run.
  const Topology* topology = nullptr;
  // Before the first event; what it returns, if anything, watches the world, beside the checker.
  std::function<Watcher*(const BuiltRun&)> built;
  // At the run's beginning and every run.sample_period, between two instants, and at its end.
  enum class Sample : uint8_t { periodic, last };
  std::function<void(Sample, Instant)> sampled;
  uint64_t memory_limit = 0;  // octets; 0 = what the machine has free
  // Of the world, at most; how many it has changes no result.
  size_t threads = 1;
  bool threads_as_worthwhile = false;  // no more than windows of the fabric are worth
  // With the other ranks of the run; null: there are none. The result is rank 0's, that of the
  // others has nothing but what they need themselves. Throws ExchangeError. `check` and `built` are
  // for runs without it.
  Exchange* exchange = nullptr;
};

// Problems are named by the experiment's keys ("topology.leaves: ...").
Result<RunResult> run_experiment(const config::Experiment& experiment, const RunOptions& options);

}  // namespace eddy::lab
