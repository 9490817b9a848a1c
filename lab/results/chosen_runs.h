// Which runs of an experiment a command line means by --variant and --seed, and what is said of a
// name that none has.
//
// Pure functions; the experiment must outlive what they return. Cost: linear in variants and seeds.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "config/experiment_load.h"
#include "lab/run/sweep.h"
#include "net/result.h"

namespace eddy::lab {

// What is said of a name that none of the variants has; empty: nobody has named one.
std::string no_such_variant(std::string_view name, const std::vector<std::string>& variants);

// The one run that --variant names; where there is one alone, none need be named.
Result<const config::ExperimentRun*> chosen_run(const config::LoadedExperiment& loaded,
                                                const std::vector<std::string>& variants);

// All variants that are named, or all of them, in the order of the file.
Result<std::vector<const config::ExperimentRun*>> chosen_variants(
    const config::LoadedExperiment& loaded, const std::vector<std::string>& variants);

// All variants that are named, or all of them, each with the seeds ("1,2,5-8"; empty: the
// experiment's).
Result<std::vector<WorkItem>> chosen_items(const config::LoadedExperiment& loaded,
                                           const std::vector<std::string>& variants,
                                           const std::string& seeds);

}  // namespace eddy::lab
