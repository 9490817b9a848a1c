#include "testbed/switch_watch.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "switch/control/serve/client.h"
#include "switch/dataplane/state/counters.h"

namespace eddy::testbed {
namespace {

using control::Json;

Result<Json> ask(const SwitchSocket& socket, const Json& request) {
  // Longer than eddyctl waits: hosts and switches may share a CPU.
  const control::Patience patience{.give_up_ms = 5'000};
  Result<Json> answer = control::request_over_socket(socket.path, request, patience);
  if (!answer)
    return Result<Json>::failure(
        fmt::format("switch {}: {}", socket.name, answer.problems().front()));
  if (!answer->value("ok", false))
    return Result<Json>::failure(
        fmt::format("switch {}: it refused {}", socket.name, request.dump()));
  return answer->contains("result") ? (*answer)["result"] : Json::object();
}

Result<Json> rows_of(const SwitchSocket& socket, const char* report) {
  const Result<Json> result = ask(socket, {{"command", "show"}, {"report", report}, {"all", true}});
  if (!result) return result.problems();
  if (const Problems problems = control::check_report(result.value()); !problems.empty())
    return Result<Json>::failure(fmt::format("switch {}: {}", socket.name, problems.front()));
  return result.value().at("rows");
}

void add_named(const Json& row, std::span<const CounterInfo> infos,
               std::map<std::string, uint64_t>& sums) {
  for (const CounterInfo& info : infos) {
    const std::string name(info.name);
    sums[name] += row.value(name, uint64_t{0});
  }
}

struct Reports {
  Json ports, queues, pgs, pfc, drops;
};

Result<Reports> read(const SwitchSocket& socket) {
  Reports reports;
  const std::pair<const char*, Json*> all[] = {{"ports", &reports.ports},
                                               {"queues", &reports.queues},
                                               {"pgs", &reports.pgs},
                                               {"pfc", &reports.pfc},
                                               {"drops", &reports.drops}};
  for (const auto& [name, into] : all) {
    Result<Json> rows = rows_of(socket, name);
    if (!rows) return rows.problems();
    *into = std::move(*rows);
  }
  return reports;
}

void add_counters(const Reports& reports, lab::RunResult& result, lab::PauseScope& scope) {
  for (const Json& row : reports.ports) add_named(row, port_counter_infos(), result.counters);
  for (const Json& row : reports.queues) add_named(row, queue_counter_infos(), result.counters);
  for (const Json& row : reports.pgs) {
    add_named(row, pg_counter_infos(), result.counters);
    scope.pausing += row.value("pausing", "") == "yes" ? 1 : 0;
  }
  for (const Json& row : reports.pfc) add_named(row, pfc_counter_infos(), result.counters);
  for (const Json& row : reports.drops)
    result.counters["drops_" + row.value("reason", "")] +=
        row.value("dropped_packets", uint64_t{0});
  scope.switch_ports += reports.ports.size();
}

const Json* row_of(const Json& rows, const std::string& port) {
  const auto found =
      std::ranges::find_if(rows, [&](const Json& row) { return row.value("port", "") == port; });
  return found == rows.end() ? nullptr : &*found;
}

// Times that groups of a port began to pause who sends to it.
uint64_t pauses_by(const Reports& reports, const std::string& port) {
  uint64_t pauses = 0;
  for (const Json& row : reports.pfc)
    if (row.value("port", "") == port) pauses += row.value("pfc_tx_xon", uint64_t{0});
  for (const Json& row : reports.pgs)
    if (row.value("port", "") == port) pauses += row.value("pausing", "") == "yes" ? 1 : 0;
  return pauses;
}

// What one end of a link sent, by the reports of its switch.
lab::LinkSent sent_by(const Reports& reports, const std::string& port, int64_t dilation) {
  lab::LinkSent sent;
  if (const Json* row = row_of(reports.ports, port); row != nullptr) {
    sent.packets = row->value("tx_packets", uint64_t{0});
    sent.bytes = row->value("tx_bytes", uint64_t{0});
  }
  uint64_t paused = 0;
  for (const Json& row : reports.pfc)
    if (row.value("port", "") == port) paused += row.value("pfc_rx_paused_ps", uint64_t{0});
  sent.paused = Duration::picoseconds(static_cast<int64_t>(paused)) / dilation;
  return sent;
}

}  // namespace

Result<SwitchWatch::Down> SwitchWatch::ports_down() const {
  Down down;
  for (const SwitchSocket& socket : sockets_) {
    const Result<Json> rows = rows_of(socket, "ports");
    if (!rows) return rows.problems();
    for (const Json& row : rows.value())
      if (row.value("oper", "") != "up")
        down.ports.push_back(socket.name + " " + row.value("port", "?"));
  }
  return down;
}

Problems SwitchWatch::clear_counters() const {
  Problems problems;
  for (const SwitchSocket& socket : sockets_)
    if (const auto done = ask(socket, {{"command", "clear"}, {"what", "counters"}}); !done)
      problems.push_back(done.problems().front());
  return problems;
}

Result<SwitchWatch::Gap> SwitchWatch::poll_gap() const {
  Gap gap;
  for (const SwitchSocket& socket : sockets_) {
    const Result<Json> rows = rows_of(socket, "workers");
    if (!rows) return rows.problems();
    for (const Json& row : rows.value()) {
      const auto time = [&](const char* key) {
        return Duration::nanoseconds(static_cast<int64_t>(row.value(key, uint64_t{0})));
      };
      gap.p999 = std::max(gap.p999, time("poll_gap_p999_ns"));
      if (time("poll_gap_max_ns") <= gap.longest) continue;
      gap.longest = time("poll_gap_max_ns");
      gap.where = socket.name;
    }
  }
  return gap;
}

Result<lab::PauseScope> SwitchWatch::collect(int64_t dilation, lab::RunResult& result) const {
  lab::PauseScope scope;
  std::map<std::string, Reports> reports;
  for (const SwitchSocket& socket : sockets_) {
    Result<Reports> one = read(socket);
    if (!one) return one.problems();
    reports[socket.name] = std::move(*one);
  }
  for (const auto& [name, each] : reports) add_counters(each, result, scope);
  for (const lab::Topology::Host& host : topology_.hosts) {
    const config::SwitchConfig& at = topology_.switches[host.switch_index];
    if (const auto found = reports.find(at.name); found != reports.end())
      scope.of_hosts += pauses_by(found->second, at.ports[host.port.index()].name);
  }
  for (size_t i = 0; i < topology_.links.size(); ++i)
    for (const lab::Topology::End& end : {topology_.links[i].a, topology_.links[i].b}) {
      const config::SwitchConfig& at = topology_.switches[end.switch_index];
      const auto found = reports.find(at.name);
      if (found == reports.end()) continue;
      lab::LinkSent sent = sent_by(found->second, at.ports[end.port.index()].name, dilation);
      sent.link = i;
      sent.switch_index = end.switch_index;
      result.links.push_back(sent);
    }
  return scope;
}

}  // namespace eddy::testbed
