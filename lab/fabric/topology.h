// Topology: a whole fabric as values: switches (each with its configuration), hosts, links and the
// routes they share.
//
// Made by build_topology, read by the world. Ports of a switch are those of its SwitchConfig, in
// that order: its hosts, then its links. A link joins two switch ports; a host hangs on one switch
// port. A switch that has hosts has a leaf id, from 1 in the order of the switches; the switches'
// SwitchIds are their positions plus 1. Owner: the run. Bounds: 65,534 switches, 255 hosts and 256
// ports a switch, 64 paths a path set. Cost: linear in ports and path sets. Source: reference A.16,
// A.17, E.0, E.7; architecture, section 6.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "config/config.h"
#include "net/addresses.h"
#include "net/ids.h"
#include "net/units.h"
#include "switch/dataplane/state/routes.h"

namespace eddy::lab {

struct Topology {
  struct Host {
    std::string name;  // "leaf1.host1"
    size_t switch_index = 0;
    PortId port;
    MacAddress mac;
    IpAddress address;
    BitRate rate;
    Duration delay;     // one way, of its link
    uint32_t node = 0;  // its number in HPCC's files
  };
  struct End {
    size_t switch_index = 0;
    PortId port;
  };
  struct Link {
    std::string name;  // "leaf1-spine2"; of parallel ones the second is "leaf1-spine2.2"
    End a;
    End b;
    BitRate rate;
    Duration delay;  // one way
    bool up = true;  // false: failed from the beginning
  };

  std::string name;
  std::vector<config::SwitchConfig> switches;
  std::vector<uint32_t> switch_nodes;  // by switch: its number in HPCC's files
  std::vector<Host> hosts;
  std::vector<Link> links;
  int line_overhead = 24;  // of every link: octets of line time that a frame takes besides its own
  std::shared_ptr<const RouteTable> routes;  // one for all switches; null: each switch's own routes
  bool may_wait_in_circles = false;          // lossless frames on these routes: deadlock.h
  std::vector<std::string> warnings;         // usable all the same
};

// One way, of the lines there are.
inline Duration longest_delay(const Topology& topology) {
  Duration longest;
  for (const Topology::Link& link : topology.links) longest = std::max(longest, link.delay);
  for (const Topology::Host& host : topology.hosts) longest = std::max(longest, host.delay);
  return longest;
}

}  // namespace eddy::lab
