#include "switch/control/serve/operations.h"

#include <rte_version.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <utility>

#include "config/document.h"
#include "config/load.h"
#include "config/places.h"
#include "config/set_key.h"
#include "net/version.h"
#include "switch/control/report/metrics.h"
#include "switch/control/report/report_rows.h"
#include "switch/control/report/scheme_rows.h"
#include "switch/control/serve/place_change.h"
#include "switch/dataplane/state/snapshot.h"
#include "switch/explain/story.h"

namespace eddy::control {
namespace {

constexpr size_t kSamplesKept = 3;
constexpr size_t kFlowsShown = 50;  // unless asked for more
constexpr int64_t kShortestRateNs = 500'000'000;
constexpr const char* kCommands =
    "show, clear, reload, set, configuration, capture, explain, trace";

Result<Json> refused(std::string problem) {
  return Result<Json>::failure(std::move(problem));
}

// A member that is a string, or empty.
std::string text_of(const Json& request, const char* key) {
  const auto found = request.find(key);
  return found != request.end() && found->is_string() ? found->get<std::string>() : "";
}

std::string unknown(const std::string& what, const std::string& word, const std::string& valid) {
  return what + (word.empty() ? " missing" : " \"" + word + "\" unknown") + "; valid are " + valid;
}

std::string port_names(const config::SwitchConfig& config) {
  std::string names;
  for (const config::PortConfig& port : config.ports)
    if (!port.absent()) names += (names.empty() ? "" : ", ") + port.name;
  return names.empty() ? "none: the switch has no ports" : names;
}

// A regular file: one that another process feeds has no end.
Result<std::string> read_text_file(const std::string& path) {
  constexpr uintmax_t kMost = 16u << 20;
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error))
    return Result<std::string>::failure("\"" + path + "\" is no file");
  if (std::filesystem::file_size(path, error) > kMost)
    return Result<std::string>::failure(path + ": the file is longer than 16 MiB");
  std::ifstream stream(path, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  if (!stream) return Result<std::string>::failure(path + ": cannot be read");
  return text.str();
}

// What is wrong with the options, or empty.
std::string problem_of(Report report, const ReportOptions& options,
                       const config::SwitchConfig& config) {
  if (options.top && (*options.top == 0 || *options.top > kMostTop))
    return "top " + std::to_string(*options.top) + ": valid are 1 to " + std::to_string(kMostTop);
  if (!options.leaf) return "";
  if (report != Report::paths && report != Report::flows && report != Report::routes)
    return "show " + std::string(to_string(report)) +
           " cannot be asked by leaf; paths, flows and routes can";
  std::string valid;
  for (const config::LeafConfig& leaf : config.leaves) {
    if (leaf.id.index() == *options.leaf) return "";
    valid += (valid.empty() ? "" : ", ") + std::to_string(leaf.id.index());
  }
  return unknown("leaf", std::to_string(*options.leaf),
                 valid.empty() ? "none: the switch has no paths to leaves" : valid);
}

// Which watermarks a request to clear means.
Result<WatermarkScope> scope_of(const Json& request, const std::string& what, bool of_a_port) {
  using Scope = Result<WatermarkScope>;
  WatermarkScope scope;
  if (what == "persistent-watermarks")
    scope.kind = pfc::WatermarkKind::persistent;
  else if (what != "watermarks")
    return Scope::failure(unknown("what", what, join_words(clear_words())));
  if (!request.contains("kind")) return scope;
  const std::string kind = text_of(request, "kind");
  const std::span<const Word> words = watermark_words();
  const auto found = std::ranges::find(words, kind, &Word::name);
  if (found == words.end()) return Scope::failure(unknown("kind", kind, join_words(words)));
  scope.of = static_cast<uint8_t>(1u << (found - words.begin()));
  const size_t of_ports = static_cast<size_t>(WatermarkOf::pool);
  if (of_a_port && scope.of >> of_ports != 0)
    return Scope::failure(kind + " is of the whole switch, not of a port; of a port are " +
                          join_words(words.first(of_ports)));
  return scope;
}

Json problems_as_json(const Problems& problems) {
  Json out = Json::array();
  for (const std::string& problem : problems) out.push_back(problem);
  return out;
}

}  // namespace

