#include "lab/program/one_run.h"

#include <fmt/format.h>

#include <optional>

#include "config/set_key.h"
#include "lab/fabric/build_topology.h"
#include "lab/figures/timeline.h"
#include "lab/figures/timeline_figure.h"
#include "lab/results/hpcc_files.h"
#include "lab/results/pfc_log.h"
#include "lab/results/results.h"
#include "lab/run/run_identity.h"
#include "lab/traffic/traffic_files.h"
#include "lab/world/watcher_pair.h"

namespace eddy::lab {
namespace {

namespace fs = std::filesystem;

Problems located(const OneRun& one, const Problems& problems) {
  Problems out;
  for (const std::string& problem : problems) out.push_back(one.loaded.locate(one.run, problem));
  return out;
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
  Result<Topology> topology = build_topology(config::scaled(one.run.experiment));
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
                                          .topology = &*topology,
                                          .built = built,
                                          .memory_limit = options.memory_limit});
  if (!result) return located(one, result.problems());
  if (observers.timeline)
    if (Problems problems = write_timeline(one, observers.timeline->take()); !problems.empty())
      return problems;
  Result<RunIdentity> identity = identify(one.loaded, one.run, *topology);
  if (!identity) return identity.problems();
  identity->replay = one.replay;
  return RunRecord{.identity = std::move(*identity),
                   .result = std::move(*result),
                   .topology = std::move(*topology),
                   .pfc_text = observers.pfc.text()};
}

Problems write_hpcc(const fs::path& folder, const RunRecord& record) {
  Problems problems = write_text(folder / "fct.txt", fct_text(record));
  if (!problems.empty()) return problems;
  return write_text(folder / "pfc.txt", record.pfc_text);
}

}  // namespace

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
