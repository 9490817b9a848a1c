#include "lab/program/resolve.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "config/set_key.h"
#include "lab/fabric/build_topology.h"
#include "lab/faults/faults.h"
#include "lab/run/expected_cost.h"
#include "lab/traffic/traffic.h"
#include "lab/traffic/traffic_files.h"
#include "plugin/plugins.h"

namespace eddy::lab {
namespace {

// What a fabric depends on; the rest as it is by default.
config::Experiment fabric_of(const config::Experiment& experiment) {
  config::Experiment fabric;
  fabric.topology = experiment.topology;
  fabric.switches = experiment.switches;
  fabric.host = experiment.host;
  fabric.run.time_dilation = experiment.run.time_dilation;
  return fabric;
}

void add_once(std::vector<std::string>& to, const std::string& text) {
  if (std::ranges::find(to, text) == to.end()) to.push_back(text);
}

// The runs of one size.
class Resolver {
 public:
  Resolver(const config::ExperimentAttempt& attempt, Resolved& out)
      : loaded_(attempt.loaded), doubtful_(attempt.doubtful), out_(out), read_(loaded_.folder) {}

  void resolve() {
    for (const config::ExperimentRun& run : loaded_.runs) {
      run_ = &run;
      find_files();
      if (fabric_is_known()) find_names();
    }
  }

 private:
  // Faults in other sections leave the fabric as it is meant, and names can be looked up in it.
  bool fabric_is_known() const {
    return std::ranges::none_of(doubtful_, [](const std::string& key) {
      return key == "topology" || key == "switches" || key == "buffer" || key == "host" ||
             key == "sizes" || key == "matrix" || key.empty();
    });
  }
  void problem(const std::string& text) { add_once(out_.problems, loaded_.locate(*run_, text)); }
  void problems(const Problems& texts) {
    for (const std::string& text : texts) problem(text);
  }

  void find_files() {
    const config::Experiment& experiment = run_->experiment;
    for (size_t i = 0; i < experiment.traffic.size(); ++i)
      for (const auto& [key, name] : {std::pair{"cdf", experiment.traffic[i].cdf},
                                      std::pair{"file", experiment.traffic[i].file}})
        if (!name.empty())
          if (const auto found = read_(name); !found)
            problem(fmt::format("traffic.{}.{}: {}", i, key, found.problems().front()));
    std::error_code error;
    if (const std::string& file = experiment.topology.file;
        !fabric_is_known() && !file.empty() && !std::filesystem::exists(file, error))
      problem(fmt::format("topology.file: {}: there is no such file", file));
  }

  void find_names() {
    const Topology* topology = fabric();
    if (topology == nullptr) return;
    config::Experiment experiment = config::scaled(run_->experiment);
    bound_flows(experiment);
    const uint64_t seed = experiment.run.seeds.empty() ? 1 : experiment.run.seeds.front();
    experiment.load_balancer = {};
    if (std::ranges::find(resolved_, experiment) != resolved_.end()) return;
    resolved_.push_back(experiment);
    if (const auto trace = make_traffic(experiment, *topology, seed, read_); !trace)
      problems(trace.problems());
    problems(fault_problems(experiment, *topology, seed, config::set_key));
  }

  // Names are found with the first flows; but a collective needs all of its own.
  static void bound_flows(config::Experiment& experiment) {
    constexpr uint64_t kEnoughFlows = 1'000;
    const bool needs_all =
        std::ranges::any_of(experiment.traffic, [](const config::TrafficConfig& item) {
          return item.type == config::TrafficType::collective;
        });
    if (!needs_all && (experiment.run.max_flows == 0 || experiment.run.max_flows > kEnoughFlows))
      experiment.run.max_flows = kEnoughFlows;
  }

  // Of the run; with the links as they would be sound, where its choice of links is wrong, so that
  // other names can be looked up all the same. Null: there is none.
  const Topology* fabric() {
    const config::Experiment wanted = fabric_of(run_->experiment);
    for (const auto& [experiment, topology] : fabrics_)
      if (experiment == wanted) return topology ? &*topology : nullptr;
    config::Experiment experiment = config::scaled(run_->experiment);
    Result<Topology> built = build_topology(experiment);
    if (built)
      for (const std::string& warning : built->warnings)
        add_once(out_.warnings, "warning: " + warning);
    if (!built) {
      problems(built.problems());
      experiment.topology.failed.clear();
      experiment.topology.degraded.clear();
      experiment.topology.weighted.clear();
      experiment.switches.allow_overcommit = true;
      built = build_topology(experiment);
    }
    fabrics_.emplace_back(wanted, std::nullopt);
    if (!built) return nullptr;
    return &fabrics_.back().second.emplace(std::move(*built));
  }

  const config::LoadedExperiment& loaded_;
  const std::set<std::string>& doubtful_;
  Resolved& out_;
  TrafficFiles read_;
  const config::ExperimentRun* run_ = nullptr;
  std::vector<config::Experiment> resolved_;
  std::vector<std::pair<config::Experiment, std::optional<Topology>>> fabrics_;
};

}  // namespace

std::vector<std::string> fabric_warnings(const config::LoadedExperiment& loaded,
                                         const std::vector<WorkItem>& items) {
  std::set<size_t> variants;
  for (const WorkItem& item : items) variants.insert(item.variant);
  std::vector<config::Experiment> seen;
  std::vector<std::string> said;
  for (const size_t variant : variants) {
    const config::Experiment& experiment = loaded.runs[variant].experiment;
    const config::Experiment fabric = fabric_of(experiment);
    if (std::ranges::find(seen, fabric) != seen.end()) continue;
    seen.push_back(fabric);
    const auto built = build_topology(config::scaled(experiment));
    if (!built) continue;  // the run will say why
    for (const std::string& warning : built.value().warnings) add_once(said, warning);
  }
  return said;
}

uint64_t hops_of(const config::LoadedExperiment& loaded, const std::vector<WorkItem>& items) {
  std::vector<std::pair<const config::Experiment*, uint64_t>> known;  // by the first of its kind
  const TrafficFiles read(loaded.folder);
  uint64_t hops = 0;
  for (const WorkItem& item : items) {
    const config::Experiment& experiment = loaded.runs[item.variant].experiment;
    const auto same = std::ranges::find_if(
        known, [&](const auto& each) { return cost_the_same(*each.first, experiment); });
    if (same != known.end()) {
      hops += same->second;
      continue;
    }
    const config::Experiment scaled = config::scaled(experiment);
    auto topology = build_topology(scaled);
    if (!topology) continue;  // the run will say why
    auto trace = make_traffic(scaled, *topology, item.seed, read);
    known.emplace_back(&experiment, trace ? expected_hops(scaled, *topology, trace->flows) : 0);
    hops += known.back().second;
  }
  return hops;
}

Resolved resolve_experiment(const std::filesystem::path& file) {
  Resolved out;
  std::vector<std::string> sizes = {"full"};
  for (size_t i = 0; i < sizes.size(); ++i) {
    const config::ExperimentAttempt attempt = config::try_experiment(
        file, {.size = sizes[i], .sets = {}, .plugins = &plugin::plugins_of_process()});
    for (const std::string& problem : attempt.problems) add_once(out.problems, problem);
    for (const std::string& warning : attempt.loaded.warnings) add_once(out.warnings, warning);
    if (i == 0) {
      out.sizes = attempt.loaded.sizes;
      out.variants = attempt.loaded.runs.size();
      for (const std::string& size : out.sizes)
        if (size != sizes.front()) sizes.push_back(size);
    }
    Resolver(attempt, out).resolve();
  }
  return out;
}

}  // namespace eddy::lab
