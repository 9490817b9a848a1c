// What the tests of topologies share: experiments to begin with, walks along the path sets, and
// packets over real switches.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "lab/fabric/build_topology.h"
#include "switch/dataplane/object/switch.h"
#include "switch/dataplane/state/snapshot.h"
#include "tests/support/fabric.h"
#include "tests/support/frames.h"

namespace eddy::test {

using namespace eddy::literals;

// Room enough for the headroom of every port.
inline config::Experiment small_experiment() {
  config::Experiment experiment;
  experiment.switches.buffer.size = 256_MiB;
  return experiment;
}

inline config::Experiment leaf_spine_of(int leaves, int spines, int hosts, int parallel = 1) {
  config::Experiment experiment = small_experiment();
  experiment.topology.leaves = leaves;
  experiment.topology.spines = spines;
  experiment.topology.hosts_per_leaf = hosts;
  experiment.topology.parallel_links = parallel;
  return experiment;
}

inline config::Experiment fat_tree_of(int k, int oversubscription = 1) {
  config::Experiment experiment = small_experiment();
  experiment.topology.kind = config::TopologyKind::fat_tree;
  experiment.topology.k = k;
  experiment.topology.oversubscription = oversubscription;
  return experiment;
}

inline config::Experiment dragonfly_of(int groups, int routers, int hosts, int global_links) {
  config::Experiment experiment = small_experiment();
  experiment.topology.kind = config::TopologyKind::dragonfly;
  experiment.topology.groups = groups;
  experiment.topology.routers = routers;
  experiment.topology.hosts_per_router = hosts;
  experiment.topology.global_links = global_links;
  return experiment;
}

inline std::vector<std::string> link_names(const lab::Topology& topology) {
  std::vector<std::string> names;
  for (const lab::Topology::Link& link : topology.links) names.push_back(link.name);
  return names;
}

// Follows every member of the path sets, as packets would, by names and routes alone.
class Walker {
 public:
  explicit Walker(const lab::Topology& topology) : topology_(topology) {
    for (size_t i = 0; i < topology.links.size(); ++i) {
      const lab::Topology::Link& link = topology.links[i];
      link_at_[{link.a.switch_index, link.a.port.index()}] = i;
      link_at_[{link.b.switch_index, link.b.port.index()}] = i;
    }
  }

  struct Ways {
    size_t count = 0;  // different ways
    size_t least = 0;  // links of the shortest, both hosts' included
    size_t most = 0;
    bool dead_end = false;  // one ends elsewhere, on a link that is down, or never
  };
  Ways between(const lab::Topology::Host& from, const lab::Topology::Host& to) const {
    const RouteTarget& target = target_of(to.address);
    Ways ways;
    follow(from.switch_index, to, target, 2, ways);
    return ways;
  }

  const RouteTarget& target_of(const IpAddress& address) const {
    const uint32_t v4 = address.v4().value;
    uint16_t index = 0;
    topology_.routes->lookup({&v4, 1}, &index);
    return topology_.routes->target(index);
  }

  // Names of the ports by which a switch sends to a leaf.
  std::vector<std::string> set(const std::string& switch_name, LeafId leaf) const {
    std::vector<std::string> ports;
    for (const config::SwitchConfig& config : topology_.switches) {
      if (config.name != switch_name) continue;
      for (const config::LeafConfig& each : config.leaves)
        if (each.id == leaf)
          for (const config::PathConfig& path : each.paths) ports.push_back(path.port);
    }
    return ports;
  }

 private:
  void follow(size_t at, const lab::Topology::Host& to, const RouteTarget& target, size_t links,
              Ways& ways) const {
    constexpr size_t kTooFar = 16;
    const config::SwitchConfig& config = topology_.switches[at];
    if (at == to.switch_index) {
      ways.dead_end |= target.port != to.port;
      ways.least = ways.count == 0 ? links : std::min(ways.least, links);
      ways.most = std::max(ways.most, links);
      ++ways.count;
      return;
    }
    bool any = false;
    for (const config::LeafConfig& leaf : config.leaves) {
      if (leaf.id != (target.via.is_none() ? target.leaf : target.via)) continue;
      for (const config::PathConfig& path : leaf.paths) {
        const auto port = std::find_if(config.ports.begin(), config.ports.end(),
                                       [&](const auto& p) { return p.name == path.port; });
        const auto found = link_at_.find({at, static_cast<size_t>(port - config.ports.begin())});
        if (found == link_at_.end() || links > kTooFar) continue;
        const lab::Topology::Link& link = topology_.links[found->second];
        if (!link.up) continue;
        any = true;
        const size_t next = link.a.switch_index == at ? link.b.switch_index : link.a.switch_index;
        follow(next, to, target, links + 1, ways);
      }
    }
    ways.dead_end |= !any;
  }

