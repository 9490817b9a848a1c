// Topology: a whole fabric as values: switches (each with its configuration), hosts, links and the
// routes they share.
//
// Made by a builder (leaf_spine, fat_tree, ...) or a reader of files, read by the world. Ports of a
// switch are those of its SwitchConfig, in that order. A link joins two switch ports; a host hangs
// on one switch port. Owner: the run. Source: reference E.0, E.7; architecture, section 6.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "config/config.h"
#include "net/addresses.h"
#include "net/ids.h"
#include "net/units.h"
#include "switch/dataplane/routes.h"

namespace eddy::lab {

struct Topology {
  struct Host {
    std::string name;
    size_t switch_index = 0;
    PortId port;
    MacAddress mac;
    IpAddress address;
    BitRate rate;
    Duration delay;  // one way, of its link
  };
  struct End {
    size_t switch_index = 0;
    PortId port;
  };
  struct Link {
    End a;
    End b;
    BitRate rate;
    Duration delay;  // one way
    bool up = true;  // false: failed from the beginning
  };

  std::string name;
  std::vector<config::SwitchConfig> switches;
  std::vector<Host> hosts;
  std::vector<Link> links;
  std::shared_ptr<const RouteTable> routes;  // one for all switches; null: each switch's own routes
};

}  // namespace eddy::lab
