// The figure of a timeline: what the last switch of the path holds, what the switches tell each
// other, and what the first one does about it, one below the other on one axis of time.
//
// It has the width and the letters of a style, and is as high as it needs; the same timeline gives
// the same text everywhere. Owner: the caller. Cost: linear in the records.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lab/figures/style.h"
#include "lab/figures/timeline.h"

namespace eddy::lab {

// The moments that a reader is led to, in the order of cause and effect.
struct TimelineMoment {
  std::string_view says;
  std::optional<Instant> at;  // none: it did not come to it
};
std::vector<TimelineMoment> moments_of(const TimelineData& data);
// Where the axis of time begins to count: the prediction, if there is one.
Instant zero_of(const TimelineData& data);

std::string draw_timeline(const TimelineData& data, std::string_view title,
                          const FigureStyle& style = {});

}  // namespace eddy::lab
