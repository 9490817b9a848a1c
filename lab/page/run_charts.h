// Charts that only the page has and `eddylab show --figures` does not write: order of packets,
// pauses over time, load of links; each of one variant.
//
// Units are in the axes' labels; curves have at most kMostPoints points. Owner: the caller. Cost:
// linear in what the runs hold.
#pragma once

#include <string>
#include <vector>

#include "lab/figures/chart.h"
#include "lab/figures/figures.h"

namespace eddy::lab {

inline constexpr size_t kMostPoints = 400;

// Of the packets that arrived out of order, how many were at least so far off.
Chart ood_chart(const VariantData& variant);
// Of the first run, as queue_chart().
Chart paused_chart(const VariantData& variant);
// Ends of links by what they sent a second, the mean over runs, the busiest first.
struct LinkCurve {
  Chart chart;
  std::vector<std::string> names;  // of the points
};
LinkCurve load_chart(const VariantData& variant);
LinkCurve pause_chart(const VariantData& variant);

}  // namespace eddy::lab
