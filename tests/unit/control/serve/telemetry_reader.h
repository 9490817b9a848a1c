// A reader of reports over DPDK telemetry, as a collector is one: it joins the pages of a report.
#pragma once

#include <string>

#include "net/result.h"
#include "switch/control/report/json.h"
#include "switch/control/report/report_options.h"
#include "switch/control/report/words.h"

namespace eddy::control {

// All pages of /eddy/<report>: the same value as the control socket's "result".
Result<Json> report_over_telemetry(const std::string& path, Report report,
                                   const ReportOptions& options);

}  // namespace eddy::control
