// DriverGuard: keeps what a dying peer does to net_memif from ending this process.
//
// The driver drops a dead peer's shared memory on DPDK's interrupt thread, while a worker may stand
// in the middle of a burst over it: kill -9 of a neighbour would now and then take us along. The
// driver marks the port as disconnected before it unmaps, so it is enough that munmap() on that
// thread waits until each worker has finished the poll it was in. And a listener that cannot greet
// a peer, because that is gone already, frees a channel which stays registered; so sendmsg() on
// that thread hides a broken connection, which the driver then learns by reading, where it copes.
//
// All of this is true of DPDK 22.11 and its updates, whose sources say so; of another version
// nobody knows. The process's munmap() and sendmsg() are ours in any case, and libraries call them
// like any other, but they do what the system's do until guard_drivers() has seen a DPDK 22.11.
// Threads: guard_drivers() before ports are opened; a DriverGuard is set by control before drivers
// run and cleared after the workers have ended. Cost: none on workers. Source: memif_disconnect()
// and memif_listener_handler() of DPDK 22.11.
#pragma once

#include <functional>
#include <span>
#include <string>

#include "config/config.h"

namespace eddy {

struct DpdkVersion {
  unsigned year = 0;  // 22 and 11 for 22.11.3
  unsigned month = 0;
  unsigned update = 0;
  static DpdkVersion parse(const std::string& text);  // "DPDK 22.11.3", as rte_version() says it
  std::string to_string() const;
};
// The libraries that were loaded, which need not be those that this was compiled for.
DpdkVersion running_dpdk();

// munmap() and sendmsg() step in from now on if `running` is a version that this was written for,
// and no longer if not. What people should be told: that some of these ports are memif ports and go
// without; else empty.
std::string guard_drivers(std::span<const config::PortConfig> ports, const DpdkVersion& running);

class DriverGuard {
 public:
  // `wait_for_workers` returns when no driver call that began before it is still under way.
  explicit DriverGuard(std::function<void()> wait_for_workers);
  ~DriverGuard();
  DriverGuard(const DriverGuard&) = delete;
  DriverGuard& operator=(const DriverGuard&) = delete;
};

}  // namespace eddy
