// DaemonPlan: what a configuration asks of the machine before anything is started: packets, memory,
// PCI.
//
// Pure; control plane. Units in the types. Source: architecture, section 6 (losslessness is counted
// in cells: the pool holds at least buffer / cell_bytes packets plus what devices keep).
#pragma once

#include "config/config.h"
#include "net/result.h"
#include "switch/dpdk/devargs.h"
#include "switch/dpdk/pools.h"

namespace eddy {

struct DaemonPlan {
  PoolSizes pools;
  bool pci = false;
  Bytes memory{0};  // of DPDK's: pools, tables, devices
};

// `config` as scaled, a file's: with room for the ports to come that it asks for, as far as packets
// go of any kind that it has or names under privileges.ports. Refuses more ports than DPDK was
// built for, and a buffer that does not fit.
Result<DaemonPlan> plan_daemon(const config::SwitchConfig& config);

// Packets that a driver keeps for its rings, beyond those that its user holds.
unsigned packets_held_by(config::PortKind kind);

// In the pool that ports receive into, for the ports there are; empty places count for nothing.
Result<size_t> packets_needed(const config::SwitchConfig& config);

}  // namespace eddy
