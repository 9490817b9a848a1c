// Counts what the test binary allocates, so that tests can show that something allocates nothing.
#pragma once

#include <cstdint>

namespace eddy::test {
uint64_t allocations();  // calls of operator new so far
}  // namespace eddy::test