Operations::Operations(Switch& object, Backend& backend, Setup setup)
    : object_(object),
      backend_(backend),
      config_path_(std::move(setup.config_path)),
      running_(std::move(setup.running)),
      loaded_(running_),
      reload_watch_(std::move(setup.reload_watch)),
      plugins_(setup.plugins),
      wait_(setup.wait_for_shards),
      commands_(object, std::move(setup.wait_for_shards)),
      captures_(object, commands_),
      events_(std::move(setup.event_sink)),
      started_at_ns_(setup.now_ns),
      origin_(object.port_count()),
      now_ns_(setup.now_ns),
      unix_ns_(std::move(setup.unix_ns)) {}

Json Operations::handle(const Json& request, int64_t now_ns, Handover* handover) {
  now_ns_ = now_ns;
  Json answer;
  // Only a scalar comes back: a deeply nested value would be copied and written recursively.
  if (request.is_object() && request.contains("id") && request["id"].is_primitive())
    answer["id"] = request["id"];
  Result<Json> result = dispatch(request, now_ns, handover);
  answer["ok"] = result.ok();
  if (result.ok())
    answer["result"] = std::move(*result);
  else
    answer["problems"] = problems_as_json(result.problems());
  return answer;
}

Result<Json> Operations::dispatch(const Json& request, int64_t now_ns, Handover* handover) {
  if (!request.is_object()) return refused("a request is one JSON object on one line");
  const std::string command = text_of(request, "command");
  if (command == "show") return answer_show(request, now_ns);
  if (command == "clear") return answer_clear(request, now_ns);
  if (command == "set") return answer_set(request);
  if (command == "reload") return answer_reload(request);
  if (command == "configuration") return answer_configuration();
  if (command == "capture" || command == "trace")
    return answer_capture(request, command == "trace", handover);
  if (command == "explain") return answer_explain(request);
  return refused(unknown("command", command, kCommands));
}

Result<Json> Operations::answer_show(const Json& request, int64_t now_ns) {
  const std::string word = text_of(request, "report");
  const auto report = parse_report(word);
  if (!report) return refused(unknown("report", word, join_words(report_words())));
  ReportOptions options;
  const auto all = request.find("all");
  options.all = all != request.end() && all->is_boolean() && all->get<bool>();
  if (request.contains("port")) options.port = text_of(request, "port");
  for (const auto& [key, into] : {std::pair("leaf", &options.leaf), {"top", &options.top}}) {
    if (!request.contains(key)) continue;
    const Json& value = request[key];
    if (!value.is_number_integer() || (!value.is_number_unsigned() && value.get<int64_t>() < 0))
      return refused(std::string(key) + " is no whole number");
    *into = value.get<uint64_t>();
  }
  Json value = show(*report, options, now_ns);
  if (value.contains("error")) return refused(text_of(value, "error"));
  return value;
}

Result<Json> Operations::answer_reload(const Json& request) {
  const auto check = request.find("check");
  if (check == request.end()) return reload();
  if (!check->is_boolean()) return refused("check is true or false");
  return check->get<bool>() ? check_reload() : reload();
}

// For eddyctl show config and techsupport: what runs, and what the file says now, which reload()
// would apply.
Result<Json> Operations::answer_configuration() const {
  Json out{{"switch", running_.name},
           {"version", version_line("eddyd")},
           {"dpdk", rte_version()},
           {"generation", generation_},
           {"in_force", config::print_config(running_)},
           {"brief", config::print_brief(running_)},
           {"set", changes_as_json(config::diff(loaded_, running_))},
           {"path", config_path_}};
  const Result<std::string> file = read_text_file(config_path_);
  if (file.ok())
    out["file"] = file.value();
  else
    out["file_problem"] = file.problems().front();
  return out;
}

