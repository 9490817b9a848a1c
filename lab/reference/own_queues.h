// OwnQueues: what a run needs to have OwnQueueSwitch in the place of its switches.
//
// Keeps experiment and topology by reference; the world must end before it. Source:
// run.flow_queues.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "config/experiment.h"
#include "lab/fabric/topology.h"
#include "lab/reference/own_queue_switch.h"
#include "net/result.h"

namespace eddy::lab {

class OwnQueues {
 public:
  OwnQueues(const config::Experiment& experiment, const Topology& topology);

  // What of the experiment the reference has not: "rlb: ...". Empty: it can run.
  static Problems problems(const config::Experiment& experiment, const Topology& topology);

  // As WorldOptions::instead.
  std::unique_ptr<Shard> make(size_t switch_index, Switch& object);
  // One sentence: that it was not the switch, and what the queues took.
  std::string report() const;
  // The most of each, over all switches; the stops of all.
  OwnQueueSwitch::Use use() const;

 private:
  const config::Experiment& experiment_;
  const Topology& topology_;
  std::vector<std::vector<OwnQueueSwitch::Line>> lines_;  // by switch and port
  std::vector<const OwnQueueSwitch*> made_;
};

}  // namespace eddy::lab
