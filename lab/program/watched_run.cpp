#include "lab/program/watched_run.h"

#include <algorithm>
#include <utility>

#include "config/set_key.h"
#include "lab/fabric/build_topology.h"
#include "lab/results/chosen_runs.h"
#include "lab/run/experiment_files.h"
#include "lab/run/run.h"
#include "lab/traffic/traffic_files.h"
#include "net/quantity.h"
#include "net/text/printable.h"
#include "plugin/plugins.h"

namespace eddy::lab {
namespace {

Problems located(const config::LoadedExperiment& loaded, const config::ExperimentRun& run,
                 const Problems& problems) {
  Problems out;
  for (const std::string& problem : problems) out.push_back(loaded.locate(run, problem));
  return out;
}

}  // namespace

void declare_experiment(CLI::App& command, RunChoice& choice) {
  command.add_option("experiment", choice.experiment, "ID or file")->required();
}

void declare_choice(CLI::App& command, RunChoice& choice) {
  command.add_option("--size", choice.size, "ci, reduced or full")
      ->check(CLI::IsMember({"ci", "reduced", "full"}));
  command.add_option("--seed", choice.seed, "of the run; default: the experiment's first")
      ->check(CLI::Range(uint64_t{1}, config::kLargestSeed));
  command
      .add_option("--set", choice.sets, "KEY=VALUE over the experiment, such as traffic.0.load=0.6")
      ->allow_extra_args(false);
  command.add_option("--variant", choice.variant,
                     "which, by name or words of it, where there are several");
}

Result<std::unique_ptr<WatchedRun>> WatchedRun::load(const RunChoice& choice) {
  const auto file = experiment_file(choice.experiment);
  if (!file.ok()) return file.problems();
  auto loaded = config::load_experiment(
      file.value(),
      {.size = choice.size, .sets = choice.sets, .plugins = &plugin::plugins_of_process()});
  if (!loaded.ok()) return loaded.problems();
  std::unique_ptr<WatchedRun> made(new WatchedRun);
  made->loaded_ = std::move(*loaded);
  const auto run =
      chosen_run(made->loaded_, choice.variant.empty() ? std::vector<std::string>{}
                                                       : std::vector<std::string>{choice.variant});
  if (!run.ok()) return run.problems();
  made->run_ = run.value();
  const std::vector<uint64_t>& seeds = made->run_->experiment.run.seeds;
  made->seed_ = choice.seed != 0 ? choice.seed : seeds.empty() ? 1 : seeds.front();
  Result<Topology> topology = build_topology(config::scaled(made->run_->experiment));
  if (!topology.ok()) return located(made->loaded_, *made->run_, topology.problems());
  made->topology_ = std::move(*topology);
  return made;
}

Problems WatchedRun::go(const std::function<Watcher*(World&)>& begun) const {
  const Result<RunResult> result = run_experiment(
      run_->experiment, {.seed = seed_,
                         .set_key = config::set_key,
                         .read = TrafficFiles(loaded_.folder),
                         .topology = &topology_,
                         .built = [&](const BuiltRun& built) { return begun(built.world); }});
  return result.ok() ? Problems{} : located(loaded_, *run_, result.problems());
}

Result<Duration> read_instant(const std::string& text) {
  Result<Duration> at = parse_duration(text);
  if (!at.ok()) return Result<Duration>::failure("--at: " + at.problems().front());
  if (at.value() < Duration{}) return Result<Duration>::failure("--at: an instant is not negative");
  return at;
}

Result<size_t> find_switch(const Topology& topology, const std::string& name) {
  for (size_t i = 0; i < topology.switches.size(); ++i)
    if (topology.switches[i].name == name) return i;
  return Result<size_t>::failure("--switch " + printable(name) + " is unknown; switches are " +
                                 switch_names(topology));
}

std::string switch_names(const Topology& topology) {
  constexpr size_t kMost = 12;
  std::string names;
  for (size_t i = 0; i < std::min(topology.switches.size(), kMost); ++i)
    names += (i == 0 ? "" : ", ") + topology.switches[i].name;
  return names + (topology.switches.size() > kMost ? ", ..." : "");
}

}  // namespace eddy::lab
