#include "testbed/host_daemon.h"

#include <fmt/format.h>
#include <poll.h>
#include <pthread.h>
#include <rte_launch.h>
#include <rte_lcore.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <memory>
#include <optional>

#include "lab/fabric/build_topology.h"
#include "lab/results/results.h"
#include "lab/run/run_identity.h"
#include "lab/traffic/traffic_files.h"
#include "switch/dpdk/clock.h"
#include "switch/dpdk/driver_guard.h"
#include "switch/dpdk/eal.h"
#include "switch/dpdk/plan.h"
#include "switch/dpdk/pools.h"
#include "switch/dpdk/port_manager.h"
#include "system/free_memory.h"
#include "system/say.h"
#include "testbed/dpdk_wire.h"
#include "testbed/host_worker.h"
#include "testbed/real_result.h"

namespace eddy::testbed {
namespace {

// A link that goes down may come back: a peer that is restarted.
constexpr Duration kDownTooLong = Duration::seconds(3);
constexpr Duration kSwitchCheck = Duration::milliseconds(200);
constexpr unsigned kWorkerCache = 512;  // a full mempool cache, with its flush margin
constexpr size_t kMostBlanks = 2'048;   // a port

int run_worker(void* worker) {
  static_cast<HostWorker*>(worker)->run();
  return 0;
}

// SIGTERM and SIGINT, blocked before any thread exists, so that only this one sees them.
class Signals {
 public:
  Signals() {
    sigset_t set;
    sigemptyset(&set);
    for (int signal : {SIGTERM, SIGINT}) sigaddset(&set, signal);
    pthread_sigmask(SIG_BLOCK, &set, nullptr);
    file_ = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
  }
  ~Signals() { close(file_); }
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;
  // Waits a tick; true when one has come, now or before.
  bool wait(Duration time) {
    pollfd one{file_, POLLIN, 0};
    poll(&one, 1, static_cast<int>(time.ns() / 1'000'000));
    signalfd_siginfo info{};
    if (read(file_, &info, sizeof(info)) == static_cast<ssize_t>(sizeof(info))) seen_ = true;
    return seen_;
  }

 private:
  int file_ = -1;
  bool seen_ = false;
};

class HostDaemon {
 public:
  explicit HostDaemon(const HostDaemonOptions& options)
      : options_(options),
        dilation_(options.run.experiment.run.time_dilation),
        experiment_(config::scaled(options.run.experiment)) {}
  ~HostDaemon() { take_down(); }
  HostDaemon(const HostDaemon&) = delete;
  HostDaemon& operator=(const HostDaemon&) = delete;

  Problems prepare();
  Problems start();
  // False: a signal came first.
  Result<bool> wait_until_up();
  void run();
  Problems write();
  int exit_code() const;

 private:
  Problems plan_memory();
  Problems open_ports();
  void launch();
  void add_switch_gap(std::vector<std::string>& warnings) const;
  std::string what_is_down();
  std::string trouble();
  std::string link_trouble(Instant now);
  void tick();
  void say(const std::string& text) const {
    if (!options_.quiet) eddy::say("eddyhost: ", {text}, LogLevel::info);
  }
  Duration poll_gap() const;
  Instant clock() const { return clock_.at(TscClock::cycles()); }
  Instant limit() const {
    return Instant() + experiment_.run.warmup + experiment_.run.duration + experiment_.run.drain;
  }
  void take_down();

