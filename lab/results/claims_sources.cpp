#include "lab/results/claims_sources.h"

#include <algorithm>
#include <optional>

#include "config/experiment_load.h"
#include "lab/results/results.h"

namespace eddy::lab {
namespace {

namespace fs = std::filesystem;

// One without a claim or a name that can be read has none here: `eddylab validate` says why.
std::optional<config::LoadedExperiment> experiment_of(const std::string& id,
                                                      const std::vector<fs::path>& experiments) {
  const auto file =
      std::ranges::find(experiments, id, [](const fs::path& path) { return path.stem().string(); });
  if (file == experiments.end()) return {};
  Result<config::LoadedExperiment> loaded = config::load_experiment(*file);
  if (!loaded) return {};
  return std::move(*loaded);
}

// The files of kept results in a folder that holds no runs.
std::vector<fs::path> kept_files(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code error;
  if (!fs::is_directory(folder, error) || has_runs(folder)) return files;
  for (const auto& entry : fs::directory_iterator(folder, error))
    if (entry.path().extension() == ".json") files.push_back(entry.path());
  std::ranges::sort(files);
  return files;
}

ClaimsSource source_of(Json result, const std::vector<fs::path>& experiments) {
  ClaimsSource out{
      .result = std::move(result), .expect = {}, .source = {}, .numbers = {}, .notes = {}};
  out.expect = out.result.value("expect", Json::array());
  const auto loaded = experiment_of(out.result.value("experiment", ""), experiments);
  if (!loaded) return out;
  out.expect = loaded->expect;
  out.source = loaded->runs.front().experiment.source;
  return out;
}

// The document stands beside the folder.
void add_links(ClaimsSource& source, const fs::path& file) {
  const fs::path folder = fs::absolute(file).lexically_normal().parent_path();
  const fs::path notes = folder / (file.stem().string() + ".md");
  const std::string prefix = folder.filename().string() + "/";
  source.numbers = prefix + file.filename().string();
  std::error_code error;
  if (fs::exists(notes, error)) source.notes = prefix + notes.filename().string();
}

}  // namespace

Result<std::vector<ClaimsSource>> read_claims_sources(const std::vector<fs::path>& paths,
                                                      const std::vector<fs::path>& experiments) {
  std::vector<ClaimsSource> sources;
  Problems problems;
  for (const fs::path& path : paths) {
    const std::vector<fs::path> kept = kept_files(path);
    for (const fs::path& file : kept.empty() ? std::vector{path} : kept) {
      Result<Json> result = read_result(file);
      if (!result) {
        problems.insert(problems.end(), result.problems().begin(), result.problems().end());
        continue;
      }
      sources.push_back(source_of(std::move(*result), experiments));
      if (!kept.empty()) add_links(sources.back(), file);
    }
  }
  if (!problems.empty()) return problems;
  return sources;
}

std::vector<UnseenExperiment> unseen_experiments(const std::vector<ClaimsSource>& sources,
                                                 const std::vector<fs::path>& experiments) {
  std::vector<UnseenExperiment> unseen;
  for (const fs::path& file : experiments) {
    const std::string id = file.stem().string();
    const auto is_it = [&](const ClaimsSource& source) {
      return source.result.value("experiment", "") == id;
    };
    if (std::ranges::any_of(sources, is_it)) continue;
    const auto loaded = experiment_of(id, experiments);
    if (!loaded) continue;
    const auto claims = std::ranges::count_if(
        loaded->expect, [](const std::string& text) { return parse_claim(text).has_value(); });
    if (claims > 0) unseen.push_back({id, static_cast<size_t>(claims)});
  }
  return unseen;
}

}  // namespace eddy::lab
