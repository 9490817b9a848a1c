#include "switch/explain/names.h"

namespace eddy::explain {

Names Names::of(const config::SwitchConfig& config) {
  Names names{.name = config.name,
              .scheme = config.load_balancer.scheme,
              .rlb = config.rlb.enabled(),
              .ports = {},
              .prefixes = {}};
  for (const config::PortConfig& port : config.ports) {
    names.ports.push_back(port.name);
    for (const IpPrefix& address : port.addresses) names.prefixes.push_back(address.network());
  }
  for (const config::RouteConfig& route : config.routes) names.prefixes.push_back(route.prefix);
  return names;
}

std::string Names::port(PortId port) const {
  if (port.index() < ports.size()) return ports[port.index()];
  return "port " + std::to_string(port.index());
}

std::string Names::prefix_of(const IpAddress& address) const {
  const IpPrefix* longest = nullptr;
  for (const IpPrefix& prefix : prefixes)
    if (prefix.contains(address) && (longest == nullptr || prefix.length > longest->length))
      longest = &prefix;
  return longest == nullptr ? "" : to_string(*longest);
}

}  // namespace eddy::explain
