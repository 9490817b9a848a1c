// SwitchWatch: the eddyds around a group of hosts, seen over their control sockets: whether their
// ports are up, how long they stay away from them, and what they counted.
//
// Switches are the experiment's, by name. Owner: the control thread. Cost: a request a report and
// switch; each has an end. Source: docs/control.md.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lab/fabric/topology.h"
#include "lab/run/flow_results.h"
#include "lab/run/run.h"
#include "net/result.h"
#include "net/units.h"

namespace eddy::testbed {

struct SwitchSocket {
  std::string name;  // in the experiment
  std::string path;
};

class SwitchWatch {
 public:
  // Keeps the topology by reference.
  SwitchWatch(const lab::Topology& topology, std::vector<SwitchSocket> sockets)
      : topology_(topology), sockets_(std::move(sockets)) {}

  bool any() const { return !sockets_.empty(); }
  struct Down {
    std::vector<std::string> ports;  // "leaf1 spine2"
  };
  // A problem: a switch that does not answer.
  Result<Down> ports_down() const;
  // Reports count from now on.
  Problems clear_counters() const;

  struct Gap {
    Duration p999{};
    Duration longest{};
    std::string where;  // the switch of the longest
  };
  // Of the workers' last second.
  Result<Gap> poll_gap() const;

  // Adds the counters of all switches by the names of the lab's results, and what went over links.
  // Times in `result` are divided by `dilation`. Where one switch does not answer, nothing is
  // added.
  Result<lab::PauseScope> collect(int64_t dilation, lab::RunResult& result) const;

 private:
  const lab::Topology& topology_;
  std::vector<SwitchSocket> sockets_;
};

}  // namespace eddy::testbed
