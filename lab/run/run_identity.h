// What identifies a run: its experiment, its variant, the hash of its configuration, and the
// program's commit.
//
// Owner: the caller. Cost: reads the files that the experiment's traffic and topology name.
#pragma once

#include "config/experiment_load.h"
#include "lab/run/run_record.h"
#include "net/result.h"

namespace eddy::lab {

// Of a configuration without its seeds and with the contents of the files that it names.
Result<uint64_t> config_hash(const config::LoadedExperiment& loaded,
                             const config::ExperimentRun& run);

// All but RunIdentity::replay. `topology` is that of the scaled experiment.
Result<RunIdentity> identify(const config::LoadedExperiment& loaded,
                             const config::ExperimentRun& run, const Topology& topology);

}  // namespace eddy::lab