  const HostDaemonOptions& options_;
  const int64_t dilation_;
  const config::Experiment experiment_;
  Signals signals_;
  lab::Topology topology_;
  std::unique_ptr<lab::FabricPaths> paths_;
  lab::Trace trace_;
  config::SwitchConfig ports_config_;
  PoolSizes receive_sizes_;
  PoolSizes blank_sizes_;
  std::optional<SwitchWatch> switches_;
  TscClock clock_;
  // Made in this order, destroyed in the reverse one.
  std::unique_ptr<Eal> eal_;
  std::unique_ptr<PacketPools> receive_pools_;
  std::unique_ptr<PacketPools> blank_pools_;
  std::unique_ptr<PortManager> ports_;
  std::vector<DpdkWire> wires_;
  std::unique_ptr<HostGroup> group_;
  std::unique_ptr<HostWorker> worker_;
  std::unique_ptr<DriverGuard> guard_;
  bool launched_ = false;
  std::vector<Instant> down_since_;  // by port; never(): it is up
  uint64_t seen_frames_ = 0;
  Instant seen_at_;
  bool interrupted_ = false;
  std::string trouble_;  // what ended the run early
};

// The experiment's, if that is one of a real poll loop.
Duration HostDaemon::poll_gap() const {
  constexpr Duration kReal = Duration::microseconds(10);
  if (experiment_.switches.poll_gap >= kReal) return experiment_.switches.poll_gap;
  return options_.idle == config::IdlePolicy::busy ? kReal : Duration::milliseconds(1);
}

Problems HostDaemon::prepare() {
  auto topology = lab::build_topology(experiment_);
  if (!topology) return topology.problems();
  topology_ = std::move(*topology);
  lab::seed_switches(topology_, options_.seed);
  auto devices = devices_of(topology_, options_.ports);
  if (!devices) return devices.problems();
  auto trace = lab::make_traffic(experiment_, topology_, options_.seed,
                                 lab::TrafficFiles(options_.loaded.folder));
  if (!trace) return trace.problems();
  trace_ = std::move(*trace);
  paths_ = std::make_unique<lab::FabricPaths>(topology_);
  switches_.emplace(topology_, options_.switches);
  ports_config_ = config::default_switch(options_.name);
  for (size_t i = 0; i < topology_.hosts.size(); ++i) {
    const lab::Topology::Host& host = topology_.hosts[i];
    config::PortConfig port = config::default_port(host.name);
    port.device = devices->by_host[i];
    port.mtu = topology_.switches[host.switch_index].ports[host.port.index()].mtu;
    ports_config_.ports.push_back(std::move(port));
  }
  return plan_memory();
}

Problems HostDaemon::plan_memory() {
  Problems problems;
  size_t received = kWorkerCache + 2 * HostWire::kBurst;
  size_t blanks = kWorkerCache + HostWire::kBurst;
  for (size_t i = 0; i < ports_config_.ports.size(); ++i) {
    const config::PortConfig& port = ports_config_.ports[i];
    const DeviceArgs device = with_driver_defaults(DeviceArgs::parse(port.device), port.mtu);
    const size_t in_flight =
        frames_in_flight(topology_.hosts[i], topology_.line_overhead, poll_gap());
    received +=
        packets_held_by(config::port_kind_of(device.name())) + std::min(in_flight, kMostBlanks);
    blanks += HostWire::kBurst + std::min(in_flight, kMostBlanks);
    receive_sizes_.buffer_size =
        std::max(receive_sizes_.buffer_size, buffer_size_of(device, port.mtu));
    const Problems found = DpdkPort::check(port);
    problems.insert(problems.end(), found.begin(), found.end());
  }
  receive_sizes_.data_packets = static_cast<unsigned>(received);
  blank_sizes_ = receive_sizes_;
  blank_sizes_.data_packets = static_cast<unsigned>(blanks);
  receive_sizes_.control_packets = blank_sizes_.control_packets = 64;  // nobody asks for them
  for (const config::PortConfig& port : ports_config_.ports)
    if (const int longest = longest_buffer_of(DeviceArgs::parse(port.device));
        receive_sizes_.buffer_size > longest)
      problems.push_back(
          fmt::format("port {} ({}): takes packet buffers of at most {} octets, an "
                      "MTU of {} needs {}; lower host.mtu",
                      port.name, port.device, longest, port.mtu, receive_sizes_.buffer_size));
  const size_t pairs = trace_.flows.size() * static_cast<size_t>(experiment_.host.queue_pairs);
  constexpr size_t kPair = 1'024;  // both ends, its record and its flow
  constexpr size_t kBase = size_t{64} << 20;
  const auto needed =
      static_cast<uint64_t>((receive_sizes_.memory() + blank_sizes_.memory()).count()) +
      pairs * kPair + kBase;
  const uint64_t there = options_.memory_limit != 0 ? options_.memory_limit : free_memory();
  if (needed > there)
    problems.push_back(fmt::format(
        "these hosts need about {} MiB of memory ({} hosts, {} flows), {} MiB are free; would fit: "
        "fewer hosts, a shorter run.duration, or run.max_flows",
        (needed >> 20) + 1, topology_.hosts.size(), trace_.flows.size(), there >> 20));
  return problems;
}

Problems HostDaemon::start() {
  EalRequest request;
  request.switch_name = options_.name;
  request.idle = options_.idle;
  request.memory = receive_sizes_.memory() + blank_sizes_.memory() + Bytes::mib(16);
  request.extra = options_.eal_arguments;
  for (const config::PortConfig& port : ports_config_.ports)
    request.pci = request.pci || DeviceArgs::parse(port.device).is_pci();
  auto eal = Eal::start(request);
  if (!eal) return eal.problems();
  eal_ = std::move(*eal);
  auto pools = PacketPools::create("hosts", receive_sizes_);
  if (!pools) return pools.problems();
  receive_pools_ = std::make_unique<PacketPools>(std::move(*pools));
  auto blanks = PacketPools::create("blanks", blank_sizes_);
  if (!blanks) return blanks.problems();
  blank_pools_ = std::make_unique<PacketPools>(std::move(*blanks));
  zero_buffers(blank_pools_->data());
  return open_ports();
}

Problems HostDaemon::open_ports() {
  if (const std::string warning = guard_drivers(ports_config_.ports, running_dpdk());
      !warning.empty())
    eddy::say("eddyhost: warning: ", {warning}, LogLevel::warning);
  auto ports = PortManager::open(ports_config_, *receive_pools_, [] {});
  if (!ports) return ports.problems();
  ports_ = std::move(*ports);
  down_since_.assign(topology_.hosts.size(), Instant());
  wires_.reserve(topology_.hosts.size());
  std::vector<HostWire*> wires;
  for (size_t i = 0; i < topology_.hosts.size(); ++i) {
    wires_.emplace_back(ports_->cell(PortId(i)), blank_pools_->data());
    wires.push_back(&wires_.back());
  }
  group_ = std::make_unique<HostGroup>(
      HostGroupOptions{.experiment = experiment_,
                       .topology = topology_,
                       .paths = *paths_,
                       .flows = trace_.flows,
                       .waits = &trace_.waits,
                       .catch_up = std::max(poll_gap(), Duration::microseconds(20)),
                       .announce = true,
                       .seed = options_.seed},
      wires);
  clock_.calibrate();
  launch();
  return {};
}

void HostDaemon::launch() {
  worker_ = std::make_unique<HostWorker>(*group_, wires_, ports_->bell(0), clock_,
                                         Idler(options_.idle, poll_gap()));
  guard_ = std::make_unique<DriverGuard>([this] { worker_->wait_for_turn(); });
  rte_eal_remote_launch(run_worker, worker_.get(), eal_->worker_lcores().front());
  launched_ = true;
}

void HostDaemon::tick() {
  ports_->tick(clock());
  for (const std::string& note : ports_->take_notes()) say(note);
}

// Hosts whose ports are down, or, when all are up, ports of switches, or how many hosts have
// announced themselves; empty: all are up.
std::string HostDaemon::what_is_down() {
  std::vector<std::string> down;
  for (size_t i = 0; i < ports_->port_count(); ++i)
    if (!ports_->cell(PortId(i)).usable.load(std::memory_order_relaxed)) {
      const DeviceView device = ports_->device(PortId(i));
      down.push_back(
          fmt::format("port {} ({}){}", ports_config_.ports[i].name, device.name,
                      device.peer.empty() ? "" : ": nobody has answered on " + device.peer));
    }
  if (down.empty()) {
    const auto switches = switches_->ports_down();
    if (!switches) return switches.problems().front();
    for (const std::string& port : switches.value().ports) down.push_back("switch port " + port);
  }
  const size_t hosts = topology_.hosts.size();
  const size_t announced = group_->progress().announced.load(std::memory_order_relaxed);
  if (down.empty() && announced < hosts)
    down.push_back(fmt::format("{} of {} hosts have announced themselves", announced, hosts));
  constexpr size_t kNamed = 3;
  if (down.size() > kNamed) {
    const size_t more = down.size() - kNamed;
    down.resize(kNamed);
    down.push_back(fmt::format("{} more", more));
  }
  return fmt::format("{}", fmt::join(down, "; "));
}

Result<bool> HostDaemon::wait_until_up() {
  const Instant began = clock();
  Instant next_check;
  std::string down;
  do {
    tick();
    if (clock() >= next_check) {
      down = what_is_down();
      next_check = clock() + kSwitchCheck;
    }
    if (down.empty()) {
      if (const Problems problems = switches_->clear_counters(); !problems.empty()) return problems;
      return true;
    }
    if (signals_.wait(PortManager::kTick)) return false;
  } while (clock() - began < options_.wait);
  return Result<bool>::failure(
      fmt::format("not up within {} s: {}", options_.wait / Duration::seconds(1), down));
}

// What ends a run before its flows do; empty: nothing.
std::string HostDaemon::trouble() {
  const Instant now = clock();
  if (std::string down = link_trouble(now); !down.empty()) return down;
  const HostGroup::Progress& at = group_->progress();
  const uint64_t frames = at.received.load(std::memory_order_relaxed);
  const bool running = at.flows_started.load(std::memory_order_relaxed) >
                       at.flows_ended.load(std::memory_order_relaxed);
  if (frames != seen_frames_ || !running) {
    seen_frames_ = frames;
    seen_at_ = now;
  }
  // Nothing is wrong with a host that waits for its retransmission timer.
  const Duration patience = std::max(options_.patience, experiment_.host.rto * 4);
  if (now - seen_at_ < patience) return {};
  return fmt::format(
      "no frame has arrived at any host for {} s while flows are running: a peer "
      "does not answer",
      patience / Duration::seconds(1));
}

// A link that was down for kDownTooLong without a break; empty: there is none.
std::string HostDaemon::link_trouble(Instant now) {
  for (size_t i = 0; i < down_since_.size(); ++i) {
    const bool up = ports_->cell(PortId(i)).usable.load(std::memory_order_relaxed);
    down_since_[i] = up ? Instant::never() : std::min(down_since_[i], now);
    if (!up && now - down_since_[i] >= kDownTooLong)
      return fmt::format("port {} ({}): its peer went away and has not come back for {} s",
                         ports_config_.ports[i].name, ports_config_.ports[i].device,
                         kDownTooLong / Duration::seconds(1));
  }
  return {};
}

void HostDaemon::run() {
  std::ranges::fill(down_since_, Instant::never());
  worker_->release();
  seen_at_ = clock();
  say(fmt::format("{} hosts are up, {} flows, at most {:.1f} s", topology_.hosts.size(),
                  group_->flow_count(), static_cast<double>(limit().since_zero().ns()) * 1e-9));
  const HostGroup::Progress& at = group_->progress();
  while (at.flows_ended.load(std::memory_order_relaxed) < group_->flow_count() &&
         worker_->now() < limit()) {
    interrupted_ = signals_.wait(PortManager::kTick);
    tick();
    if (!interrupted_) trouble_ = trouble();
    if (interrupted_ || !trouble_.empty()) break;
  }
  worker_->stop();
  rte_eal_wait_lcore(eal_->worker_lcores().front());
  launched_ = false;
}

// Of the last second of the run.
void HostDaemon::add_switch_gap(std::vector<std::string>& warnings) const {
  const auto gap = switches_->poll_gap();
  if (!gap || gap.value().p999 <= poll_gap()) return;
  warnings.push_back(
      fmt::format("switches were polled every {} us at times (p99.9; the longest {} us, "
                  "at {}), {} us are allowed",
                  gap.value().p999.ns() / 1'000, gap.value().longest.ns() / 1'000,
                  gap.value().where, poll_gap().ns() / 1'000));
}

Problems HostDaemon::write() {
  const Instant ended_at = std::max(worker_->ended_at(), Instant());
  RealRun run{.experiment = experiment_,
              .dilation = dilation_,
              .seed = options_.seed,
              .topology = topology_,
              .paths = *paths_,
              .trace = trace_,
              .group = *group_,
              .ended_at = ended_at,
              .interrupted = interrupted_ || !trouble_.empty(),
              .warnings = {}};
  if (!trouble_.empty()) run.warnings.push_back("partial: " + trouble_);
  if (interrupted_) run.warnings.emplace_back("partial: it was ended by a signal");
  size_t oversize = 0;
  for (const DpdkWire& wire : wires_) oversize += wire.oversize();
  if (oversize > 0)
    run.warnings.push_back(
        fmt::format("{} frames were longer than a host's buffers and dropped", oversize));
  add_switch_gap(run.warnings);
  lab::RunResult result = real_result(run, *switches_);
  warn_of_gaps(worker_->gaps(), poll_gap(), result);
  result.polls = worker_->counts().polls;
  const double cycles_a_second =
      1e12 / static_cast<double>(clock_.scale().to_time(1'000'000).ps()) * 1e6;
  result.counters["host_busy_cycles"] = worker_->counts().busy_cycles;
  result.counters["host_poll_gap_p999_ns"] =
      static_cast<uint64_t>(worker_->gaps().quantile(999).ns());
  result.counters["host_poll_gap_max_ns"] = static_cast<uint64_t>(worker_->gaps().longest().ns());
  result.counters["host_poll_gap_p50_ns"] =
      static_cast<uint64_t>(worker_->gaps().quantile(500).ns());
  result.counters["host_cycles_per_second"] = static_cast<uint64_t>(cycles_a_second);
  auto identity = lab::identify(options_.loaded, options_.run, topology_);
  if (!identity) return identity.problems();
  identity->replay = options_.replay;
  return lab::write_run(options_.folder, {.identity = std::move(*identity),
                                          .result = std::move(result),
                                          .topology = topology_,
                                          .pfc_text = {}});
}

int HostDaemon::exit_code() const {
  if (!trouble_.empty()) {
    eddy::say("eddyhost: ", {trouble_ + "; what there is is kept"});
    return kFailed;
  }
  return interrupted_ ? kInterrupted : kDone;
}

void HostDaemon::take_down() {
  if (worker_) worker_->stop();
  if (launched_) rte_eal_wait_lcore(eal_->worker_lcores().front());
  guard_.reset();
  if (ports_) ports_->stop_all();
  group_.reset();  // gives its buffers back
}

int complain(const Problems& problems) {
  eddy::say("eddyhost: ", problems);
  return kFailed;
}

}  // namespace

int run_host_daemon(const HostDaemonOptions& options) {
  HostDaemon daemon(options);
  if (const Problems problems = daemon.prepare(); !problems.empty()) {
    Problems located;
    for (const std::string& problem : problems)
      located.push_back(options.loaded.locate(options.run, problem));
    return complain(located);
  }
  if (const Problems problems = daemon.start(); !problems.empty()) return complain(problems);
  const Result<bool> up = daemon.wait_until_up();
  if (!up) return complain(up.problems());
  if (!up.value()) return kInterrupted;  // nothing has begun
  daemon.run();
  if (const Problems problems = daemon.write(); !problems.empty()) return complain(problems);
  return daemon.exit_code();
}

}  // namespace eddy::testbed
