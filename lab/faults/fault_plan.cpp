#include "lab/faults/fault_plan.h"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "lab/fabric/host_names.h"
#include "lab/fabric/text_table.h"
#include "net/random.h"

namespace eddy::lab {
namespace {

using config::FaultConfig;
using config::FaultType;

constexpr uint32_t kChoicePurpose = 0x6661636f;  // "faco"

// What a type takes.
struct Needs {
  bool links = false;  // what it may be aimed at
  bool switches = false;
  bool hosts = false;
  bool any_target = true;  // it must be aimed at something
  bool probability = false;
  bool rate = false;
  bool duration = false;
  bool spacing = false;  // `period` is the time between its frames
};

Needs needs_of(FaultType type) {
  switch (type) {
    case FaultType::link_flap:
      return {.links = true, .hosts = true};
    case FaultType::slow_link:
      return {.links = true, .hosts = true, .rate = true};
    case FaultType::black_hole:
      return {.links = true, .switches = true, .any_target = false, .probability = true};
    case FaultType::random_drop:
    case FaultType::corruption:
    case FaultType::pfc_loss:
    case FaultType::pfc_duplicate:
    case FaultType::pfc_delay:
    case FaultType::cnm_loss:
    case FaultType::cnm_duplicate:
      return {.links = true, .switches = true, .hosts = true, .probability = true};
    case FaultType::pause_storm:
      return {.hosts = true, .spacing = true};
    case FaultType::slow_receiver:
      return {.hosts = true, .rate = true};
    case FaultType::switch_stall:
      return {.switches = true, .duration = true};
    case FaultType::pool_exhaustion:
      return {.switches = true, .any_target = false};
    case FaultType::reconfigure:
      return {.switches = true};
  }
  return {};
}

// Of a fault that can be drawn from a set: what `fraction` is a fraction of.
std::string_view valid_targets(const Needs& needs) {
  if (needs.links && needs.switches && needs.hosts) return "links, switches, hosts or a fraction";
  if (needs.links && needs.switches) return "links, switches or a fraction";
  if (needs.links) return "links, hosts or a fraction";
  return needs.hosts ? "hosts or a fraction" : "switches or a fraction";
}

class Planner {
 public:
  Planner(const Topology& topology, const LineNumbers& lines, uint64_t seed)
      : topology_(topology), lines_(lines), names_(topology), seed_(seed) {}

  FaultPlan plan(size_t index, const FaultConfig& config) {
    plan_ = {.index = index, .config = config};
    place_ = "faults." + std::to_string(index);
    needs_ = needs_of(config.type);
    check_values(config);
    check_times(config);
    find_links(config);
    find_switches(config);
    find_hosts(config);
    find_pairs(config);
    if (config.type != FaultType::black_hole) draw(config);
    if (config.type == FaultType::black_hole) place_black_hole();
    add_lines_of_switches();
    for (auto* list : {&plan_.lines, &plan_.switches, &plan_.hosts}) sort_unique(*list);
    sort_unique(plan_.pairs);
    return std::move(plan_);
  }
  Problems take_problems() { return std::move(problems_); }

 private:
  void problem(std::string_view key, const std::string& what) {
    problems_.push_back(place_ + std::string(key) + ": " + what);
  }
  template <class T>
  static void sort_unique(std::vector<T>& list) {
    std::ranges::sort(list);
    list.erase(std::unique(list.begin(), list.end()), list.end());
  }

