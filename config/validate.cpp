#include "config/validate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>
#include <string_view>
#include <tuple>

#include "config/host_port.h"
#include "config/keys/hint.h"
#include "config/keys/units.h"
#include "lb/registry.h"
#include "net/quantity.h"
#include "pfc/buffer_plan.h"
#include "pfc/class_pair.h"
#include "pfc/headroom.h"

namespace eddy::config {
namespace {

class Validator {
 public:
  Validator(const SwitchConfig& config, Purpose purpose) : config_(config), purpose_(purpose) {
    for (const PortConfig& port : config.ports) port_names_.push_back(port.name);
    for (const auto& [name, profile] : config.buffer.profiles) profile_names_.push_back(name);
    for (const auto& [name, wred] : config.buffer.wred) wred_names_.push_back(name);
  }

  Findings run() {
    check_port_count();
    check_devices();
    for (const PortConfig& port : config_.ports) check_port(port);
    check_subnets();
    check_profiles();
    check_leaves();
    check_routes();
    check_neighbors();
    check_scheme();
    check_shim();
    check_isolation();
    check_dre();
    check_telemetry();
    return std::move(findings_);
  }

 private:
  void check_port_count();
  void check_devices();
  void check_port(const PortConfig& port);
  void check_dilated(const std::string& path, BitRate rate);
  void check_priority_groups(const PortConfig& port);
  void check_queues(const PortConfig& port);
  void check_channels(const PortConfig& port);
  void check_subnets();
  void check_profiles();
  void check_leaves();
  void check_paths(const LeafConfig& leaf);
  void check_routes();
  void check_target(const RouteConfig& route, const std::string& at);
  void check_neighbors();
  void check_can_be_asked(const std::string& at, const NeighborConfig& neighbor);
  void check_scheme();
  void check_shim();
  void check_isolation();
  void check_dre();
  void check_telemetry();

  void problem(std::string path, std::string text) {
    findings_.problems.push_back({std::move(path), std::move(text)});
  }
  void warning(std::string path, std::string text) {
    findings_.warnings.push_back({std::move(path), std::move(text)});
  }
  const PortConfig* find_port(std::string_view name) const {
    const auto found = std::ranges::find(config_.ports, name, &PortConfig::name);
    return found == config_.ports.end() ? nullptr : &*found;
  }
  // The port, or a problem.
  const PortConfig* expect_port(const std::string& path, const std::string& name) {
    const PortConfig* port = find_port(name);
    if (port == nullptr)
      problem(path, fmt::format("{}: unknown port '{}'{}", path, name, hint(name, port_names_)));
    return port;
  }

