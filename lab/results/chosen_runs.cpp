#include "lab/results/chosen_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include "lab/results/variant_words.h"
#include "net/text/printable.h"

namespace eddy::lab {
namespace {

std::vector<std::string> names_of(const config::LoadedExperiment& loaded) {
  std::vector<std::string> names;
  for (const config::ExperimentRun& run : loaded.runs) names.push_back(run.variant);
  return names;
}

}  // namespace

Result<const config::ExperimentRun*> chosen_run(const config::LoadedExperiment& loaded,
                                                const std::vector<std::string>& variants) {
  using Chosen = Result<const config::ExperimentRun*>;
  if (variants.empty() && loaded.runs.size() == 1) return Chosen(&loaded.runs.front());
  const std::vector<std::string> known = names_of(loaded);
  const std::string name = variants.size() == 1 ? variants.front() : "";
  const auto meant = name.empty() ? std::vector<std::string>{} : meant_by(name, known);
  if (meant.size() > 1)
    return Chosen::failure(fmt::format("--variant: \"{}\" is several, one has to be named: {}",
                                       printable(name), listed(meant)));
  for (const config::ExperimentRun& run : loaded.runs)
    if (meant.size() == 1 && run.variant == meant.front()) return Chosen(&run);
  return Chosen::failure("--variant: " + no_such_variant(name, known));
}

Result<std::vector<const config::ExperimentRun*>> chosen_variants(
    const config::LoadedExperiment& loaded, const std::vector<std::string>& variants) {
  const std::vector<std::string> known = names_of(loaded);
  Problems problems;
  const std::vector<std::string> names = variants_meant(variants, known, problems);
  if (!problems.empty()) return problems;
  std::vector<const config::ExperimentRun*> chosen;
  for (const config::ExperimentRun& run : loaded.runs)
    if (variants.empty() || std::ranges::find(names, run.variant) != names.end())
      chosen.push_back(&run);
  return chosen;
}

Result<std::vector<WorkItem>> chosen_items(const config::LoadedExperiment& loaded,
                                           const std::vector<std::string>& variants,
                                           const std::string& seeds) {
  const std::vector<std::string> known = names_of(loaded);
  Problems problems;
  const std::vector<std::string> names = variants_meant(variants, known, problems);
  if (!problems.empty()) return problems;
  Result<std::vector<uint64_t>> given = loaded.runs.front().experiment.run.seeds;
  if (!seeds.empty()) given = parse_seeds(seeds);
  if (!given) return Problems{"--seed: " + given.problems().front()};
  std::vector<WorkItem> items = work_items(loaded.runs.size(), given.value());
  if (!variants.empty())
    std::erase_if(items, [&](const WorkItem& item) {
      return std::ranges::find(names, known[item.variant]) == names.end();
    });
  return items;
}

}  // namespace eddy::lab
