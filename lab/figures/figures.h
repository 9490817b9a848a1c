// The figures of a folder of runs: FCT distribution, slowdown by flow size, queues over time, and
// what axis_figures.h has where the matrix has an axis of numbers.
//
// Read from the runs' flows.sqlite; seeds of a variant are pooled, queues are of its first seed.
// The same runs give the same files. Owner: the caller. Cost: reads every flow.
#pragma once

#include <filesystem>
#include <vector>

#include "lab/figures/chart.h"
#include "lab/results/flow_store.h"
#include "lab/results/result_keys.h"
#include "net/result.h"

namespace eddy::lab {

// Writes fct_cdf.svg, slowdown_by_size.svg, queues.svg, and KEY_by_AXIS.svg; their paths.
Result<std::vector<std::filesystem::path>> write_figures(const std::filesystem::path& size_folder,
                                                         const Json& result,
                                                         const std::filesystem::path& to);

// For each variant its runs, as they are drawn.
struct VariantData {
  std::string name;
  std::vector<StoredRun> runs;
  std::vector<const Json*> values{};  // of each run; empty: not needed
};
Chart fct_chart(const std::vector<VariantData>& variants);
Chart slowdown_chart(const std::vector<VariantData>& variants);
Chart queue_chart(const std::vector<VariantData>& variants);

}  // namespace eddy::lab
