// One run of an experiment: run it, write its files.
//
// Owner: the caller. Cost: the run's.
#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "config/experiment_load.h"
#include "lab/run/run.h"
#include "net/result.h"

namespace eddy::lab {

struct OneRun {
  const config::LoadedExperiment& loaded;
  const config::ExperimentRun& run;
  uint64_t seed = 1;
  std::string replay;
  std::filesystem::path folder;
};

struct OneRunOptions {
  bool check = false;
  bool hpcc = false;
  bool conweave = false;
  bool flow_series = false;
  std::string timeline;  // a TimelineSpec; empty: none
  std::string capture;   // a CaptureSpec; empty: none
  uint64_t memory_limit = 0;
  size_t threads = 1;  // at most
  bool threads_as_worthwhile = false;
  std::function<void(const Progress&)> progress;
  const std::atomic<bool>* interrupt = nullptr;
  Exchange* exchange = nullptr;  // with other ranks: rank 0 alone writes files
};
// What is to be there beside the results, as RunIdentity::with has it.
std::vector<std::string> asked_for(const OneRunOptions& options);

struct OneRunEnd {
  Problems violations;  // the results are written all the same
  bool interrupted = false;
  bool censored = false;
  size_t measured = 0;  // flows
  size_t unfinished = 0;
  uint64_t digest = 0;
  double cpu_seconds = 0;
  uint64_t packet_hops = 0;
  std::vector<RankUse> ranks;
};
Result<OneRunEnd> run_one(const OneRun& one, const OneRunOptions& options);

}  // namespace eddy::lab
