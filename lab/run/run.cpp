#include "lab/run/run.h"

#include <sys/resource.h>

#include <algorithm>
#include <bit>
#include <ctime>

#include "lab/check/fabric_checker.h"
#include "lab/fabric/build_topology.h"
#include "lab/fabric/fabric_paths.h"
#include "lab/reference/own_queues.h"
#include "lab/run/agreement.h"
#include "lab/run/flow_results.h"
#include "lab/run/order_tables.h"
#include "lab/run/rank_report.h"
#include "lab/traffic/traffic.h"
#include "lab/world/huge_pages.h"
#include "lab/world/watcher_pair.h"
#include "system/free_memory.h"

namespace eddy::lab {
namespace {

double cpu_now() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

uint64_t peak_rss() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<uint64_t>(usage.ru_maxrss) * 1024;
}

std::string mebibytes(uint64_t octets) {
  return std::to_string((octets + (1 << 20) - 1) >> 20) + " MiB";
}

// Everything between the configuration and the result of one run.
class Execution {
 public:
  Execution(const config::Experiment& experiment, const RunOptions& options)
      : experiment_(config::scaled(experiment)),
        dilation_(experiment.run.time_dilation),
        options_(options) {}

  Result<RunResult> run();

 private:
  Problems take_topology();
  Problems prepare();
  size_t memory_needed() const;
  Problems refuse_what_does_not_fit() const;
  Problems break_and_watch();
  Problems take_own_queues();
  void simulate();
  void note_progress();
  void sample(Instant due);
  void collect();
  void collect_counters();
  void warn_of_small_tables();
  uint64_t pauses_of_hosts() const;
  void collect_waits(const FabricFacts& facts);
  void collect_links();
  Duration undilated(Duration time) const { return time / dilation_; }
  Instant limit() const {
    return Instant() + experiment_.run.warmup + experiment_.run.duration + experiment_.run.drain;
  }

