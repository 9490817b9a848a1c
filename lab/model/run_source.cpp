#include "lab/model/run_source.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "config/experiment_load.h"
#include "lab/results/results.h"
#include "plugin/plugins.h"
#include "system/hostile_json.h"

namespace eddy::lab {
namespace {

namespace fs = std::filesystem;

// As run.json has it, printed.
Result<config::Experiment> experiment_of(const fs::path& folder) {
  const fs::path file = folder / "run.json";
  const Result<Json> run = read_json_file(file, kFileBounds);
  if (!run) return run.problems();
  Result<config::LoadedExperiment> loaded = config::load_experiment_text(
      file, run.value().value("config", ""), {.plugins = &plugin::plugins_of_process()});
  if (!loaded) return loaded.problems();
  return std::move(loaded->runs.front().experiment);
}

const Json* run_of(const Json& result, const std::string& variant, uint64_t seed) {
  const auto is_it = [&](const Json& run) {
    return run.value("variant", "") == variant && run.value("seed", uint64_t{0}) == seed;
  };
  const auto found = std::ranges::find_if(result.at("runs"), is_it);
  return found == result.at("runs").end() ? nullptr : &*found;
}

}  // namespace

Result<std::vector<ModelRun>> read_model_runs(const fs::path& results, ReadSeries series) {
  const ReadableRuns found = readable_runs(results);
  if (!found.problems.empty()) return found.problems;
  if (found.folders.empty()) return Result<std::vector<ModelRun>>::failure(no_run_in(results));
  std::vector<ModelRun> runs;
  for (const auto& [name, folder] : found.folders) {
    const Json* const values = run_of(found.result, name.first, name.second);
    if (values == nullptr) continue;
    Result<config::Experiment> experiment = experiment_of(folder);
    if (!experiment) return experiment.problems();
    Result<std::vector<FlowCount>> counts = series(folder);
    if (!counts) return counts.problems();
    runs.push_back({name.first, std::move(*experiment), *values, std::move(*counts)});
  }
  return runs;
}

}  // namespace eddy::lab
