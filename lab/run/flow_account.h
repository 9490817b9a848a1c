// FlowAccount: all that a run's flows are measured by.
//
// Times are scaled as the experiment is. Refers to what the run has. Owner: whoever sums up a run.
#pragma once

#include <cstdint>

#include "config/experiment.h"
#include "lab/fabric/fabric_paths.h"
#include "lab/fabric/topology.h"
#include "lab/traffic/waits.h"
#include "lab/world/flow_book.h"
#include "lab/world/node_facts.h"
#include "net/units.h"

namespace eddy::lab {

struct FlowAccount {
  const config::Experiment& experiment;  // scaled
  int64_t dilation = 1;
  const Topology& topology;  // of the scaled experiment
  const FabricPaths& paths;
  const FlowBook& book;
  const Waits* waits = nullptr;  // of its flows; null: none waits
  const NicTotals& nics;
  Instant now;  // the end of the run
};

// Whether it starts inside the window, and its item counts.
inline bool is_measured(const config::Experiment& experiment, const Flow& flow) {
  const Instant from = Instant() + experiment.run.warmup;
  return experiment.traffic[flow.traffic].measured && flow.start >= from &&
         flow.start < from + experiment.run.duration;
}

}  // namespace eddy::lab
