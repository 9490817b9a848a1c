// What users of SONiC look at, from the reports of a switch, with SONiC's columns.
//
// Each table is made of one report, in which all rows are (ReportOptions::all). Numbers are those
// of the report: since `clear counters`, watermarks since their own clear. Columns that Eddy has no
// number for say N/A. Pure functions. Source: the columns of sonic-utilities (pfcstat, pfcwd,
// watermarkstat, queuestat); docs/import.md says what each is of.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "net/result.h"
#include "switch/control/report/json.h"
#include "switch/control/report/words.h"
#include "switch/dataplane/state/command.h"

namespace eddy::control {

struct SonicTable {
  Report report;
  std::optional<WatermarkOf> kind;  // of watermarks
  bool persistent = false;
};

// "show pfc counters", "pfcwd show stats": the words as SONiC has them; a problem says which there
// are.
Result<SonicTable> parse_sonic_table(const std::vector<std::string>& words);
std::string render_sonic(const SonicTable& table, const Json& report);

}  // namespace eddy::control