  void check_values(const FaultConfig& config) {
    if (needs_.probability && !(config.probability > 0 && config.probability <= 1))
      problem(".probability", "must be above 0 and at most 1");
    if (!(config.fraction >= 0 && config.fraction <= 1))
      problem(".fraction", "must be within 0..1");
    if (needs_.rate && (!config.rate || *config.rate <= BitRate{}))
      problem("", "no rate, give the key 'rate', such as 1Gbps");
    if (config.type == FaultType::pfc_delay && config.delay <= Duration{})
      problem("", "no delay, give the key 'delay', such as 10us");
    if (config.type == FaultType::reconfigure && config.set.empty())
      problem("", "changes nothing, give the key 'set', such as {load_balancer.scheme: ecmp}");
    if (config.type == FaultType::black_hole && config.pairs.empty() && config.fraction == 0)
      problem("",
              "no pairs of hosts, give 'pairs', such as leaf1.host1>leaf2.host1, or 'fraction'");
    if (config.type != FaultType::black_hole && needs_.any_target && config.links.empty() &&
        config.switches.empty() && config.hosts.empty() && config.fraction == 0)
      problem("", "aimed at nothing, give " + std::string(valid_targets(needs_)));
    refuse(".links", !config.links.empty() && !needs_.links);
    refuse(".switches", !config.switches.empty() && !needs_.switches);
    refuse(".hosts", !config.hosts.empty() && !needs_.hosts);
    refuse(".pairs", !config.pairs.empty() && config.type != FaultType::black_hole);
  }
  void refuse(std::string_view key, bool given) {
    if (given)
      problem(key, "such a fault has none, " + std::string(valid_targets(needs_)) + " are valid");
  }
  void check_times(const FaultConfig& config) {
    if (config.start < Duration{}) problem(".start", "before the run begins");
    if (needs_.spacing) {
      if (config.period <= Duration{})
        problem("", "no period, give the key 'period', the time between pause frames");
      return;
    }
    if (needs_.duration && config.duration <= Duration{})
      problem("", "no duration, give the key 'duration', such as 100us");
    if (config.period > Duration{} && config.duration <= Duration{})
      problem(".period", "it repeats and never ends, give the key 'duration'");
    else if (config.period > Duration{} && config.period <= config.duration)
      problem(".period", "not longer than duration, it would never end");
  }

  void add_line(uint32_t line) {
    plan_.lines.push_back(line);
    if (plan_.config.type != FaultType::link_flap) plan_.lines.push_back(lines_.reverse(line));
  }
  void add_link(const Topology::Link& link) {
    add_line(lines_.of_port(link.a.switch_index, link.a.port));
  }

  void find_links(const FaultConfig& config) {
    for (size_t i = 0; needs_.links && i < config.links.size(); ++i) {
      const auto found = std::ranges::find(topology_.links, config.links[i], &Topology::Link::name);
      const std::string key = ".links." + std::to_string(i);
      if (found == topology_.links.end())
        problem(key, "no link " + in_quotes(config.links[i]) + "; " + links_there_are());
      else if (!found->up)
        problem(key, "link " + in_quotes(config.links[i]) + " has failed from the beginning");
      else
        add_link(*found);
    }
  }
  std::string links_there_are() const {
    if (topology_.links.empty()) return "this fabric has none";
    return "there are " + std::to_string(topology_.links.size()) + " from " +
           topology_.links.front().name + " to " + topology_.links.back().name;
  }

  void find_switches(const FaultConfig& config) {
    for (size_t i = 0; needs_.switches && i < config.switches.size(); ++i) {
      const auto found =
          std::ranges::find(topology_.switches, config.switches[i], &config::SwitchConfig::name);
      if (found == topology_.switches.end())
        problem(".switches." + std::to_string(i),
                "no switch " + in_quotes(config.switches[i]) + "; there are " +
                    std::to_string(topology_.switches.size()) + " from " +
                    topology_.switches.front().name + " to " + topology_.switches.back().name);
      else
        plan_.switches.push_back(static_cast<uint32_t>(found - topology_.switches.begin()));
    }
  }

  void find_hosts(const FaultConfig& config) {
    for (size_t i = 0; needs_.hosts && i < config.hosts.size(); ++i) {
      const auto found = names_.find(config.hosts[i]);
      if (!found) {
        problem(".hosts." + std::to_string(i), found.problems().front());
        continue;
      }
      for (const uint32_t host : found.value()) add_host(host);
    }
  }
  void add_host(uint32_t host) {
    plan_.hosts.push_back(host);
    add_line(lines_.of_host(host));
  }

  void find_pairs(const FaultConfig& config) {
    for (size_t i = 0; i < config.pairs.size(); ++i) {
      const std::string& text = config.pairs[i];
      const std::string key = ".pairs." + std::to_string(i);
      const size_t arrow = text.find('>');
      if (arrow == std::string::npos) {
        problem(key, in_quotes(text) + " is no pair, write source>destination");
        continue;
      }
      const auto sources = names_.find(text.substr(0, arrow));
      const auto destinations = names_.find(text.substr(arrow + 1));
      for (const auto* each : {&sources, &destinations})
        if (!each->ok()) problem(key, each->problems().front());
      if (!sources || !destinations) continue;
      for (const uint64_t source : sources.value())
        for (const uint32_t destination : destinations.value())
          if (source != destination) plan_.pairs.push_back(source << 32 | destination);
    }
  }

