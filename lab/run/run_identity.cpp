#include "lab/run/run_identity.h"

#include <algorithm>
#include <fstream>
#include <optional>
#include <sstream>

#include "lab/fabric/fabric_paths.h"
#include "lab/traffic/traffic_files.h"
#include "net/fnv.h"
#include "net/version.h"

namespace eddy::lab {
namespace {

namespace fs = std::filesystem;

Result<std::string> text_of(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  if (!stream) return Result<std::string>::failure(file.string() + ": cannot be read");
  return text.str();
}

std::optional<std::string> preset_name(const config::RlbConfig& rlb) {
  if (!rlb.enabled()) return std::nullopt;
  return std::string(config::kRlbPresetNames[static_cast<size_t>(rlb.preset)]);
}

}  // namespace

Result<uint64_t> config_hash(const config::LoadedExperiment& loaded,
                             const config::ExperimentRun& run) {
  config::Experiment experiment = run.experiment;
  experiment.run.seeds.clear();
  experiment.title.clear();
  experiment.source.clear();
  Fnv64 hash;
  if (experiment.load_balancer.loaded != nullptr) {
    hash.add(experiment.load_balancer.loaded->sha256);
    experiment.load_balancer.plugin = "file";  // wherever it is
  }
  if (!experiment.topology.file.empty()) {
    const Result<std::string> text = text_of(experiment.topology.file);
    if (!text) return text.problems();
    hash.add(text.value());
    experiment.topology.file = "";  // wherever it is
  }
  hash.add(config::print_experiment(experiment));
  const TrafficFiles read(loaded.folder);
  for (const config::TrafficConfig& item : experiment.traffic)
    for (const std::string& name : {item.cdf, item.file})
      if (!name.empty()) {
        const Result<NamedText> file = read(name);
        if (!file) return file.problems();
        hash.add(file.value().text);
      }
  return hash.value();
}

Result<RunIdentity> identify(const config::LoadedExperiment& loaded,
                             const config::ExperimentRun& run, const Topology& topology) {
  const Result<uint64_t> hash = config_hash(loaded, run);
  if (!hash) return hash.problems();
  return RunIdentity{
      .experiment = run.experiment.id,
      .title = run.experiment.title,
      .size = loaded.size,
      .variant = run.variant,
      .commit = build_commit(),
      .config_hash = hash.value(),
      .config = config::print_experiment(run.experiment),
      .plugin = run.experiment.load_balancer.loaded,
      .rlb = preset_name(run.experiment.switches.rlb),
      .bdp_bytes = FabricPaths(topology).largest_bdp(Bytes(run.experiment.host.mtu)).count(),
      .expect = loaded.expect,
      .replay = {}};
}

}  // namespace eddy::lab
