// How much memory a process may still take on this machine without something else being swapped
// out.
//
// What the kernel holds as a cache of files counts as free, because it gives that away: after a
// long build nearly all memory is cache. Octets. Any thread; cost: one small file is read.
#pragma once

#include <cstdint>
#include <istream>

namespace eddy {

uint64_t free_memory();

// From what /proc/meminfo says; 0 where it does not say.
uint64_t free_memory_in(std::istream& meminfo);

}  // namespace eddy
