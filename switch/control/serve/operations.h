// Operations: what the control protocol does, without socket, thread or clock. Control locks and
// calls it.
//
// It keeps what the data plane does not: the last samples (rates), the baseline of the counters,
// the log of events, the configuration as loaded. Units: now_ns is control's monotonic clock. Owner
// and thread: one at a time. Source: docs/control.md.
#pragma once

#include <deque>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "config/config.h"
#include "config/plugin_source.h"
#include "net/result.h"
#include "switch/control/report/backend.h"
#include "switch/control/report/event_log.h"
#include "switch/control/report/json.h"
#include "switch/control/report/report.h"
#include "switch/control/report/shard_commands.h"
#include "switch/control/serve/captures.h"
#include "switch/control/serve/reload.h"
#include "switch/control/serve/reload_watch.h"
#include "switch/dataplane/object/switch.h"
#include "system/time_text.h"

namespace prometheus {
struct MetricFamily;
}

namespace eddy::control {

class Operations {
 public:
  struct Setup {
    std::string config_path;
    config::SwitchConfig running;  // as loaded, before scaled()
    std::function<void()> wait_for_shards;
    EventLog::Sink event_sink;
    int64_t now_ns = 0;
    ReloadWatch reload_watch{};
    config::PluginSource* plugins = nullptr;
    std::function<int64_t()> unix_ns = unix_now_ns;  // the wall clock
  };
  // Beside an answer, for a client that it is handed over to.
  struct Handover {
    std::vector<Fd> descriptors;
    bool captures = false;  // end_capture() is due when the client is gone
  };
  Operations(Switch& object, Backend& backend, Setup setup);

  // A request and its answer, both as in docs/control.md. Never throws; bad requests are answered.
  // `handover`: what goes with the answer; null: this caller takes nothing.
  Json handle(const Json& request, int64_t now_ns, Handover* handover = nullptr);
  void end_capture() { captures_.end(); }
  // The report, or {"error": ...}.
  Json show(Report report, const ReportOptions& options, int64_t now_ns);
  // What Prometheus collects, of a sample as show() takes one.
  std::vector<prometheus::MetricFamily> metrics(int64_t now_ns);
  // {"generation", "changes", "restarted", "added", "removed"}
  Result<Json> reload();
  // What it would do, as foretold() has it; nothing changes.
  Result<Json> check_reload();

  // Keeps a sample for rates; once a second.
  void sample(int64_t now_ns);
  void drain_events(int64_t now_ns);
  void reclaim() { object_.reclaim(); }

 private:
  Result<config::LoadedConfig> load() const;
  Result<Json> load_and_apply();
  Problems try_out(const config::SwitchConfig& next) const;
  Result<Json> put_in_force(const config::SwitchConfig& next, const ReloadPlan& plan);
  Result<uint64_t> put_in_place(const config::Seating& seating, Problems& late);
  void begin_port(PortId place);
  Problems restart_ports(const std::vector<PortId>& ports);
  Result<Json> dispatch(const Json& request, int64_t now_ns, Handover* handover);
  Result<Json> answer_capture(const Json& request, bool traces, Handover* handover);
  Result<Json> answer_explain(const Json& request);
  Result<Json> answer_show(const Json& request, int64_t now_ns);
  Result<FlowSurvey> survey_flows(const ReportOptions& options);
  Result<Json> answer_clear(const Json& request, int64_t now_ns);
  void clear_counters(Sample now, std::optional<PortId> only);
  Result<Json> answer_configuration() const;
  Result<Json> answer_reload(const Json& request);
  Result<Json> answer_set(const Json& request);
  Result<Json> set_tx(const std::string& name, size_t port, const std::string& tx);
  // Of the configuration in force, until the next reload.
  Result<Json> set_admin(size_t port, const std::string& state);
  Result<Json> set_pfcwd(const Json& keys, std::optional<size_t> port);
  Result<Json> put_set(const config::SwitchConfig& next);
  Sample take(int64_t now_ns);
  std::string name_of_port(const Event& event) const;
  const Sample* earlier(int64_t now_ns) const;

  Switch& object_;
  Backend& backend_;
  std::string config_path_;
  config::SwitchConfig running_;  // in force, before scaled()
  config::SwitchConfig loaded_;   // what the file said when it was last put in force
  ReloadWatch reload_watch_;
  config::PluginSource* plugins_;
  std::function<void()> wait_;
  ShardCommands commands_;
  Captures captures_;
  EventLog events_;
  int64_t started_at_ns_;
  uint64_t generation_ = 1;
  std::deque<Sample> samples_;  // ascending, at most kSamplesKept
  std::vector<PortNumbers> baseline_;
  std::vector<PortNumbers> origin_;  // by place: what the counters showed when its port came
  int64_t now_ns_;                   // of the last call that said it
  Values<DelayHistogram::kSteps> waits_baseline_{};
  std::function<int64_t()> unix_ns_;
  std::set<size_t> tx_off_;  // ports stopped by `set port P tx off`
};

}  // namespace eddy::control
