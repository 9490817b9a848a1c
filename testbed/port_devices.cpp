// Every host has a device.
#include <fmt/format.h>
#include <rte_config.h>

#include <algorithm>

#include "testbed/host_daemon.h"

namespace eddy::testbed {

Result<lab::HostDevices> devices_of(const lab::Topology& topology,
                                    const std::vector<std::string>& assignments) {
  using Devices = Result<lab::HostDevices>;
  const size_t hosts = topology.hosts.size();
  if (hosts > RTE_MAX_ETHPORTS)
    return Devices::failure(fmt::format(
        "{} hosts: one process has one port a host, and this build of DPDK has room for {}; a "
        "smaller --size, or --set topology.hosts_per_leaf=N, would fit",
        hosts, RTE_MAX_ETHPORTS));
  Devices devices = lab::host_devices(topology, assignments);
  if (!devices) return devices;
  const auto missing = std::ranges::find(devices->by_host, std::string());
  if (missing == devices->by_host.end()) return devices;
  const std::string& host =
      topology.hosts[static_cast<size_t>(missing - devices->by_host.begin())].name;
  return Devices::failure(
      fmt::format("{} has no port; give --port {}=DEVICE, or one for all: "
                  "--port '*=net_memif{{n}},socket=DIR/{{host}}.memif'",
                  host, host));
}

}  // namespace eddy::testbed
