#include "lab/results/chosen_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

namespace eddy::lab {
namespace {

std::vector<std::string> names_of(const config::LoadedExperiment& loaded) {
  std::vector<std::string> names;
  for (const config::ExperimentRun& run : loaded.runs) names.push_back(run.variant);
  return names;
}

}  // namespace

std::string no_such_variant(std::string_view name, const std::vector<std::string>& variants) {
  if (variants == std::vector<std::string>{""})
    return fmt::format("no variant \"{}\"; the experiment has no variants", name);
  std::string known;
  for (const std::string& each : variants)
    known += (known.empty() ? "" : ", ") + fmt::format("\"{}\"", each);
  if (name.empty()) return "one has to be named; there are: " + known;
  return fmt::format("no variant \"{}\"; there are: {}", name, known);
}

Result<const config::ExperimentRun*> chosen_run(const config::LoadedExperiment& loaded,
                                                const std::vector<std::string>& variants) {
  using Chosen = Result<const config::ExperimentRun*>;
  if (variants.empty() && loaded.runs.size() == 1) return Chosen(&loaded.runs.front());
  const std::string name = variants.size() == 1 ? variants.front() : "";
  for (const config::ExperimentRun& run : loaded.runs)
    if (variants.size() == 1 && run.variant == name) return Chosen(&run);
  return Chosen::failure("--variant: " + no_such_variant(name, names_of(loaded)));
}

Result<std::vector<const config::ExperimentRun*>> chosen_variants(
    const config::LoadedExperiment& loaded, const std::vector<std::string>& variants) {
  const std::vector<std::string> known = names_of(loaded);
  Problems problems;
  for (const std::string& name : variants)
    if (std::ranges::find(known, name) == known.end())
      problems.push_back(no_such_variant(name, known));
  if (!problems.empty()) return problems;
  std::vector<const config::ExperimentRun*> chosen;
  for (const config::ExperimentRun& run : loaded.runs)
    if (variants.empty() || std::ranges::find(variants, run.variant) != variants.end())
      chosen.push_back(&run);
  return chosen;
}

Result<std::vector<WorkItem>> chosen_items(const config::LoadedExperiment& loaded,
                                           const std::vector<std::string>& variants,
                                           const std::string& seeds) {
  const std::vector<std::string> known = names_of(loaded);
  if (const auto named = chosen_variants(loaded, variants); !named) return named.problems();
  Result<std::vector<uint64_t>> given = loaded.runs.front().experiment.run.seeds;
  if (!seeds.empty()) given = parse_seeds(seeds);
  if (!given) return Problems{"--seed: " + given.problems().front()};
  std::vector<WorkItem> items = work_items(loaded.runs.size(), given.value());
  if (!variants.empty())
    std::erase_if(items, [&](const WorkItem& item) {
      return std::ranges::find(variants, known[item.variant]) == variants.end();
    });
  return items;
}

}  // namespace eddy::lab
