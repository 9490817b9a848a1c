#include "switch/daemon.h"

#include <poll.h>
#include <pthread.h>
#include <rte_launch.h>
#include <signal.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/spdlog.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <string_view>

#include "config/places.h"
#include "net/quantity.h"
#include "switch/control/serve/control.h"
#include "switch/control/serve/log.h"
#include "switch/control/serve/service_report.h"
#include "switch/dataplane/object/switch.h"
#include "switch/dpdk/clock.h"
#include "switch/dpdk/driver_guard.h"
#include "switch/dpdk/eal.h"
#include "switch/dpdk/interface_wait.h"
#include "switch/dpdk/plan.h"
#include "switch/dpdk/pools.h"
#include "switch/dpdk/port_manager.h"
#include "switch/dpdk_backend.h"
#include "switch/narrow.h"
#include "system/log_lines.h"
#include "system/say.h"
#include "system/service_manager.h"

namespace eddy {
namespace {

constexpr Duration kDrainTime = Duration::seconds(1);  // at most, from SIGTERM to the last frame
constexpr useconds_t kDrainCheckUs = 1'000;

// That of systemd.
int64_t monotonic_ns() {
  const auto since_boot = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(since_boot).count();
}

class FileDescriptor {
 public:
  explicit FileDescriptor(int fd) : fd_(fd) {}
  ~FileDescriptor() {
    if (fd_ >= 0) close(fd_);
  }
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
};

// Blocked before any thread exists, so that only the main thread sees them.
int open_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (int signal : {SIGTERM, SIGINT, SIGHUP}) sigaddset(&set, signal);
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  return signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
}

// What is said by spdlog's own functions goes where all other lines go.
class LineSink final : public spdlog::sinks::base_sink<std::mutex> {
 private:
  void sink_it_(const spdlog::details::log_msg& message) override {
    const std::string_view text(message.payload.data(), message.payload.size());
    const bool good = message.level <= spdlog::level::info;
    const bool bad = message.level >= spdlog::level::err;
    log_line(bad ? LogLevel::error : good ? LogLevel::info : LogLevel::warning, text);
  }
  void flush_() override {}
};
void log_spdlog_as_json() {
  spdlog::set_default_logger(
      std::make_shared<spdlog::logger>("eddyd", std::make_shared<LineSink>()));
}

int run_worker(void* worker) {
  static_cast<Worker*>(worker)->run();
  return 0;
}

class Daemon {
 public:
  explicit Daemon(const DaemonOptions& options)
      : options_(options),
        config_(config::scaled(options.config)),
        seated_(config::seated(config_)),
        service_({.ready_within_ns = options.ready_within.ns(),
                  .watchdog_ns = manager_.watchdog().ns(),
                  .sink = [this](const std::string& lines) { manager_.notify(lines); }}) {}
  ~Daemon() { take_down(); }
  Daemon(const Daemon&) = delete;
  Daemon& operator=(const Daemon&) = delete;

  Problems start();
  void serve();  // until SIGTERM or SIGINT
  void drain();

 private:
  Problems start_eal(const DaemonPlan& plan);
  Problems start_switch(const DaemonPlan& plan);
  void seat_workers();
  void launch_workers();
  Problems start_control();
  bool handle_signal();  // false: end
  void tick();
  void rebase();
  void wait_for_workers() const;
  void take_down();
  control::ReloadWatch watch_reloads();
  void report_to_manager();

  const DaemonOptions& options_;
  const config::SwitchConfig config_;  // as of the start
  const config::SwitchConfig seated_;  // the same, with ports by place
  FileDescriptor signals_{open_signals()};
  FileDescriptor wake_{eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)};
  TscClock clock_;
  const ServiceManager manager_;
  control::ServiceReport service_;
  // Made in this order, destroyed in the reverse one.
  std::unique_ptr<Eal> eal_;
  std::unique_ptr<PacketPools> pools_;
  std::unique_ptr<Switch> switch_;
  std::unique_ptr<PortManager> ports_;
  std::vector<Command> drains_;  // one a shard, which keeps a pointer to it
  std::vector<WorkerSeat> seats_;
  std::unique_ptr<DriverGuard> guard_;
  std::unique_ptr<DpdkBackend> backend_;
  std::unique_ptr<control::Control> control_;
};

