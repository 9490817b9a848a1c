// What a report is made from: one folder of runs, read as far as it can be.
//
// A run that cannot be read is a problem with its file's name, never left out in silence; a run of
// another schema version refuses the folder. Flows are read a variant at a time, since all of them
// at once may not fit. Owner: the caller. Cost: linear in the files.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "lab/figures/figures.h"
#include "lab/figures/timeline.h"
#include "lab/figures/variant_choice.h"
#include "lab/results/result_tables.h"
#include "net/result.h"

namespace eddy::lab {

struct SourceTimeline {
  size_t variant = 0;
  uint64_t seed = 0;
  TimelineData data;
};

struct PageSource {
  std::filesystem::path folder;
  Json result;
  std::map<std::pair<std::string, uint64_t>, std::filesystem::path> folders;  // of the runs
  std::vector<VariantRuns> variants;      // of `result`, which must stay where it is
  std::vector<uint64_t> seeds;            // of any variant, in their order
  std::vector<SourceTimeline> timelines;  // of the runs that recorded one
  Problems problems;                      // of what is missing in it
};

// `path`: OUT/EXPERIMENT/SIZE, or the result.json in it.
Result<std::vector<PageSource>> read_sources(const std::vector<std::string>& paths);

// The same with the variants alone that are chosen; at least one is.
PageSource with_chosen(const PageSource& source, const VariantChoice& choice);

// The runs of a variant with their flows; what cannot be read goes to the source's problems.
VariantData read_variant(PageSource& source, size_t variant);

// What timeline_json() has written.
Result<TimelineData> read_timeline(const std::filesystem::path& file);

}  // namespace eddy::lab
