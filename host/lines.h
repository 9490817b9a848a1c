// Lines of memory that are asked for before they are read.
//
// Plain code, without state. Cost: an instruction or two a line.
#pragma once

#include <rte_prefetch.h>

#include <cstddef>

namespace eddy::host {

// A NIC that has no more queue pairs of a kind asks for all of them; of more, most would be asked
// for in vain.
inline constexpr size_t kFewQueuePairs = 2;

// Those that hold `octets` octets from `first` on. By rte_prefetch0, as g++ drops functions that
// hold nothing but its own.
inline void ask_for(const void* first, size_t octets) {
  constexpr size_t kLine = 64;
  for (size_t at = 0; at < octets; at += kLine)
    rte_prefetch0(static_cast<const std::byte*>(first) + at);
}

}  // namespace eddy::host
