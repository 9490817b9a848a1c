// Purpose: what a configuration is for, which decides what it must have.
#pragma once

#include <cstddef>
#include <cstdint>

namespace eddy::config {

enum class Purpose : uint8_t {
  daemon,  // a real eddyd: every port has a device, at most kDaemonPorts ports
  object,  // a switch object in one process
};
inline constexpr size_t kDaemonPorts = 32;  // RTE_MAX_ETHPORTS of Debian's DPDK

}  // namespace eddy::config