Problems Daemon::start() {
  service_.start(monotonic_ns());
  auto plan = plan_daemon(config_);
  if (!plan) return plan.problems();
  Problems problems;
  for (const config::PortConfig& port : config_.ports) {
    const Problems found = DpdkPort::check(port);
    problems.insert(problems.end(), found.begin(), found.end());
  }
  if (!problems.empty()) return problems;
  problems = narrow_privileges(config_, *plan, options_.config_path);
  if (!problems.empty()) return problems;
  if (problems = start_eal(*plan); !problems.empty()) return problems;
  if (problems = start_switch(*plan); !problems.empty()) return problems;
  seat_workers();
  clock_.calibrate();
  launch_workers();
  tick();
  return start_control();
}

Problems Daemon::start_eal(const DaemonPlan& plan) {
  EalRequest request;
  request.switch_name = config_.name;
  request.workers = config_.workers;
  request.idle = config_.idle;
  request.pci = plan.pci;
  request.memory = plan.memory;
  request.extra = options_.eal_arguments;
  auto eal = Eal::start(request);
  if (!eal) return eal.problems();
  eal_ = std::move(*eal);
  for (const std::string& warning : eal_->warnings()) spdlog::warn("{}", warning);
  for (const std::string& note : eal_->notes()) spdlog::info("{}", note);
  return {};
}

Problems Daemon::start_switch(const DaemonPlan& plan) {
  auto pools = PacketPools::create("eddy", plan.pools);
  if (!pools) return pools.problems();
  pools_ = std::make_unique<PacketPools>(std::move(*pools));
  auto made = Switch::create(
      seated_, {.shards = static_cast<size_t>(config_.workers), .routes = RouteEngine::automatic});
  if (!made) return made.problems();
  switch_ = std::move(*made);
  if (const std::string warning = guard_drivers(config_.ports, running_dpdk()); !warning.empty())
    spdlog::warn("{}", warning);
  auto ports = PortManager::open(seated_, *pools_, [this] { eventfd_write(wake_.get(), 1); });
  if (!ports) return ports.problems();
  ports_ = std::move(*ports);
  return {};
}

void Daemon::seat_workers() {
  drains_ = std::vector<Command>(static_cast<size_t>(config_.workers));
  std::vector<IoPort> ports;
  for (size_t p = 0; p < seated_.ports.size(); ++p)
    ports.push_back({PortId(p), &ports_->cell(PortId(p))});
  for (int i = 0; i < config_.workers; ++i) {
    Shard& shard = switch_->shard(ShardId(static_cast<size_t>(i)));
    WorkerSeat seat;
    seat.io = std::make_unique<DpdkIo>(ports, pools_->control(), ports_->bell(i), shard,
                                       static_cast<uint16_t>(i));
    seat.worker = std::make_unique<Worker>(shard, *seat.io, clock_, config_.idle,
                                           config_.effective_poll_gap());
    seat.lcore = eal_->worker_lcores()[static_cast<size_t>(i)];
    seats_.push_back(std::move(seat));
  }
}

void Daemon::launch_workers() {
  guard_ = std::make_unique<DriverGuard>([this] { wait_for_workers(); });
  for (const WorkerSeat& seat : seats_)
    rte_eal_remote_launch(run_worker, seat.worker.get(), seat.lcore);
}

void Daemon::wait_for_workers() const {
  for (const WorkerSeat& seat : seats_) seat.worker->wait_for_turn();
}

Problems Daemon::start_control() {
  backend_ = std::make_unique<DpdkBackend>(seats_, *ports_, clock_);
  control::ControlOptions options;
  options.config_path = options_.config_path;
  options.plugins = options_.plugins;
  options.running = options_.config;
  options.reload_watch = watch_reloads();
  if (options_.json_log) options.log_format = control::LogFormat::json;
  control_ = std::make_unique<control::Control>(*switch_, *backend_, std::move(options));
  return control_->start();
}

control::ReloadWatch Daemon::watch_reloads() {
  return {.begins = [this] { service_.reload_begins(monotonic_ns()); },
          .ends = [this](const std::string& outcome) { service_.reload_ends(outcome); }};
}

void Daemon::report_to_manager() {
  if (!manager_.present()) return;
  std::vector<control::PortReadiness> ports;
  for (PortManager::State& each : ports_->states())
    ports.push_back({std::move(each.name), each.wanted, each.up});
  std::vector<uint64_t> polls;
  for (const WorkerSeat& seat : seats_)
    polls.push_back(seat.worker->counters().read(WorkerCounter::worker_polls));
  service_.tick(ports, polls, monotonic_ns());
}