  const config::Experiment experiment_;
  const int64_t dilation_;
  const RunOptions& options_;
  Topology topology_;
  std::unique_ptr<FabricPaths> paths_;
  Trace trace_;
  std::unique_ptr<OwnQueues> own_queues_;  // null: switches run
  std::unique_ptr<World> world_;
  std::unique_ptr<Faults> faults_;
  std::unique_ptr<Checker> checker_;
  std::unique_ptr<WatcherPair> both_;
  RunResult result_;
  double next_progress_ = 0;
};

Problems Execution::take_topology() {
  if (options_.topology != nullptr) {
    topology_ = *options_.topology;
    return {};
  }
  auto topology = build_topology(experiment_);
  if (!topology) return topology.problems();
  topology_ = std::move(*topology);
  return {};
}

Problems Execution::prepare() {
  if (Problems problems = take_topology(); !problems.empty()) return problems;
  seed_switches(topology_, options_.seed);
  auto trace = make_traffic(experiment_, topology_, options_.seed, options_.read);
  if (!trace) return trace.problems();
  trace_ = std::move(*trace);
  size_order_tables(experiment_, trace_.flows, topology_);
  Problems problems = refuse_what_does_not_fit();
  if (problems.empty()) problems = take_own_queues();
  if (!problems.empty()) return problems;
  reserve_heap(memory_needed());
  paths_ = std::make_unique<FabricPaths>(topology_);
  const config::RunConfig& run = experiment_.run;
  const Bytes packet = header_octets(experiment_, topology_) + Bytes(experiment_.host.mtu);
  auto world = World::create(
      topology_, trace_.flows,
      [&](uint32_t source, uint32_t destination) {
        return paths_->base_rtt(source, destination, packet);
      },
      {.host = experiment_.host,
       .seed = options_.seed,
       .poll_model = run.poll_model,
       .poll_period = run.poll_period,
       .poll_jitter = run.poll_jitter,
       .poll_burst = run.poll_burst,
       .packets = run.packets,
       .division = {.threads = options_.threads, .as_worthwhile = options_.threads_as_worthwhile},
       .waits = &trace_.waits,
       .instead =
           own_queues_ == nullptr
               ? decltype(WorldOptions::instead){}
               : [this](size_t index, Switch& object) { return own_queues_->make(index, object); },
       .exchange = options_.exchange});
  if (!world) return world.problems();
  world_ = std::move(*world);
  return break_and_watch();
}

Problems Execution::take_own_queues() {
  if (experiment_.run.flow_queues == config::FlowQueues::off) return {};
  Problems problems = OwnQueues::problems(experiment_, topology_);
  if (options_.check)
    problems.push_back("run.flow_queues: the checker knows what switches promise; run it without");
  if (options_.exchange != nullptr && options_.exchange->ranks() > 1)
    problems.push_back("run.flow_queues: the reference runs in one process; give one rank");
  if (problems.empty()) own_queues_ = std::make_unique<OwnQueues>(experiment_, topology_);
  return problems;
}

Problems Execution::break_and_watch() {
  auto faults = Faults::install(experiment_, topology_, *world_, options_.seed, options_.set_key);
  if (!faults) return faults.problems();
  faults_ = std::move(*faults);
  const Duration origin = trace_.file_origin.value_or(Duration{});
  Watcher* watcher = options_.built ? options_.built({*world_, topology_, origin}) : nullptr;
  world_->set_watcher(watcher);
  if (!options_.check) return {};
  const CheckRules rules = CheckRules::of(experiment_, topology_);
  result_.exempt = rules.exempt;
  checker_ = std::make_unique<Checker>(*world_, topology_, rules, options_.replay);
  if (watcher == nullptr) return {};
  both_ = std::make_unique<WatcherPair>(*checker_, *watcher);
  world_->set_watcher(both_.get());
  return {};
}

size_t Execution::memory_needed() const {
  const size_t all = World::memory_needed(
      topology_, trace_.flows.size() * static_cast<size_t>(experiment_.host.queue_pairs));
  return all / (options_.exchange == nullptr ? 1 : options_.exchange->ranks());
}

Problems Execution::refuse_what_does_not_fit() const {
  const uint64_t there = options_.memory_limit != 0 ? options_.memory_limit : free_memory();
  const uint64_t needed = memory_needed();
  if (needed <= there) return {};
  return {"this run needs about " + mebibytes(needed) + " of memory (" +
          std::to_string(topology_.switches.size()) + " switches, " +
          std::to_string(topology_.hosts.size()) + " hosts, " +
          std::to_string(trace_.flows.size()) + " flows), " + mebibytes(there) +
          " are free; would fit: a smaller topology, a shorter run.duration, or run.max_flows"};
}

// In steps that end at samples, so that sampling is no event and changes no digest.
void Execution::simulate() {
  const Duration period = experiment_.run.sample_period;
  constexpr int64_t kSteps = 1'000;
  const Duration step =
      period > Duration{} ? period : limit().since_zero() / kSteps + Duration::picoseconds(1);
  const double started = cpu_now();
  bool done = world_->flows().empty();
  if (options_.sampled) options_.sampled(RunOptions::Sample::periodic, Instant());
  for (Instant until = Instant() + step; !done; until = until + step) {
    done = world_->run_to_completion(std::min(until, limit()));
    if (period > Duration{} && !done) sample(until);
    note_progress();
    if (until >= limit() || world_->stopped()) break;
    if (world_->any_rank(options_.interrupt != nullptr &&
                         options_.interrupt->load(std::memory_order_relaxed))) {
      result_.interrupted = true;
      break;
    }
  }
  if (options_.sampled) options_.sampled(RunOptions::Sample::last, world_->now());
  result_.cpu_seconds = cpu_now() - started;
  for (const double seconds : world_->helper_seconds()) result_.cpu_seconds += seconds;
  result_.censored = !done;
}

void Execution::note_progress() {
  constexpr double kSeconds = 0.2;
  if (!options_.progress || cpu_now() < next_progress_) return;
  next_progress_ = cpu_now() + kSeconds;
  options_.progress({world_->now(), limit(), world_->flows_ended(), world_->flows().size(),
                     world_->counts().packet_hops});
}

void Execution::sample(Instant due) {
  QueueSample sample{.at = Instant() + undilated(world_->now().since_zero())};
  for (size_t i = 0; i < world_->switch_count(); ++i) {
    if (!world_->is_here(static_cast<uint32_t>(i))) continue;
    Switch& at = world_->switch_at(i);
    const BufferStatus buffer = at.buffer_status();
    sample.max_buffer =
        std::max(sample.max_buffer, buffer.shared_used + buffer.headroom_used + buffer.stages_used);
    for (size_t port = 0; port < at.port_count(); ++port) {
      const lb::PortSignals& signals = at.signals(PortId(port));
      sample.max_queue =
          std::max(sample.max_queue, static_cast<int64_t>(signals.backlog_from(QueueId(0))));
      sample.paused_queues += static_cast<uint32_t>(
          std::popcount(signals.paused_queues.load(std::memory_order_relaxed)));
    }
  }
  result_.samples.push_back(sample);
  if (options_.sampled) options_.sampled(RunOptions::Sample::periodic, due);
}

void Execution::collect() {
  result_.time_dilation = dilation_;
  result_.scheme = experiment_.load_balancer.scheme;
  result_.seed = options_.seed;
  result_.trace_digest = trace_.digest();
  result_.traffic = trace_.items;
  result_.file_origin = trace_.file_origin.value_or(Duration{});
  result_.warnings = topology_.warnings;
  result_.warnings.insert(result_.warnings.end(), trace_.warnings.begin(), trace_.warnings.end());
  result_.simulated = undilated(world_->now().since_zero());
  collect_counters();
  collect_links();
  const FabricFacts facts = world_->facts();
  collect_waits(facts);
  const FlowAccount account{.experiment = experiment_,
                            .dilation = dilation_,
                            .topology = topology_,
                            .paths = *paths_,
                            .book = world_->book(),
                            .waits = &trace_.waits,
                            .nics = facts.nics,
                            .now = world_->now()};
  add_flow_results(account, result_);
  size_t switch_ports = 0;
  for (const config::SwitchConfig& each : topology_.switches) switch_ports += each.ports.size();
  add_nic_results(account,
                  {.switch_ports = switch_ports,
                   .pausing = facts.pausing,
                   .of_hosts = pauses_of_hosts() + facts.pausing_hosts,
                   .in_force = facts.in_force},
                  result_);
  const WorldCounts counts = world_->counts();
  result_.packet_hops = counts.packet_hops;
  result_.events = counts.events;
  result_.ties = counts.ties;
  result_.polls = counts.polls;
  result_.digest = world_->digest();
  if (counts.blank_missing != 0)
    result_.warnings.push_back("the packet pool was empty " + std::to_string(counts.blank_missing) +
                               " times when a host wanted to send; give run.packets");
  warn_of_small_tables();
  if (own_queues_ != nullptr) result_.warnings.push_back(own_queues_->report());
}

void Execution::warn_of_small_tables() {
  const uint64_t placeless = result_.counters["resequence_placeless_packets"];
  if (placeless == 0) return;
  int64_t places = 0;
  for (const config::SwitchConfig& each : topology_.switches)
    places = std::max(places, each.resequence.places());
  result_.warnings.push_back("resequence.flows: " + std::to_string(placeless) +
                             " packets found no place in a table of " + std::to_string(places) +
                             " flows and went on in whatever order they came; give a larger one");
}

template <class Array>
void add_named(std::map<std::string, uint64_t>& sums, std::span<const CounterInfo> infos,
               const Array& counters) {
  for (size_t i = 0; i < infos.size(); ++i) sums[std::string(infos[i].name)] += counters.read(i);
}

void Execution::collect_counters() {
  auto& sums = result_.counters;
  for (size_t i = 0; i < world_->switch_count(); ++i) {
    const Counters& counters = world_->counters_of(i);
    for (size_t port = 0; port < counters.port_count(); ++port) {
      const PortCounters of = counters[PortId(port)];
      add_named(sums, port_counter_infos(), of.port);
      for (size_t k = 0; k < kPriorities; ++k) {
        add_named(sums, queue_counter_infos(), of.queue[k]);
        add_named(sums, pg_counter_infos(), of.pg[k]);
        add_named(sums, pfc_counter_infos(), of.pfc[k]);
      }
      std::map<std::string, uint64_t> drops;
      add_named(drops, drop_reason_infos(), of.drops);
      for (const auto& [reason, count] : drops) sums["drops_" + reason] += count;
    }
  }
}

// That have ended.
uint64_t Execution::pauses_of_hosts() const {
  uint64_t pauses = 0;
  for (const Topology::Host& host : topology_.hosts) {
    const Counters& counters = world_->counters_of(host.switch_index);
    if (host.port.index() >= counters.port_count()) continue;  // never told of
    for (size_t k = 0; k < kPriorities; ++k)
      pauses += counters[host.port].pfc[k].read(PfcCounter::pfc_tx_xon);
  }
  return pauses;
}

void Execution::collect_waits(const FabricFacts& facts) {
  const auto collect = [this](const FabricFacts::Delays& delays, std::optional<Duration>& p50,
                              std::optional<Duration>& p99) {
    if (std::ranges::count(delays, 0u) == static_cast<std::ptrdiff_t>(delays.size())) return;
    p50 = undilated(percentile(delays, 50));
    p99 = undilated(percentile(delays, 99));
  };
  collect(facts.waits, result_.wait_p50, result_.wait_p99);
  collect(facts.heard, result_.heard.p50, result_.heard.p99);
  collect(facts.isolated, result_.isolated.p50, result_.isolated.p99);
}

void Execution::collect_links() {
  for (size_t i = 0; i < topology_.links.size(); ++i)
    for (const Topology::End& end : {topology_.links[i].a, topology_.links[i].b}) {
      const PortCounters sent = world_->counters_of(end.switch_index)[end.port];
      uint64_t paused_ps = 0;
      for (size_t priority = 0; priority < kPriorities; ++priority)
        paused_ps += sent.pfc[priority].read(PfcCounter::pfc_rx_paused_ps);
      result_.links.push_back(
          {.link = i,
           .switch_index = end.switch_index,
           .packets = sent.port.read(PortCounter::tx_packets),
           .bytes = sent.port.read(PortCounter::tx_bytes),
           .paused = undilated(Duration::picoseconds(static_cast<int64_t>(paused_ps)))});
    }
}

Result<RunResult> Execution::run() {
  Problems problems = prepare();
  if (options_.exchange != nullptr)
    problems = agree(*options_.exchange,
                     {.configuration = trace_.digest(), .problems = std::move(problems)});
  if (!problems.empty()) return problems;
  simulate();
  result_.faults = faults_->report();
  result_.violations = faults_->problems();
  if (checker_ != nullptr) {
    checker_->finish();
    const Problems& found = checker_->problems();
    result_.violations.insert(result_.violations.end(), found.begin(), found.end());
  }
  result_.peak_rss_bytes = peak_rss();
  if (options_.exchange != nullptr && options_.exchange->ranks() > 1) {
    gather_reports(*options_.exchange, world_->ranks()->traffic(), result_);
    world_->gather_facts();
    if (options_.exchange->rank() != 0) return std::move(result_);
  }
  collect();
  return std::move(result_);
}

}  // namespace

Result<RunResult> run_experiment(const config::Experiment& experiment, const RunOptions& options) {
  return Execution(experiment, options).run();
}

}  // namespace eddy::lab
