// DpdkBackend: what control may ask of the DPDK world: worker statistics, devices, the restart of
// one port, ports that come and go.
//
// Threads: control's calls only (see control/backend.h); workers' numbers are read relaxed. Source:
// architecture, section 8.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "switch/control/report/backend.h"
#include "switch/dpdk/port_manager.h"
#include "switch/dpdk/worker.h"

namespace eddy {

struct WorkerSeat {
  std::unique_ptr<DpdkIo> io;
  std::unique_ptr<Worker> worker;
  unsigned lcore = 0;
};

class DpdkBackend final : public control::Backend {
 public:
  DpdkBackend(std::span<const WorkerSeat> seats, PortManager& ports, const TscClock& clock)
      : seats_(seats), ports_(ports), clock_(clock) {}

  Instant now() override { return clock_.at(TscClock::cycles()); }
  std::vector<control::WorkerStats> worker_stats() override;
  control::DeviceInfo device_info(PortId port) override;
  Problems check_port(PortId port, const config::PortConfig& config) override;
  Problems restart_port(PortId port, const config::PortConfig& config) override;
  Problems check_new_port(PortId place, const config::SwitchConfig& next) override;
  Problems check_removal(PortId port) override;
  Problems plug_port(PortId place, const config::SwitchConfig& next) override;
  void use_port(PortId port) override;
  Problems unplug_port(PortId port) override;
  void set_admin_up(PortId port, bool up) override;

 private:
  std::span<const WorkerSeat> seats_;
  PortManager& ports_;
  const TscClock& clock_;
};

}  // namespace eddy
