// The story of a packet that was traced: what the switch said of it as it came, and what became of
// it.
//
// As a Story, with "came_ns" and, in steps "14" and "15" or where it was dropped, "left_ns",
// "took_ns", "egress", "queue"; "as_said": it left as was said. Times are nanoseconds since the
// Unix epoch.
#pragma once

#include <string>
#include <vector>

#include "net/capture/capture_record.h"
#include "switch/dataplane/state/explanation.h"
#include "switch/explain/json.h"
#include "switch/explain/names.h"

namespace eddy::explain {

struct TraceNames {
  Names of;
  std::vector<std::string> reasons;  // of drops, by number
};

// It has come.
Json traced(const Explanation& explanation, const CaptureRecord& came, const TraceNames& names);
// It has left, or was dropped.
Json finished(Json story, const CaptureRecord& gone, const TraceNames& names);
// Neither is known: it waits in the switch, or no record of it was kept.
Json unfinished(Json story);
std::string trace_lines(const Json& story);

}  // namespace eddy::explain
