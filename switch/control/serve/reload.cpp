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

class Planning {
 public:
  Planning(const config::LoadedConfig& next, const config::SwitchConfig& in_force, Backend& backend)
      : next_(next), in_force_(in_force), backend_(backend) {}

  ReloadPlan run(const config::SwitchConfig& running) {
    plan_.changes = config::diff(running, next_.config);
    if (std::string problem = problem_of_another(running, next_); !problem.empty()) {
      plan_.problems.push_back(std::move(problem));
      return std::move(plan_);
    }
    refuse_restarts();
    seat();
    look_at_removals();
    look_at_additions();
    look_at_restarts();
    return std::move(plan_);
  }

 private:
  void refuse_restarts() {
    for (const config::Change& change : plan_.changes)
      if (change.key_class == config::KeyClass::restart)
        plan_.problems.push_back(next_.message(
            change.key, described(change) + ": only a restart of eddyd applies this"));
  }

  // Without room for those that come, nobody comes or goes.
  void seat() {
    auto seating = config::seated_like(config::scaled(next_.config), in_force_);
    if (seating) {
      plan_.seating = std::move(*seating);
      return;
    }
    for (const config::PortConfig& port : next_.config.ports)
      if (config::place_of(in_force_, port.name) == in_force_.ports.size())
        needs_restart(port.name);
    refuse("ports", seating.problems());
  }

  void look_at_removals() {
    for (const PortId port : plan_.seating.removed) {
      const Problems problems = backend_.check_removal(port);
      if (problems.empty()) continue;
      needs_restart(in_force_.ports[port.index()].name);
      refuse("ports", problems);
    }
  }

  void look_at_additions() {
    for (const PortId place : plan_.seating.added) {
      const Problems problems = backend_.check_new_port(place, plan_.seating.config);
      if (problems.empty()) continue;
      const std::string& name = plan_.seating.config.ports[place.index()].name;
      needs_restart(name);
      refuse("ports." + name, problems);
    }
  }

  void look_at_restarts() {
    const std::vector<config::PortConfig>& ports = plan_.seating.config.ports;
    for (size_t place = 0; place < ports.size(); ++place) {
      const auto concerns = [&](const config::Change& change) {
        return change.key_class == config::KeyClass::port && !ports[place].absent() &&
               change.port == ports[place].name;
      };
      if (std::ranges::none_of(plan_.changes, concerns)) continue;
      plan_.restarts.push_back(PortId(place));
      // As the file has it, which people read.
      const std::string& name = ports[place].name;
      const auto in_file = std::ranges::find(next_.config.ports, name, &config::PortConfig::name);
      refuse("ports." + name, backend_.check_port(PortId(place), *in_file));
    }
  }

  // A port comes or goes, and cannot while the switch runs.
  void needs_restart(const std::string& port) {
    for (config::Change& change : plan_.changes)
      if (change.key == "ports." + port) change.key_class = config::KeyClass::restart;
  }

  void refuse(const std::string& key, const Problems& problems) {
    for (const std::string& problem : problems)
      plan_.problems.push_back(next_.message(key, problem));
  }

  const config::LoadedConfig& next_;
  const config::SwitchConfig& in_force_;
  Backend& backend_;
  ReloadPlan plan_;
};

}  // namespace

ReloadPlan plan_reload(const config::SwitchConfig& running, const config::SwitchConfig& in_force,
                       const config::LoadedConfig& next, Backend& backend) {
  return Planning(next, in_force, backend).run(running);
}

Json names_of_ports(const std::vector<PortId>& ports, const config::SwitchConfig& config) {
  Json names = Json::array();
  for (const PortId port : ports) names.push_back(config.ports[port.index()].name);
  return names;
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

Json foretold(const ReloadPlan& plan, const config::SwitchConfig& in_force) {
  std::string_view highest = "none";
  const auto most = std::ranges::max_element(plan.changes, {}, &config::Change::key_class);
  if (most != plan.changes.end()) highest = to_string(most->key_class);
  const config::SwitchConfig& next = plan.seating.config;
  return {{"applies", plan.problems.empty() ? "yes" : "no"},
          {"class", std::string(highest)},
          {"changes", changes_as_json(plan.changes)},
          {"restarts", names_of_ports(plan.restarts, next)},
          {"additions", names_of_ports(plan.seating.added, next)},
          {"removals", names_of_ports(plan.seating.removed, in_force)},
          {"problems", plan.problems}};
}

}  // namespace eddy::control
