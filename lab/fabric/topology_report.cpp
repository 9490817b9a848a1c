#include <algorithm>
#include <cstdio>
#include <map>
#include <optional>
#include <set>

#include "lab/fabric/fabric_paths.h"
#include "net/quantity.h"
#include "pfc/buffer_plan.h"
#include "pfc/headroom.h"

namespace eddy::lab {
namespace {

using config::PortConfig;
using config::SwitchConfig;

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f", value);
  return text;
}

std::string octets(int64_t n) {
  return std::to_string(n) + " octets";
}

// "3 to 5", or "3".
std::string span(const std::string& least, const std::string& most) {
  return least + (least == most ? "" : " to " + most);
}

// As people read it: "17.31us", "640ns", at most four digits.
std::string readable(Duration time) {
  constexpr int64_t kPsANs = 1'000;
  constexpr int64_t kPsAUs = 1'000'000;
  const bool short_time = time.ps() < kPsAUs;
  char text[32];
  std::snprintf(text, sizeof text, "%.4g%s",
                static_cast<double>(time.ps()) / static_cast<double>(short_time ? kPsANs : kPsAUs),
                short_time ? "ns" : "us");
  return text;
}

struct PortKind {
  config::PortRole role;
  BitRate speed;
  Duration delay;
  auto operator<=>(const PortKind&) const = default;

  std::string text() const {
    return std::string(role == config::PortRole::host ? "host" : "fabric") + " ports of " +
           to_string(speed) + ", " + to_string(delay);
  }
};

class Report {
 public:
  Report(const config::Experiment& experiment, const Topology& topology)
      : experiment_(experiment), topology_(topology), paths_(topology) {}

  std::string write() {
    add_sizes();
    add_oversubscription();
    add_distances();
    add_congestion_control();
    add_buffers();
    add_headroom();
    add_ports_of_rates();
    add_ratios();
    for (const std::string& warning : topology_.warnings) line("warning: " + warning);
    return std::move(text_);
  }

 private:
  struct Distance {  // of pairs of hosts that are equally many links apart
    Duration least = Duration::max();
    Duration most{};
  };

  void line(const std::string& text) { text_ += text + "\n"; }

  Bytes packet() const { return Bytes(experiment_.host.mtu); }

  void add_sizes() {
    size_t leaves = 0;
    size_t down = 0;
    for (const SwitchConfig& config : topology_.switches) leaves += config.leaf.is_none() ? 0 : 1;
    for (const Topology::Link& link : topology_.links) down += link.up ? 0 : 1;
    line(topology_.name + ": " + std::to_string(topology_.switches.size()) + " switches (" +
         std::to_string(leaves) + " with hosts), " + std::to_string(topology_.hosts.size()) +
         " hosts, " + std::to_string(topology_.links.size()) + " links between switches" +
         (down > 0 ? ", " + std::to_string(down) + " of them down" : ""));
    std::map<std::pair<BitRate, Duration>, size_t> links;
    for (const Topology::Link& link : topology_.links)
      if (link.up) ++links[{link.rate, link.delay}];
    for (const auto& [kind, count] : links)
      line("  " + std::to_string(count) + " of " + to_string(kind.first) + ", " +
           to_string(kind.second) + " one way");
  }

  // Of each leaf, what its hosts can send to what its links can carry.
  void add_oversubscription() {
    std::vector<int64_t> hosts(topology_.switches.size());
    std::vector<int64_t> links(topology_.switches.size());
    for (const Topology::Host& host : topology_.hosts) hosts[host.switch_index] += host.rate.bps();
    for (const Topology::Link& link : topology_.links)
      for (const Topology::End& end : {link.a, link.b})
        if (link.up) links[end.switch_index] += link.rate.bps();
    std::optional<double> least;
    double most = 0;
    for (size_t i = 0; i < hosts.size(); ++i) {
      if (hosts[i] == 0 || links[i] == 0) continue;
      const double ratio = static_cast<double>(hosts[i]) / static_cast<double>(links[i]);
      least = std::min(least.value_or(ratio), ratio);
      most = std::max(most, ratio);
    }
    if (!least) return;
    line("oversubscription of leaves: " + number(*least) +
         (number(*least) == number(most) ? "" : " to " + number(most)));
  }