Json Operations::show(Report report, const ReportOptions& options, int64_t now_ns) {
  const config::SwitchConfig& config = object_.config();
  if (options.port && port_position(config, *options.port) == config.ports.size())
    return Json{{"error", unknown("port", *options.port, port_names(config))}};
  if (const std::string wrong = problem_of(report, options, config); !wrong.empty())
    return Json{{"error", wrong}};
  std::vector<NeighborRow> neighbors;
  if (report == Report::neighbors || report == Report::isolated) {
    Result<std::vector<NeighborRow>> rows = commands_.neighbors();
    if (!rows.ok()) return Json{{"error", rows.problems().front()}};
    neighbors = std::move(*rows);
  }
  std::vector<PathRow> paths;
  if (report == Report::paths) {
    Result<std::vector<PathRow>> rows = commands_.paths();
    if (!rows.ok()) return Json{{"error", rows.problems().front()}};
    paths = std::move(*rows);
  }
  std::vector<IsolatedRow> isolated;
  if (report == Report::isolated) {
    Result<std::vector<IsolatedRow>> rows = commands_.isolated();
    if (!rows.ok()) return Json{{"error", rows.problems().front()}};
    isolated = std::move(*rows);
  }
  FlowSurvey flows;
  if (report == Report::flows) {
    Result<FlowSurvey> survey = survey_flows(options);
    if (!survey.ok()) return Json{{"error", survey.problems().front()}};
    flows = std::move(*survey);
  }
  if (report == Report::events) drain_events(now_ns);
  std::vector<SchemeParameterRow> schemes;
  if (report == Report::schemes) schemes = scheme_parameter_rows(running_.load_balancer);
  const Sample now = take(now_ns);
  const ReportInput input{.config = config,
                          .now = now,
                          .earlier = earlier(now_ns),
                          .baseline = baseline_,
                          .waits_baseline = &waits_baseline_,
                          .neighbors = neighbors,
                          .paths = paths,
                          .flows = &flows,
                          .isolated = isolated,
                          .schemes = schemes,
                          .events = events_.kept(),
                          .generation = generation_,
                          .started_at_ns = started_at_ns_};
  return make_report(report, input, options);
}

std::vector<prometheus::MetricFamily> Operations::metrics(int64_t now_ns) {
  const Sample now = take(now_ns);
  return metrics_of({.config = object_.config(),
                     .now = now,
                     .generation = generation_,
                     .started_at_ns = started_at_ns_});
}

// By the configuration in force: a row of another one is of no leaf of this.
Result<FlowSurvey> Operations::survey_flows(const ReportOptions& options) {
  const auto& leaves = object_.config().leaves;
  const auto wants = [&](const FlowRow& row) {
    if (options.leaf && (row.leaf.is_none() || row.leaf.index() != *options.leaf)) return false;
    if (!options.port) return true;
    const config::PathConfig* path = path_of(leaves, row, row.member);
    return path != nullptr && path->port == *options.port;
  };
  return commands_.flows(wants, options.top.value_or(kFlowsShown));
}

Result<Json> Operations::answer_clear(const Json& request, int64_t now_ns) {
  const config::SwitchConfig& config = object_.config();
  const std::string what = text_of(request, "what");
  std::optional<PortId> only;
  if (request.contains("port")) {
    const std::string name = text_of(request, "port");
    only = PortId(port_position(config, name));
    if (only->index() == config.ports.size())
      return refused(unknown("port", name, port_names(config)));
  }
  if (what == "counters") {
    if (request.contains("kind")) return refused("counters have no kinds, watermarks have");
    clear_counters(take(now_ns), only);
    return Json{{"cleared", what}};
  }
  Result<WatermarkScope> scope = scope_of(request, what, only.has_value());
  if (!scope.ok()) return scope.problems();
  Problems problems = commands_.clear_watermarks(only.value_or(PortId::none()), *scope);
  if (!problems.empty()) return problems;
  Json done{{"cleared", what}};
  if (request.contains("kind")) done["kind"] = request["kind"];
  return done;
}

// Of one port, or all there is.
void Operations::clear_counters(Sample now, std::optional<PortId> only) {
  if (!only) {
    baseline_ = std::move(now.numbers);
    waits_baseline_ = now.waits;
    return;
  }
  baseline_.resize(now.numbers.size());
  baseline_[only->index()] = now.numbers[only->index()];
}

Result<Json> Operations::answer_set(const Json& request) {
  const config::SwitchConfig& config = object_.config();
  const bool of_all = request.contains("pfcwd") && !request.contains("port");
  const std::string name = text_of(request, "port");
  const size_t port = port_position(config, name);
  if (!of_all && port == config.ports.size())
    return refused(unknown("port", name, port_names(config)));
  if (request.contains("pfcwd"))
    return set_pfcwd(request["pfcwd"], of_all ? std::nullopt : std::optional(port));
  if (request.contains("admin")) return set_admin(port, text_of(request, "admin"));
  return set_tx(name, port, text_of(request, "tx"));
}

Result<Json> Operations::set_tx(const std::string& name, size_t port, const std::string& tx) {
  if (tx != "on" && tx != "off") return refused(unknown("tx", tx, "on, off"));
  const ShardId owner(static_cast<size_t>(object_.config().ports[port].worker));
  Problems problems = commands_.set_port_tx(PortId(port), owner, tx == "on");
  if (!problems.empty()) return problems;
  if (tx == "on")
    tx_off_.erase(port);
  else
    tx_off_.insert(port);
  return Json{{"port", name}, {"tx", tx}};
}