void Daemon::serve() {
  spdlog::info("switch {} runs: {} ports, {} workers, telemetry prefix {}", config_.name,
               config_.ports.size(), config_.workers, eal_->file_prefix());
  std::array<pollfd, 2> waits{{{signals_.get(), POLLIN, 0}, {wake_.get(), POLLIN, 0}}};
  while (true) {
    poll(waits.data(), waits.size(), static_cast<int>(PortManager::kTick.ns() / 1'000'000));
    if (!handle_signal()) return;
    eventfd_t ignored = 0;
    eventfd_read(wake_.get(), &ignored);
    tick();
    report_to_manager();
  }
}

bool Daemon::handle_signal() {
  signalfd_siginfo info{};
  while (read(signals_.get(), &info, sizeof(info)) == static_cast<ssize_t>(sizeof(info))) {
    if (info.ssi_signo != SIGHUP) return false;
    control_->request_reload();
  }
  return true;
}

void Daemon::tick() {
  // While control is busy with the switch, it is left for a later tick: there are 53 days for it.
  if (clock_.at(TscClock::cycles()) >= Rebase::kDue && control_)
    (void)control_->try_alone([this] { rebase(); });
  ports_->tick(clock_.at(TscClock::cycles()));
  for (const std::string& note : ports_->take_notes()) spdlog::warn("{}", note);
}

// Once in 52 days. All workers stand still meanwhile, which shows as a gap between two polls.
void Daemon::rebase() {
  for (const WorkerSeat& seat : seats_) seat.worker->hold();
  for (const WorkerSeat& seat : seats_) seat.worker->wait_held();
  const Rebase rebase;
  clock_.rebase(rebase);
  switch_->rebase(rebase);
  ports_->rebase(rebase);
  for (const WorkerSeat& seat : seats_) seat.worker->rebase(rebase);
  for (const WorkerSeat& seat : seats_) seat.worker->resume();
  spdlog::info("the clock begins anew");
}

// XON to every peer, then whatever is queued leaves; what a pause holds back longer than kDrainTime
// is given up.
void Daemon::drain() {
  service_.stop();
  control_->stop();
  const uint64_t began = TscClock::cycles();
  const auto in_time = [&] {
    return clock_.scale().to_time(TscClock::cycles() - began) < kDrainTime;
  };
  for (size_t i = 0; i < drains_.size(); ++i) {
    drains_[i].kind = Command::Kind::drain;
    while (!switch_->post(ShardId(i), drains_[i]) && in_time()) usleep(kDrainCheckUs);
  }
  const auto done = [](const Command& command) {
    return command.done.load(std::memory_order_acquire);
  };
  while (in_time() && !std::all_of(drains_.begin(), drains_.end(), done)) {
    tick();
    usleep(kDrainCheckUs);
  }
}

void Daemon::take_down() {
  if (control_) control_->stop();
  for (const WorkerSeat& seat : seats_) seat.worker->stop();
  for (const WorkerSeat& seat : seats_) rte_eal_wait_lcore(seat.lcore);
  guard_.reset();
  if (ports_) ports_->stop_all();
  if (switch_ && !seats_.empty())
    spdlog::info("switch {} ends, {} packets given up", config_.name, switch_->balance().held);
}

// Whether the process ends here, and how.
std::optional<int> wait_for_interfaces(const DaemonOptions& options, Duration patience) {
  const auto wanted = wanted_interfaces(options.config, std::getenv("CLAB_INTFS"));
  if (!wanted) {
    say("eddyd: ", wanted.problems());
    return kExitBadConfig;
  }
  const WaitResult result = wait_for_interfaces(wanted.value(), patience);
  if (result.end == WaitEnd::all_there) return std::nullopt;
  if (result.end == WaitEnd::signalled) {
    spdlog::info("ended while waiting for {}", result.missing);
    return kExitOk;
  }
  say("eddyd: ", {"not there after " + to_string(patience) + ": " + result.missing});
  return kExitFailure;
}

}  // namespace

int run_daemon(const DaemonOptions& options) {
  if (options.json_log) log_spdlog_as_json();
  control::make_default_log_printable();
  if (options.patience) {
    const auto ended = wait_for_interfaces(options, *options.patience);
    if (ended) return *ended;
  }
  Daemon daemon(options);
  const Problems problems = daemon.start();
  say("eddyd: ", problems);
  if (!problems.empty()) return kExitFailure;
  daemon.serve();
  daemon.drain();
  return kExitOk;
}

}  // namespace eddy
