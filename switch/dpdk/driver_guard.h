// DriverGuard: keeps what a dying peer does to net_memif from ending this process.
//
// The driver drops a dead peer's shared memory on DPDK's interrupt thread, while a worker may stand
// in the middle of a burst over it: kill -9 of a neighbour would now and then take us along. The
// driver marks the port as disconnected before it unmaps, so it is enough that munmap() on that
// thread waits until each worker has finished the poll it was in. And a listener that cannot greet
// a peer, because that is gone already, frees a channel which stays registered; so sendmsg() on
// that thread hides a broken connection, which the driver then learns by reading, where it copes.
// The process's munmap() and sendmsg() are ours; libraries call them like any other. Threads: set
// by control before drivers run, cleared after the workers have ended. Cost: none on workers.
// Source: memif_disconnect() and memif_listener_handler() of DPDK 22.11.
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
