// Counts what the program allocates, so that the suite can say that a selector allocates nothing.
//
// A program that uses allocations() gets operator new from allocations.cpp, for plugins, too.
// Threads: each counts its own.
#pragma once

#include <cstdint>

namespace eddy::conformance {
uint64_t allocations();  // calls of operator new by this thread so far
}  // namespace eddy::conformance
