// Random scripts for two switches, of which one receives by the long way. EDDY_WAYS_FRAMES says how
// many frames come in at least, EDDY_WAYS_SEED the first script's seed.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

#include "net/fault_sites.h"
#include "net/random.h"
#include "tests/fuzz/ways.h"

namespace eddy::test {
namespace {

constexpr size_t kScript = 4'096;

uint64_t number(const char* variable, uint64_t otherwise) {
  const char* text = std::getenv(variable);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

std::vector<uint8_t> random_script(uint64_t seed) {
  RandomStream random(seed, 0, 0);
  std::vector<uint8_t> script(kScript);
  for (uint8_t& octet : script) octet = static_cast<uint8_t>(random.next());
  return script;
}

TEST(BothWays, EndAlike) {
  const uint64_t wanted = number("EDDY_WAYS_FRAMES", 100'000);
  WaysResult all;
  for (uint64_t seed = number("EDDY_WAYS_SEED", 1); all.frames < wanted; ++seed) {
    const WaysResult one = run_both_ways(random_script(seed));
    ASSERT_EQ(one.difference, "") << "seed " << seed << ", after " << one.frames << " frames";
    all.frames += one.frames;
    all.sent += one.sent;
    all.echoes += one.echoes;
    all.long_ways += one.long_ways;
  }
  std::printf(
      "%llu frames came in, %llu went out, %llu echoes heard; %llu bursts the long way\n",
      static_cast<unsigned long long>(all.frames), static_cast<unsigned long long>(all.sent),
      static_cast<unsigned long long>(all.echoes), static_cast<unsigned long long>(all.long_ways));
  EXPECT_GT(all.sent, all.frames / 8) << "most frames come to nothing";
  EXPECT_GT(all.echoes, 0u) << "no feedback was of use";
  EXPECT_EQ(all.long_ways > 0, kHasFaultSites);
}

}  // namespace
}  // namespace eddy::test
