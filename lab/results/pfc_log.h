// PfcLog: pfc.txt of a run, as the public simulators of HPCC and ConWeave write it.
//
// A line for each priority of a PFC frame that reaches a port: time in ns, node, 1 for a switch and
// 0 for a host, number of its port from 1, 1 for pause and 0 for resume. Nodes are numbered as in
// topology.txt; times are those of the trace's file, if there is one. Owner: one run, which it must
// outlive; a watcher of its world. Cost: a comparison a frame, 30 octets of memory a line. Source:
// the output format of those simulators.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lab/run/run.h"
#include "lab/world/world.h"

namespace eddy::lab {

class PfcLog final : public Watcher {
 public:
  // Times are divided by `time_dilation`.
  explicit PfcLog(int64_t time_dilation) : time_dilation_(time_dilation) {}

  // Before it watches that world.
  void attach(const BuiltRun& run);
  const std::string& text() const { return text_; }

  void on_frame(uint32_t line, Step step, const Packet& packet) override;
  void on_turn(uint32_t) override {}
  void on_instant() override {}

 private:
  int64_t time_dilation_;
  Duration origin_{};
  World* world_ = nullptr;
  std::vector<uint32_t> numbers_;  // by node of the world
  std::string text_;
};

}  // namespace eddy::lab
