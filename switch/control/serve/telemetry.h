// The read-only DPDK telemetry commands /eddy/<report>, so that dpdk-telemetry.py and other
// collectors see what eddyctl sees.
//
// DPDK calls back on a thread of each telemetry client; the source must be safe for that. Commands
// cannot be unregistered: without a source they answer null. One source a process. Source: DPDK
// 22.11, rte_telemetry.h.
#pragma once

#include <functional>

#include "net/result.h"
#include "switch/control/report/json.h"
#include "switch/control/report/report_options.h"
#include "switch/control/report/words.h"

namespace eddy::control {

// The report, or {"error": ...}.
using ReportSource = std::function<Json(Report, const ReportOptions&)>;

// Registers on the first call of the process and answers from `source` until the next call; an
// empty one ends it.
Problems set_telemetry_source(ReportSource source);

}  // namespace eddy::control
