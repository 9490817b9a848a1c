#include "lab/program/one_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "config/set_key.h"
#include "lab/fabric/build_topology.h"
#include "lab/figures/timeline.h"
#include "lab/figures/timeline_figure.h"
#include "lab/results/conweave_series.h"
#include "lab/results/flow_series.h"
#include "lab/results/hpcc_files.h"
#include "lab/results/packet_capture.h"
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
  std::optional<ConweaveSeries> series;
  std::optional<FlowSeries> flows;
  std::optional<Timeline> timeline;
  std::unique_ptr<PacketCapture> capture;
  std::vector<std::unique_ptr<WatcherPair>> pairs;

  Problems add_timeline(const OneRun& one, const Topology& topology, const std::string& text) {
    const Result<TimelineSpec> spec = parse_timeline(text);
    if (!spec) return spec.problems();
    Result<Timeline> made = Timeline::create(spec.value(), topology, one.run.experiment);
    if (!made) return made.problems();
    timeline.emplace(std::move(*made));
    return {};
  }
  Problems open_capture(const OneRun& one, const Topology& topology, const std::string& text) {
    const Result<CaptureSpec> spec = parse_capture(text);
    if (!spec) return spec.problems();
    auto made = PacketCapture::create(spec.value(), topology, one.run.experiment.run.time_dilation);
    if (!made) return made.problems();
    capture = std::move(*made);
    return capture->open(one.folder);
  }
  Problems open_flows(const OneRun& one) {
    const config::RunConfig& run = one.run.experiment.run;
    if (run.sample_period == Duration{})
      return {"run.sample_period: none, --flow-series needs one, such as 10us"};
    flows.emplace(run.time_dilation);
    return flows->open(one.folder);
  }
  Problems open_series(const OneRun& one) {
    const config::Experiment& experiment = one.run.experiment;
    if (experiment.run.sample_period == Duration{})
      return {"run.sample_period: none, --conweave needs one, such as 10us"};
    series.emplace(ConweaveSeries::Options{.time_dilation = experiment.run.time_dilation,
                                           .naks_are_cnps = experiment.host.nak_cuts_rate});
    return series->open(one.folder);
  }
  Watcher* attach(const BuiltRun& run, bool log_pfc) {
    if (series) series->attach(run);
    if (timeline) timeline->attach(run.world);
    if (flows) flows->attach(run);
    if (capture) capture->attach(run.world);
    if (log_pfc) pfc.attach(run);
    Watcher* all = log_pfc ? &pfc : nullptr;
    for (Watcher* next :
         {timeline ? static_cast<Watcher*>(&*timeline) : nullptr,
          flows ? static_cast<Watcher*>(&*flows) : nullptr, static_cast<Watcher*>(capture.get())}) {
      if (next == nullptr) continue;
      if (all != nullptr)
        next = pairs.emplace_back(std::make_unique<WatcherPair>(*all, *next)).get();
      all = next;
    }
    return all;
  }
  void sample(RunOptions::Sample which, Instant at) {
    if (series) series->sample(which, at);
    if (flows) flows->sample(which, at);
  }
  Problems close() {
    Problems problems = series ? series->close() : Problems();
    if (flows && problems.empty()) problems = flows->close();
    if (capture && problems.empty()) problems = capture->close();
    return problems;
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
  if (!options.capture.empty())
    if (Problems problems = observers.open_capture(one, *topology, options.capture);
        !problems.empty())
      return problems;
  if (options.conweave)
    if (Problems problems = observers.open_series(one); !problems.empty())
      return located(one, problems);
  if (options.flow_series)
    if (Problems problems = observers.open_flows(one); !problems.empty())
      return located(one, problems);
  const auto built = [&](const BuiltRun& run) {
    return observers.attach(run, options.hpcc || options.conweave);
  };
  const auto sampled = [&](RunOptions::Sample which, Instant at) { observers.sample(which, at); };
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
                                          .sampled = sampled,
                                          .memory_limit = options.memory_limit,
                                          .threads = options.threads,
                                          .threads_as_worthwhile = options.threads_as_worthwhile,
                                          .exchange = options.exchange});
  if (!result) return located(one, result.problems());
  if (Problems problems = observers.close(); !problems.empty()) return problems;
  if (observers.timeline)
    if (Problems problems = write_timeline(one, observers.timeline->take()); !problems.empty())
      return problems;
  Result<RunIdentity> identity = identify(one.loaded, one.run, *topology);
  if (!identity) return identity.problems();
  identity->replay = one.replay;
  identity->with = asked_for(options);
  return RunRecord{.identity = std::move(*identity),
                   .result = std::move(*result),
                   .topology = std::move(*topology),
                   .pfc_text = observers.pfc.text()};
}

Problems write_fct_and_pfc(const fs::path& folder, const RunRecord& record, FctFormat format) {
  const std::string prefix = format == FctFormat::conweave ? "out_" : "";
  Problems problems = write_text(folder / (prefix + "fct.txt"), fct_text(record, format));
  if (!problems.empty()) return problems;
  return write_text(folder / (prefix + "pfc.txt"), record.pfc_text);
}

}  // namespace

std::vector<std::string> asked_for(const OneRunOptions& options) {
  std::vector<std::string> with;
  if (options.check) with.emplace_back("--check");
  if (options.hpcc) with.emplace_back("--hpcc");
  if (options.conweave) with.emplace_back("--conweave");
  if (options.flow_series) with.emplace_back("--flow-series");
  if (!options.timeline.empty()) with.push_back("--timeline " + options.timeline);
  if (!options.capture.empty()) with.push_back("--capture " + options.capture);
  return with;
}

Result<OneRunEnd> run_one(const OneRun& one, const OneRunOptions& options) {
  const Result<RunRecord> record = execute(one, options);
  if (!record) return record.problems();
  const RunResult& result = record.value().result;
  const bool writes = options.exchange == nullptr || options.exchange->rank() == 0;
  if (Problems problems = writes ? write_run(one.folder, record.value()) : Problems();
      !problems.empty())
    return problems;
  for (const auto& [asked, format] : {std::pair{options.hpcc, FctFormat::hpcc},
                                      std::pair{options.conweave, FctFormat::conweave}}) {
    if (!asked) continue;
    if (Problems problems = write_fct_and_pfc(one.folder, record.value(), format);
        !problems.empty())
      return problems;
  }
  return OneRunEnd{.violations = result.violations,
                   .interrupted = result.interrupted,
                   .censored = result.censored,
                   .measured = static_cast<size_t>(
                       std::ranges::count(result.flows, true, &FlowResult::measured)),
                   .unfinished = result.unfinished,
                   .digest = result.digest,
                   .cpu_seconds = result.cpu_seconds,
                   .packet_hops = result.packet_hops,
                   .ranks = result.ranks};
}

}  // namespace eddy::lab
