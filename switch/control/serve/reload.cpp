#include "switch/control/serve/reload.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace eddy::control {
namespace {

std::string described(const config::Change& change) {
  const auto shown = [](const std::string& text) { return text.empty() ? "(none)" : text; };
  return change.key + ": " + shown(change.before) + " -> " + shown(change.after);
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

}  // namespace eddy::control