  // `fraction` of what the type is about, all different, rounded to the nearest whole number.
  void draw(const FaultConfig& config) {
    if (!(config.fraction > 0 && config.fraction <= 1)) return;
    RandomStream random(seed_, static_cast<uint32_t>(plan_.index), kChoicePurpose);
    if (needs_.links) {
      std::vector<uint32_t> up;
      for (uint32_t i = 0; i < topology_.links.size(); ++i)
        if (topology_.links[i].up) up.push_back(i);
      for (const uint32_t i : sample(std::move(up), topology_.links.size(), random))
        add_link(topology_.links[i]);
    } else if (needs_.hosts) {
      for (const uint32_t i :
           sample(numbers(topology_.hosts.size()), topology_.hosts.size(), random))
        add_host(i);
    } else {
      plan_.switches =
          sample(numbers(topology_.switches.size()), topology_.switches.size(), random);
    }
  }
  static std::vector<uint32_t> numbers(size_t count) {
    std::vector<uint32_t> all(count);
    for (uint32_t i = 0; i < count; ++i) all[i] = i;
    return all;
  }
  std::vector<uint32_t> sample(std::vector<uint32_t> from, size_t of, RandomStream& random) {
    const auto wanted =
        static_cast<size_t>(std::llround(plan_.config.fraction * static_cast<double>(of)));
    if (wanted == 0 || wanted > from.size()) {
      problem(".fraction",
              "means " + std::to_string(wanted) + " of " + std::to_string(from.size()));
      return {};
    }
    for (size_t i = 0; i < wanted; ++i)
      std::swap(from[i], from[i + random.below(static_cast<uint32_t>(from.size() - i))]);
    from.resize(wanted);
    return from;
  }

  // Where nothing is named: one switch, drawn among those without hosts if there are any.
  void place_black_hole() {
    constexpr double kHashes = 18'446'744'073'709'551'616.0;  // 2^64
    const double fraction = plan_.config.fraction;
    if (fraction > 0)
      plan_.pair_threshold = fraction >= 1 ? UINT64_MAX : static_cast<uint64_t>(fraction * kHashes);
    if (!plan_.lines.empty() || !plan_.switches.empty()) return;
    std::vector<uint32_t> from;
    for (uint32_t i = 0; i < topology_.switches.size(); ++i)
      if (topology_.switches[i].leaf.is_none()) from.push_back(i);
    if (from.empty()) from = numbers(topology_.switches.size());
    RandomStream random(seed_, static_cast<uint32_t>(plan_.index), kChoicePurpose);
    plan_.switches.push_back(from[random.below(static_cast<uint32_t>(from.size()))]);
  }

  // A fault of frames at a switch: the lines that end there, so that each frame meets it once.
  void add_lines_of_switches() {
    if (!needs_.probability) return;
    for (const uint32_t index : plan_.switches)
      for (size_t port = 0; port < topology_.switches[index].ports.size(); ++port)
        plan_.lines.push_back(lines_.reverse(lines_.of_port(index, PortId(port))));
  }

  const Topology& topology_;
  const LineNumbers& lines_;
  HostNames names_;
  uint64_t seed_;
  FaultPlan plan_;
  std::string place_;
  Needs needs_;
  Problems problems_;
};

}  // namespace

Result<std::vector<FaultPlan>> plan_faults(const config::Experiment& experiment,
                                           const Topology& topology, const World& world,
                                           uint64_t seed) {
  return plan_faults(
      experiment, topology,
      LineNumbers{[&](size_t index, PortId port) { return world.line_of(index, port); },
                  [&](size_t host) { return world.line_of_host(host); },
                  [&](uint32_t line) { return world.reverse(line); }},
      seed);
}

Result<std::vector<FaultPlan>> plan_faults(const config::Experiment& experiment,
                                           const Topology& topology, const LineNumbers& lines,
                                           uint64_t seed) {
  Planner planner(topology, lines, seed);
  std::vector<FaultPlan> plans;
  for (size_t i = 0; i < experiment.faults.size(); ++i)
    plans.push_back(planner.plan(i, experiment.faults[i]));
  if (Problems problems = planner.take_problems(); !problems.empty()) return problems;
  return plans;
}

}  // namespace eddy::lab
