#include "switch/control/ctl/health.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace eddy::control {
namespace {

constexpr Word kChoices[] = {
    {"fabric", "those to other switches"},
    {"all", "those to hosts as well"},
    {"none", "none: workers alone count"},
};

std::string worker_text(const Json& worker, int waited_ms) {
  const std::string ports = worker.value("ports", "");
  return "worker " + std::to_string(worker.value("worker", uint64_t{0})) +
         " stands still: it has not polled for " + std::to_string(waited_ms) + " ms" +
         (ports.empty() ? "" : " (ports " + ports + ")");
}

std::string ports_text(const Health::Ports& ports, const char* role) {
  return std::to_string(ports.up) + " of " + std::to_string(ports.all) + " " + role + " ports";
}

}  // namespace

std::span<const Word> port_choice_words() {
  return kChoices;
}

std::optional<PortChoice> parse_port_choice(std::string_view word) {
  for (size_t i = 0; i < std::size(kChoices); ++i)
    if (kChoices[i].name == word) return static_cast<PortChoice>(i);
  return std::nullopt;
}

void judge_ports(const Json& report, PortChoice choice, Health& health) {
  for (const Json& row : report.at("rows")) {
    if (row.value("admin", "") == "down") continue;
    const bool is_host = row.value("role", "") == "host";
    const std::string oper = row.value("oper", "");
    Health::Ports& ports = is_host ? health.host : health.fabric;
    ++ports.all;
    if (oper == "up") ++ports.up;
    const bool counts = choice == PortChoice::all || (choice == PortChoice::fabric && !is_host);
    if (oper == "up" || !counts) continue;
    const std::string port =
        std::string(is_host ? "host" : "fabric") + " port " + row.value("port", "");
    health.problems.push_back(
        port + (oper == "no_peer"
                    ? " has no peer: its link is up, but no switch has named itself behind it"
                    : " is down"));
  }
}

void judge_scheme(const Json& report, Health& health) {
  if (!report.contains("failed")) return;
  health.problems.push_back("the scheme of plugin " + report.value("plugin", "") +
                            " has failed, its packets go by ecmp: " + report.value("failed", ""));
}

std::vector<Json> still_workers(const Json& before, const Json& now) {
  std::vector<Json> still;
  for (const Json& row : now.at("rows")) {
    const Json& rows = before.at("rows");
    const auto earlier = std::ranges::find_if(
        rows, [&](const Json& each) { return each.at("worker") == row.at("worker"); });
    if (earlier == rows.end() || earlier->at("polls") == row.at("polls")) still.push_back(row);
  }
  return still;
}

void judge_workers(const Json& now, const std::vector<Json>& still, int waited_ms, Health& health) {
  health.workers = now.at("rows").size();
  health.advancing = health.workers - still.size();
  if (health.workers == 0) health.problems.emplace_back("it has no workers");
  for (const Json& worker : still) health.problems.push_back(worker_text(worker, waited_ms));
}

std::string health_line(const Health& health) {
  return "up: " + ports_text(health.fabric, "fabric") + ", " + ports_text(health.host, "host") +
         "; advancing: " + std::to_string(health.advancing) + " of " +
         std::to_string(health.workers) + " workers";
}

Json health_json(const std::string& name, const Health& health) {
  return {{"switch", name},
          {"healthy", health.problems.empty()},
          {"fabric_ports", health.fabric.all},
          {"fabric_ports_up", health.fabric.up},
          {"host_ports", health.host.all},
          {"host_ports_up", health.host.up},
          {"workers", health.workers},
          {"workers_advancing", health.advancing},
          {"problems", health.problems}};
}

}  // namespace eddy::control
