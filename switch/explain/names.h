// Names: what people call the parts of a switch that an Explanation has by number.
//
// Plain values, made from a configuration, or from what a running switch says of itself. Owner: who
// asks.
#pragma once

#include <string>
#include <vector>

#include "config/config.h"
#include "net/addresses.h"

namespace eddy::explain {

struct Names {
  std::string name;  // of the switch
  std::string scheme;
  bool rlb = false;
  std::vector<std::string> ports;
  std::vector<IpPrefix> prefixes;  // of all routes, connected ones among them

  static Names of(const config::SwitchConfig& config);
  std::string port(PortId port) const;
  // The longest that covers the address; empty: none does.
  std::string prefix_of(const IpAddress& address) const;
};

}  // namespace eddy::explain
