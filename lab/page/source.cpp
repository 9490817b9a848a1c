#include "lab/page/source.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <stdexcept>

#include "lab/results/results.h"
#include "system/hostile_json.h"

namespace eddy::lab {
namespace {

namespace fs = std::filesystem;

void add(Problems& to, const Problems& more) {
  to.insert(to.end(), more.begin(), more.end());
}

fs::path folder_of(const PageSource& source, const Json& run) {
  return source.folders.at({run.at("variant").get<std::string>(), run.at("seed").get<uint64_t>()});
}

// Folders of seeds without a run: it is still running, or was killed.
void add_unfinished(PageSource& source) {
  std::error_code error;
  Problems found;
  for (const auto& variant : fs::directory_iterator(source.folder, error))
    for (const auto& seed : fs::directory_iterator(variant.path(), error))
      if (seed.path().filename().string().starts_with("seed") &&
          !fs::exists(seed.path() / "run.json", error))
        found.push_back(seed.path().string() + ": no run.json: it runs still, or was killed");
  std::ranges::sort(found);
  add(source.problems, found);
}

void add_timelines(PageSource& source) {
  for (size_t i = 0; i < source.variants.size(); ++i)
    for (const Json* run : source.variants[i].runs) {
      const fs::path file = folder_of(source, *run) / "timeline.json";
      std::error_code error;
      if (!fs::exists(file, error)) continue;
      Result<TimelineData> data = read_timeline(file);
      if (data)
        source.timelines.push_back({i, run->at("seed").get<uint64_t>(), std::move(*data)});
      else
        add(source.problems, data.problems());
    }
}

Result<PageSource> read_source(const std::string& path) {
  std::error_code error;
  if (!fs::exists(path, error))
    return Result<PageSource>::failure(path + ": there is no such file or folder");
  PageSource source;
  source.folder = path;
  if (!fs::is_directory(path, error))
    source.folder = source.folder.has_parent_path() ? source.folder.parent_path() : ".";
  ReadableRuns found = readable_runs(source.folder);
  if (found.other_version) return found.problems;
  if (found.result.is_null()) {
    found.problems.push_back(no_run_in(path));
    return found.problems;
  }
  source.result = std::move(found.result);
  source.folders = std::move(found.folders);
  source.problems = std::move(found.problems);
  return source;
}

// Pointers go to where the result lies now.
void look_into(PageSource& source) {
  source.variants = by_variant(source.result);
  for (const Json& run : source.result.at("runs"))
    source.seeds.push_back(run.at("seed").get<uint64_t>());
  std::ranges::sort(source.seeds);
  source.seeds.erase(std::unique(source.seeds.begin(), source.seeds.end()), source.seeds.end());
  add_unfinished(source);
  add_timelines(source);
}

std::optional<TimelineKind> kind_named(const std::string& name) {
  for (size_t i = 0; i < static_cast<size_t>(TimelineKind::kCount); ++i)
    if (name_of(static_cast<TimelineKind>(i)) == name) return static_cast<TimelineKind>(i);
  return std::nullopt;
}

// As long as years, and far from what picoseconds can hold.
int64_t nanoseconds(const Json& value) {
  constexpr int64_t kLongest = 1'000'000'000'000'000;
  const auto found = value.get<int64_t>();
  if (found < 0 || found > kLongest) throw std::out_of_range("a time out of range");
  return found;
}

Instant at_ns(const Json& value) {
  return Instant() + Duration::nanoseconds(nanoseconds(value));
}

// Throws where a type or a number is another than ours.
Result<TimelineData> timeline_of(const Json& json, const std::string& name) {
  TimelineData data;
  data.from = at_ns(json.at("from_ns"));
  data.to = at_ns(json.at("to_ns"));
  for (const Json& hop : json.at("hops"))
    data.hops.push_back({hop.at("from").get<std::string>(), hop.at("to").get<std::string>(),
                         Duration::nanoseconds(nanoseconds(hop.at("delay_ns")))});
  for (const Json& record : json.at("records")) {
    const auto kind = kind_named(record.at(2).get<std::string>());
    const auto hop = record.at(1).get<uint32_t>();
    if (!kind || hop >= data.hops.size() || data.from > data.to)
      return Result<TimelineData>::failure(name + ": this is no timeline of this program");
    data.records.push_back({at_ns(record.at(0)), hop, *kind, record.at(3).get<int64_t>()});
  }
  if (data.hops.empty()) return Result<TimelineData>::failure(name + ": no hop in it");
  return data;
}

}  // namespace

PageSource with_chosen(const PageSource& source, const VariantChoice& choice) {
  PageSource chosen{.folder = source.folder,
                    .result = source.result,
                    .folders = source.folders,
                    .variants = {},
                    .seeds = source.seeds,
                    .timelines = {},
                    .problems = {}};
  Json runs = Json::array();
  for (const Json& run : source.result.at("runs"))
    if (choice.takes(run.value("variant", ""))) runs.push_back(run);
  chosen.result["runs"] = std::move(runs);
  chosen.variants = by_variant(chosen.result);
  for (const SourceTimeline& timeline : source.timelines) {
    const std::string& name = source.variants[timeline.variant].name;
    const auto found = std::ranges::find(chosen.variants, name, &VariantRuns::name);
    if (found == chosen.variants.end()) continue;
    chosen.timelines.push_back(timeline);
    chosen.timelines.back().variant = static_cast<size_t>(found - chosen.variants.begin());
  }
  return chosen;
}

Result<std::vector<PageSource>> read_sources(const std::vector<std::string>& paths) {
  std::vector<PageSource> sources;
  Problems problems;
  for (const std::string& path : paths) {
    Result<PageSource> source = read_source(path);
    if (source)
      sources.push_back(std::move(*source));
    else
      add(problems, source.problems());
  }
  if (!problems.empty()) return problems;
  for (PageSource& source : sources) look_into(source);
  return sources;
}

VariantData read_variant(PageSource& source, size_t variant) {
  const VariantRuns& runs = source.variants[variant];
  VariantData data{.name = runs.name, .runs = {}, .values = {}};
  for (const Json* run : runs.runs) {
    Result<StoredRun> stored = read_flows(folder_of(source, *run) / "flows.sqlite");
    if (!stored) add(source.problems, stored.problems());
    data.runs.push_back(stored ? std::move(*stored) : StoredRun{});
    data.values.push_back(run);
  }
  return data;
}

Result<TimelineData> read_timeline(const fs::path& file) {
  const std::string name = file.string();
  const Result<Json> json = read_json_file(file, kFileBounds);
  if (!json) return json.problems();
  try {
    return timeline_of(json.value(), name);
  } catch (const std::exception& error) {
    return Result<TimelineData>::failure(name + ": this is no timeline: " + error.what());
  }
}

}  // namespace eddy::lab
