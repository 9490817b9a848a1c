// Reports as data: what `show ...` answers, made from samples. The same value goes to the Unix
// socket, to DPDK telemetry and to eddyctl.
//
// A report is {"report", "switch", "generation", "uptime_ns", "rows": [...]}, with beside the rows
// what is of the whole switch; a row is flat and holds strings and unsigned integers only, which
// every carrier can transport; what has no value is absent. Counters have the names of counters.h
// and count from the last `clear counters`; labels are port, prio, queue, pg, reason; rates end in
// _bps (bits a second) and _pps. Unless ReportOptions::all, rows in which nothing has happened are
// left out. Pure functions of their arguments. Source: architecture, section 8.
#pragma once

#include <deque>
#include <span>
#include <string>
#include <vector>

#include "config/config.h"
#include "switch/control/report/event_log.h"
#include "switch/control/report/json.h"
#include "switch/control/report/report_options.h"
#include "switch/control/report/sample.h"
#include "switch/control/report/shard_commands.h"
#include "switch/control/report/words.h"

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
  std::span<const SchemeParameterRow> schemes;  // a scheme without parameters has one empty row
  const std::deque<LoggedEvent>& events;
  uint64_t generation = 0;
  int64_t started_at_ns = 0;
};

Json make_report(Report report, const ReportInput& input, const ReportOptions& options);

}  // namespace eddy::control
