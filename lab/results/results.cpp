#include "lab/results/results.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <set>

#include "lab/results/flow_store.h"
#include "lab/results/run_check.h"
#include "lab/results/variant_words.h"
#include "net/fnv.h"
#include "system/hostile_json.h"

namespace eddy::lab {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kRunFile = "run.json";
constexpr std::string_view kResultFile = "result.json";
constexpr int kIndent = 1;

Json header_of(const Json& run_file) {
  Json out = Json::object();
  for (const char* key : {"schema_version", "experiment", "title", "size", "expect"})
    out[key] = run_file.at(key);
  return out;
}

Json units() {
  Json units = Json::object();
  for (const ResultKey& key : result_keys())
    if (!key.unit.empty()) units[std::string(key.name)] = std::string(key.unit);
  return units;
}

Json run_file(const RunRecord& run) {
  return {{"schema_version", kResultSchemaVersion},
          {"experiment", run.identity.experiment},
          {"title", run.identity.title},
          {"size", run.identity.size},
          {"expect", run.identity.expect},
          {"units", units()},
          {"config", run.identity.config},
          {"run", run_values(run)}};
}

// One merges at a time, so that the last one sees all runs.
class MergeLock {
 public:
  explicit MergeLock(const fs::path& folder)
      : file_(open((folder / ".merge.lock").c_str(), O_CREAT | O_RDWR | O_CLOEXEC, kMode)) {
    if (file_ >= 0) flock(file_, LOCK_EX);
  }
  ~MergeLock() {
    if (file_ >= 0) close(file_);
  }
  MergeLock(const MergeLock&) = delete;
  MergeLock& operator=(const MergeLock&) = delete;

 private:
  static constexpr mode_t kMode = 0644;
  int file_;
};

std::vector<fs::path> run_files(const fs::path& size_folder) {
  std::vector<fs::path> files;
  std::error_code error;
  for (const auto& variant : fs::directory_iterator(size_folder, error))
    for (const auto& seed : fs::directory_iterator(variant.path(), error))
      if (fs::exists(seed.path() / kRunFile, error)) files.push_back(seed.path() / kRunFile);
  std::ranges::sort(files);
  return files;
}

std::string common(const std::set<std::string>& values) {
  return values.size() == 1 ? *values.begin() : "mixed";
}

// Seeds by number, variants by name.
void sort_runs(Json& runs) {
  std::stable_sort(runs.begin(), runs.end(), [](const Json& a, const Json& b) {
    const auto key = [](const Json& run) {
      return std::pair(run.value("variant", ""), run.value("seed", uint64_t{0}));
    };
    return key(a) < key(b);
  });
}

// commit, config_hashes, units, runs.
void add_runs(Json& result, Json runs) {
  std::set<std::string> commits;
  std::map<std::string, std::set<std::string>> hashes;
  for (const Json& run : runs) {
    commits.insert(run.value("commit", ""));
    hashes[run.value("variant", "")].insert(run.value("config_hash", ""));
  }
  result["commit"] = common(commits);
  result["config_hashes"] = Json::object();
  for (const auto& [variant, found] : hashes) result["config_hashes"][variant] = common(found);
  result["units"] = units();
  result["runs"] = std::move(runs);
}

// A run.json of our version and types.
Result<Json> read_run(const fs::path& path, bool& is_other_version) {
  Result<Json> file = read_json_file(path, kFileBounds);
  if (!file) return file;
  if (const std::string said = other_version(path.string(), file.value()); !said.empty()) {
    is_other_version = true;
    return Result<Json>::failure(said);
  }
  if (Problems problems = check_run_file(path.string(), file.value()); !problems.empty())
    return problems;
  return file;
}

}  // namespace

std::string variant_folder(std::string_view variant) {
  constexpr size_t kLongest = 100;
  constexpr std::string_view kKept =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789=.,+-";
  if (variant.empty()) return "only";
  std::string name;
  bool changed = variant.size() > kLongest || variant.front() == '.' || variant == "only";
  for (const char c : variant.substr(0, kLongest)) {
    const bool kept = kKept.find(c) != std::string_view::npos;
    name += kept ? c : '_';
    changed |= !kept && c != ' ';
  }
  if (!changed) return name;
  if (name.front() == '.') name.front() = '_';
  Fnv64 hash;
  hash.add(variant);
  return fmt::format("{}-{:016x}", name, hash.value());
}

fs::path run_folder(const fs::path& size_folder, std::string_view variant, uint64_t seed) {
  return size_folder / variant_folder(variant) / fmt::format("seed{}", seed);
}

Problems write_text(const fs::path& file, std::string_view text) {
  const fs::path part = fmt::format("{}.part{}", file.string(), getpid());
  std::ofstream stream(part, std::ios::binary | std::ios::trunc);
  stream << text;
  stream.close();
  std::error_code error;
  if (stream) fs::rename(part, file, error);
  if (stream && !error) return {};
  return {file.string() + ": cannot be written" + (error ? ": " + error.message() : "")};
}

Problems write_run(const fs::path& folder, const RunRecord& run) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) return {folder.string() + ": " + error.message()};
  fs::remove(folder / kRunFile, error);  // it would vouch for flows that are about to change
  if (Problems problems = write_flows(folder / "flows.sqlite", run); !problems.empty())
    return problems;
  return write_text(folder / kRunFile, run_file(run).dump(kIndent) + "\n");
}

