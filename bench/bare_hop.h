// What the machine asks for moving cache lines between two cores, without a switch: the floor under
// worker.hop.threads.
//
//   worker.hop.floor    a thread writes three lines of each of 32 items and hands the items on by
//                       an rte_ring; another, on its own core, writes the same lines and hands
//                       them back. Busy cycles of both an item, less the same by one thread. A
//                       packet that crosses has three such lines too: mbuf, metadata, frame
#pragma once

#include <vector>

namespace eddy::bench {

inline constexpr int kReceivingCpu = 0;
inline constexpr int kSendingCpu = 1;

// Ties the calling thread to a CPU; false: it is not to be had.
[[nodiscard]] bool pin_to(int cpu);

// Cycles an item, `count` samples; none when two CPUs are not to be had.
std::vector<double> bare_hop_samples(int count);

}  // namespace eddy::bench