  const SwitchConfig& config_;
  Purpose purpose_;
  Findings findings_;
  std::vector<std::string_view> port_names_;
  std::vector<std::string_view> profile_names_;
  std::vector<std::string_view> wred_names_;
};

void Validator::check_port_count() {
  const size_t count = config_.ports.size();
  const bool daemon = purpose_ == Purpose::daemon;
  const size_t limit = daemon ? kDaemonPorts : kMaxPorts;
  if (count > limit)
    problem("ports", fmt::format("{} ports, at most {}{}", count, limit,
                                 daemon ? " (DPDK's build limit)" : ""));
  const auto spare = static_cast<size_t>(config_.spare_ports);
  if (count <= limit && count + spare > limit)
    problem("switch.spare_ports",
            fmt::format("switch.spare_ports: {} ports to come beside {}, at most {} together{}; "
                        "valid is 0 to {}",
                        spare, count, limit, daemon ? " (DPDK's build limit)" : "", limit - count));
  if (count == 0) problem("ports", "no ports, a switch has at least one under 'ports'");
  std::set<std::string_view> seen;
  for (std::string_view name : port_names_)
    if (!seen.insert(name).second)
      problem(fmt::format("ports.{}", name), fmt::format("the port '{}' stands twice", name));
}

void Validator::check_devices() {
  std::map<std::string_view, std::string_view> owners;
  for (const PortConfig& port : config_.ports) {
    const std::string path = fmt::format("ports.{}.device", port.name);
    if (port.device.empty()) {
      if (purpose_ == Purpose::daemon)
        problem(path, fmt::format("ports.{}: no device, give the key 'device', such as "
                                  "net_af_packet0,iface=eth1 or 0000:03:00.0",
                                  port.name));
      continue;
    }
    // The name alone makes a device: net_memif0,role=client and net_memif0,role=server clash.
    const std::string_view name = std::string_view(port.device).substr(0, port.device.find(','));
    const auto [owner, is_new] = owners.emplace(name, port.name);
    if (!is_new)
      problem(path, fmt::format("{}: device '{}' already belongs to port '{}', each port needs its "
                                "own",
                                path, name, owner->second));
  }
}

void Validator::check_port(const PortConfig& port) {
  const std::string path = "ports." + port.name;
  if (port.worker >= config_.workers)
    problem(path + ".worker",
            fmt::format("{}.worker: there is no worker {}, valid is 0 to {} (switch.workers is {})",
                        path, port.worker, config_.workers - 1, config_.workers));
  check_dilated(path + ".speed", port.speed);
  if (port.shaper > BitRate{}) check_dilated(path + ".shaper", port.shaper);
  if (port.shaper > port.speed)
    problem(path + ".shaper", fmt::format("{}.shaper: {} is above the port's speed {}", path,
                                          to_string(port.shaper), to_string(port.speed)));
  if (port.tagging_mode == TaggingMode::untagged && !port.vlan)
    problem(
        path + ".tagging_mode",
        fmt::format("{}.tagging_mode: untagged is a way to be in a VLAN, and the port has none: "
                    "set vlan, or leave tagging_mode out",
                    path));
  if (port.pfc.pause_budget > port.pfc.budget_window)
    problem(path + ".pfc.pause_budget",
            fmt::format("{}.pfc.pause_budget: {} is more than budget_window {}", path,
                        to_string(port.pfc.pause_budget), to_string(port.pfc.budget_window)));
  if (port.watchdog.poll_interval > port.watchdog.detection_time)
    problem(path + ".watchdog.poll_interval",
            fmt::format("{}.watchdog.poll_interval: {} is more than detection_time {}", path,
                        to_string(port.watchdog.poll_interval),
                        to_string(port.watchdog.detection_time)));
  if (port.watchdog.poll_interval > port.watchdog.restoration_time)
    problem(path + ".watchdog.poll_interval",
            fmt::format("{}.watchdog.poll_interval: {} is more than restoration_time {}", path,
                        to_string(port.watchdog.poll_interval),
                        to_string(port.watchdog.restoration_time)));
  check_priority_groups(port);
  check_queues(port);
  check_channels(port);
}

// Lines below LineRate's range are refused.
void Validator::check_dilated(const std::string& path, BitRate rate) {
  if (config_.time_dilation > 0 && rate.bps() / config_.time_dilation < kSlowestLine)
    problem(path, fmt::format("{}: {} divided by time_dilation {} is below 1Mbps", path,
                              to_string(rate), config_.time_dilation));
}

void Validator::check_priority_groups(const PortConfig& port) {
  for (size_t pg = 0; pg < kPriorities; ++pg) {
    const std::string& name = port.pg_profiles[pg];
    const std::string path = fmt::format("ports.{}.pgs.{}", port.name, pg);
    const auto profile = config_.buffer.profiles.find(name);
    if (profile == config_.buffer.profiles.end()) {
      problem(path, fmt::format("{}: unknown buffer profile '{}'{}", path, name,
                                hint(name, profile_names_)));
      continue;
    }
    if (!profile->second.lossless) continue;
    const size_t priority = port.maps.pg_to_pfc[pg].index();
    if ((port.pfc.priorities(kAllPriorities) >> priority & 1) == 0)
      warning(path,
              fmt::format("{}: lossless, but pfc.enable does not name its priority {}: nobody "
                          "is paused, packets are lost when the headroom is full",
                          path, priority));
    if (!port.pfc.tx)
      warning(path, fmt::format("{}: lossless, but pfc.tx is false: nobody is paused, packets are "
                                "lost when the headroom is full",
                                path));
    if (std::ranges::find(port.maps.tc_to_pg, PriorityGroupId(pg)) == port.maps.tc_to_pg.end())
      warning(path,
              fmt::format("{}: lossless, but no traffic class is mapped to it (tc_to_pg)", path));
  }
}

void Validator::check_queues(const PortConfig& port) {
  for (size_t i = 0; i < kPriorities; ++i) {
    const QueueConfig& queue = port.queues[i];
    const std::string path = fmt::format("ports.{}.queues.{}", port.name, i);
    if (queue.wred && !config_.buffer.wred.contains(*queue.wred))
      problem(path + ".wred", fmt::format("{}.wred: unknown WRED profile '{}'{}", path, *queue.wred,
                                          hint(*queue.wred, wred_names_)));
    if (queue.max_rate) check_dilated(path + ".max_rate", *queue.max_rate);
    if (queue.max_rate && *queue.max_rate > port.speed)
      problem(path + ".max_rate", fmt::format("{}.max_rate: {} is above the port's speed {}", path,
                                              to_string(*queue.max_rate), to_string(port.speed)));
  }
}

// Of each class the whole chain, from the class on.
void Validator::check_channels(const PortConfig& port) {
  constexpr size_t kMost = 4;  // what a shim's 2 bits can name
  const QosMaps& maps = port.maps;
  for (size_t i = 0; i < kPriorities; ++i) {
    const std::vector<TrafficClass> channels = maps.channels_of(TrafficClass(i));
    if (channels.size() == 1) continue;
    const std::string path = fmt::format("ports.{}.qos.tc_to_next.{}", port.name, i);
    std::set<PriorityGroupId> groups;
    std::set<QueueId> queues;
    for (const TrafficClass tc : channels) {
      groups.insert(maps.tc_to_pg[tc.index()]);
      queues.insert(maps.tc_to_queue[tc.index()]);
    }
    if (channels.size() > kMost)
      problem(path, fmt::format("{}: class {} rises through more than {} channels, or in a circle; "
                                "a last one that is its own next would be valid",
                                path, i, kMost));
    else if (groups.size() < channels.size() || queues.size() < channels.size())
      problem(path, fmt::format("{}: class {} has {} channels, and {} priority groups and {} "
                                "queues for them (tc_to_pg, tc_to_queue); each needs its own",
                                path, i, channels.size(), groups.size(), queues.size()));
  }
}

void Validator::check_subnets() {
  struct Subnet {
    IpPrefix prefix;
    size_t port;
    size_t index;
  };
  std::vector<Subnet> subnets;
  for (size_t p = 0; p < config_.ports.size(); ++p)
    for (size_t i = 0; i < config_.ports[p].addresses.size(); ++i)
      subnets.push_back({config_.ports[p].addresses[i], p, i});
  constexpr size_t kMostAddresses = 2'048;  // keeps the comparison of all pairs short
  if (subnets.size() > kMostAddresses)
    return problem("ports", fmt::format("{} addresses on all ports, at most {}", subnets.size(),
                                        kMostAddresses));
  for (size_t i = 0; i < subnets.size(); ++i) {
    const Subnet& later = subnets[i];
    const std::string path =
        fmt::format("ports.{}.addresses.{}", port_names_[later.port], later.index);
    for (size_t j = 0; j < i; ++j) {
      const Subnet& earlier = subnets[j];
      const bool overlap = earlier.prefix.contains(later.prefix.address) ||
                           later.prefix.contains(earlier.prefix.address);
      const bool same_address = earlier.prefix.address == later.prefix.address;
      if (!(overlap && earlier.port != later.port) && !same_address) continue;
      problem(path, fmt::format("{}: {} overlaps {} of port '{}'", path, to_string(later.prefix),
                                to_string(earlier.prefix), port_names_[earlier.port]));
      break;
    }
  }
}

void Validator::check_profiles() {
  for (const auto& [name, profile] : config_.buffer.profiles) {
    const std::string path = "buffer.profiles." + name;
    const bool is_static = profile.mode == BufferMode::fixed;
    if (is_static && profile.reserved > profile.xoff)
      problem(path + ".reserved",
              fmt::format("{}.reserved: {} is more than xoff {}", path, to_string(profile.reserved),
                          to_string(profile.xoff)));
    if (is_static && profile.lossless && profile.xon_offset >= profile.xoff)
      problem(path + ".xon_offset",
              fmt::format("{}.xon_offset: {} is not below xoff {}, the pause would never end", path,
                          to_string(profile.xon_offset), to_string(profile.xoff)));
  }
  for (const auto& [name, wred] : config_.buffer.wred)
    if (wred.kmin > wred.kmax)  // equal: a step, as DCTCP's
      problem(fmt::format("wred.{}.kmin", name),
              fmt::format("wred.{}.kmin: {} is above kmax {}", name, to_string(wred.kmin),
                          to_string(wred.kmax)));
}

void Validator::check_leaves() {
  std::set<LeafId> seen;
  for (const LeafConfig& leaf : config_.leaves) {
    const std::string path = fmt::format("leaves.{}", leaf.id.index());
    if (!seen.insert(leaf.id).second)
      problem(path, fmt::format("{}: this leaf stands twice", path));
    if (leaf.id == config_.leaf)
      problem(path, fmt::format("{}: this is the switch's own leaf id, list the other leaves only",
                                path));
    check_paths(leaf);
  }
}

void Validator::check_paths(const LeafConfig& leaf) {
  const std::string path = fmt::format("leaves.{}", leaf.id.index());
  if (leaf.paths.empty())
    problem(path, fmt::format("{}: no paths, list the ports that lead to it", path));
  if (leaf.paths.size() > kMaxPaths)
    return problem(path,
                   fmt::format("{}: {} paths, at most {}", path, leaf.paths.size(), kMaxPaths));
  const lb::SchemeInfo* scheme = lb::scheme_of(config_.load_balancer);
  const bool for_groups = scheme == nullptr || scheme->grouped.channels != 0;
  std::set<std::pair<std::string_view, std::optional<PathId>>> seen;
  for (size_t i = 0; i < leaf.paths.size(); ++i) {
    const PathConfig& each = leaf.paths[i];
    const std::string at = fmt::format("{}.{}.port", path, i);
    const PortConfig* port = expect_port(at, each.port);
    if (port == nullptr) continue;
    if (port->role != PortRole::fabric)
      problem(at, fmt::format("{}: port '{}' is a host port, a path needs one with role: fabric",
                              at, each.port));
    if (each.detour && !for_groups)
      problem(fmt::format("{}.{}.detour", path, i),
              fmt::format("{}.{}.detour: {} takes no detours, its packets would go astray; valiant "
                          "and ugal do",
                          path, i, scheme->name));
    else if (each.detour && scheme != nullptr && !scheme->grouped.detours && config_.rlb.enabled())
      problem(fmt::format("{}.{}.detour", path, i),
              fmt::format("{}.{}.detour: RLB takes any path of a set for as good as another, and a "
                          "detour is not; rlb.preset: off would be valid",
                          path, i));
    if (!seen.insert({each.port, each.path_id}).second)
      problem(at, fmt::format("{}: port '{}' is listed twice; for two paths over one port give "
                              "each its path_id",
                              at, each.port));
  }
}

void Validator::check_routes() {
  std::map<IpPrefix, size_t> seen;
  for (size_t i = 0; i < config_.routes.size(); ++i) {
    const RouteConfig& route = config_.routes[i];
    const std::string at = fmt::format("routes.{}", i);
    if (route.prefix.network() != route.prefix)
      problem(at + ".prefix",
              fmt::format("{}.prefix: {} has bits set behind its length, write {}", at,
                          to_string(route.prefix), to_string(route.prefix.network())));
    if (!seen.emplace(route.prefix.network(), i).second)
      problem(at + ".prefix",
              fmt::format("{}.prefix: {} has a route already", at, to_string(route.prefix)));
    check_target(route, at);
  }
}

void Validator::check_target(const RouteConfig& route, const std::string& at) {
  if (route.leaf.has_value() == route.port.has_value())
    return problem(at, fmt::format("{}: {}, give exactly one of leaf and port", at,
                                   route.leaf ? "both leaf and port" : "neither leaf nor port"));
  if (route.port) {
    expect_port(at + ".port", *route.port);
    return;
  }
  const bool known =
      *route.leaf == config_.leaf ||
      std::ranges::find(config_.leaves, *route.leaf, &LeafConfig::id) != config_.leaves.end();
  if (!known)
    problem(at + ".leaf", fmt::format("{}.leaf: no paths to leaf {}, add it under 'leaves'", at,
                                      route.leaf->index()));
}

void Validator::check_neighbors() {
  std::set<IpAddress> seen;
  for (size_t i = 0; i < config_.neighbors.size(); ++i) {
    const NeighborConfig& neighbor = config_.neighbors[i];
    const std::string at = fmt::format("neighbors.{}", i);
    if (!seen.insert(neighbor.address).second)
      problem(at + ".address",
              fmt::format("{}.address: {} stands twice", at, to_string(neighbor.address)));
    expect_port(at + ".port", neighbor.port);
    if (neighbor.mac.is_zero()) check_can_be_asked(at, neighbor);
  }
}

void Validator::check_can_be_asked(const std::string& at, const NeighborConfig& neighbor) {
  const auto port = std::ranges::find(config_.ports, neighbor.port, &PortConfig::name);
  if (port == config_.ports.end()) return;  // said already
  const auto contains = [&](const IpPrefix& own) { return own.contains(neighbor.address); };
  if (std::ranges::any_of(port->addresses, contains)) return;
  problem(at + ".mac", fmt::format("{}.mac: auto asks from an address of port {}, and none has {} "
                                   "in its subnet",
                                   at, port->name, to_string(neighbor.address)));
}

void Validator::check_scheme() {
  const LoadBalancerConfig& chosen = config_.load_balancer;
  std::vector<std::string_view> names;
  for (const lb::SchemeInfo& scheme : lb::schemes()) names.push_back(scheme.name);
  const lb::SchemeInfo* scheme = lb::scheme_of(chosen);
  if (scheme == nullptr && !chosen.plugin.empty()) return;  // load_plugin() said why
  if (scheme == nullptr)
    return problem("load_balancer.scheme", fmt::format("load_balancer.scheme: '{}' is unknown{}",
                                                       chosen.scheme, hint(chosen.scheme, names)));
  if (scheme->grouped.detours && config_.rlb.enabled())
    problem("rlb.preset", fmt::format("rlb.preset: RLB takes any path of a set for as good as "
                                      "another, and {}'s detours are not; off would be valid",
                                      scheme->name));
  names.clear();
  for (const lb::ParameterInfo& info : scheme->parameters) names.push_back(info.name);
  for (const auto& [name, text] : chosen.parameters) {
    const std::string path = "load_balancer." + name;
    const auto info = std::ranges::find(scheme->parameters, name, &lb::ParameterInfo::name);
    if (info == scheme->parameters.end()) {
      problem(path, fmt::format("load_balancer: '{}' is no parameter of {}{}", name, scheme->name,
                                hint(name, names)));
    } else if (const auto value = lb::parse_value(*info, text); !value) {
      problem(path, fmt::format("{}: {}", path, value.problems().front()));
    }
  }
}

void Validator::check_shim() {
  const lb::SchemeInfo* scheme = lb::scheme_of(config_.load_balancer);
  const ShimUse use = config_.path_service.shim;
  const bool channels = std::ranges::any_of(config_.ports, [](const PortConfig& port) {
    return port.maps.tc_to_next != QosMaps::sonic_defaults().tc_to_next;
  });
  const bool grouped = scheme != nullptr && scheme->grouped.channels != 0;
  if ((channels || grouped) && (use == ShimUse::off || use == ShimUse::sampled))
    problem("path_service.shim",
            fmt::format("path_service.shim: virtual channels ({}) stand in shims, so each packet "
                        "has one; write auto, free or every",
                        channels ? "qos.tc_to_next" : scheme->name));
  const bool numbers = scheme != nullptr && (scheme->speech.fields & lb::kFieldSequence) != 0;
  if (numbers && (use == ShimUse::off || use == ShimUse::sampled))
    problem("path_service.shim",
            fmt::format("path_service.shim: {} numbers packets in shims, so each has one; write "
                        "auto, free or every",
                        scheme->name));
  if (purpose_ != Purpose::daemon || config_.path_service.shim != ShimUse::free) return;
  problem("path_service.shim",
          "path_service.shim: free is for virtual time (eddylab run), on a real line a shim's 32 "
          "octets cost what they cost; write auto, off, sampled or every");
}

void Validator::check_isolation() {
  const IsolationConfig& isolation = config_.isolation;
  if (!isolation.enabled) return;
  if (isolation.life < isolation.refresh * 2)
    problem("isolation.life",
            fmt::format("isolation.life: {} is less than twice refresh, so that a single lost "
                        "message ends it; at least {} would be valid",
                        to_string(isolation.life), to_string(isolation.refresh * 2)));
  if (isolation.threshold && isolation.cold && *isolation.cold > *isolation.threshold)
    problem("isolation.cold",
            fmt::format("isolation.cold: {} is above threshold; at most {} "
                        "would be valid",
                        to_string(*isolation.cold), to_string(*isolation.threshold)));
  auto classes = pfc::class_pair_of(config_);
  if (classes) return;
  for (const std::string& text : classes.problems()) problem("isolation", text);
}

void Validator::check_dre() {
  constexpr double kLeast = 0.001;
  if (config_.dre.alpha < kLeast)
    problem("dre.alpha", fmt::format("dre.alpha: {} is out of range, valid is {} to 1",
                                     config_.dre.alpha, kLeast));
}

void Validator::check_telemetry() {
  const std::string path = "telemetry.prometheus";
  const std::string& text = config_.telemetry.prometheus;
  if (text.empty()) return;
  const auto [host, port_text] = split_host_port(text);
  const std::optional<IpAddress> address = parse_ip(host);
  constexpr int kLastPort = 65'535;
  const int port = std::atoi(port_text.c_str());
  if (!address)
    return problem(path,
                   fmt::format("{}: '{}' is no address, valid is 127.0.0.1:9477", path, host));
  if (port < 1 || port > kLastPort)
    return problem(path, fmt::format("{}: port {}, valid is 1 to {}", path, port, kLastPort));
  if (!is_loopback(*address) && !config_.telemetry.remote)
    problem(path,
            fmt::format("{}: other machines can reach {}; valid is loopback (127.0.0.0/8, ::1), or "
                        "telemetry.remote: true beside it",
                        path, host));
}

// A headroom given by hand that is below what the formula asks for.
void warn_of_short_headroom(const SwitchConfig& config, const PortConfig& port,
                            Findings& findings) {
  const Bytes needed = pfc::auto_headroom(port, config.pause_gap(port), config.buffer.cell_bytes);
  for (size_t pg = 0; pg < kPriorities; ++pg) {
    const BufferProfile& profile = config.buffer.profiles.at(port.pg_profiles[pg]);
    if (!profile.lossless || !profile.headroom || *profile.headroom >= needed) continue;
    const std::string path = fmt::format("ports.{}.pgs.{}", port.name, pg);
    findings.warnings.push_back(
        {path,
         fmt::format("{}: profile {} has headroom {}, packets may be lost; {} would do (auto)",
                     path, port.pg_profiles[pg], to_string(*profile.headroom), to_string(needed))});
  }
}

// Lossless groups with static thresholds may take what lossy ones would share with them.
void warn_of_starved_lossy(const SwitchConfig& config, const pfc::BufferPlan& plan,
                           Findings& findings) {
  const auto is_lossy = [&](const std::string& profile) {
    return !config.buffer.profiles.at(profile).lossless;
  };
  Bytes frames;  // one a port
  for (const PortConfig& port : config.ports)
    if (std::ranges::any_of(port.pg_profiles, is_lossy)) frames += Bytes(port.mtu);
  if (plan.needed == Bytes(0) || !plan.shortfall.empty() || plan.lossy() >= frames) return;
  findings.warnings.push_back(
      {"buffer.size", fmt::format("buffer.size: while all lossless groups are full, {} are left "
                                  "for lossy ones, less than a packet a port ({})",
                                  to_string(plan.lossy()), to_string(frames))});
}

}  // namespace

void complete_parameters(LoadBalancerConfig& chosen) {
  const lb::SchemeInfo* scheme = lb::scheme_of(chosen);
  if (scheme == nullptr) return;
  for (const lb::ParameterInfo& info : scheme->parameters) {
    std::string& text = chosen.parameters[std::string(info.name)];
    const auto value = lb::parse_value(info, text);
    text = lb::value_text(info, value ? value.value() : info.fallback);
  }
}

Findings validate(const SwitchConfig& config, Purpose purpose) {
  return Validator(config, purpose).run();
}

Findings validate_buffer(const SwitchConfig& given) {
  const SwitchConfig config = scaled(given);
  Findings findings;
  const Result<pfc::BufferPlan> plan = pfc::plan_buffer(config);
  if (!plan) {
    for (const std::string& text : plan.problems())
      findings.problems.push_back({"buffer.size", text});
    return findings;
  }
  for (const PortConfig& port : config.ports) warn_of_short_headroom(config, port, findings);
  warn_of_starved_lossy(config, plan.value(), findings);
  if (!plan.value().shortfall.empty())
    findings.warnings.push_back({"buffer.overcommit", plan.value().shortfall});
  return findings;
}

}  // namespace eddy::config
