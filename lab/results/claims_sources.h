// Where the claims of a document come from: results, kept or whole, each with what its experiment
// claims today.
//
// Claims are sharpened after runs, so those of the experiment's file count; a result whose
// experiment nobody knows has its own. Owner: the caller; keeps nothing. Cost: linear in the
// results and in the variants of their experiments.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "lab/results/claims_document.h"
#include "net/result.h"

namespace eddy::lab {

// A path is a result.json, a folder of runs, or a folder of kept results, ID.json each, to which
// links lead, and to ID.md beside it. `experiments`: files of experiments, known by their names.
Result<std::vector<ClaimsSource>> read_claims_sources(
    const std::vector<std::filesystem::path>& paths,
    const std::vector<std::filesystem::path>& experiments);

// Those that claim something in numbers and are in none of the sources.
std::vector<UnseenExperiment> unseen_experiments(
    const std::vector<ClaimsSource>& sources,
    const std::vector<std::filesystem::path>& experiments);

}  // namespace eddy::lab
