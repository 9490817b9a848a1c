// Control: the part of a running switch that people and programs talk to. Reports, changes,
// reloads, events.
//
// It owns one thread, which serves the Unix socket, drains the event rings, samples once a second
// and reclaims old snapshots; between those it sleeps in poll(). DPDK's telemetry threads enter
// through show(). Every entry takes one mutex, so the Switch sees a single control thread. Nothing
// here runs on a worker, and no client can make a worker wait. Source: architecture, sections 6
// and 8.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "config/config.h"
#include "config/plugin_source.h"
#include "net/result.h"
#include "switch/control/report/backend.h"
#include "switch/control/report/json.h"
#include "switch/control/serve/log_format.h"
#include "switch/control/serve/reload_watch.h"

namespace eddy {
class Switch;
}

namespace eddy::control {

struct ControlOptions {
  std::string config_path;                  // what reload() reads
  config::PluginSource* plugins = nullptr;  // for what it names
  config::SwitchConfig running;  // as loaded, before scaled(): what the Switch was created from
  std::string socket_path;       // empty = control.socket, else /run/eddy/<name>.sock
  LogFormat log_format = LogFormat::console;  // of events
  ReloadWatch reload_watch;
  bool telemetry = true;  // register /eddy/... commands
  // Called while control waits for a shard to carry out a command. Default: sleep 100 us. A
  // single-threaded test polls its shards here.
  std::function<void()> wait_for_shards;
};

class Control {
 public:
  Control(Switch& object, Backend& backend, ControlOptions options);
  ~Control();  // stop()

  // Binds the socket, registers telemetry, starts the thread. Problems: one clear line each.
  [[nodiscard]] Problems start();
  void stop();

  // Async-signal-safe: for a SIGHUP handler. The thread reloads soon after.
  void request_reload();

  // One request of the protocol (docs/control.md) and its answer. Any thread but workers.
  Json handle(const Json& request);
  // Runs `work` while nothing of control looks at the Switch, or not at all: false, it is busy.
  // Any thread but workers; `work` calls nothing of Control.
  [[nodiscard]] bool try_alone(const std::function<void()>& work);
  // As the thread does once a second and at each wake-up; tests call them instead of start().
  void sample();
  void drain_events();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace eddy::control
