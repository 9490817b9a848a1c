#include "switch/dpdk/plan.h"

#include <rte_config.h>

#include <algorithm>
#include <string>

#include "net/ids.h"
#include "pfc/buffer_plan.h"

namespace eddy {
namespace {

constexpr unsigned kWorkerCache = 512;  // a full mempool cache, with its flush margin
constexpr unsigned kTables = 16;        // MiB: FIB, telemetry, what drivers allocate

// All ports share one pool, so the longest frame of any must suit each.
Problems check_buffers(const config::SwitchConfig& config, int buffer_size) {
  Problems problems;
  for (const config::PortConfig& port : config.ports) {
    const int longest = longest_buffer_of(DeviceArgs::parse(port.device));
    if (buffer_size <= longest) continue;
    problems.push_back("port " + port.name + " (" + port.device +
                       "): takes packet buffers of at most " + std::to_string(longest) +
                       " octets, the MTUs of this switch need " + std::to_string(buffer_size) +
                       "; lower them or use net_af_packet here");
  }
  return problems;
}

}  // namespace

unsigned packets_held_by(const DeviceArgs& device) {
  const std::string driver = device.driver();
  constexpr unsigned kRing = 1'024;
  if (driver == "net_tap") return kRing;
  if (device.is_af_xdp()) return 4 * kRing;  // fill, receive, transmit, completion
  if (driver.starts_with("net_virtio") || driver.starts_with("net_vhost")) return 2 * kRing;
  if (device.is_pci()) return 2 * kRing;
  if (driver == "net_ring") return kRing;
  return kBurst;  // copies in and out
}

Result<DaemonPlan> plan_daemon(const config::SwitchConfig& config) {
  if (config.ports.size() > RTE_MAX_ETHPORTS)
    return Result<DaemonPlan>::failure(std::to_string(config.ports.size()) +
                                       " ports: this build of DPDK has room for " +
                                       std::to_string(RTE_MAX_ETHPORTS));
  const auto buffer = pfc::plan_buffer(config);
  if (!buffer) return buffer.problems();
  DaemonPlan plan;
  size_t in_rings = static_cast<size_t>(config.workers) * kWorkerCache;
  for (const config::PortConfig& port : config.ports) {
    const DeviceArgs device = with_driver_defaults(DeviceArgs::parse(port.device), port.mtu);
    in_rings += packets_held_by(device);
    plan.pools.buffer_size = std::max(plan.pools.buffer_size, buffer_size_of(device, port.mtu));
    plan.pci = plan.pci || device.is_pci();
  }
  if (Problems problems = check_buffers(config, plan.pools.buffer_size); !problems.empty())
    return problems;
  plan.pools.data_packets = static_cast<unsigned>(buffer.value().mbufs(in_rings));
  plan.memory = plan.pools.memory() + Bytes::mib(kTables);
  return plan;
}

}  // namespace eddy
