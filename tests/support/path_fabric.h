// Leaves behind spines, joined, whose paths are measured; and ways to look at what they know.
//
// Leaf l (from 0) has one host, port 0; its uplink to spine s (from 0) is port 1 + s, member s of
// its sets. There are two leaves unless said, so that one set is there, to the other leaf. Cables
// of the fabric take kCable one way. Owner: one test.
#pragma once

#include <array>
#include <functional>
#include <optional>
#include <vector>

#include "net/shim.h"
#include "tests/support/one_switch.h"

namespace eddy::test {

struct PathFabric {
  static constexpr Duration kCable = Duration::microseconds(1);
  static constexpr Duration kBaseRtt = Duration::microseconds(8);

  struct Setup {
    config::PathServiceConfig service{
        .shim = config::ShimUse::sampled, .common_clock = true, .base_rtt = kBaseRtt};
    size_t shards = 1;
    size_t spines = 2;
    size_t leaves = 2;
    std::optional<int> vlan;  // that all ports of the fabric are in, with its tag
    std::function<void(config::SwitchConfig& leaf)> change;
    std::function<void(config::SwitchConfig& spine)> change_spine;
  };
  explicit PathFabric(const Setup& setup) : shape(shape_of(setup)) {
    for (const config::SwitchConfig& leaf : shape.leaves)
      leaves.push_back(fabric.add_switch(leaf, setup.shards));
    for (const config::SwitchConfig& spine : shape.spines)
      spines.push_back(fabric.add_switch(spine, setup.shards));
    for (size_t l = 0; l < leaves.size(); ++l) {
      hosts.push_back(&fabric.attach_host(leaves[l], PortId(0), 0_us));
      for (size_t s = 0; s < spines.size(); ++s)
        fabric.connect(leaves[l], PortId(1 + s), spines[s], PortId(l), kCable);
    }
  }
  static LeafSpine shape_of(const Setup& setup) {
    LeafSpine shape = leaf_spine({.leaves = setup.leaves, .spines = setup.spines, .hosts = 1});
    for (auto* switches : {&shape.leaves, &shape.spines})
      for (config::SwitchConfig& one : *switches) {
        one.path_service = setup.service;
        spread_over_workers(one, setup.shards);
        for (config::PortConfig& port : one.ports)
          if (port.role == config::PortRole::fabric) port.vlan = setup.vlan;
      }
    if (setup.change)
      for (config::SwitchConfig& leaf : shape.leaves) setup.change(leaf);
    if (setup.change_spine)
      for (config::SwitchConfig& spine : shape.spines) setup.change_spine(spine);
    return shape;
  }

  Switch& leaf(size_t l) { return fabric.at(leaves[l]); }
  Switch& spine(size_t s) { return fabric.at(spines[s]); }
  // Of a leaf's path over the spine, in its set of that number.
  const lb::PathRecord& record(size_t l, size_t s, size_t set = 0) {
    return leaf(l).paths()->at(set, static_cast<lb::MemberIndex>(s));
  }
  std::optional<Duration> delay(size_t l, size_t s) {
    return leaf(l).paths()->delay(0, static_cast<lb::MemberIndex>(s), fabric.now());
  }
  Instant arrived_before(size_t l, size_t s, QueueId queue = QueueId(3)) {
    return leaf(l).paths()->arrived_before(0, static_cast<lb::MemberIndex>(s), queue);
  }
  uint64_t count(size_t l, PortCounter which) {
    uint64_t total = 0;
    for (size_t port = 0; port < leaf(l).port_count(); ++port)
      total += test::count(leaf(l), port, which);
    return total;
  }
  // One packet from the host of a leaf to that of the other.
  UdpSpec packet(size_t l, uint16_t source_port = 1, uint8_t dscp = kLosslessDscp) const {
    UdpSpec spec{.destination_mac = port_mac(shape.leaves[l], 0),
                 .source_mac = host_mac(l + 1, 1),
                 .source = host_ip(l + 1, 1),
                 .destination = host_ip(2 - l, 1),
                 .dscp = dscp};
    spec.source_port = source_port;
    spec.frame_len = 1000;
    spec.readable_len = 128;
    return spec;
  }
  void send(size_t l, uint16_t source_port = 1, uint8_t dscp = kLosslessDscp) {
    fabric.inject(leaves[l], PortId(0), udp_frame(packet(l, source_port, dscp)), 1000);
  }
  void run_for(Duration time) { fabric.run_until(fabric.now() + time); }

  LeafSpine shape;
  Fabric fabric;
  std::vector<size_t> leaves;
  std::vector<size_t> spines;
  std::vector<FabricHost*> hosts;
};

// Time on a line of 10 Gb/s.
constexpr Duration on_line(int64_t octets) {
  return Duration::picoseconds(800) * (octets + 24);
}

}  // namespace eddy::test
