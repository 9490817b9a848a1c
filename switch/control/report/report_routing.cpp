// Reports of forwarding and of the process: paths, schemes, workers, neighbors, routes, events.
#include <algorithm>

#include "switch/control/report/report_rows.h"
#include "system/time_text.h"

namespace eddy::control {
namespace {

bool wanted(const ReportOptions& options, const std::string& port) {
  return !options.port || *options.port == port;
}
bool wanted(const ReportOptions& options, LeafId leaf) {
  return !options.leaf || *options.leaf == leaf.index();
}

const PortState* state_of(const ReportInput& input, const std::string& port) {
  const size_t position = port_position(input.config, port);
  return position < input.now.ports.size() ? &input.now.ports[position] : nullptr;
}

bool is_live(const ReportInput& input, const std::string& port) {
  const PortState* state = state_of(input, port);
  return state != nullptr && state->up;
}

size_t live_paths(const ReportInput& input, LeafId leaf) {
  for (const config::LeafConfig& entry : input.config.leaves)
    if (entry.id == leaf)
      return static_cast<size_t>(
          std::count_if(entry.paths.begin(), entry.paths.end(),
                        [&](const config::PathConfig& p) { return is_live(input, p.port); }));
  return 0;
}

std::string path_text(const config::PathConfig& path, size_t position) {
  const size_t id = path.path_id ? path.path_id->index() : position << 8 | 0xff;
  const size_t second = id & 0xff;
  return std::to_string(id >> 8) + (second == 0xff ? "" : "." + std::to_string(second));
}

std::string hex(uint64_t value) {
  std::string text(16, '0');
  for (size_t i = text.size(); i-- > 0; value >>= 4) text[i] = "0123456789abcdef"[value & 0xF];
  return text;
}

uint64_t percent(uint64_t part, uint64_t whole) {
  return whole == 0 ? 0 : static_cast<uint64_t>(static_cast<unsigned __int128>(part) * 100 / whole);
}

std::string queues_text(uint8_t queues) {
  std::string text;
  for (size_t queue = 0; queue < kPriorities; ++queue)
    if ((queues >> queue & 1) != 0) text += (text.empty() ? "" : ",") + std::to_string(queue);
  return text.empty() ? "no" : text;
}

std::string failure_text(const PathRow& path) {
  switch (path.failure) {
    case lb::PathFailure::none:
      return "";
    case lb::PathFailure::silent:
      return "failed, " + std::to_string(path.unanswered) + " unanswered";
    case lb::PathFailure::forced:
      return "failed, slow without load";
    case lb::PathFailure::rounds:
      return "failed, too many rounds for it";
  }
  return "";
}

// What keeps packets off the path, the worst first; empty: nothing does.
std::string why_text(const PathRow& path, bool live) {
  if (!live) return "port down";
  if (path.failed) return failure_text(path) + (path.last ? ", but the last" : "");
  if (path.paused != 0) return "paused by PFC";
  if (path.warned != 0) return "warned, severity " + std::to_string(path.severity);
  return path.unanswered > 0 ? std::to_string(path.unanswered) + " unanswered" : "";
}

void put_measured(Json& row, const PathRow& path) {
  const auto ns = [](Duration time) { return static_cast<uint64_t>(time.ns()); };
  if (path.measured) row["delay_ns"] = ns(path.delay);
  if (path.least_delay != Duration{}) row["least_delay_ns"] = ns(path.least_delay);
  if (path.measured) row["age_ns"] = ns(path.age);
  if (path.least_delay != Duration{}) {
    row["ecn_percent"] = percent(path.marked, UINT16_MAX);
    row["utilisation_percent"] = percent(path.congestion, UINT8_MAX);
  }
  row["unanswered"] = uint64_t{path.unanswered};
  row["warned"] = queues_text(path.warned);
  row["paused"] = queues_text(path.paused);
  row["failed"] = yes_no(path.failed);
  row["why"] = why_text(path, path.live);
}

void put_told(Json& row, const lb::PathKnowledge& told) {
  if (told.best) row["best"] = yes_no(*told.best);
  if (told.utilisation) row["told_percent"] = percent(*told.utilisation, UINT8_MAX);
  if (told.age) row["told_age_ns"] = static_cast<uint64_t>(told.age->ns());
  if (told.busy) row["busy_ns"] = static_cast<uint64_t>(told.busy->ns());
}

// `measured`: null where the workers were not asked, or have another configuration yet.
Json path_row(const ReportInput& input, const config::LeafConfig& leaf, size_t member,
              const PathRow* measured) {
  const config::PathConfig& path = leaf.paths[member];
  Json row;
  row["leaf"] = leaf.id.index();
  row["member"] = member;
  row["port"] = path.port;
  row["path"] = path_text(path, member);
  row["weight"] = static_cast<uint64_t>(path.weight);
  row["live"] = yes_no(is_live(input, path.port));
  if (measured != nullptr && measured->leaf == leaf.id && measured->member == member) {
    put_measured(row, *measured);
    put_told(row, measured->told);
  }
  const size_t position = port_position(input.config, path.port);
  if (position >= input.now.ports.size()) return row;
  const PortReader port(input, position);
  uint64_t queued = 0;
  for (const uint32_t bytes : port.state().queued_bytes) queued += bytes;
  row["queued_bytes"] = queued;
  row["dre_bytes"] = port.state().dre_bytes;
  put_rate(row, "tx_bps", port.rate(port.since_earlier()[PortCounter::tx_bytes] * 8));
  row["tx_packets"] = port.since_baseline()[PortCounter::tx_packets];
  row["tx_bytes"] = port.since_baseline()[PortCounter::tx_bytes];
  return row;
}

}  // namespace

Json path_rows(const ReportInput& input, const ReportOptions& options) {
  Json rows = Json::array();
  size_t at = 0;
  for (const config::LeafConfig& leaf : input.config.leaves)
    for (size_t i = 0; i < leaf.paths.size(); ++i, ++at) {
      const PathRow* measured = at < input.paths.size() ? &input.paths[at] : nullptr;
      if (wanted(options, leaf.paths[i].port) && wanted(options, leaf.id))
        rows.push_back(path_row(input, leaf, i, measured));
    }
  return rows;
}

const config::PathConfig* path_of(const std::vector<config::LeafConfig>& leaves, const FlowRow& row,
                                  size_t member) {
  if (row.set >= leaves.size() || leaves[row.set].id != row.leaf) return nullptr;
  const auto& paths = leaves[row.set].paths;
  return member < paths.size() ? &paths[member] : nullptr;
}

Json flow_rows(const ReportInput& input, const ReportOptions&) {
  Json rows = Json::array();
  if (input.flows == nullptr) return rows;
  for (const FlowRow& flow : input.flows->rows) {
    Json row;
    row["flow"] = hex(flow.flow);
    row["worker"] = static_cast<uint64_t>(flow.worker);
    if (!flow.leaf.is_none()) row["leaf"] = flow.leaf.index();
    row["member"] = static_cast<uint64_t>(flow.member);
    if (!flow.slot) row["wanted_member"] = static_cast<uint64_t>(flow.wanted);
    if (const auto* path = path_of(input.config.leaves, flow, flow.member)) {
      row["port"] = path->port;
      row["path"] = path_text(*path, flow.member);
    }
    if (const auto* path = path_of(input.config.leaves, flow, flow.wanted);
        path != nullptr && !flow.slot)
      row["wanted_port"] = path->port;
    if (flow.slot)
      row["shared"] = yes_no(flow.shared);
    else
      row["moved"] = yes_no(flow.member != flow.wanted);
    row["proven"] = yes_no(flow.guarded);
    row["idle_ns"] = static_cast<uint64_t>(flow.idle.ns());
    rows.push_back(std::move(row));
  }
  return rows;
}

void put_flow_tables(Json& report, const ReportInput& input) {
  if (input.flows == nullptr) return;
  report["matching_flows"] = input.flows->matching;
  report["watched_flows"] = input.flows->watched;
  report["watched_places"] = input.flows->places;
  report["guard"] = config::kGuardModeNames[static_cast<size_t>(input.config.rlb.guard.mode)];
  report["scheme"] = input.config.load_balancer.scheme;
  report["scheme_flows"] = input.flows->scheme_flows;
  report["scheme_places"] = input.flows->scheme_places;
  if (input.flows->phased) {
    report["scheme_asking"] = input.flows->asking;
    report["scheme_moved"] = input.flows->moved;
  }
  uint64_t replaced = 0, placeless = 0;
  for (size_t p = 0; p < input.config.ports.size() && p < input.now.numbers.size(); ++p) {
    const PortReader port(input, p);
    replaced += port.since_baseline()[PortCounter::guard_replaced_flows];
    placeless += port.since_baseline()[PortCounter::guard_placeless_packets];
  }
  report["guard_replaced_flows"] = replaced;
  report["guard_placeless_packets"] = placeless;
}

void put_plugin(Json& report, const ReportInput& input) {
  const config::LoadedScheme* loaded = input.config.load_balancer.loaded;
  if (loaded == nullptr) return;
  report["plugin"] = loaded->file;
  report["plugin_version"] = loaded->version;
  report["plugin_sha256"] = loaded->sha256;
  if (loaded->trouble->selectors.load(std::memory_order_relaxed) == 0) return;
  const bool written = loaded->trouble->written.load(std::memory_order_acquire);
  report["failed"] = written ? std::string(loaded->trouble->what.data()) : "unknown";
}

Json scheme_rows(const ReportInput& input, const ReportOptions& options) {
  Json rows = Json::array();
  const config::LoadBalancerConfig& in_force = input.config.load_balancer;
  for (const SchemeParameterRow& parameter : input.schemes) {
    const bool active = parameter.scheme == in_force.scheme;
    if (!options.all && !active) continue;
    Json row;
    row["scheme"] = parameter.scheme;
    row["active"] = yes_no(active);
    if (!parameter.name.empty()) {
      row["parameter"] = parameter.name;
      const auto set = in_force.parameters.find(parameter.name);
      const bool is_set = active && set != in_force.parameters.end();
      if (active) row["value"] = is_set ? set->second : parameter.default_value;
      row["default"] = parameter.default_value;
      row["unit"] = parameter.unit;
      row["range"] = parameter.range;
      row["help"] = parameter.help;
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

Json worker_rows(const ReportInput& input, const ReportOptions&) {
  Json rows = Json::array();
  const std::vector<WorkerStats> none;
  const auto& earlier = input.earlier == nullptr ? none : input.earlier->workers;
  for (size_t i = 0; i < input.now.workers.size(); ++i) {
    const WorkerStats& worker = input.now.workers[i];
    Json row;
    row["worker"] = static_cast<uint64_t>(worker.worker);
    if (worker.lcore >= 0) row["lcore"] = static_cast<uint64_t>(worker.lcore);
    if (worker.cpu >= 0) row["cpu"] = static_cast<uint64_t>(worker.cpu);
    std::string ports;
    for (const config::PortConfig& port : input.config.ports)
      if (port.worker == worker.worker && !port.absent())
        ports += (ports.empty() ? "" : ",") + port.name;
    row["ports"] = ports;
    row["polls"] = worker.polls;
    row["empty_polls"] = worker.empty_polls;
    row["packets"] = worker.packets;
    if (i < earlier.size() && worker.total_cycles > earlier[i].total_cycles)
      row["busy_percent"] = percent(worker.busy_cycles - earlier[i].busy_cycles,
                                    worker.total_cycles - earlier[i].total_cycles);
    row["poll_gap_p999_ns"] = worker.poll_gap_p999_ns;
    row["poll_gap_max_ns"] = worker.poll_gap_max_ns;
    row["poll_gap_limit_ns"] = static_cast<uint64_t>(input.config.effective_poll_gap().ns());
    rows.push_back(std::move(row));
  }
  return rows;
}

Json neighbor_rows(const ReportInput& input, const ReportOptions& options) {
  Json rows = Json::array();
  for (const NeighborRow& neighbor : input.neighbors) {
    const size_t port = neighbor.port.index();
    const std::string name = port < input.config.ports.size() ? input.config.ports[port].name : "";
    if (!wanted(options, name)) continue;
    Json row;
    row["address"] = to_string(neighbor.address);
    row["mac"] = to_string(neighbor.mac);
    row["port"] = name;
    row["type"] = neighbor.is_static ? "static" : "learned";
    row["state"] = neighbor.lost ? "lost" : "reachable";
    if (!neighbor.is_static) row["age_ns"] = static_cast<uint64_t>(neighbor.age.ns());
    rows.push_back(std::move(row));
  }
  return rows;
}

Json route_rows(const ReportInput& input, const ReportOptions& options) {
  Json rows = Json::array();
  for (const config::PortConfig& port : input.config.ports)
    for (const IpPrefix& address : port.addresses)
      if (wanted(options, port.name) && !options.leaf)
        rows.push_back({{"prefix", to_string(address.network())},
                        {"type", "connected"},
                        {"port", port.name},
                        {"live", yes_no(is_live(input, port.name))}});
  for (const config::RouteConfig& route : input.config.routes) {
    if (!wanted(options, route.port.value_or(""))) continue;
    if (!wanted(options, route.leaf.value_or(LeafId::none()))) continue;
    Json row{{"prefix", to_string(route.prefix)}, {"type", "static"}};
    if (route.port) {
      row["port"] = *route.port;
      row["live"] = yes_no(is_live(input, *route.port));
    }
    if (route.leaf) {
      const size_t live = live_paths(input, *route.leaf);
      row["leaf"] = route.leaf->index();
      row["live_paths"] = live;
      row["live"] = yes_no(live > 0);
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

Json event_rows(const ReportInput& input, const ReportOptions& options) {
  Json rows = Json::array();
  // The newest first.
  for (auto each = input.events.rbegin(); each != input.events.rend(); ++each) {
    const LoggedEvent& logged = *each;
    const Event& event = logged.event;
    const size_t port = event.port.index();
    const std::string name = !logged.port.empty()               ? logged.port
                             : port < input.config.ports.size() ? input.config.ports[port].name
                                                                : "";
    if (options.port && *options.port != name) continue;
    Json row;
    row["number"] = logged.number;
    row["at_ns"] = static_cast<uint64_t>(std::max<int64_t>(0, event.at_ns()));
    if (logged.unix_ns > 0) row["time"] = time_text(logged.unix_ns);
    row["event"] = std::string(to_string(event.kind));
    if (!name.empty()) row["port"] = name;
    row["prio"] = event.priority.index();
    if (const std::string path = path_text_of(event); !path.empty()) row["path"] = path;
    row["value"] = event.value;
    if (logged.suppressed > 0) row["suppressed"] = logged.suppressed;
    row["help"] = std::string(help_of(event.kind));
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace eddy::control
