// From an experiment's YAML file to the runs it stands for: every problem at once, or experiments
// that hold together.
//
// A file is a base, what each size changes (`sizes`), and axes of variants (`matrix`); --set
// arguments come last and win. All of them are put over the tree before it is read, so a mistake is
// reported where it was written: "file:line:column: what, what would be valid" or "--set KEY=VALUE:
// what". Units are mandatory. Owner: the caller; control plane only. Cost: linear in the text times
// the variants. Source: reference E.0, E.7; architecture, section 8.
#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "config/experiment.h"
#include "config/load.h"
#include "net/result.h"

namespace eddy::config {

struct ExperimentRun {
  std::string variant;    // "scheme=letflow load=0.6"; empty when there is but one
  Experiment experiment;  // not scaled
  Positions positions;
};

struct LoadedExperiment {
  std::string file;
  std::filesystem::path folder;  // files that the traffic names are relative to it
  std::vector<std::string> sets;
  std::string size;
  std::vector<std::string> sizes;   // that the file has
  std::vector<ExperimentRun> runs;  // at least one
  std::vector<std::string> expect;
  std::vector<std::string> warnings;  // as problems, with "warning: "

  // Where "traffic.0.size: text" stands, as "file:line:column: traffic.0.size: text"; other texts
  // as they are.
  std::string locate(const ExperimentRun& run, const std::string& problem) const;
};

struct ExperimentChoice {
  std::string size = "full";        // ci, reduced or full
  std::vector<std::string> sets;    // "key.path=value", the value in YAML
  PluginSource* plugins = nullptr;  // null: an experiment that names one is refused
};

Result<LoadedExperiment> load_experiment(const std::filesystem::path& path,
                                         const ExperimentChoice& choice = {});

// A file as far as it can be read, for those who look for all that is wrong with it.
struct ExperimentAttempt {
  LoadedExperiment loaded;  // maybe without runs; a key with a problem has its default
  Problems problems;
  std::set<std::string> doubtful;  // keys of the root in or below which a problem is
};
ExperimentAttempt try_experiment(const std::filesystem::path& path,
                                 const ExperimentChoice& choice = {});
// `name` stands for the file.
Result<LoadedExperiment> load_experiment_text(const std::filesystem::path& name,
                                              std::string_view text,
                                              const ExperimentChoice& choice = {});

// Everything in force as one YAML text, which loads back to the same experiment.
std::string print_experiment(const Experiment& experiment);
// FNV-1a of that text: equal for equal experiments.
uint64_t experiment_digest(const Experiment& experiment);

// JSON Schema (draft 2020-12) of an experiment's file, and docs/experiments.md.
std::string experiment_schema(PluginSchemes plugins = {});
std::string experiment_markdown();

}  // namespace eddy::config
