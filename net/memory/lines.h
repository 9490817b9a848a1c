// Lines of memory that are asked for before they are read or written, so that several come
// together.
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

// The line that holds it, for this core alone, so that to write it is to wait for no other one that
// has read it. What compilers have for this only reads at x86-64-v3, and a function that holds
// nothing else is dropped. Processors without the instruction do nothing.
inline void ask_to_write(const void* at) {
  [[maybe_unused]] const auto* const line = static_cast<const std::byte*>(at);
#if defined(__x86_64__)
  asm volatile("prefetchw %0" : : "m"(*line));
#elif defined(__aarch64__)
  asm volatile("prfm pstl1keep, %0" : : "Q"(*line));
#endif
}

}  // namespace eddy
