// Configurations that object tests share: one switch with hosts, and a leaf-spine fabric.
#pragma once

#include <string>

#include "config/config.h"
#include "net/addresses.h"
#include "switch/dataplane/state/snapshot.h"

namespace eddy::test {

using namespace eddy::literals;

inline IpAddress ip(const std::string& text) {
  return *parse_ip(text);
}
inline IpPrefix prefix(const std::string& text) {
  return *parse_ip_prefix(text);
}

inline MacAddress host_mac(size_t leaf, size_t host) {
  return {{0x02, 0xaa, 0, 0, static_cast<uint8_t>(leaf), static_cast<uint8_t>(host)}};
}
// 10.<leaf>.<host>.2 and .1 for the gateway; leaves and hosts from 1.
inline IpAddress host_ip(size_t leaf, size_t host) {
  return ip("10." + std::to_string(leaf) + "." + std::to_string(host) + ".2");
}
inline IpAddress gateway_ip(size_t leaf, size_t host) {
  return ip("10." + std::to_string(leaf) + "." + std::to_string(host) + ".1");
}

// A host port with its gateway address and the host as a configured neighbor.
inline void add_host_port(config::SwitchConfig& config, size_t leaf, size_t host, BitRate speed,
                          bool fixed_neighbor = true) {
  config::PortConfig port = config::default_port("host" + std::to_string(host));
  port.role = config::PortRole::host;
  port.speed = speed;
  port.mtu = 9000;
  port.addresses.push_back({gateway_ip(leaf, host), 24});
  config.ports.push_back(port);
  if (fixed_neighbor)
    config.neighbors.push_back({host_ip(leaf, host), host_mac(leaf, host), port.name});
}

inline void add_fabric_port(config::SwitchConfig& config, const std::string& name, BitRate speed) {
  config::PortConfig port = config::default_port(name);
  port.role = config::PortRole::fabric;
  port.speed = speed;
  port.mtu = 9100;
  config.ports.push_back(port);
}

// A poll_gap that suits a fabric polled at every event.
inline config::SwitchConfig bare_switch(const std::string& name, size_t id) {
  config::SwitchConfig config = config::default_switch(name);
  config.id = SwitchId(id);
  config.mac = {{0x02, 0xed, 0, static_cast<uint8_t>(id), 0, 0}};
  config.idle = config::IdlePolicy::busy;
  config.poll_gap = 1_ns;
  config.control.lldp = false;
  return config;
}

// Deals the ports out to `shards` workers in turn.
inline void spread_over_workers(config::SwitchConfig& config, size_t shards) {
  config.workers = static_cast<int>(shards);
  for (size_t i = 0; i < config.ports.size(); ++i)
    config.ports[i].worker = static_cast<int>(i % shards);
}

struct LeafSpine {
  std::vector<config::SwitchConfig> leaves;  // ports: hosts first, then one a spine
  std::vector<config::SwitchConfig> spines;  // ports: one a leaf
  size_t hosts = 0;
};

struct LeafSpineSpec {
  size_t leaves = 2;
  size_t spines = 2;
  size_t hosts = 2;  // a leaf
  BitRate host_speed = BitRate::gbps(10);
  BitRate fabric_speed = BitRate::gbps(10);
  std::string scheme = "ecmp";
};

inline void set_peer(config::SwitchConfig& config, size_t port, const config::SwitchConfig& peer,
                     size_t peer_port) {
  config.ports[port].peer_mac = port_mac(peer, peer_port);
}

inline LeafSpine leaf_spine(const LeafSpineSpec& spec) {
  LeafSpine fabric;
  fabric.hosts = spec.hosts;
  for (size_t l = 1; l <= spec.leaves; ++l) {
    config::SwitchConfig leaf = bare_switch("leaf" + std::to_string(l), l);
    leaf.leaf = LeafId(l);
    leaf.load_balancer.scheme = spec.scheme;
    for (size_t h = 1; h <= spec.hosts; ++h) add_host_port(leaf, l, h, spec.host_speed);
    for (size_t s = 1; s <= spec.spines; ++s)
      add_fabric_port(leaf, "spine" + std::to_string(s), spec.fabric_speed);
    for (size_t other = 1; other <= spec.leaves; ++other) {
      if (other == l) continue;
      config::LeafConfig to{LeafId(other), {}};
      for (size_t s = 1; s <= spec.spines; ++s)
        to.paths.push_back({"spine" + std::to_string(s), 1, {}});
      leaf.leaves.push_back(to);
      leaf.routes.push_back({prefix("10." + std::to_string(other) + ".0.0/16"), LeafId(other), {}});
    }
    fabric.leaves.push_back(leaf);
  }
  for (size_t s = 1; s <= spec.spines; ++s) {
    config::SwitchConfig spine = bare_switch("spine" + std::to_string(s), 100 + s);
    for (size_t l = 1; l <= spec.leaves; ++l) {
      const std::string name = "leaf" + std::to_string(l);
      add_fabric_port(spine, name, spec.fabric_speed);
      spine.leaves.push_back({LeafId(l), {{name, 1, {}}}});
      spine.routes.push_back({prefix("10." + std::to_string(l) + ".0.0/16"), LeafId(l), {}});
    }
    fabric.spines.push_back(spine);
  }
  for (size_t l = 0; l < spec.leaves; ++l) {
    for (size_t s = 0; s < spec.spines; ++s) {
      set_peer(fabric.leaves[l], spec.hosts + s, fabric.spines[s], l);
      set_peer(fabric.spines[s], l, fabric.leaves[l], spec.hosts + s);
    }
  }
  return fabric;
}

}  // namespace eddy::test