Result<Json> Operations::set_admin(size_t port, const std::string& state) {
  if (state != "up" && state != "down") return refused(unknown("admin", state, "up, down"));
  config::SwitchConfig next = running_;
  const std::string& name = object_.config().ports[port].name;
  next.ports[config::place_of(next, name)].admin_up = state == "up";
  return put_set(next);
}

// {"detection_time": "300ms", ...}: keys of `watchdog`, with values as in a file; all or none.
Result<Json> Operations::set_pfcwd(const Json& keys, std::optional<size_t> port) {
  if (!keys.is_object() || keys.empty())
    return refused("pfcwd is an object of keys and values, as {\"detection_time\": \"300ms\"}");
  const std::string section = port ? "ports." + object_.config().ports[*port].name + ".watchdog."
                                   : "port_defaults.watchdog.";
  config::SwitchConfig next = running_;
  Problems problems;
  for (const auto& [key, value] : keys.items()) {
    if (!value.is_string()) {
      problems.push_back("pfcwd " + key + ": its value is no text");
      continue;
    }
    const Problems wrong = config::set_key(next, section + key, value.get<std::string>());
    problems.insert(problems.end(), wrong.begin(), wrong.end());
  }
  if (!problems.empty()) return problems;
  return put_set(next);
}

// Of keys classed `hot` alone.
Result<Json> Operations::put_set(const config::SwitchConfig& next) {
  Result<config::Seating> seating = config::seated_like(config::scaled(next), object_.config());
  if (!seating.ok()) return seating.problems();
  return put_in_force(next, {.changes = config::diff(running_, next),
                             .seating = std::move(*seating),
                             .restarts = {},
                             .problems = {}});
}

Result<Json> Operations::answer_capture(const Json& request, bool traces, Handover* handover) {
  if (handover == nullptr)
    return refused(std::string(traces ? "a trace" : "a capture") +
                   " is handed over on the control socket alone");
  Result<Captures::Begun> begun = traces ? captures_.begin_trace(request, backend_.now())
                                         : captures_.begin(request, backend_.now());
  if (!begun.ok()) return begun.problems();
  handover->descriptors = std::move(begun->descriptors);
  handover->captures = true;
  return std::move(begun->answer);
}

Result<Json> Operations::answer_explain(const Json& request) {
  const config::SwitchConfig& config = object_.config();
  const Result<explain::Description> packet =
      explain::read_description(text_of(request, "packet"), config);
  if (!packet.ok()) return packet.problems();
  const Result<Explanation> explanation = commands_.explain(packet.value());
  if (!explanation.ok()) return explanation.problems();
  return explain::story_of(explanation.value(), explain::Names::of(config));
}

Result<Json> Operations::reload() {
  reload_watch_.begins();
  Result<Json> result = load_and_apply();
  reload_watch_.ends(result.ok() ? "generation " + std::to_string(generation_) + " is in force"
                                 : "refused, " + result.problems().front());
  return result;
}

Result<config::LoadedConfig> Operations::load() const {
  return config::load_file(config_path_, config::Purpose::daemon, plugins_);
}

Result<Json> Operations::check_reload() {
  Result<config::LoadedConfig> loaded = load();
  if (!loaded.ok()) return loaded.problems();
  ReloadPlan plan = plan_reload(running_, object_.config(), *loaded, backend_);
  if (plan.problems.empty() && !plan.changes.empty()) plan.problems = try_out(plan.seating.config);
  Json out = foretold(plan, object_.config());
  out["generation"] = generation_;
  return out;
}

// What the data plane would make of it, made and thrown away.
Problems Operations::try_out(const config::SwitchConfig& next) const {
  const auto tried = Snapshot::build(next, {.shards = object_.shard_count()}, nullptr);
  return tried.ok() ? Problems{} : tried.problems();
}

Result<Json> Operations::load_and_apply() {
  Result<config::LoadedConfig> loaded = load();
  if (!loaded.ok()) return loaded.problems();
  ReloadPlan plan = plan_reload(running_, object_.config(), *loaded, backend_);
  if (!plan.problems.empty()) return std::move(plan.problems);
  Result<Json> done = put_in_force(loaded->config, plan);
  if (running_ == loaded->config) loaded_ = loaded->config;
  return done;
}

