#include "switch/dpdk_backend.h"

#include <rte_lcore.h>

namespace eddy {
namespace {

// The one CPU of an lcore, -1 when it floats.
int cpu_of(unsigned lcore) {
  const rte_cpuset_t set = rte_lcore_cpuset(lcore);
  if (CPU_COUNT(&set) != 1) return -1;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(cpu, &set)) return cpu;
  return -1;
}

control::WorkerStats stats_of(int index, const WorkerSeat& seat) {
  const auto& counters = seat.worker->counters();
  const PollGapReport& gap = seat.worker->poll_gap();
  control::WorkerStats out;
  out.worker = index;
  out.lcore = static_cast<int>(seat.lcore);
  out.cpu = cpu_of(seat.lcore);
  out.polls = counters.read(WorkerCounter::worker_polls);
  out.empty_polls = out.polls - counters.read(WorkerCounter::worker_busy_polls);
  out.packets = counters.read(WorkerCounter::worker_rx_packets);
  out.busy_cycles = counters.read(WorkerCounter::worker_busy_cycles);
  out.total_cycles = out.busy_cycles + counters.read(WorkerCounter::worker_idle_cycles);
  out.poll_gap_p999_ns = static_cast<uint64_t>(gap.p999_ns.load(std::memory_order_relaxed));
  out.poll_gap_max_ns = static_cast<uint64_t>(gap.longest_ns.load(std::memory_order_relaxed));
  return out;
}

}  // namespace

std::vector<control::WorkerStats> DpdkBackend::worker_stats() {
  std::vector<control::WorkerStats> out;
  for (const WorkerSeat& seat : seats_) out.push_back(stats_of(static_cast<int>(out.size()), seat));
  return out;
}

control::DeviceInfo DpdkBackend::device_info(PortId port) {
  DeviceView device = ports_.device(port);
  return {.device = std::move(device.name),
          .driver = std::move(device.driver),
          .pfc = std::move(device.pfc),
          .link_speed_bps = device.link_speed_bps,
          .link_up = device.link_up};
}

Problems DpdkBackend::check_port(PortId port, const config::PortConfig& config) {
  return ports_.check(port, config);
}

Problems DpdkBackend::restart_port(PortId port, const config::PortConfig& config) {
  return ports_.restart(port, config);
}

Problems DpdkBackend::check_new_port(PortId place, const config::SwitchConfig& next) {
  return ports_.check_new(place, next);
}

Problems DpdkBackend::check_removal(PortId port) {
  return ports_.check_removal(port);
}

Problems DpdkBackend::plug_port(PortId place, const config::SwitchConfig& next) {
  return ports_.plug(place, next);
}

void DpdkBackend::use_port(PortId port) {
  ports_.use(port);
}

Problems DpdkBackend::unplug_port(PortId port) {
  return ports_.unplug(port);
}

void DpdkBackend::set_admin_up(PortId port, bool up) {
  ports_.set_admin_up(port, up);
}

}  // namespace eddy
