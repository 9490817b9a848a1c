#include "switch/control/serve/control.h"

#include <atomic>
#include <chrono>
#include <mutex>
#include <nlohmann/json.hpp>
#include <thread>
#include <utility>

#include "switch/control/report/metrics.h"
#include "switch/control/serve/log.h"
#include "switch/control/serve/metrics_server.h"
#include "switch/control/serve/operations.h"
#include "switch/control/serve/socket_server.h"
#include "switch/control/serve/telemetry.h"
#include "system/hostile_json.h"

namespace eddy::control {
namespace {

constexpr int kRoundMs = 50;  // longest wait of the thread; how late an event may be printed
constexpr int64_t kSampleNs = 1'000'000'000;
constexpr auto kShardWait = std::chrono::microseconds(100);

int64_t monotonic_ns() {
  const auto since_boot = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(since_boot).count();
}

std::string refusal(std::string_view why) {
  return Json{{"ok", false}, {"problems", Json::array({std::string(why)})}}.dump();
}

std::string socket_path_of(const ControlOptions& options) {
  if (!options.socket_path.empty()) return options.socket_path;
  const config::SwitchConfig& config = options.running;
  return config.control.socket.empty() ? default_socket_path(config.name) : config.control.socket;
}

}  // namespace

struct Control::State {
  State(Switch& object, Backend& backend, ControlOptions given);
  SocketServer::Answer answer(std::string_view line);
  void end_capture();
  void run();
  void reload_and_log();
  Problems serve_metrics();

  const std::string socket_path;
  const bool telemetry;
  const std::string metrics_address;
  Log log;
  std::mutex mutex;  // guards operations
  Operations operations;
  std::unique_ptr<SocketServer> server;
  std::unique_ptr<MetricsServer> metrics;
  std::thread thread;
  std::atomic<bool> stopping{false};
  std::atomic<bool> reload_requested{false};
  int64_t sampled_at_ns = 0;
};

Control::State::State(Switch& object, Backend& backend, ControlOptions given)
    : socket_path(socket_path_of(given)),
      telemetry(given.telemetry),
      metrics_address(given.running.telemetry.prometheus),
      log(given.log_format,
          [&object](PortId port) {
            const auto& ports = object.config().ports;
            return port.index() < ports.size() ? ports[port.index()].name : std::string();
          }),
      operations(object, backend,
                 {std::move(given.config_path), std::move(given.running),
                  given.wait_for_shards ? std::move(given.wait_for_shards)
                                        : [] { std::this_thread::sleep_for(kShardWait); },
                  [this](const LoggedEvent& logged) { log.event(logged); }, monotonic_ns(),
                  std::move(given.reload_watch), given.plugins}) {}

Control::Control(Switch& object, Backend& backend, ControlOptions options)
    : state_(std::make_unique<State>(object, backend, std::move(options))) {}

Control::~Control() {
  stop();
}

Problems Control::start() {
  const auto answer = [state = state_.get()](std::string_view line) { return state->answer(line); };
  auto server = SocketServer::open(state_->socket_path, answer, refusal, {});
  if (!server.ok()) return server.problems();
  if (Problems problems = state_->serve_metrics(); !problems.empty()) return problems;
  if (state_->telemetry) {
    Problems problems = set_telemetry_source([this](Report report, const ReportOptions& options) {
      const std::lock_guard lock(state_->mutex);
      return state_->operations.show(report, options, monotonic_ns());
    });
    if (!problems.empty()) return problems;
  }
  state_->server = std::move(*server);
  state_->thread = std::thread([state = state_.get()] { state->run(); });
  return {};
}

void Control::stop() {
  if (state_->server == nullptr) return;
  if (state_->telemetry) (void)set_telemetry_source({});
  state_->metrics.reset();
  state_->stopping = true;
  state_->server->wake();
  state_->thread.join();
  drain_events();
  state_->server.reset();
}

void Control::request_reload() {
  state_->reload_requested = true;
  if (state_->server != nullptr) state_->server->wake();
}

Problems Control::State::serve_metrics() {
  if (metrics_address.empty()) return {};
  auto made = MetricsServer::open(metrics_address, [this] {
    const std::lock_guard lock(mutex);
    return operations.metrics(monotonic_ns());
  });
  if (!made.ok()) return made.problems();
  metrics = std::move(*made);
  return {};
}

Json Control::handle(const Json& request) {
  const std::lock_guard lock(state_->mutex);
  return state_->operations.handle(request, monotonic_ns());
}

bool Control::try_alone(const std::function<void()>& work) {
  const std::unique_lock lock(state_->mutex, std::try_to_lock);
  if (lock.owns_lock()) work();
  return lock.owns_lock();
}

void Control::sample() {
  const std::lock_guard lock(state_->mutex);
  state_->operations.sample(monotonic_ns());
}

void Control::drain_events() {
  const std::lock_guard lock(state_->mutex);
  state_->operations.drain_events(monotonic_ns());
}

SocketServer::Answer Control::State::answer(std::string_view line) {
  const Result<Json> request = parse_json("the request", line, kAnswerBounds);
  if (!request) return refusal(request.problems().front());
  const std::lock_guard lock(mutex);
  Operations::Handover handover;
  SocketServer::Answer answer(operations.handle(request.value(), monotonic_ns(), &handover)
                                  .dump(-1, ' ', false, Json::error_handler_t::replace));
  answer.descriptors = std::move(handover.descriptors);
  if (handover.captures) {
    answer.lease = std::shared_ptr<void>(this, [this](void*) { end_capture(); });
    log.info("packets are captured");
  }
  return answer;
}

// Its client is gone.
void Control::State::end_capture() {
  const std::lock_guard lock(mutex);
  operations.end_capture();
  log.info("the capture has ended");
}

void Control::State::run() {
  while (!stopping) {
    server->serve(kRoundMs, monotonic_ns());
    if (reload_requested.exchange(false)) reload_and_log();
    const std::lock_guard lock(mutex);
    const int64_t now_ns = monotonic_ns();
    operations.drain_events(now_ns);
    operations.reclaim();
    if (now_ns - sampled_at_ns < kSampleNs) continue;
    operations.sample(now_ns);
    sampled_at_ns = now_ns;
  }
}

void Control::State::reload_and_log() {
  const std::lock_guard lock(mutex);
  const Result<Json> result = operations.reload();
  if (result.ok()) {
    log.info("reloaded: " + result.value().dump(-1, ' ', false, Json::error_handler_t::replace));
    return;
  }
  log.error("reload refused; the running configuration stays");
  for (const std::string& problem : result.problems()) log.error(problem);
}

}  // namespace eddy::control
