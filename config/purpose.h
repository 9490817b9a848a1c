// Purpose: what a configuration is for, which decides what it must have.
#pragma once

#include <cstddef>
#include <cstdint>

namespace eddy::config {

enum class Purpose : uint8_t {
  daemon,  // a real eddyd: every port has a device, at most kDaemonPorts ports
  object,  // a switch object in one process
};
// RTE_MAX_ETHPORTS of Debian's DPDK; for a build of DPDK with more ports: docs/nics.md.
#ifndef EDDY_DAEMON_PORTS
#define EDDY_DAEMON_PORTS 32
#endif
inline constexpr size_t kDaemonPorts = EDDY_DAEMON_PORTS;

}  // namespace eddy::config
