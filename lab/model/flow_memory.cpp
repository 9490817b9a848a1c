#include "lab/model/flow_memory.h"

#include <algorithm>
#include <cmath>

namespace eddy::lab {

double packets_in_flight(const MemorySetting& setting) {
  constexpr double kBitsAnOctet = 8;
  return setting.rate * setting.rtt / (kBitsAnOctet * setting.mtu);
}

double flows_in_flight(const MemorySetting& setting, double flows) {
  return std::min(flows, packets_in_flight(setting));
}

double table_flows(const MemorySetting& setting, TableAt at, double flows) {
  const double of_a_host = flows_in_flight(setting, flows);
  switch (at) {
    case TableAt::any_switch:
      return setting.hosts * of_a_host;
    case TableAt::leaf:
      return setting.hosts_per_leaf * of_a_host;
    case TableAt::host:
      return of_a_host;
  }
  return 0;
}

double table_octets(const MemorySetting& setting, const FlowTableKind& kind, double flows) {
  return kind.octets * table_flows(setting, kind.at, flows);
}

double fat_tree_hosts_per_leaf(double hosts) {
  return std::cbrt(4 * hosts) / 2;
}

}  // namespace eddy::lab
