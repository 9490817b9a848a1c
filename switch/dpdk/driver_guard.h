// DriverGuard: keeps a driver's interrupt thread from unmapping memory that a worker is reading.
//
// net_memif drops a dead peer's shared memory on DPDK's interrupt thread, while a worker may stand
// in the middle of a burst over it: kill -9 of a neighbour would now and then take us along. The
// driver marks the port as disconnected before it unmaps, so it is enough that munmap() on that
// thread waits until each worker has finished the poll it was in. The process's munmap() is ours;
// libraries call it like any other. Threads: set by control before drivers run, cleared after the
// workers have ended. Cost: none on workers. Source: memif_disconnect() of DPDK 22.11.
#pragma once

#include <functional>

namespace eddy {

class DriverGuard {
 public:
  // `wait_for_workers` returns when no driver call that began before it is still under way.
  explicit DriverGuard(std::function<void()> wait_for_workers);
  ~DriverGuard();
  DriverGuard(const DriverGuard&) = delete;
  DriverGuard& operator=(const DriverGuard&) = delete;
};

}  // namespace eddy
