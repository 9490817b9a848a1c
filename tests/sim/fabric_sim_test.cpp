// Seeded random fabrics with faults and live reconfiguration: the invariants hold for every seed,
// and a seed gives the same run twice, the second time with clocks that are rebased all the time.
// EDDY_SEEDS=N runs N seeds, EDDY_SEED=n that one alone.
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <cstdlib>

#include "tests/sim/random_fabric.h"

namespace eddy::test {
namespace {

constexpr uint64_t kSeeds = 50;
constexpr uint64_t kTwice = 5;        // every so many seeds, the run is repeated
constexpr uint64_t kRebaseEvery = 7;  // polls of a switch

uint64_t from_environment(const char* name, uint64_t otherwise) {
  const char* value = std::getenv(name);
  return value == nullptr ? otherwise : std::strtoull(value, nullptr, 10);
}

TEST(RandomFabrics, KeepTheInvariantsAndRepeatThemselves) {
  const uint64_t only = from_environment("EDDY_SEED", 0);
  const uint64_t first = only != 0 ? only : 1;
  const uint64_t last = only != 0 ? only : from_environment("EDDY_SEEDS", kSeeds);
  uint64_t delivered = 0;
  for (uint64_t seed = first; seed <= last; ++seed) {
    const std::string again =
        "EDDY_SEED=" + std::to_string(seed) + " build/dev/bin/fabric_sim_test";
    SCOPED_TRACE(again);
    RandomFabric fabric(seed);
    const SimResult result = fabric.run();
    ASSERT_EQ(result.trouble, "") << again;
    ASSERT_TRUE(fabric.harsh() || result.lossless_lost == 0) << again;
    delivered += result.delivered;
    if (seed % kTwice != 0 && only == 0) continue;
    const SimResult repeated = RandomFabric(seed, /*sites=*/false, kRebaseEvery).run();
    ASSERT_EQ(repeated.digest, result.digest) << again;
  }
  EXPECT_GT(delivered, 0u);
}

// 5 days pass, or 109, 213 and 318: past the end of 63 bits of picoseconds and past that of 64.
TEST(RandomFabrics, DoTheSameHoweverOldTheyAre) {
  constexpr uint64_t kOld = 40;
  for (uint64_t seed = 1; seed <= kOld; ++seed) {
    SCOPED_TRACE(seed);
    const auto digest_after = [seed](int periods) {
      RandomFabric fabric(seed, /*sites=*/seed % 2 == 0);
      fabric.grow_old(periods);
      return fabric.run().digest;
    };
    const uint64_t digest = digest_after(0);
    for (const int periods : {2, 4, 6}) ASSERT_EQ(digest_after(periods), digest) << periods;
  }
}

// Shards that find each other's lanes and mailboxes full, devices that refuse, no buffers: what is
// lost is counted, and nothing is left behind.
TEST(RandomFabrics, KeepTheInvariantsWhereFaultSitesFire) {
  std::array<FaultSites::Use, kFaultSites> uses{};
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    SCOPED_TRACE(seed);
    RandomFabric fabric(seed, /*sites=*/true);
    const SimResult result = fabric.run();
    ASSERT_EQ(result.trouble, "");
    ASSERT_TRUE(fabric.may_lose() || result.lossless_lost == 0);
    if (seed % kTwice == 1) {
      ASSERT_EQ(RandomFabric(seed, /*sites=*/true, kRebaseEvery).run().digest, result.digest);
    }
    for (size_t i = 0; i < kFaultSites; ++i) {
      const auto site = static_cast<FaultSite>(i);
      if (!fabric.sites().on(site)) continue;
      uses[i].reached += fabric.sites().use(site).reached;
      uses[i].fired += fabric.sites().use(site).fired;
    }
  }
  for (const FaultSite site :
       {FaultSite::packet_lane_full, FaultSite::credit_lane_full, FaultSite::mailbox_full,
        FaultSite::pool_empty, FaultSite::device_full}) {
    const FaultSites::Use& use = uses[static_cast<size_t>(site)];
    std::printf(
        "%-20s reached %8llu, fired %8llu\n", kFaultSiteNames[static_cast<size_t>(site)].data(),
        static_cast<unsigned long long>(use.reached), static_cast<unsigned long long>(use.fired));
    EXPECT_EQ(use.fired > 0, kHasFaultSites) << kFaultSiteNames[static_cast<size_t>(site)];
  }
}

}  // namespace
}  // namespace eddy::test
