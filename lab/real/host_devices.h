// HostDevices: which host stands on which device of DPDK, in words a user gives: HOST=DEVICE.
//
// HOST is a host's name or "*", all others. In DEVICE {host} stands for the host's name and {n} for
// its number in the topology, from 0. The same words serve both ends of the links: eddyhost's ports
// and those of the switches. Plain values; control plane only. Source: docs/testbed.md.
#pragma once

#include <string>
#include <vector>

#include "lab/fabric/topology.h"
#include "net/result.h"

namespace eddy::lab {

struct HostDevices {
  std::vector<std::string> by_host;  // as the topology has them; empty: not given
};

// Everything that is wrong with the words at once.
Result<HostDevices> host_devices(const Topology& topology,
                                 const std::vector<std::string>& assignments);

}  // namespace eddy::lab
