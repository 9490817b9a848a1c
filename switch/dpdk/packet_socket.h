// What the kernel dropped on this process's packet sockets, because their rings were full.
//
// net_af_packet keeps its sockets to itself and reports no such drops, so they are found among the
// open files. The kernel starts counting anew whenever it is asked: one caller an interface.
// Control thread. Cost: a system call an open file. Source: packet(7), PACKET_STATISTICS.
#pragma once

#include <cstdint>

namespace eddy {

// Frames dropped since the last call on sockets bound to this interface; 0 if there are none.
uint64_t take_packet_socket_drops(unsigned interface_index);

}  // namespace eddy
