// What an incast's answers and the flows of a collective amount to: from the first one's start to
// the last one's arrival.
//
// The ideal is that of the NICs' lines alone: each sends one flow after the other at its rate and
// receives so, a flow begins as soon as what it waits for has arrived or left, and takes its path's
// delay and a packet's time a link; ACKs, which share the lines, are not in it. Pure functions.
// Cost: a heap operation a flow. Source: reference D.5.
#pragma once

#include <vector>

#include "lab/run/flow_account.h"
#include "lab/run/run_result.h"

namespace eddy::lab {

// By traffic item and number; those of which no flow has started are left out.
std::vector<RequestResult> request_results(const FlowAccount& account);

}  // namespace eddy::lab
