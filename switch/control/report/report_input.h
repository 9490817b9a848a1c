// ReportInput: what a report is made from. It refers to what its maker keeps.
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <string>

#include "config/config.h"
#include "switch/control/report/event_log.h"
#include "switch/control/report/sample.h"
#include "switch/control/report/shard_commands.h"

namespace eddy::control {

struct SchemeParameterRow {
  std::string scheme, name, unit, default_value, range, help;
};

struct ReportInput {
  const config::SwitchConfig& config;  // as in force
  const Sample& now;
  const Sample* earlier = nullptr;        // rates are since then; null = no rates
  std::span<const PortNumbers> baseline;  // by PortId; empty = since start
  const Values<DelayHistogram::kSteps>* waits_baseline = nullptr;  // null = since start
  std::span<const NeighborRow> neighbors;
  std::span<const PathRow> paths;               // of show paths
  const FlowSurvey* flows = nullptr;            // of show flows
  std::span<const IsolatedRow> isolated;        // of show isolated, which wants neighbors, too
  std::span<const SchemeParameterRow> schemes;  // a scheme without parameters has one empty row
  const std::deque<LoggedEvent>& events;
  uint64_t generation = 0;
  int64_t started_at_ns = 0;
};

}  // namespace eddy::control