Result<Json> Operations::put_in_force(const config::SwitchConfig& next, const ReloadPlan& plan) {
  const config::Seating& seating = plan.seating;
  Json done{{"changes", changes_as_json(plan.changes)},
            {"restarted", names_of_ports(plan.restarts, seating.config)},
            {"removed", names_of_ports(seating.removed, object_.config())},
            {"added", names_of_ports(seating.added, seating.config)}};
  if (!plan.changes.empty()) {
    Problems problems;
    Result<uint64_t> generation = put_in_place(seating, problems);
    if (!generation.ok()) return generation.problems();
    generation_ = *generation;
    running_ = next;
    for (size_t place = 0; place < seating.config.ports.size(); ++place)
      if (const config::PortConfig& port = seating.config.ports[place]; !port.absent())
        backend_.set_admin_up(PortId(place), port.admin_up);
    for (std::string& problem : restart_ports(plan.restarts))
      problems.push_back(std::move(problem));
    for (std::string& problem : problems)
      problem.insert(0, "generation " + std::to_string(generation_) + " is in force, but ");
    if (!problems.empty()) return problems;
  }
  done["generation"] = generation_;
  return done;
}

Result<uint64_t> Operations::put_in_place(const config::Seating& seating, Problems& late) {
  if (seating.added.empty() && seating.removed.empty()) return object_.reconfigure(seating.config);
  if (Problems problems = try_out(seating.config); !problems.empty()) return problems;
  PlaceChange change(object_, backend_,
                     {.meet = [this] { return commands_.meet(); },
                      .wait = wait_,
                      .settled =
                          [&] {
                            drain_events(now_ns_);  // of a port that goes, by its name
                            for (const PortId place : seating.added) begin_port(place);
                          }});
  Result<uint64_t> generation = change.apply(seating);
  if (!generation.ok()) return generation;
  for (const PortId place : seating.removed) begin_port(place);
  late = change.late_problems();
  return generation;
}

// Nothing of the port that had the place before is shown of the one that has it now.
void Operations::begin_port(PortId place) {
  const size_t index = place.index();
  PortNumbers sum;
  for (size_t s = 0; s < object_.shard_count(); ++s)
    sum += read_numbers(object_.counters(ShardId(s)), place);
  origin_[index] = sum;
  if (index < baseline_.size()) baseline_[index] = {};
  for (Sample& sample : samples_) sample.numbers[index] = {};
  tx_off_.erase(index);
}

Problems Operations::restart_ports(const std::vector<PortId>& ports) {
  Problems problems;
  for (const PortId port : ports) {
    const config::PortConfig& config = object_.config().ports[port.index()];
    for (const std::string& problem : backend_.restart_port(port, config))
      problems.push_back("port " + config.name + " does not run: " + problem);
  }
  return problems;
}

void Operations::sample(int64_t now_ns) {
  samples_.push_back(take(now_ns));
  if (samples_.size() > kSamplesKept) samples_.pop_front();
}

std::string Operations::name_of_port(const Event& event) const {
  const std::vector<config::PortConfig>& ports = object_.config().ports;
  return event.port.index() < ports.size() ? ports[event.port.index()].name : "";
}

void Operations::drain_events(int64_t now_ns) {
  now_ns_ = now_ns;
  const int64_t clock_now_ns = backend_.now().since_zero().ns();
  const int64_t unix_ns = unix_ns_();
  Event event;
  for (size_t s = 0; s < object_.shard_count(); ++s)
    while (object_.events(ShardId(s)).pop(event)) {
      const int64_t age_ns = clock_now_ns - event.at.since_zero().ns();
      // The clock may be anew.
      events_.add(event, now_ns, unix_ns - std::max<int64_t>(age_ns, 0), name_of_port(event));
    }
  events_.flush(now_ns);
}

Sample Operations::take(int64_t now_ns) {
  Sample sample = take_sample(object_, backend_, now_ns);
  for (size_t port = 0; port < sample.numbers.size(); ++port)
    sample.numbers[port] = sample.numbers[port] - origin_[port];
  for (const size_t port : tx_off_)
    if (port < sample.ports.size()) sample.ports[port].tx_on = false;
  return sample;
}

const Sample* Operations::earlier(int64_t now_ns) const {
  const auto old_enough = std::find_if(samples_.rbegin(), samples_.rend(), [&](const Sample& s) {
    return now_ns - s.at_ns >= kShortestRateNs;
  });
  return old_enough == samples_.rend() ? nullptr : &*old_enough;
}

}  // namespace eddy::control
