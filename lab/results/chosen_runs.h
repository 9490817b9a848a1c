// Which runs of an experiment a command line means by --variant and --seed. A variant is named as a
// whole, or by some of its words (variant_words.h), which mean all that have them.
//
// Pure functions; the experiment must outlive what they return. Cost: linear in variants and seeds.
#pragma once

#include <string>
#include <vector>

#include "config/experiment_load.h"
#include "lab/run/sweep.h"
#include "net/result.h"

namespace eddy::lab {

// The one run that --variant means; where there is one alone, none need be named.
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
