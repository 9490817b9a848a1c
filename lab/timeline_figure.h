// The figure of a timeline: what the last switch of the path holds, what the switches tell each
// other, and what the first one does about it, one below the other on one axis of time.
//
// Sizes are in CSS pixels; the same timeline gives the same text everywhere. Owner: the caller.
// Cost: linear in the records.
#pragma once

#include <string>
#include <string_view>

#include "lab/timeline.h"

namespace eddy::lab {

std::string draw_timeline(const TimelineData& data, std::string_view title);

}  // namespace eddy::lab
