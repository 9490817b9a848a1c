#include "lab/fabric/build_topology.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <utility>

#include "lab/fabric/channels.h"
#include "lab/fabric/deadlock.h"
#include "lab/fabric/detours.h"
#include "lab/fabric/fabric_plan.h"
#include "lab/fabric/link_choice.h"
#include "lab/fabric/path_limits.h"
#include "lab/fabric/path_sets.h"
#include "lab/fabric/plan_fabric.h"
#include "lb/registry.h"
#include "pfc/buffer_plan.h"
#include "switch/dataplane/state/snapshot.h"

namespace eddy::lab {
namespace {

using config::PortConfig;
using config::SwitchConfig;

constexpr size_t kMaxHosts = 255;  // a switch's, by the last octet of their addresses
constexpr size_t kNamesShown = 4;
constexpr uint8_t kHopByHop = 0xff;  // the low octet of a path id

// Turns a plan into configured switches.
class Assembly {
 public:
  Assembly(const config::Experiment& experiment, const FabricPlan& plan)
      : experiment_(experiment),
        plan_(plan),
        hosts_of_(plan.switches.size()),
        cables_of_(plan.switches.size()),
        leaf_of_(plan.switches.size(), LeafId::none()),
        grouped_(grouped_of(experiment)),
        channels_(channels_of(experiment)),
        usual_port_(usual_port()),
        ports_of_rate_(ports_of_rate()) {}

  Result<Topology> run() {
    if (!problems_.empty()) return problems_;
    topology_.name = plan_.name;
    topology_.line_overhead = experiment_.topology.line_overhead;
    number_ports();
    if (!problems_.empty()) return problems_;
    for (size_t i = 0; i < plan_.switches.size(); ++i) add_switch(i);
    for (size_t i = 0; i < plan_.cables.size(); ++i) add_link(i);
    add_hosts();
    const PathFinder finder(plan_);
    add_paths(finder);
    const PathLimits limits(experiment_, plan_, topology_, LeafId(leaves_ + 1));
    add_limited_paths(finder, limits);
    if (problems_.empty()) add_routes(limits);
    if (problems_.empty()) check_buffers();
    if (problems_.empty()) check_deadlock();
    tell_of_mixture();
    if (!problems_.empty()) return problems_;
    return std::move(topology_);
  }

 private:
  static lb::Grouped grouped_of(const config::Experiment& experiment);
  ChannelPlan channels_of(const config::Experiment& experiment);
  void number_ports();
  bool paths_keep_order() const;
  void add_switch(size_t index);
  PortConfig usual_port() const;
  std::map<BitRate, PortConfig> ports_of_rate() const;
  PortConfig port(std::string name, config::PortRole role, BitRate speed) const;
  void give_isolated_class(PortConfig& port) const;
  void add_link(size_t index);
  Topology::End end_of(size_t node, size_t cable) const;
  void add_hosts();
  void add_paths(const PathFinder& finder);
  struct SetName {
    LeafId id;
    size_t leaf;  // the switch it leads to
  };
  void add_path_set(size_t node, const SetName& name, const PathFinder::NextHops& next);
  config::PathConfig path_by(size_t node, uint32_t cable, size_t second) const;
  void add_detours(size_t node, const SetName& name, const std::vector<int>& hops,
                   config::LeafConfig& set) const;
  static void share_paths(const SwitchConfig& config, config::LeafConfig& set);
  std::vector<size_t> second_choices(size_t node, uint32_t cable,
                                     const PathFinder::NextHops& next) const;
  size_t number_of(size_t node, uint32_t cable) const {
    return end_of(node, cable).port.index() - hosts_of_[node].size();
  }
  std::optional<Duration> base_rtt() const;
  void add_limited_paths(const PathFinder& finder, const PathLimits& limits);
  void check_reachable(size_t leaf, const PathFinder::NextHops& next);
  void report_unreachable();
  void add_routes(const PathLimits& limits);
  void check_buffers();
  void check_deadlock();
  void tell_of_mixture();
  std::string hosts_text(size_t node) const;

