// fct.txt as the public simulators of HPCC and ConWeave write it, for their scripts.
//
// A line a flow that ended, in the order of the ends: source and destination address in hexadecimal
// (0x0b000001 + 256 * node), source port, destination port, payload octets, start, FCT and ideal
// FCT in ns. Nodes are numbered as in topology.txt. Owner: the caller. Cost: linear. Source: the
// output format of those simulators. pfc.txt: lab/results/pfc_log.h.
#pragma once

#include <string>

#include "lab/run/run_record.h"

namespace eddy::lab {

std::string fct_text(const RunRecord& run);

}  // namespace eddy::lab
