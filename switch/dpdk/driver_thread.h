// Runs a piece of control code on DPDK's interrupt thread, between two interrupts.
//
// net_memif handles its peers on that thread without a lock against rte_eth_dev_start() and
// rte_eth_dev_stop(), so those belong there too. Threads: any but workers and the interrupt thread
// itself; returns when `work` is done. Cost: two context switches.
#pragma once

#include <functional>

namespace eddy {

void run_on_driver_thread(const std::function<void()>& work);

}  // namespace eddy
