// What a real run amounts to, as the lab's RunResult: the same sums over the same NICs, and the
// counters of the switches.
//
// Owner: the control thread, while nobody polls the group. Source: lab/run/flow_results.h.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "config/experiment.h"
#include "lab/fabric/fabric_paths.h"
#include "lab/fabric/topology.h"
#include "lab/run/run.h"
#include "lab/traffic/traffic.h"
#include "switch/dpdk/poll_gap.h"
#include "testbed/host_group.h"
#include "testbed/switch_watch.h"

namespace eddy::testbed {

struct RealRun {
  const config::Experiment& experiment;  // scaled
  int64_t dilation = 1;
  uint64_t seed = 1;
  const lab::Topology& topology;
  const lab::FabricPaths& paths;
  const lab::Trace& trace;
  const HostGroup& group;
  Instant ended_at;  // the run's time
  bool interrupted = false;
  std::vector<std::string> warnings;
};

// Switches that do not answer any more become warnings: what the hosts know is kept.
lab::RunResult real_result(const RealRun& run, const SwitchWatch& switches);

// Adds a warning when hosts were polled less often than allowed, or were late once and there are
// drops that one long gap explains: whoever was to be paused went on sending into full headroom.
void warn_of_gaps(const PollGapHistogram& gaps, Duration allowed, lab::RunResult& result);

}  // namespace eddy::testbed
