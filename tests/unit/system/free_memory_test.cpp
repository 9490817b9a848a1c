#include "system/free_memory.h"

#include <gtest/gtest.h>

#include <sstream>

namespace eddy {
namespace {

TEST(FreeMemory, CountsWhatTheKernelHoldsAsCache) {
  std::istringstream meminfo(
      "MemTotal:       24000000 kB\n"
      "MemFree:          300000 kB\n"
      "MemAvailable:   21000000 kB\n"
      "Cached:         20000000 kB\n");
  EXPECT_EQ(free_memory_in(meminfo), 21'000'000ull * 1'024);
}

TEST(FreeMemory, IsNothingWhereNothingIsSaid) {
  std::istringstream meminfo("MemTotal: 24000000 kB\nMemAvailable: many kB\n");
  EXPECT_EQ(free_memory_in(meminfo), 0u);
}

TEST(FreeMemory, OfThisMachine) {
  EXPECT_GT(free_memory(), 0u);
}

}  // namespace
}  // namespace eddy
