#include "lab/program/real_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <iostream>
#include <memory>

#include "config/experiment_load.h"
#include "lab/program/interrupt.h"
#include "lab/real/choose_deployment.h"
#include "lab/real/needs.h"
#include "lab/real/process_fabric.h"
#include "lab/real/switch_config.h"
#include "lab/results/chosen_runs.h"
#include "lab/results/results.h"
#include "lab/results/sweep_folder.h"
#include "lab/run/experiment_files.h"
#include "lab/run/run_identity.h"
#include "lab/run/sweep.h"
#include "lab/traffic/traffic_files.h"
#include "net/text/printable.h"
#include "plugin/plugins.h"
#include "system/say.h"

namespace eddy::lab {
namespace {

namespace fs = std::filesystem;

constexpr Duration kUpTime = Duration::seconds(60);
constexpr Duration kGapTime = Duration::milliseconds(1'300);  // workers report once a second
constexpr Duration kEndTime = Duration::seconds(30);          // to write what there is
constexpr Duration kTick = Duration::milliseconds(50);

// Sleeps, or returns when a signal has come.
void rest(Duration time) {
  for (Duration slept; slept < time && !interrupted.load(std::memory_order_relaxed);
       slept += kTick) {
    const timespec step{0, kTick.ns()};
    nanosleep(&step, nullptr);
  }
}

// One variant with one seed. What it is given outlives it.
class RealRunner {
 public:
  RealRunner(const RealArguments& arguments, const Deployment& deployment,
             const config::LoadedExperiment& loaded, const WorkItem& item)
      : arguments_(arguments),
        deployment_(deployment),
        given_(loaded),
        loaded_(loaded),
        variant_(item.variant),
        seed_(item.seed) {}

  // The experiment with what real switches need; what that is, said.
  Problems plan();
  // The fabric, up; null: interrupted.
  Result<std::unique_ptr<RealFabric>> bring_up();
  Result<int> run_hosts(RealFabric& fabric);

  const config::ExperimentRun& run() const { return loaded_.runs[variant_]; }
  fs::path folder() const {
    return run_folder(fs::path(arguments_.out) / run().experiment.id / loaded_.size, run().variant,
                      seed_);
  }
  bool finished() const;

 private:
  std::string name() const {
    if (!arguments_.name.empty()) return arguments_.name;
    constexpr size_t kLongest = 20;
    return run().experiment.id.substr(0, kLongest);
  }
  Problems choose(int64_t dilation);
  int64_t ours_to_choose(const RealNeeds& needs) const;
  Problems check_dilation(const RealNeeds& needs) const;
  Problems check_gap(Duration gap, int64_t needed) const;
  void say(const std::string& text) const {
    if (!arguments_.quiet) eddy::say("eddylab: ", {text});
  }
  RealNode hosts(const RealFabric& fabric) const;
  std::vector<std::string> host_words(const RealFabric& fabric) const;
  void add_files(RealNode& hosts) const;

  const RealArguments& arguments_;
  const Deployment& deployment_;
  const config::LoadedExperiment given_;
  config::LoadedExperiment loaded_;  // with the sets
  bool chosen_ = false;              // the dilation, by us
  size_t variant_;
  uint64_t seed_;
};

Problems RealRunner::choose(int64_t dilation) {
  auto again = config::load_experiment(
      given_.file, {.size = given_.size,
                    .sets = real_sets(given_.sets, given_.runs[variant_].experiment, dilation),
                    .plugins = &plugin::plugins_of_process()});
  if (!again) return again.problems();
  loaded_ = std::move(*again);
  return {};
}

Problems RealRunner::plan() {
  if (Problems problems = choose(run().experiment.run.time_dilation); !problems.empty())
    return problems;
  const auto located = [&](const Problems& problems) {
    Problems out;
    for (const std::string& problem : problems) out.push_back(loaded_.locate(run(), problem));
    return out;
  };
  config::Experiment shape = run().experiment;
  shape.switches.allow_overcommit = true;  // whether it fits is a matter of dilation
  const Result<Topology> topology = unscaled_topology(shape);
  if (!topology) return located(topology.problems());
  const auto trace =
      make_traffic(run().experiment, topology.value(), seed_, TrafficFiles(loaded_.folder));
  if (!trace) return located(trace.problems());
  const RealMachine machine = this_machine();
  const auto needs = real_needs(run().experiment, trace.value(), machine);
  if (!needs) return located(needs.problems());
  const int64_t asked =
      arguments_.time_dilation > 0 ? arguments_.time_dilation : run().experiment.run.time_dilation;
  chosen_ = arguments_.time_dilation == 0 && asked == 1;
  const Result<int64_t> dilation =
      chosen_ ? dilation_of_choice(needs.value().dilation(), ours_to_choose(needs.value()))
              : Result<int64_t>(asked);
  if (!dilation) return dilation.problems();
  if (Problems problems = choose(dilation.value()); !problems.empty()) return problems;
  say(fmt::format(
      "{} switches and eddyhost on {} cores, about {} MiB of {} free; time dilation {} "
      "(needed: {} for the load, {} for headroom at a poll gap of {} ms)",
      needs.value().processes - 1, machine.cores, needs.value().memory >> 20,
      machine.free_memory >> 20, run().experiment.run.time_dilation, needs.value().for_load,
      needs.value().for_headroom, run().experiment.switches.poll_gap.ns() / 1'000'000));
  return check_dilation(needs.value());
}

// What is needed; where a run is resumed that is there, what that had, lest it be run again.
int64_t RealRunner::ours_to_choose(const RealNeeds& needs) const {
  const auto found = arguments_.resume ? find_run(folder()) : std::nullopt;
  return std::max(needs.dilation(), found && found->whole ? found->time_dilation : 0);
}

Problems RealRunner::check_dilation(const RealNeeds& needs) const {
  const int64_t dilation = run().experiment.run.time_dilation;
  if (dilation >= needs.dilation()) return {};
  return {fmt::format(
      "--time-dilation {} is too small for this machine: {} is needed ({} for the frames a second "
      "of this traffic, {} for headroom at a poll gap of {} us)",
      dilation, needs.dilation(), needs.for_load, needs.for_headroom,
      run().experiment.switches.poll_gap.ns() / 1'000)};
}

// What the switches measured against what they were promised, and against a round trip.
Problems RealRunner::check_gap(Duration gap, int64_t needed) const {
  const config::Experiment& experiment = run().experiment;
  say(fmt::format(
      "the fabric is up; measured poll gap {} us (p99.9), which needs a time dilation of {}",
      gap.ns() / 1'000, needed));
  if (gap > experiment.switches.poll_gap)
    return {fmt::format(
        "switches.poll_gap: {} us, but switches are polled every {} us at times "
        "(p99.9); headroom would not do; --set switches.poll_gap={}us would",
        experiment.switches.poll_gap.ns() / 1'000, gap.ns() / 1'000, gap.ns() / 1'000 * 2)};
  if (experiment.run.time_dilation >= needed) return {};
  return {
      fmt::format("--time-dilation {} is too small for this machine: {} is needed, or a round "
                  "trip of the fabric is shorter than the measured poll gap of {} us",
                  experiment.run.time_dilation, needed, gap.ns() / 1'000)};
}

// Where the dilation is ours to choose, a longer one is tried when the poll gap asks for it.
Result<std::unique_ptr<RealFabric>> RealRunner::bring_up() {
  auto fabric = RealFabric::start(run().experiment, seed_, name(), deployment_);
  if (!fabric) return fabric.problems();
  const Result<bool> up = (*fabric)->wait_until_up(kUpTime, interrupted);
  if (!up) return up.problems();
  if (!up.value()) return std::unique_ptr<RealFabric>();
  rest(kGapTime);
  if (interrupted.load(std::memory_order_relaxed)) return std::unique_ptr<RealFabric>();
  const Result<Duration> gap = (*fabric)->poll_gap();
  if (!gap) return gap.problems();
  const int64_t needed =
      dilation_for_gap((*fabric)->topology(), run().experiment.host.mtu, gap.value());
  Problems problems = check_gap(gap.value(), needed);
  if (problems.empty()) return fabric;
  if (!chosen_ || gap.value() > run().experiment.switches.poll_gap) return problems;
  chosen_ = false;
  const auto dilation = dilation_of_choice(needed, needed * 2);  // it differs from second to second
  if (!dilation) return dilation.problems();
  problems = choose(dilation.value());
  if (!problems.empty()) return problems;
  say(fmt::format("time dilation {}, then", run().experiment.run.time_dilation));
  fabric->reset();
  return bring_up();
}

std::vector<std::string> RealRunner::host_words(const RealFabric& fabric) const {
  std::vector<std::string> words = {deployment_.seen(loaded_.file), "--size", loaded_.size};
  const auto add = [&](const char* option, const std::string& word) {
    words.insert(words.end(), {option, word});
  };
  add("--seed", std::to_string(seed_));
  add("--out", deployment_.seen(arguments_.out));
  add("--name", name() + "-hosts");
  for (const std::string& set : loaded_.sets) add("--set", set);
  if (!run().variant.empty()) add("--variant", run().variant);
  add("--port", "*=net_memif{n},socket=" + (fabric.inside() / "{host}.memif").string());
  for (size_t i = 0; i < fabric.topology().switches.size(); ++i)
    add("--switch", fabric.topology().switches[i].name + "=" +
                        (fabric.inside() / fabric.control_name(i)).string());
  if (arguments_.quiet) words.emplace_back("--quiet");
  return words;
}

// What eddyhost reads and writes besides: it may not see our files otherwise.
void RealRunner::add_files(RealNode& hosts) const {
  const config::Experiment& experiment = run().experiment;
  hosts.reads.push_back(deployment_.seen(loaded_.file));
  if (!experiment.topology.file.empty())
    hosts.reads.push_back(deployment_.seen(experiment.topology.file));
  const TrafficFiles find(loaded_.folder);
  for (const config::TrafficConfig& item : experiment.traffic)
    for (const std::string& name : {item.cdf, item.file}) {
      if (name.empty()) continue;
      const auto found = find(name);
      if (!found) continue;  // plan() has read them all
      const bool by_path = name.find_first_of("./") != std::string::npos;
      (by_path ? hosts.reads : hosts.workloads).push_back(deployment_.seen(found.value().name));
    }
  hosts.writes.push_back(deployment_.seen(arguments_.out));
}

RealNode RealRunner::hosts(const RealFabric& fabric) const {
  RealNode hosts{.name = kHostsNode, .program = "eddyhost", .arguments = host_words(fabric)};
  add_files(hosts);
  return hosts;
}

// The exit status of eddyhost.
Result<int> RealRunner::run_hosts(RealFabric& fabric) {
  auto hosts = fabric.start_node(this->hosts(fabric));
  if (!hosts) return hosts.problems();
  Problems dead;
  while (dead.empty() && !interrupted.load(std::memory_order_relaxed)) {
    if (const auto status = hosts->wait(kTick)) return *status;
    dead = fabric.check_alive();
  }
  for (const std::string& problem : dead) say(problem);
  hosts->signal(SIGTERM);  // keeps what there is
  if (const auto status = hosts->wait(kEndTime)) return *status;
  return Result<int>::failure(
      fmt::format("eddyhost has not ended within {} s of SIGTERM and is killed",
                  kEndTime / Duration::seconds(1)));
}

bool RealRunner::finished() const {
  const auto found = find_run(folder());
  const auto hash = config_hash(loaded_, run());
  return found && found->whole && hash &&
         found->config_hash == fmt::format("{:016x}", hash.value());
}

std::unique_ptr<Deployment> deployment_of(const RealArguments& arguments) {
  return make_deployment(arguments.in_containers ? container_kind(arguments.engine)
                                                 : DeploymentKind());
}

Result<config::LoadedExperiment> load(const RealArguments& arguments) {
  const Result<fs::path> file = experiment_file(arguments.experiment);
  if (!file) return file.problems();
  auto loaded = config::load_experiment(
      file.value(),
      {.size = arguments.size, .sets = arguments.sets, .plugins = &plugin::plugins_of_process()});
  if (!loaded || !arguments.in_containers) return loaded;
  for (const config::ExperimentRun& run : loaded->runs)
    if (const Problems problems = check_containers(run.experiment); !problems.empty())
      return Problems{loaded->locate(run, problems.front())};
  return loaded;
}

// One run: an exit code.
int run_one_really(RealRunner& runner, bool resume) {
  if (const Problems problems = runner.plan(); !problems.empty())
    return complain(kFailed, problems);
  if (resume && runner.finished()) {
    std::cerr << "eddylab: this run is there already (--fresh runs it again)\n";
    return kDone;
  }
  auto fabric = runner.bring_up();
  if (!fabric) return complain(kFailed, fabric.problems());
  if (*fabric == nullptr) return kInterrupted;
  const Result<int> status = runner.run_hosts(**fabric);
  return status ? status.value() : complain(kFailed, status.problems());
}

}  // namespace

int run_real_command(const RealArguments& arguments) {
  watch_signals({SIGINT, SIGTERM, SIGHUP});
  const auto loaded = load(arguments);
  if (!loaded) return complain(kUsage, loaded.problems());
  const auto items = chosen_items(loaded.value(), arguments.variants, arguments.seeds);
  if (!items) return complain(kUsage, items.problems());
  const fs::path folder =
      fs::path(arguments.out) / loaded.value().runs.front().experiment.id / loaded.value().size;
  const auto claimed = SweepFolder::claim(folder);
  if (!claimed) return complain(kFailed, claimed.problems());
  const auto deployment = deployment_of(arguments);
  if (const Problems problems = deployment->check({"eddyd", "eddyhost"}); !problems.empty())
    return complain(kFailed, problems);
  int worst = kDone;
  RealArguments each = arguments;
  for (const WorkItem& item : items.value()) {
    RealRunner runner(each, *deployment, loaded.value(), item);
    const std::string& variant = runner.run().variant;
    if (!arguments.quiet)
      std::cerr << fmt::format("eddylab: {}{}seed {}\n", printable(variant),
                               variant.empty() ? "" : ", ", item.seed);
    const int code = run_one_really(runner, arguments.resume);
    if (code == kInterrupted || interrupted.load(std::memory_order_relaxed)) return kInterrupted;
    worst = std::max(worst, code);
    if (code == kDone)  // runs can be compared
      each.time_dilation = runner.run().experiment.run.time_dilation;
  }
  return worst;
}

int up_command(const RealArguments& arguments) {
  watch_signals({SIGINT, SIGTERM, SIGHUP});
  const auto loaded = load(arguments);
  if (!loaded) return complain(kUsage, loaded.problems());
  const auto items = chosen_items(loaded.value(), arguments.variants, arguments.seeds);
  if (!items) return complain(kUsage, items.problems());
  if (arguments.variants.empty())
    if (const auto only = chosen_run(loaded.value(), {}); !only)
      return complain(kUsage, only.problems());
  const auto deployment = deployment_of(arguments);
  if (const Problems problems = deployment->check({"eddyd"}); !problems.empty())
    return complain(kFailed, problems);
  RealRunner runner(arguments, *deployment, loaded.value(), items.value().front());
  if (const Problems problems = runner.plan(); !problems.empty())
    return complain(kFailed, problems);
  auto fabric = runner.bring_up();
  if (!fabric) return complain(kFailed, fabric.problems());
  if (*fabric == nullptr) return kInterrupted;
  const fs::path folder = (*fabric)->folder();
  const std::string name = folder.filename();
  std::cout << "up: " << folder.string() << " (sockets, configurations, logs); eddylab down "
            << name << " or Ctrl-C ends it\n"
            << "look at it: "
            << deployment->look_into(name, folder, (*fabric)->topology().switches.front().name)
            << std::endl;
  while (!interrupted.load(std::memory_order_relaxed)) {
    rest(Duration::milliseconds(200));
    if (const Problems dead = (*fabric)->check_alive(); !dead.empty())
      return complain(kFailed, dead);
  }
  return kDone;
}

int down_command(const std::vector<std::string>& names, const RealArguments& arguments) {
  std::unique_ptr<Deployment> containers;
  if (arguments.in_containers) {
    containers = deployment_of(arguments);
    if (const Problems problems = containers->check({}); !problems.empty())
      return complain(kFailed, problems);
  }
  std::vector<std::string> all = names.empty() ? real_fabrics() : names;
  if (names.empty() && containers != nullptr)
    for (const std::string& each : containers->fabrics())
      if (std::ranges::find(all, each) == all.end()) all.push_back(each);
  if (all.empty()) {
    std::cout << "no fabric is up\n";
    return kDone;
  }
  int code = kDone;
  for (const std::string& name : all) {
    if (const Problems problems = take_down(name, containers.get()); !problems.empty())
      code = complain(kFailed, problems);
    else
      std::cout << name << " is down\n";
  }
  return code;
}

}  // namespace eddy::lab