  const lab::Topology& topology_;
  std::map<std::pair<size_t, size_t>, size_t> link_at_;
};

inline lab::Topology built(const config::Experiment& experiment) {
  auto made = lab::build_topology(experiment);
  if (!made) {
    ADD_FAILURE() << testing::PrintToString(made.problems());
    return {};
  }
  return std::move(*made);
}

inline Problems refused(const config::Experiment& experiment) {
  auto made = lab::build_topology(experiment);
  if (made) return {};
  return made.problems();
}

inline void expect_all_can_be_made(const lab::Topology& topology) {
  for (const config::SwitchConfig& config : topology.switches) {
    auto made = Switch::create(config, {.shared_routes = topology.routes});
    EXPECT_TRUE(made.ok()) << config.name << ": " << testing::PrintToString(made.problems());
  }
}

inline void expect_everyone_reaches_everyone(const lab::Topology& topology) {
  const Walker walker(topology);
  for (const lab::Topology::Host& from : topology.hosts)
    for (const lab::Topology::Host& to : topology.hosts) {
      const Walker::Ways ways = walker.between(from, to);
      EXPECT_GT(ways.count, 0u) << from.name << " " << to.name;
      EXPECT_FALSE(ways.dead_end) << from.name << " " << to.name;
    }
}

// The real switches of a topology, with its hosts.
struct RealFabric {
  explicit RealFabric(const lab::Topology& of) : topology(of) {
    for (const config::SwitchConfig& config : topology.switches)
      fabric.add_switch(config, 1, topology.routes);
    for (const lab::Topology::Link& link : topology.links)
      if (link.up)
        fabric.connect(link.a.switch_index, link.a.port, link.b.switch_index, link.b.port,
                       link.delay);
    for (const lab::Topology::Host& host : topology.hosts)
      hosts.push_back(&fabric.attach_host(host.switch_index, host.port, host.delay));
  }
  RealFabric(const RealFabric&) = delete;
  RealFabric& operator=(const RealFabric&) = delete;

  // A datagram; it goes when the host is kicked, or here.
  void queue(size_t from, size_t to, uint16_t source_port) {
    const lab::Topology::Host& source = topology.hosts[from];
    UdpSpec spec;
    spec.destination_mac = port_mac(topology.switches[source.switch_index], source.port.index());
    spec.source_mac = source.mac;
    spec.source = source.address;
    spec.destination = topology.hosts[to].address;
    spec.source_port = source_port;
    spec.destination_port = 4791;
    spec.dscp = 3;
    hosts[from]->to_send.push_back({udp_frame(spec), 0, Priority(3)});
  }
  void send(size_t from, size_t to, uint16_t source_port) {
    queue(from, to, source_port);
    fabric.kick(*hosts[from]);
  }

  const lab::Topology& topology;
  Fabric fabric;
  std::vector<FabricHost*> hosts;
};

// A datagram from every host to every other one, over real switches: each arrives once, where it
// should.
inline void expect_packets_arrive(const lab::Topology& topology) {
  RealFabric real(topology);
  for (size_t from = 0; from < topology.hosts.size(); ++from) {
    for (size_t to = 0; to < topology.hosts.size(); ++to)
      if (from != to) real.queue(from, to, UdpSpec{}.source_port);
    real.fabric.kick(*real.hosts[from]);
  }
  real.fabric.run_until(Instant::at(1_ms));
  for (size_t i = 0; i < real.hosts.size(); ++i) {
    EXPECT_EQ(real.hosts[i]->received_count, real.hosts.size() - 1) << topology.hosts[i].name;
    for (const Arrival& arrival : real.hosts[i]->received)
      EXPECT_TRUE(std::equal(arrival.frame.begin(), arrival.frame.begin() + 6,
                             topology.hosts[i].mac.octets.begin()));
  }
}

}  // namespace eddy::test
