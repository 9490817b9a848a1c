// Results of runs as files: OUT/EXPERIMENT/SIZE/VARIANT/seedN/run.json and flows.sqlite, and
// OUT/EXPERIMENT/SIZE/result.json, which is merged from what runs there are.
//
// run.json is written last and renamed into place: where there is one, the run is whole. Any number
// of processes may write runs and merge at the same time. Units: lab/results/result_keys.h. Owner:
// the caller; keeps nothing. Cost: linear in the flows of a run, or in the runs that are merged.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lab/results/result_keys.h"
#include "lab/run/run_record.h"
#include "net/result.h"

namespace eddy::lab {

// A variant's name as the name of a folder: the same for the same name, different for others.
std::string variant_folder(std::string_view variant);
std::filesystem::path run_folder(const std::filesystem::path& size_folder, std::string_view variant,
                                 uint64_t seed);

// The problems; empty when both files are written.
[[nodiscard]] Problems write_run(const std::filesystem::path& folder, const RunRecord& run);

struct FoundRun {
  std::string config_hash;  // in hexadecimal
  std::string digest;
  bool whole = false;     // neither interrupted nor with violations nor without measured flows
  uint64_t measured = 0;  // flows
  std::vector<std::string> with;
  int64_t time_dilation = 1;
};
// nullopt: there is no run, or none that can be read.
std::optional<FoundRun> find_run(const std::filesystem::path& folder);

// What there is below the folder of an experiment's size: the runs that can be read, merged, and
// what keeps the others from it.
struct ReadableRuns {
  Json result;  // null: no run can be read
  std::map<std::pair<std::string, uint64_t>, std::filesystem::path> folders;  // by variant and seed
  Problems problems;
  bool other_version = false;  // a run is of a schema version that this program does not know
};
ReadableRuns readable_runs(const std::filesystem::path& size_folder);

// Whether any run has been written below the folder of an experiment's size.
bool has_runs(const std::filesystem::path& size_folder);

// What is said of a path that is not the folder of an experiment's size: where to look instead.
std::string no_run_in(const std::filesystem::path& path);

// Of all whole runs below the folder of an experiment's size, by variant and seed.
Result<Json> merge_runs(const std::filesystem::path& size_folder);
// Writes it to result.json there.
Result<Json> write_merged(const std::filesystem::path& size_folder);
// A result.json, or a folder of runs.
Result<Json> read_result(const std::filesystem::path& path);

// A result with the runs of these variants alone; all of them when none is named.
Result<Json> only_variants(const Json& result, const std::vector<std::string>& names);

// `text` as part of a file's name: letters, digits and "=._+-" stay. Different texts
// may have the same name.
std::string in_file_name(std::string_view text);

// Replaces a file at once.
[[nodiscard]] Problems write_text(const std::filesystem::path& file, std::string_view text);

}  // namespace eddy::lab
