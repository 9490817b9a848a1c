#include "lab/program/claims_command.h"

#include <filesystem>
#include <iostream>

#include "lab/program/run_command.h"
#include "lab/results/claims_sources.h"
#include "lab/results/kept_results.h"
#include "lab/results/results.h"
#include "lab/results/sweep_folder.h"
#include "lab/run/experiment_files.h"
#include "net/text/printable.h"
#include "system/hostile_json.h"

namespace eddy::lab {
namespace {

namespace fs = std::filesystem;

Problems keep(const std::vector<ClaimsSource>& sources, const fs::path& folder) {
  if (Problems problems = make_folder(folder); !problems.empty()) return problems;
  for (const ClaimsSource& source : sources) {
    Json result = source.result;
    result["expect"] = source.expect;
    const fs::path file = folder / (in_file_name(result.value("experiment", "")) + ".json");
    if (Problems problems = write_text(file, kept_text(kept_result(result))); !problems.empty())
      return problems;
    std::cerr << file.string() << "\n";
  }
  return {};
}

}  // namespace

void declare_claims(CLI::App& app, ClaimsArguments& arguments) {
  CLI::App* command =
      app.add_subcommand("claims", "what experiments claim and what came out, as a document");
  command
      ->add_option("results", arguments.results,
                   "OUT/EXPERIMENT/SIZE, a result.json, or a folder of kept results")
      ->required();
  command->add_flag("--json", arguments.json, "the claims as JSON");
  command->add_flag("--unseen", arguments.unseen,
                    "also name the experiments with claims that have no result here");
  command
      ->add_option("--keep", arguments.keep,
                   "also write what tables and claims need of each result, DIR/EXPERIMENT.json")
      ->allow_extra_args(false);
}

int claims_command(const ClaimsArguments& arguments) {
  const std::vector<fs::path> experiments = all_experiments();
  Result<std::vector<ClaimsSource>> sources =
      read_claims_sources({arguments.results.begin(), arguments.results.end()}, experiments);
  if (!sources) return complain(kFailed, sources.problems());
  if (!arguments.keep.empty())
    if (const Problems problems = keep(*sources, arguments.keep); !problems.empty())
      return complain(kFailed, problems);
  if (arguments.json) {
    constexpr int kIndent = 1;
    std::cout << claims_json(*sources).dump(kIndent, ' ', true) << "\n";
    return kDone;
  }
  for (ClaimsSource& source : *sources) {
    source.result = with_printable_texts(source.result);
    source.expect = with_printable_texts(source.expect);
    source.source = printable(source.source);
  }
  const auto unseen = arguments.unseen ? unseen_experiments(*sources, experiments)
                                       : std::vector<UnseenExperiment>();
  std::cout << claims_markdown(*sources, unseen);
  return kDone;
}

}  // namespace eddy::lab
