// Where a packet's cycles go: the pipeline's parts on the same packets as pipeline.letflow.10k.
//
// Loops that grow by one part each; a stage is the difference of two neighbours, so the driver and
// what the parts before have brought into the caches are not in it. The parts are the short ways of
// a burst: `receive` reads, classifies and routes it, `buffer` admits it, `egress` opens its
// queues, fills, closes and serves them. `stage.rest` is what the whole pipeline costs beyond the
// last loop: checks, rewriting the frame, counters, the poll's own work.
#pragma once

#include <vector>

#include "bench/report.h"

namespace eddy::bench {

std::vector<Result> measure_stages(int rounds);

}  // namespace eddy::bench