std::optional<FoundRun> find_run(const fs::path& folder) {
  std::error_code error;
  if (!fs::exists(folder / kRunFile, error)) return {};
  bool other_version = false;
  const Result<Json> file = read_run(folder / kRunFile, other_version);
  if (!file) return {};
  const Json& run = file.value().at("run");
  const auto measured = run.value("flows", uint64_t{0});
  const bool ended = !run.value("interrupted", false);
  const bool sound = run.value("violations", Json::array()).empty();
  return FoundRun{.config_hash = run.value("config_hash", ""),
                  .digest = run.value("digest", ""),
                  .whole = ended && sound && measured > 0,
                  .measured = measured,
                  .with = run.value("with", std::vector<std::string>()),
                  .time_dilation = run.value("time_dilation", int64_t{1})};
}

ReadableRuns readable_runs(const fs::path& size_folder) {
  ReadableRuns out;
  Json runs = Json::array();
  for (const fs::path& path : run_files(size_folder)) {
    const Result<Json> file = read_run(path, out.other_version);
    if (!file) {
      out.problems.insert(out.problems.end(), file.problems().begin(), file.problems().end());
      continue;
    }
    const Json& run = file.value().at("run");
    const auto [first, is_new] = out.folders.emplace(
        std::pair(run.at("variant").get<std::string>(), run.at("seed").get<uint64_t>()),
        path.parent_path());
    if (!is_new) {
      out.problems.push_back(fmt::format("{}: the same variant and seed as {}", path.string(),
                                         first->second.string()));
      continue;
    }
    if (out.result.is_null()) out.result = header_of(file.value());
    runs.push_back(run);
  }
  sort_runs(runs);
  if (!out.result.is_null()) add_runs(out.result, std::move(runs));
  return out;
}

bool has_runs(const fs::path& size_folder) {
  return !run_files(size_folder).empty();
}

std::string no_run_in(const fs::path& path) {
  std::vector<std::string> below;
  std::error_code error;
  if (fs::exists(path / kRunFile, error))
    return path.string() + ": this is the folder of one run; name the one two above it";
  if (fs::exists(path / kResultFile, error))
    return path.string() + ": no finished run in it; to read its " + std::string(kResultFile) +
           " alone name that file";
  constexpr int kDeepest = 3;  // OUT/EXPERIMENT/SIZE/result.json
  constexpr auto kOptions = fs::directory_options::skip_permission_denied;
  for (auto at = fs::recursive_directory_iterator(path, kOptions, error);
       !error && at != fs::recursive_directory_iterator(); at.increment(error)) {
    if (at.depth() >= kDeepest) at.disable_recursion_pending();
    if (at->path().filename() == kResultFile) below.push_back(at->path().parent_path().string());
  }
  std::ranges::sort(below);
  return path.string() + ": no finished run in it" +
         (below.empty() ? "" : fmt::format("; there are some in {}", fmt::join(below, ", ")));
}

Result<Json> merge_runs(const fs::path& size_folder) {
  ReadableRuns found = readable_runs(size_folder);
  if (!found.problems.empty()) return found.problems;
  if (found.result.is_null()) return Result<Json>::failure(no_run_in(size_folder));
  return std::move(found.result);
}

Result<Json> write_merged(const fs::path& size_folder) {
  const MergeLock lock(size_folder);
  Result<Json> merged = merge_runs(size_folder);
  if (!merged) return merged;
  Problems problems = write_text(size_folder / kResultFile, merged->dump(kIndent) + "\n");
  if (!problems.empty()) return problems;
  return merged;
}

Result<Json> read_result(const fs::path& path) {
  std::error_code error;
  if (!fs::exists(path, error))
    return Result<Json>::failure(path.string() + ": there is no such file or folder");
  if (fs::is_directory(path, error)) return merge_runs(path);
  Result<Json> file = read_json_file(path, kFileBounds);
  if (!file) return file;
  if (const std::string said = other_version(path.string(), file.value()); !said.empty())
    return Result<Json>::failure(said);
  if (Problems problems = check_result_file(path.string(), file.value()); !problems.empty())
    return problems;
  return file;
}

Result<Json> only_variants(const Json& result, const std::vector<std::string>& names) {
  if (names.empty()) return result;
  const Json& runs = result.at("runs");
  std::vector<std::string> known;
  for (const Json& run : runs)
    if (const std::string name = run.value("variant", "");
        std::ranges::find(known, name) == known.end())
      known.push_back(name);
  Problems problems;
  const std::vector<std::string> meant = variants_meant(names, known, problems);
  if (!problems.empty()) return problems;
  Json chosen = Json::array();
  for (const Json& run : runs)
    if (std::ranges::find(meant, run.value("variant", "")) != meant.end()) chosen.push_back(run);
  Json out = result;
  add_runs(out, std::move(chosen));
  return out;
}

std::string in_file_name(std::string_view text) {
  constexpr std::string_view kKept =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789=._+-";
  std::string out;
  for (const char c : text) out += kKept.find(c) == std::string_view::npos ? '_' : c;
  return out.empty() || out.front() == '.' ? "_" + out : out;
}

}  // namespace eddy::lab
