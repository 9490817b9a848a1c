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

#include "switch/control/report/json.h"
#include "switch/control/report/report_input.h"
#include "switch/control/report/report_options.h"
#include "switch/control/report/words.h"

namespace eddy::control {

Json make_report(Report report, const ReportInput& input, const ReportOptions& options);

}  // namespace eddy::control
