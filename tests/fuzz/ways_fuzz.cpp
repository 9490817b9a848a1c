// One input, one script for two switches, of which one receives by the long way (ways.h).
#include "net/assert.h"
#include "tests/fuzz/ways.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  ASSERT(eddy::test::run_both_ways({data, size}).difference.empty());
  return 0;
}