  void add_distances() {
    std::map<int, Distance> distances;  // by links
    uint64_t least_ways = UINT64_MAX;
    uint64_t most_ways = 0;
    const std::vector<uint32_t> hosts = typical_hosts(topology_);
    for (const uint32_t from : hosts)
      for (const uint32_t to : hosts) {
        if (from == to) continue;
        const FabricPaths::Path path = paths_.path(from, to);
        const Duration rtt = paths_.base_rtt(from, to, packet());
        Distance& distance = distances[path.links];
        distance.least = std::min(distance.least, rtt);
        distance.most = std::max(distance.most, rtt);
        longest_ = std::max(longest_, rtt);
        if (topology_.hosts[from].switch_index == topology_.hosts[to].switch_index) continue;
        least_ways = std::min(least_ways, path.ways);
        most_ways = std::max(most_ways, path.ways);
      }
    line("base RTT, packets of " + octets(packet().count()) + ":");
    for (const auto& [links, distance] : distances)
      line("  over " + std::to_string(links) +
           " links: " + span(readable(distance.least), readable(distance.most)));
    if (most_ways > 0)
      line("paths between leaves: " + span(std::to_string(least_ways), std::to_string(most_ways)));
    line("bandwidth-delay product of the longest: " + octets(bdp_.count()));
  }

  // What depends on the rate of a host.
  void add_congestion_control() {
    if (experiment_.host.congestion_control != "dcqcn") return;
    std::map<BitRate, size_t> rates;
    for (const Topology::Host& host : topology_.hosts) ++rates[host.rate];
    for (const auto& [rate, count] : rates) {
      const config::DcqcnConfig dcqcn = config::for_line(experiment_.host.dcqcn, rate);
      line("DCQCN of " + std::to_string(count) + " hosts of " + to_string(rate) + ": R_AI " +
           to_string(dcqcn.additive_increase) + ", R_HAI " + to_string(dcqcn.hyper_increase) +
           ", at least " + to_string(dcqcn.min_rate));
    }
  }

  // Switches with as many ports are one line, with the numbers of the neediest.
  void add_buffers() {
    struct Kind {
      std::string first;
      size_t count = 0;
      pfc::BufferPlan neediest;
    };
    std::map<size_t, Kind> kinds;  // by ports
    for (const SwitchConfig& config : topology_.switches) {
      auto plan = pfc::plan_buffer(config);
      if (!plan) continue;  // build_topology has refused it
      Kind& kind = kinds[config.ports.size()];
      if (kind.count++ == 0) kind.first = config.name;
      if (kind.count == 1 || plan.value().needed > kind.neediest.needed)
        kind.neediest = std::move(plan.value());
    }
    line("buffer:");
    for (const auto& [ports, kind] : kinds) {
      const pfc::BufferPlan& plan = kind.neediest;
      const bool one = kind.count == 1;
      line("  " + kind.first + (one ? "" : " and " + std::to_string(kind.count - 1) + " like it") +
           " (" + std::to_string(ports) + " ports): " + (one ? "needs " : "need at most ") +
           octets(plan.needed.count()) + " of " + octets(plan.size.count()) + ": " +
           octets(plan.reserved.count()) + " set aside, " +
           (plan.stages == Bytes(0) ? "" : octets(plan.stages.count()) + " for flow stages, ") +
           octets(plan.shared.count()) + " shared" +
           (plan.shortfall.empty() ? "" : "; overcommitted"));
    }
  }

  std::map<PortKind, const PortConfig*> port_kinds() const {
    std::map<PortKind, const PortConfig*> kinds;
    for (const SwitchConfig& config : topology_.switches)
      for (const PortConfig& port : config.ports)
        kinds.try_emplace({port.role, port.speed, port.cable_delay}, &port);
    return kinds;
  }

