// ModelRun: a run that has been made, with its configuration and the series that a model is
// compared with.
//
// Owner: the caller. Cost: reads the run's files. Whatever cannot be read is a problem.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "config/experiment.h"
#include "lab/results/flow_series.h"
#include "lab/results/result_keys.h"
#include "net/result.h"

namespace eddy::lab {

struct ModelRun {
  std::string variant;
  config::Experiment experiment;
  Json values;  // as result.json has them
  std::vector<FlowCount> counts;
};

using ReadSeries = Result<std::vector<FlowCount>> (*)(const std::filesystem::path& folder);
// Of a folder OUT/EXPERIMENT/SIZE: all of its runs, by variant and seed.
Result<std::vector<ModelRun>> read_model_runs(const std::filesystem::path& results,
                                              ReadSeries series);

}  // namespace eddy::lab
