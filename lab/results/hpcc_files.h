// fct.txt as the public simulators of HPCC and ConWeave write it, for their scripts.
//
// A line a flow that ended, in the order of the ends: source, destination, source port, destination
// port, payload octets, start, FCT and ideal FCT in ns. HPCC's has the hosts' addresses in
// hexadecimal (0x0b000001 + 256 * node), ConWeave's the numbers of their nodes. Nodes are numbered
// as in topology.txt. The destination port is the kind of the flow, by which HPCC's script chooses:
// what its trace says, else 200 for incast and 100. Starts are those of the trace's file, if there
// is one. Owner: the caller. Cost: linear. Source: the output format of those simulators. pfc.txt:
// lab/results/pfc_log.h; time series: lab/results/conweave_series.h.
#pragma once

#include <string>

#include "lab/run/run_record.h"

namespace eddy::lab {

enum class FctFormat : uint8_t { hpcc, conweave };
std::string fct_text(const RunRecord& run, FctFormat format);

}  // namespace eddy::lab
