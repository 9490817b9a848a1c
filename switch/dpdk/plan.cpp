#include "switch/dpdk/plan.h"

#include <rte_config.h>

#include <algorithm>
#include <string>

#include "config/capabilities.h"
#include "net/ids.h"
#include "pfc/buffer_plan.h"

namespace eddy {
namespace {

constexpr unsigned kWorkerCache = 512;  // a full mempool cache, with its flush margin
constexpr unsigned kTables = 16;        // MiB: FIB, telemetry, what drivers allocate
constexpr unsigned kPortTables = 256;   // KiB: what a driver allocates for a port to come

// Of a port whose device is not known yet: any of the kinds that there are, or are to come.
unsigned held_by_any(const config::SwitchConfig& config) {
  unsigned most = packets_held_by(config::PortKind::memif);
  for (const config::PortConfig& port : config.ports)
    most = std::max(most, packets_held_by(config::port_kind_of(port.device)));
  for (const config::PortKind kind : config.privileges.ports)
    most = std::max(most, packets_held_by(kind));
  return most;
}

// The same of the buffer that its frames need, at the MTU of the port that has the longest.
int buffer_for_any(const config::SwitchConfig& config) {
  const auto longest = std::ranges::max_element(config.ports, {}, &config::PortConfig::mtu);
  if (longest == config.ports.end()) return 0;
  const auto size_of = [&](config::PortKind kind) {
    const std::string device = "net_" + std::string(to_string(kind)) + "0";
    return buffer_size_of(with_driver_defaults(DeviceArgs::parse(device), longest->mtu),
                          longest->mtu);
  };
  int most = size_of(config::PortKind::memif);
  for (const config::PortConfig& port : config.ports)
    most = std::max(most, size_of(config::port_kind_of(port.device)));
  for (const config::PortKind kind : config.privileges.ports) most = std::max(most, size_of(kind));
  return most;
}

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

unsigned packets_held_by(config::PortKind kind) {
  constexpr unsigned kRing = 1'024;
  switch (kind) {
    case config::PortKind::tap:
    case config::PortKind::ring:
      return kRing;
    case config::PortKind::vhost:
    case config::PortKind::virtio:
    case config::PortKind::pci:
      return 2 * kRing;
    case config::PortKind::af_xdp:  // fill, receive, transmit, completion
      return 4 * kRing;
    case config::PortKind::af_packet:
    case config::PortKind::memif:
    case config::PortKind::null:
    case config::PortKind::pcap:
    case config::PortKind::other:
      return kBurst;  // copies in and out
  }
  __builtin_unreachable();
}

Result<size_t> packets_needed(const config::SwitchConfig& config) {
  const auto buffer = pfc::plan_buffer(config);
  if (!buffer) return buffer.problems();
  size_t in_rings = static_cast<size_t>(config.workers) * kWorkerCache;
  for (const config::PortConfig& port : config.ports)
    if (!port.absent()) in_rings += packets_held_by(config::port_kind_of(port.device));
  return buffer.value().mbufs(in_rings);
}

Result<DaemonPlan> plan_daemon(const config::SwitchConfig& config) {
  const auto to_come = static_cast<size_t>(config.spare_ports);
  if (config.ports.size() + to_come > RTE_MAX_ETHPORTS)
    return Result<DaemonPlan>::failure(
        std::to_string(config.ports.size() + to_come) + " ports" +
        (to_come != 0 ? " (" + std::to_string(to_come) + " of them to come)" : "") +
        ": this build of DPDK has room for " + std::to_string(RTE_MAX_ETHPORTS));
  auto packets = packets_needed(config);
  if (!packets) return packets.problems();
  DaemonPlan plan;
  for (const config::PortConfig& port : config.ports) {
    const DeviceArgs device = with_driver_defaults(DeviceArgs::parse(port.device), port.mtu);
    plan.pools.buffer_size = std::max(plan.pools.buffer_size, buffer_size_of(device, port.mtu));
    plan.pci = plan.pci || device.is_pci();
  }
  if (to_come != 0)
    plan.pools.buffer_size = std::max(plan.pools.buffer_size, buffer_for_any(config));
  if (Problems problems = check_buffers(config, plan.pools.buffer_size); !problems.empty())
    return problems;
  plan.pools.data_packets = static_cast<unsigned>(*packets + to_come * held_by_any(config));
  plan.memory = plan.pools.memory() + Bytes::mib(kTables) +
                Bytes::kib(kPortTables) * static_cast<int64_t>(to_come);
  return plan;
}

}  // namespace eddy
