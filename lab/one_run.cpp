#include "lab/one_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <optional>
#include <sstream>

#include "config/set_key.h"
#include "lab/eddy_commit.h"
#include "lab/fabric_paths.h"
#include "lab/hpcc_files.h"
#include "lab/pfc_log.h"
#include "lab/results.h"
#include "lab/timeline.h"
#include "lab/timeline_figure.h"
#include "lab/topology.h"
#include "lab/traffic_files.h"
#include "lab/watcher_pair.h"
#include "net/fnv.h"

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

Problems located(const OneRun& one, const Problems& problems) {
  Problems out;
  for (const std::string& problem : problems) out.push_back(one.loaded.locate(one.run, problem));
  return out;
}

// Bandwidth times delay of the first host's longest way. Fabrics that are built are symmetrical.
int64_t bandwidth_delay(const config::Experiment& experiment, const Topology& topology) {
  const FabricPaths paths(topology);
  const Bytes packet(experiment.host.mtu);
  int64_t longest = 0;
  for (uint32_t to = 1; to < topology.hosts.size(); ++to)
    if (paths.path(0, to).links > 0)
      longest = std::max(longest, paths.base_rtt(0, to, packet).ns());
  constexpr double kBitsAnOctet = 8;
  constexpr double kNanosecondsASecond = 1e9;
  return static_cast<int64_t>(static_cast<double>(experiment.topology.host_rate.bps()) *
                              static_cast<double>(longest) / kNanosecondsASecond / kBitsAnOctet);
}

std::optional<std::string> preset_name(const config::RlbConfig& rlb) {
  if (!rlb.enabled()) return std::nullopt;
  return std::string(config::kRlbPresetNames[static_cast<size_t>(rlb.preset)]);
}

// What watches the run for its files beside the results.
struct Observers {
  explicit Observers(int64_t time_dilation) : pfc(time_dilation) {}
  PfcLog pfc;
  std::optional<Timeline> timeline;
  std::optional<WatcherPair> both;

  Problems add_timeline(const OneRun& one, const Topology& topology, const std::string& text) {
    const Result<TimelineSpec> spec = parse_timeline(text);
    if (!spec) return spec.problems();
    Result<Timeline> made = Timeline::create(spec.value(), topology, one.run.experiment);
    if (!made) return made.problems();
    timeline.emplace(std::move(*made));
    return {};
  }
  Watcher* attach(World& world, const Topology& topology, bool hpcc) {
    if (timeline) timeline->attach(world);
    if (hpcc) pfc.attach(world, topology);
    if (hpcc && timeline) return &both.emplace(pfc, *timeline);
    if (hpcc) return &pfc;
    return timeline ? &*timeline : nullptr;
  }
};

Problems write_timeline(const OneRun& one, const TimelineData& data) {
  const std::string title =
      fmt::format("{} - {}{}{}, seed {}", one.run.experiment.title, one.run.experiment.id,
                  one.run.variant.empty() ? "" : ", ", one.run.variant, one.seed);
  std::error_code error;
  fs::create_directories(one.folder, error);
  Problems problems = write_text(one.folder / "timeline.json", timeline_json(data));
  for (const auto& [name, text] : {std::pair{"timeline.csv", timeline_csv(data)},
                                   std::pair{"timeline.svg", draw_timeline(data, title)}})
    if (problems.empty()) problems = write_text(one.folder / name, text);
  return problems;
}

Result<RunRecord> execute(const OneRun& one, const OneRunOptions& options) {
  const Result<uint64_t> hash = config_hash(one.loaded, one.run);
  if (!hash) return hash.problems();
  Result<Topology> topology = build_topology(one.run.experiment);
  if (!topology) return located(one, topology.problems());
  Observers observers(one.run.experiment.run.time_dilation);
  if (!options.timeline.empty())
    if (Problems problems = observers.add_timeline(one, *topology, options.timeline);
        !problems.empty())
      return problems;
  const auto built = [&](World& world, const Topology& made) {
    return observers.attach(world, made, options.hpcc);
  };
  Result<RunResult> result =
      run_experiment(one.run.experiment, {.seed = one.seed,
                                          .check = options.check,
                                          .replay = one.replay,
                                          .set_key = config::set_key,
                                          .progress = options.progress,
                                          .interrupt = options.interrupt,
                                          .read = TrafficFiles(one.loaded.folder),
                                          .built = built,
                                          .memory_limit = options.memory_limit});
  if (!result) return located(one, result.problems());
  if (observers.timeline)
    if (Problems problems = write_timeline(one, observers.timeline->take()); !problems.empty())
      return problems;
  RunRecord record{.identity = {.experiment = one.run.experiment.id,
                                .title = one.run.experiment.title,
                                .size = one.loaded.size,
                                .variant = one.run.variant,
                                .commit = kEddyCommit,
                                .config_hash = hash.value(),
                                .config = config::print_experiment(one.run.experiment),
                                .rlb = preset_name(one.run.experiment.switches.rlb),
                                .bdp_bytes = bandwidth_delay(one.run.experiment, *topology),
                                .expect = one.loaded.expect,
                                .replay = one.replay},
                   .result = std::move(*result),
                   .topology = std::move(*topology),
                   .pfc_text = observers.pfc.text()};
  return record;
}

Problems write_hpcc(const fs::path& folder, const RunRecord& record) {
  Problems problems = write_text(folder / "fct.txt", fct_text(record));
  if (!problems.empty()) return problems;
  return write_text(folder / "pfc.txt", record.pfc_text);
}

}  // namespace

Result<uint64_t> config_hash(const config::LoadedExperiment& loaded,
                             const config::ExperimentRun& run) {
  config::Experiment experiment = run.experiment;
  experiment.run.seeds.clear();
  experiment.title.clear();
  experiment.source.clear();
  Fnv64 hash;
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

Result<OneRunEnd> run_one(const OneRun& one, const OneRunOptions& options) {
  const Result<RunRecord> record = execute(one, options);
  if (!record) return record.problems();
  const RunResult& result = record.value().result;
  if (Problems problems = write_run(one.folder, record.value()); !problems.empty()) return problems;
  if (options.hpcc)
    if (Problems problems = write_hpcc(one.folder, record.value()); !problems.empty())
      return problems;
  return OneRunEnd{.violations = result.violations,
                   .interrupted = result.interrupted,
                   .censored = result.censored,
                   .unfinished = result.unfinished,
                   .digest = result.digest,
                   .cpu_seconds = result.cpu_seconds,
                   .packet_hops = result.packet_hops};
}

}  // namespace eddy::lab
