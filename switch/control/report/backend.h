// Backend: what only the world around the Switch knows and can do, as control needs it: worker
// statistics, devices, the restart of one port, and ports that come and go.
//
// Implemented by switch/dpdk, faked in tests. Units are in the names. Threads: called by one thread
// at a time (control serialises), never by a worker; the implementation reads its workers' numbers
// with relaxed loads. Cost: worker_stats() and device_info() are called about once a second and at
// each report.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "config/config.h"
#include "net/ids.h"
#include "net/result.h"
#include "net/units.h"

namespace eddy::control {

struct WorkerStats {
  int worker = 0;                 // ShardId::index()
  int lcore = -1;                 // EAL's number; -1 = none
  int cpu = -1;                   // CPU it is bound to; -1 = any
  uint64_t polls = 0;             // since start
  uint64_t empty_polls = 0;       // found nothing to do
  uint64_t packets = 0;           // received by this worker
  uint64_t busy_cycles = 0;       // TSC cycles in polls that did work
  uint64_t total_cycles = 0;      // TSC cycles since start
  uint64_t poll_gap_p999_ns = 0;  // 99.9th percentile of the time between polls, last second
  uint64_t poll_gap_max_ns = 0;   // longest, last second
};

struct DeviceInfo {
  std::string device;  // name in EAL: "net_memif0"
  std::string driver;  // "net_memif"
  std::string pfc;     // what the device can do for PFC: "software", "hardware", "none: ..."
  uint64_t link_speed_bps = 0;  // as the device says; 0 = unknown
  bool link_up = false;
};

class Backend {
 public:
  virtual ~Backend() = default;
  // What the workers' clock shows.
  virtual Instant now() = 0;
  virtual std::vector<WorkerStats> worker_stats() = 0;
  virtual DeviceInfo device_info(PortId port) = 0;
  // Problems that would keep `port` from running with this configuration; empty = it can. Nothing
  // is touched.
  virtual Problems check_port(PortId port, const config::PortConfig& config) = 0;
  // Stops the device, applies the keys classed `port`, starts it again; other ports go on. Empty =
  // it runs.
  virtual Problems restart_port(PortId port, const config::PortConfig& config) = 0;
  // Of a place that no port has, and the port that `next`, with ports by place, has there: problems
  // that would keep it from running. Nothing is touched.
  virtual Problems check_new_port(PortId place, const config::SwitchConfig& next) = 0;
  // Why the port cannot be removed while the switch runs; empty = it can.
  virtual Problems check_removal(PortId port) = 0;
  // Opens that port's device; it is used from use_port() on. Empty = it is open.
  virtual Problems plug_port(PortId place, const config::SwitchConfig& next) = 0;
  virtual void use_port(PortId port) = 0;
  // Closes the device of a port that is down; its place is empty then.
  virtual Problems unplug_port(PortId port) = 0;
  // Whether the port shall be up, from now on.
  virtual void set_admin_up(PortId port, bool up) = 0;
};

}  // namespace eddy::control