  const config::Experiment& experiment_;
  const FabricPlan& plan_;
  std::vector<std::vector<size_t>> hosts_of_;   // by switch
  std::vector<std::vector<size_t>> cables_of_;  // by switch: its ports behind the hosts'
  std::vector<LeafId> leaf_of_;                 // by switch
  std::map<size_t, std::vector<size_t>> cut_;   // leaf switch -> leaf switches it cannot reach
  Problems problems_;
  lb::Grouped grouped_;
  ChannelPlan channels_;
  PortConfig usual_port_;                        // whose lists all ports share
  std::map<BitRate, PortConfig> ports_of_rate_;  // but those of a rate with profiles of its own
  size_t leaves_ = 0;
  Topology topology_;
};

lb::Grouped Assembly::grouped_of(const config::Experiment& experiment) {
  const lb::SchemeInfo* scheme = lb::scheme_of(experiment.load_balancer);
  return scheme == nullptr ? lb::Grouped{} : scheme->grouped;
}

ChannelPlan Assembly::channels_of(const config::Experiment& experiment) {
  auto plan = plan_channels(experiment, grouped_.channels);
  if (plan) return std::move(*plan);
  problems_ = plan.problems();
  return {};
}

void Assembly::number_ports() {
  for (size_t i = 0; i < plan_.hosts.size(); ++i) hosts_of_[plan_.hosts[i].at].push_back(i);
  for (size_t i = 0; i < plan_.cables.size(); ++i) {
    cables_of_[plan_.cables[i].a].push_back(i);
    cables_of_[plan_.cables[i].b].push_back(i);
  }
  for (size_t i = 0; i < plan_.switches.size(); ++i) {
    const size_t hosts = hosts_of_[i].size();
    const size_t links = cables_of_[i].size();
    if (hosts > 0) leaf_of_[i] = LeafId(++leaves_);
    if (hosts + links > kMaxPorts)
      problems_.push_back("switch " + plan_.switches[i].name + ": " +
                          std::to_string(hosts + links) + " ports (" + std::to_string(hosts) +
                          " hosts, " + std::to_string(links) + " links), at most " +
                          std::to_string(kMaxPorts) + " would be valid");
    else if (hosts > kMaxHosts)
      problems_.push_back("switch " + plan_.switches[i].name + ": " + std::to_string(hosts) +
                          " hosts, at most " + std::to_string(kMaxHosts) + " would be valid");
  }
  if (leaves_ == 0) problems_.push_back("topology: no host, at least 1 would be valid");
}

config::BufferConfig with_default_profiles(config::BufferConfig buffer) {
  const SwitchConfig defaults = config::default_switch("");
  buffer.profiles.insert(defaults.buffer.profiles.begin(), defaults.buffer.profiles.end());
  buffer.wred.insert(defaults.buffer.wred.begin(), defaults.buffer.wred.end());
  return buffer;
}

// IPv6, UDP, BTH, RETH, ICRC and the leaf-to-leaf shim: 40 + 8 + 12 + 16 + 4 + 32 octets.
constexpr int kHeaderRoom = 112;

MacAddress switch_mac(size_t index) {
  const size_t id = index + 1;
  return {{0x02, 0xed, static_cast<uint8_t>(id >> 8), static_cast<uint8_t>(id), 0, 0}};
}

// Whether what later packets have overtaken by every port of a leaf is lost: each port brings one
// path, and no packet stays behind in RLB's loop while others of its flow go by.
bool Assembly::paths_keep_order() const {
  const config::TopologyConfig& shape = experiment_.topology;
  const config::RlbConfig& rlb = experiment_.switches.rlb;
  const bool left_behind =
      rlb.enabled() && rlb.recirculation.enabled && rlb.guard.mode == config::GuardMode::off;
  return shape.kind == config::TopologyKind::leaf_spine && shape.parallel_links == 1 &&
         !left_behind;
}

void Assembly::add_switch(size_t index) {
  SwitchConfig config;
  config.name = plan_.switches[index].name;
  config.id = SwitchId(index + 1);
  config.leaf = leaf_of_[index];
  config.mac = switch_mac(index);
  config.idle = config::IdlePolicy::busy;
  config.poll_gap = experiment_.switches.poll_gap;
  config.buffer = with_default_profiles(experiment_.switches.buffer);
  config.buffer.overcommit |= experiment_.switches.allow_overcommit;
  config.load_balancer = experiment_.load_balancer;
  config.dre = experiment_.switches.dre;
  config.rlb = experiment_.switches.rlb;
  config.path_service = experiment_.switches.path_service;
  config.isolation = experiment_.switches.isolation;
  config.resequence = experiment_.switches.resequence;
  config.rlb.guard.sorted = config.resequence.enabled;
  if (config.resequence.loss_proof == config::LossProof::automatic && paths_keep_order())
    config.resequence.loss_proof = config::LossProof::ports;
  if (!config.path_service.base_rtt) config.path_service.base_rtt = base_rtt();
  config.control.lldp = false;
  config.ports.reserve(hosts_of_[index].size() + cables_of_[index].size());
  for (size_t i = 0; i < hosts_of_[index].size(); ++i) {
    const FabricPlan::Host& host = plan_.hosts[hosts_of_[index][i]];
    PortConfig& added = config.ports.emplace_back(
        port("host" + std::to_string(i + 1), config::PortRole::host, host.rate));
    added.cable_delay = host.delay;
  }
  std::map<size_t, int> parallel;
  for (const size_t i : cables_of_[index]) {
    const FabricPlan::Cable& cable = plan_.cables[i];
    const size_t peer = cable.other(index);
    const int ordinal = ++parallel[peer];
    PortConfig& added = config.ports.emplace_back(
        port(plan_.switches[peer].name + (ordinal > 1 ? "." + std::to_string(ordinal) : ""),
             config::PortRole::fabric, cable.rate));
    added.cable_delay = cable.delay;
    give_isolated_class(added);
    if (plan_.switches[peer].group != plan_.switches[index].group)
      added.reach = config::LinkReach::global;
  }
  topology_.switch_nodes.push_back(plan_.switches[index].number);
  topology_.switches.push_back(std::move(config));
}

// Lossless as the class whose packets it takes; hosts send none of it.
void Assembly::give_isolated_class(PortConfig& port) const {
  const config::IsolationConfig& isolation = experiment_.switches.isolation;
  if (!isolation.enabled) return;
  const size_t normal = port.maps.tc_to_pg[isolation.normal.index()].index();
  const size_t isolated = port.maps.tc_to_pg[isolation.isolated.index()].index();
  port.pg_profiles[isolated] = port.pg_profiles[normal];
}

PortConfig Assembly::port(std::string name, config::PortRole role, BitRate speed) const {
  const auto own = ports_of_rate_.find(speed);
  PortConfig port = own == ports_of_rate_.end() ? usual_port_ : own->second;
  port.name = std::move(name);
  port.role = role;
  port.speed = speed;
  return port;
}

PortConfig Assembly::usual_port() const {
  PortConfig port = config::default_port("");
  port.line_overhead = experiment_.topology.line_overhead;
  port.queues = experiment_.switches.queues;
  port.mtu =
      experiment_.switches.mtu != 0 ? experiment_.switches.mtu : experiment_.host.mtu + kHeaderRoom;
  const std::vector<Priority>& lossless = experiment_.switches.lossless;
  for (size_t pg = 0; pg < port.pg_profiles.size(); ++pg) {
    const bool pauses = std::find(lossless.begin(), lossless.end(), Priority(pg)) != lossless.end();
    port.pg_profiles[pg] = pauses ? "lossless" : "lossy";
  }
  give_channels(port, channels_);
  port.pfc = experiment_.switches.pfc_port;
  port.watchdog = experiment_.switches.watchdog;
  if (!experiment_.switches.pfc) {
    port.pfc.tx = false;
    port.pfc.rx = config::PfcRx::ignore;
  }
  return port;
}

std::map<BitRate, PortConfig> Assembly::ports_of_rate() const {
  std::map<BitRate, PortConfig> ports;
  for (const config::PortsOfRate& own : experiment_.switches.by_rate) {
    PortConfig& port = ports.emplace(own.rate, usual_port_).first->second;
    for (size_t i = 0; i < kPriorities; ++i) {
      if (own.lossless && std::as_const(port).pg_profiles[i] == "lossless")
        port.pg_profiles[i] = *own.lossless;
      if (own.wred && std::as_const(port).queues[i].wred == "default")
        port.queues[i].wred = own.wred;
    }
  }
  return ports;
}

Topology::End Assembly::end_of(size_t node, size_t cable) const {
  const std::vector<size_t>& cables = cables_of_[node];
  const auto found = std::lower_bound(cables.begin(), cables.end(), cable);
  return {node, PortId(hosts_of_[node].size() + static_cast<size_t>(found - cables.begin()))};
}

void Assembly::add_link(size_t index) {
  const FabricPlan::Cable& cable = plan_.cables[index];
  const Topology::End a = end_of(cable.a, index);
  const Topology::End b = end_of(cable.b, index);
  SwitchConfig& at_a = topology_.switches[a.switch_index];
  SwitchConfig& at_b = topology_.switches[b.switch_index];
  at_a.ports[a.port.index()].peer_mac = port_mac(at_b, b.port.index());
  at_b.ports[b.port.index()].peer_mac = port_mac(at_a, a.port.index());
  topology_.links.push_back({cable.name, a, b, cable.rate, cable.delay, cable.up});
}

// 10.<leaf>.<host>, the leaf in two octets.
IpAddress host_address(LeafId leaf, size_t port) {
  constexpr uint32_t kTen = 10u << 24;
  return Ipv4Address{kTen | static_cast<uint32_t>(leaf.index() << 8 | (port + 1))};
}

MacAddress host_mac(LeafId leaf, size_t port) {
  return {{0x02, 0xaa, static_cast<uint8_t>(leaf.index() >> 8), static_cast<uint8_t>(leaf.index()),
           0, static_cast<uint8_t>(port + 1)}};
}

void Assembly::add_hosts() {
  std::vector<size_t> next(plan_.switches.size(), 0);
  for (const FabricPlan::Host& host : plan_.hosts) {
    const PortId at(next[host.at]++);
    const LeafId leaf = leaf_of_[host.at];
    SwitchConfig& config = topology_.switches[host.at];
    const std::string& port_name = config.ports[at.index()].name;
    const Topology::Host& added = topology_.hosts.emplace_back(
        Topology::Host{config.name + "." + port_name, host.at, at, host_mac(leaf, at.index()),
                       host_address(leaf, at.index()), host.rate, host.delay, host.number});
    config.neighbors.push_back({added.address, added.mac, port_name});
  }
}

void Assembly::add_paths(const PathFinder& finder) {
  for (size_t leaf = 0; leaf < plan_.switches.size(); ++leaf) {
    if (leaf_of_[leaf].is_none()) continue;
    const PathFinder::NextHops next = finder.towards(leaf);
    for (size_t node = 0; node < next.size(); ++node)
      if (!next[node].empty()) add_path_set(node, {leaf_of_[leaf], leaf}, next);
    check_reachable(leaf, next);
  }
  report_unreachable();
}

void Assembly::add_limited_paths(const PathFinder& finder, const PathLimits& limits) {
  problems_.insert(problems_.end(), limits.problems().begin(), limits.problems().end());
  for (const PathLimits::Set& set : limits.sets()) {
    const PathFinder::NextHops next = finder.towards(set.leaf, set.barred);
    for (size_t node = 0; node < next.size(); ++node)
      if (!next[node].empty()) add_path_set(node, {set.id, set.leaf}, next);
    for (const size_t source : set.sources)
      if (next[source].empty())
        problems_.push_back(set.key + ": no path is left from " + plan_.switches[source].name +
                            " to " + plan_.switches[set.leaf].name);
  }
}

// A leaf's paths are numbered by the port, which no failed link shifts: the same spine has the same
// number at all leaves.
void Assembly::add_path_set(size_t node, const SetName& name, const PathFinder::NextHops& next) {
  SwitchConfig& config = topology_.switches[node];
  config::LeafConfig set{.id = name.id, .paths = {}};
  for (const uint32_t cable : next[node])
    for (const size_t second : second_choices(node, cable, next))
      set.paths.push_back(path_by(node, cable, second));
  if (grouped_.detours) add_detours(node, name, hops_along(plan_, next), set);
  if (set.paths.size() > kMaxPaths) {
    problems_.push_back("switch " + config.name + ": " + std::to_string(set.paths.size()) +
                        " paths to " + plan_.switches[name.leaf].name + ", at most " +
                        std::to_string(kMaxPaths) + " would be valid");
    return;
  }
  share_paths(config, set);
  config.leaves.push_back(std::move(set));
}

config::PathConfig Assembly::path_by(size_t node, uint32_t cable, size_t second) const {
  const SwitchConfig& config = topology_.switches[node];
  config::PathConfig path;
  path.port = config.ports[end_of(node, cable).port.index()].name;
  path.weight = plan_.cables[cable].weight;
  if (!config.leaf.is_none()) path.path_id = PathId(number_of(node, cable) << 8 | second);
  return path;
}

// And the links of all of them.
void Assembly::add_detours(size_t node, const SetName& name, const std::vector<int>& hops,
                           config::LeafConfig& set) const {
  for (config::PathConfig& path : set.paths) path.hops = hops[node];
  for (const Detour& detour : DetourFinder(plan_).between(node, name.leaf, hops)) {
    const size_t by = plan_.cables[detour.cable].other(node);
    const size_t second = detour.then ? number_of(by, *detour.then) : kHopByHop;
    config::PathConfig& path = set.paths.emplace_back(path_by(node, detour.cable, second));
    path.hops = detour.hops;
    path.detour = true;
  }
}

// The same paths lead to many leaves, which most often stand one behind the other.
void Assembly::share_paths(const SwitchConfig& config, config::LeafConfig& set) {
  constexpr size_t kLookedAt = 64;
  const size_t looked_at = std::min(kLookedAt, config.leaves.size());
  const auto last = config.leaves.rbegin();
  const auto same =
      std::find_if(last, last + static_cast<std::ptrdiff_t>(looked_at),
                   [&](const config::LeafConfig& other) { return other.paths == set.paths; });
  if (same != last + static_cast<std::ptrdiff_t>(looked_at)) set.paths = same->paths;
}

// What the switch behind a leaf's cable may choose from, by the numbers that its own paths have,
// where paths are pinned and it has more than one: a leaf's are numbered by the port, others' by
// position.
std::vector<size_t> Assembly::second_choices(size_t node, uint32_t cable,
                                             const PathFinder::NextHops& next) const {
  const size_t by = plan_.cables[cable].other(node);
  const size_t there = next[by].size();
  if (!experiment_.topology.pinned || leaf_of_[node].is_none() || there < 2) return {kHopByHop};
  std::vector<size_t> choices(there);
  std::iota(choices.begin(), choices.end(), size_t{0});
  if (!leaf_of_[by].is_none())
    for (size_t& choice : choices) choice = number_of(by, next[by][choice]);
  return choices;
}

// Where there are tiers: from host to host over the top and back.
std::optional<Duration> Assembly::base_rtt() const {
  if (plan_.routing != FabricRouting::up_down) return std::nullopt;
  int tiers = 0;
  for (const FabricPlan::Node& node : plan_.switches) tiers = std::max(tiers, node.tier);
  Duration host;
  Duration cable;
  for (const FabricPlan::Host& one : plan_.hosts) host = std::max(host, one.delay);
  for (const FabricPlan::Cable& one : plan_.cables) cable = std::max(cable, one.delay);
  return std::max((host + cable * tiers) * 4, Duration::microseconds(1));
}

void Assembly::check_reachable(size_t leaf, const PathFinder::NextHops& next) {
  for (size_t from = 0; from < next.size(); ++from)
    if (from != leaf && !leaf_of_[from].is_none() && next[from].empty()) cut_[from].push_back(leaf);
}

std::string Assembly::hosts_text(size_t node) const {
  const std::string name = plan_.switches[node].name;
  const size_t count = hosts_of_[node].size();
  return name + ".host1" + (count > 1 ? " to " + name + ".host" + std::to_string(count) : "");
}

void Assembly::report_unreachable() {
  const bool failures = std::any_of(plan_.cables.begin(), plan_.cables.end(),
                                    [](const FabricPlan::Cable& cable) { return !cable.up; });
  for (const auto& [from, others] : cut_) {
    std::string text = std::string(failures ? "topology.failed" : "topology") +
                       ": no path is left from " + hosts_text(from) + " to ";
    for (size_t i = 0; i < std::min(others.size(), kNamesShown); ++i)
      text += (i == 0 ? "" : ", ") + hosts_text(others[i]);
    if (others.size() > kNamesShown)
      text += " and the hosts of " + std::to_string(others.size() - kNamesShown) + " more switches";
    problems_.push_back(text);
  }
}

void Assembly::add_routes(const PathLimits& limits) {
  constexpr uint8_t kHostLength = 32;
  std::vector<Route> routes;
  for (size_t i = 0; i < topology_.hosts.size(); ++i) {
    const Topology::Host& host = topology_.hosts[i];
    routes.push_back({{host.address, kHostLength},
                      {leaf_of_[host.switch_index], host.port, /*local=*/false, limits.via(i)}});
  }
  auto table = RouteTable::build(routes, RouteEngine::ranges);
  if (!table) {
    problems_ = table.problems();
    return;
  }
  topology_.routes = *table;
}

// Whether it would do to overcommit the buffer.
std::string overcommit_hint(SwitchConfig config) {
  if (config.buffer.overcommit) return {};
  config.buffer.overcommit = true;
  return pfc::plan_buffer(config) ? "; or allow_overcommit: true, to run it all the same" : "";
}

// Says what does not fit once; of switches with as many ports that are overcommitted, by the
// neediest.
void Assembly::check_buffers() {
  struct Lack {
    Bytes needed;
    std::string text;
  };
  std::map<std::string, std::string> refused;  // problem -> switch
  std::map<size_t, Lack> lacks;                // by ports
  for (const SwitchConfig& config : topology_.switches) {
    const auto plan = pfc::plan_buffer(config);
    if (!plan) {
      for (const std::string& problem : plan.problems())
        refused.try_emplace(problem + overcommit_hint(config), config.name);
      continue;
    }
    Lack& lack = lacks[config.ports.size()];
    if (plan.value().shortfall.empty() || plan.value().needed <= lack.needed) continue;
    lack = {plan.value().needed, config.name + ": " + plan.value().shortfall};
  }
  for (const auto& [problem, name] : refused)
    problems_.push_back(std::string("switches.buffer: ").append(name).append(": ").append(problem));
  for (const auto& [ports, lack] : lacks)
    if (!lack.text.empty()) topology_.warnings.push_back("switches.allow_overcommit: " + lack.text);
}

void Assembly::check_deadlock() {
  const auto is_lossless = [&](const SwitchConfig& config) {
    const auto plan = pfc::plan_buffer(config);
    return std::ranges::any_of(
        plan.value().ports, [](const pfc::PortBufferPlan& port) { return port.lossless_pgs != 0; });
  };
  if (!experiment_.switches.pfc || !is_lossless(topology_.switches.front())) return;
  const Circles found = circles_of(plan_, {.channels = grouped_.channels,
                                           .detours = grouped_.detours,
                                           .isolates = experiment_.switches.isolation.enabled});
  if (!found.beyond.empty())
    problems_.push_back("topology.failed: from " + found.beyond + " on a way needs more than " +
                        std::to_string(grouped_.channels) +
                        " virtual channels; with fewer failures inside groups it would be valid");
  topology_.may_wait_in_circles = !found.circle.empty();
  if (topology_.may_wait_in_circles)
    topology_.warnings.push_back(
        "topology: lossless frames may wait for each other in a circle (deadlock): " +
        found.circle + "; one priority is not enough on these routes");
}

bool is_scheme(std::string_view key) {
  return key == "load_balancer.scheme";
}

// Switches that take no detours among others that do.
void Assembly::tell_of_mixture() {
  if (!grouped_.detours) return;
  for (size_t i = 0; i < experiment_.faults.size(); ++i)
    for (const auto& [key, value] : experiment_.faults[i].set) {
      const lb::SchemeInfo* to = is_scheme(key) ? lb::find_scheme(value) : nullptr;
      if (to == nullptr || to->grouped.detours) continue;
      std::string names;
      for (const std::string& name : experiment_.faults[i].switches)
        names += (names.empty() ? "" : ", ") + name;
      topology_.warnings.push_back("faults." + std::to_string(i) + ".set: hosts of " +
                                   (names.empty() ? "the switches that are drawn" : names) +
                                   " have shortest paths alone while '" + value +
                                   "' is there; the others' go by '" +
                                   experiment_.load_balancer.scheme + "'");
    }
}

// Paths and channels of a fabric of groups are laid out for its scheme.
Problems check_grouped(const config::Experiment& experiment, const FabricPlan& plan,
                       const lb::Grouped& grouped) {
  const std::string scheme = "load_balancer.scheme: '" + experiment.load_balancer.scheme + "'";
  if (plan.routing != FabricRouting::dragonfly)
    return {scheme + " is for fabrics of groups, and this topology (" + plan.name +
            ") has none; dragonfly would be valid"};
  if (experiment.topology.pinned)
    return {scheme +
            " has paths of its own that are pinned; topology.pinned: false would be valid"};
  if (grouped.detours && experiment.topology.groups < 3)
    return {scheme + " goes by way of a third group; topology.groups: at least 3 would be valid"};
  if (grouped.detours && experiment.switches.rlb.enabled())
    return {scheme +
            " has detours, which RLB would take for paths as good as others; rlb.preset: off "
            "would be valid"};
  for (size_t i = 0; i < experiment.faults.size(); ++i)
    for (const auto& [key, value] : experiment.faults[i].set)
      if (grouped.detours && key.starts_with("rlb."))
        return {"faults." + std::to_string(i) + ".set: " + key +
                ": the fabric's paths are laid out for '" + experiment.load_balancer.scheme +
                "'; other keys would be valid"};
  return {};
}

// A scheme whose probes go up and then down chooses at every switch. One that is told of paths on
// which packets wait must tell these paths apart.
Problems check_fit(const config::Experiment& experiment, const FabricPlan& plan) {
  const lb::SchemeInfo* info = lb::scheme_of(experiment.load_balancer);
  const bool floods =
      info != nullptr && (info->speech.makes & lb::kind_bit(ShimKind::hula_probe)) != 0;
  const bool blames = info != nullptr && info->speech.waits;
  if (info != nullptr && info->grouped.channels != 0)
    return check_grouped(experiment, plan, info->grouped);
  if (!floods && !blames) return {};
  const std::string scheme = "load_balancer.scheme: '" + experiment.load_balancer.scheme + "'";
  if (plan.routing != FabricRouting::up_down)
    return {scheme + " is for fabrics with tiers, and this topology (" + plan.name +
            ") has none; leaf_spine and fat_tree would be valid"};
  const bool pinned = experiment.topology.pinned;
  if (floods && pinned)
    return {scheme +
            " chooses at every switch, so that paths cannot be pinned; topology.pinned: "
            "false would be valid"};
  const bool three = std::ranges::any_of(
      plan.switches, [](const FabricPlan::Node& node) { return node.tier > 1; });
  if (blames && three && !pinned)
    return {scheme +
            " is told of single paths, which in three tiers have to be pinned; "
            "topology.pinned: true would be valid"};
  return {};
}

// Another scheme that some switches take during the run. Where paths and channels are laid out for
// one, or would have to be, it makes do with these; elsewhere it is one that the topology bears.
Problems check_change(const config::Experiment& experiment, const FabricPlan& plan,
                      const std::string& value) {
  const lb::SchemeInfo* to = lb::find_scheme(value);
  const lb::SchemeInfo* from = lb::scheme_of(experiment.load_balancer);
  if (to == nullptr || from == nullptr) return {};  // those who read the value say so
  const lb::Grouped laid_out = from->grouped;
  if (to->grouped.channels == 0 && laid_out.channels == 0) {
    config::Experiment other = experiment;
    other.load_balancer = {.scheme = value};
    return check_fit(other, plan);
  }
  const auto fits = [&](const lb::Grouped& grouped) {
    return grouped.channels != 0 && grouped.channels <= laid_out.channels &&
           grouped.detours <= laid_out.detours;
  };
  if (fits(to->grouped)) return {};
  std::string valid;
  for (const lb::SchemeInfo& scheme : lb::schemes())
    if (fits(scheme.grouped)) valid += (valid.empty() ? "" : ", ") + std::string(scheme.name);
  return {"load_balancer.scheme: the fabric's paths and channels are laid out for '" +
          experiment.load_balancer.scheme + "', which '" + value + "' cannot go by; " +
          (valid.empty() ? "schemes for any fabric" : valid) + " would be valid"};
}

Problems check_scheme(const config::Experiment& experiment, const FabricPlan& plan) {
  if (Problems problems = check_fit(experiment, plan); !problems.empty()) return problems;
  for (size_t i = 0; i < experiment.faults.size(); ++i)
    for (const auto& [key, value] : experiment.faults[i].set) {
      if (!is_scheme(key)) continue;
      Problems problems = check_change(experiment, plan, value);
      for (std::string& problem : problems)
        problem.insert(0, "faults." + std::to_string(i) + ".set: ");
      if (!problems.empty()) return problems;
    }
  return {};
}

}  // namespace

Problems check_scheme(const config::Experiment& experiment) {
  auto plan = plan_fabric(experiment.topology);
  return plan ? check_scheme(experiment, *plan) : plan.problems();
}

Result<Topology> build_topology(const config::Experiment& experiment) {
  auto plan = plan_fabric(experiment.topology);
  if (!plan) return plan.problems();
  if (Problems problems = check_scheme(experiment, *plan); !problems.empty()) return problems;
  if (Problems problems = apply_link_choices(experiment.topology, *plan); !problems.empty())
    return problems;
  return Assembly(experiment, *plan).run();
}

}  // namespace eddy::lab
