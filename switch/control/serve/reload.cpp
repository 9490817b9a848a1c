#include "switch/control/serve/reload.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace eddy::control {
namespace {

std::string described(const config::Change& change) {
  const auto shown = [](const std::string& text) { return text.empty() ? "(none)" : text; };
  return change.key + ": " + shown(change.before) + " -> " + shown(change.after);
}

// Or empty.
std::string problem_of_another(const config::SwitchConfig& running,
                               const config::LoadedConfig& next) {
  const config::SwitchConfig& other = next.config;
  if (other.name == running.name && other.id == running.id) return "";
  const auto who = [](const config::SwitchConfig& config) {
    return config.name + " (id " + std::to_string(config.id.index()) + ")";
  };
  return next.message(other.name == running.name ? "switch.id" : "switch.name",
                      "the file is of " + who(other) + ", the switch that runs is " + who(running) +
                          ": only a restart of eddyd makes another of it");
}

Problems port_problems(const config::LoadedConfig& next, PortId port, Backend& backend) {
  const config::PortConfig& config = next.config.ports[port.index()];
  Problems out;
  for (const std::string& problem : backend.check_port(port, config))
    out.push_back(next.message("ports." + config.name, problem));
  return out;
}

}  // namespace

ReloadPlan plan_reload(const config::SwitchConfig& running, const config::LoadedConfig& next,
                       Backend& backend) {
  ReloadPlan plan;
  plan.changes = config::diff(running, next.config);
  if (std::string problem = problem_of_another(running, next); !problem.empty()) {
    plan.problems.push_back(std::move(problem));
    return plan;
  }
  for (const config::Change& change : plan.changes)
    if (change.key_class == config::KeyClass::restart)
      plan.problems.push_back(
          next.message(change.key, described(change) + ": only a restart of eddyd applies this"));
  for (size_t p = 0; p < next.config.ports.size(); ++p) {
    const std::string& name = next.config.ports[p].name;
    const bool restarts = std::any_of(plan.changes.begin(), plan.changes.end(), [&](const auto& c) {
      return c.key_class == config::KeyClass::port && c.port == name;
    });
    if (!restarts) continue;
    plan.restarts.push_back(PortId(p));
    const Problems problems = port_problems(next, PortId(p), backend);
    plan.problems.insert(plan.problems.end(), problems.begin(), problems.end());
  }
  return plan;
}

Json changes_as_json(const std::vector<config::Change>& changes) {
  Json out = Json::array();
  for (const config::Change& change : changes)
    out.push_back({{"key", change.key},
                   {"class", std::string(to_string(change.key_class))},
                   {"before", change.before},
                   {"after", change.after}});
  return out;
}

Json foretold(const ReloadPlan& plan, const config::SwitchConfig& next) {
  std::string_view highest = "none";
  const auto most = std::ranges::max_element(plan.changes, {}, &config::Change::key_class);
  if (most != plan.changes.end()) highest = to_string(most->key_class);
  Json restarts = Json::array();
  for (const PortId port : plan.restarts) restarts.push_back(next.ports[port.index()].name);
  return {{"applies", plan.problems.empty() ? "yes" : "no"},
          {"class", std::string(highest)},
          {"changes", changes_as_json(plan.changes)},
          {"restarts", std::move(restarts)},
          {"problems", plan.problems}};
}

}  // namespace eddy::control