  // The terms of the formula, as pfc/headroom.h adds them up.
  void add_headroom() {
    const SwitchConfig& first = topology_.switches.front();
    const int cell = first.buffer.cell_bytes;
    line("headroom of a lossless priority group:");
    for (const auto& [kind, port] : port_kinds()) {
      const Duration gap = first.pause_gap(*port);
      const Bytes frame = pfc::longest_frame(port->mtu);
      const Bytes own = frame + Bytes(port->line_overhead);
      const Bytes cable = bytes_in(kind.delay * 2, kind.speed);
      const Bytes response = pfc::peer_response(kind.speed);
      const Bytes poll = bytes_in(gap, kind.speed);
      const Bytes total = cable + response + own + pfc::kPauseFrameOnLine + poll;
      line("  " + kind.text() + ": " + octets(pfc::auto_headroom(*port, gap, cell).count()) +
           ": on the line " + std::to_string(total.count()) + " (cable " +
           std::to_string(cable.count()) + " + response " + std::to_string(response.count()) +
           " + own frame " + std::to_string(own.count()) + " + pause frame " +
           std::to_string(pfc::kPauseFrameOnLine.count()) + " + poll gap " +
           std::to_string(poll.count()) + "), in cells of " + std::to_string(cell) + " at most " +
           std::to_string(pfc::worst_charge(total, cell, port->line_overhead).count()) +
           ", and two frames of " + std::to_string(frame.count()));
      warn_of_short_headroom(kind, *port);
    }
  }

  void warn_of_short_headroom(const PortKind& kind, const PortConfig& port) {
    const SwitchConfig& first = topology_.switches.front();
    const Bytes needed = pfc::auto_headroom(port, first.pause_gap(port), first.buffer.cell_bytes);
    std::set<std::string> told;
    for (const std::string& name : port.pg_profiles) {
      const config::BufferProfile& profile = first.buffer.profiles.at(name);
      const Bytes given = profile.headroom.value_or(needed);
      if (profile.lossless && given < needed && told.insert(name).second)
        line("  warning: profile " + name + " gives " + kind.text() + " " + octets(given.count()) +
             " of headroom, less than " + octets(needed.count()));
    }
  }

  void add_ports_of_rates() {
    for (const config::PortsOfRate& own : experiment_.switches.by_rate) {
      size_t count = 0;
      for (const SwitchConfig& config : topology_.switches)
        for (const PortConfig& port : config.ports) count += port.speed == own.rate ? 1 : 0;
      line(std::to_string(count) + " ports of " + to_string(own.rate) + ":" +
           (own.wred ? " WRED profile " + *own.wred : "") + (own.wred && own.lossless ? "," : "") +
           (own.lossless ? " buffer profile " + *own.lossless : ""));
    }
  }

  // Whether a port of the fabric has the profile.
  static bool has(const PortConfig& port, const std::string& profile) {
    return std::ranges::find(port.pg_profiles, profile) != port.pg_profiles.end();
  }

  // What a scaled-down fabric must keep (and a full one has).
  void add_ratios() {
    const SwitchConfig& first = topology_.switches.front();
    for (const auto& [name, profile] : first.buffer.profiles) {
      if (!profile.lossless || profile.mode != config::BufferMode::fixed) continue;
      for (const auto& [kind, port] : port_kinds()) {
        const int64_t round_trip = bytes_in(kind.delay * 2, kind.speed).count();
        if (round_trip > 0 && (has(*port, name) || experiment_.switches.by_rate.empty()))
          line("xoff / (2 delay x rate), " + name + ", " + kind.text() + ": " +
               number(static_cast<double>(profile.xoff.count()) / static_cast<double>(round_trip)));
      }
    }
    for (const auto& [name, wred] : first.buffer.wred)
      line("kmin / bandwidth-delay product, " + name + ": " +
           number(static_cast<double>(wred.kmin.count()) / static_cast<double>(bdp_.count())));
    const auto& parameters = experiment_.load_balancer.parameters;
    const auto gap = parameters.find("gap");
    if (gap == parameters.end()) return;
    if (const auto time = parse_duration(gap->second))
      line("flowlet gap / longest base RTT: " +
           number(static_cast<double>(time.value().ps()) / static_cast<double>(longest_.ps())));
  }

  const config::Experiment& experiment_;
  const Topology& topology_;
  FabricPaths paths_;
  Bytes bdp_ = paths_.largest_bdp(packet());
  Duration longest_;
  std::string text_;
};

}  // namespace

std::string describe_topology(const config::Experiment& experiment, const Topology& topology) {
  return Report(experiment, topology).write();
}

}  // namespace eddy::lab
