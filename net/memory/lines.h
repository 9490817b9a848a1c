// Lines of memory that are asked for before they are read, so that several come together.
//
// Plain code, without state. Cost: an instruction or two a line.
#pragma once

#include <rte_prefetch.h>

#include <cstddef>

namespace eddy {

inline constexpr size_t kLineOctets = 64;

// Those that hold `octets` octets from `first` on, which is where a line begins, or the first line
// of a part. By rte_prefetch0, as g++ drops functions that hold nothing but its own.
inline void ask_for(const void* first, size_t octets = 1) {
  for (size_t at = 0; at < octets; at += kLineOctets)
    rte_prefetch0(static_cast<const std::byte*>(first) + at);
}

}  // namespace eddy
