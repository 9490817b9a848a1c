// What a rank tells rank 0 of its run, beside what its world has counted: samples, faults, what it
// took.
//
// Owner: the run. All ranks call. Errors: a report that cannot be read throws ExchangeError.
#pragma once

#include "lab/run/run_result.h"
#include "lab/world/exchange.h"
#include "lab/world/ranks.h"

namespace eddy::lab {

// Rank 0's result becomes that of the whole run: samples and frames of faults are added up,
// violations of all are named, and ranks are told of. The others' stay what they are.
void gather_reports(Exchange& exchange, const RankTraffic& traffic, RunResult& result);

}  // namespace eddy::lab
