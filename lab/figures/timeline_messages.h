// What the switches of a timeline's path tell each other, apart from how it is drawn: the picture
// of the whole timeline and the chart that has sources for papers show these.
//
// Owner: the caller. Cost: linear in the records.
#pragma once

#include <vector>

#include "lab/figures/chart.h"
#include "lab/figures/timeline.h"

namespace eddy::lab {

// From the receiver of a hop to its sender.
struct TimelineMessage {
  enum class Says : uint8_t { warning, stop, go };  // go: a warning is over, or a pause
  Says says{};
  Instant left;  // not before the span
  Instant arrived;
};
std::vector<TimelineMessage> messages_of(const TimelineData& data, uint32_t hop);

// While a level of the hop's sender is above 0.
struct TimelineSpan {
  Instant from;
  Instant to;
};
std::vector<TimelineSpan> spans_of(const TimelineData& data, uint32_t hop, TimelineKind level);

// Rows are the switches, the last of the path on top; times are counted from `zero`. Without
// series: they told each other nothing.
Chart messages_chart(const TimelineData& data, Instant zero);

}  // namespace eddy::lab
