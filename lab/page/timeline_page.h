// A timeline for the page: panels on one axis of time, each of levels or of events.
//
// Times are in microseconds from the first prediction, levels in KiB. A timeline with more records
// than a page can hold is thinned: of a level's records in an interval the least and the greatest
// stay. Owner: the caller. Cost: linear in the records.
#pragma once

#include <vector>

#include "lab/figures/axis_figures.h"
#include "lab/page/source.h"

namespace eddy::lab {

Json timeline_page(const TimelineData& data);

// The same panels, each a chart; ids are "buffers_leaf1", "rates" and, unless the switches told
// each other nothing, "messages".
std::vector<NamedChart> timeline_charts(const TimelineData& data);

// The option that records it again: --timeline leaf1:spine1:leaf2@...
std::string timeline_option(const TimelineData& data);

}  // namespace eddy::lab
