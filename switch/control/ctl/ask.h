// One question to one switch, over its control socket, and JSON as eddyctl prints it.
//
// Thread: any; nothing is shared.
#pragma once

#include <string>

#include "net/result.h"
#include "switch/control/report/json.h"
#include "switch/control/report/report_options.h"
#include "switch/control/report/words.h"
#include "switch/control/serve/client.h"

namespace eddy::control {

// The result of the answer, or the problems that it has.
Result<Json> ask(const std::string& socket, const Json& request, const Patience& patience = {});
Result<Json> ask_report(const std::string& socket, Report report, const ReportOptions& options,
                        const Patience& patience = {});

// In ASCII, with its newline: a terminal obeys some characters beyond it.
std::string json_line(const Json& value);

}  // namespace eddy::control
