#include "net/fault_sites.h"

#include <gtest/gtest.h>

#include <array>
#include <type_traits>
#include <vector>

namespace eddy {
namespace {

constexpr FaultSite kSite = FaultSite::loop_full;

FaultSites::Odds only(FaultSite site, uint16_t odds) {
  FaultSites::Odds all{};
  all[static_cast<size_t>(site)] = odds;
  return all;
}
std::vector<bool> visits(FaultSites& sites, FaultSite site, int count) {
  std::vector<bool> fired;
  for (int i = 0; i < count; ++i) fired.push_back(sites.fires(site));
  return fired;
}

TEST(FaultSites, FireAsOftenAsTheirOddsSay) {
  FaultSites sites(1, only(kSite, 256));
  (void)visits(sites, kSite, 4'096);
  EXPECT_EQ(sites.use(kSite).reached, 4'096u);
  EXPECT_NEAR(static_cast<double>(sites.use(kSite).fired), 1'024, 100);
  FaultSites always(1, only(kSite, FaultSites::kAlways));
  (void)visits(always, kSite, 100);
  EXPECT_EQ(always.use(kSite).fired, 100u);
}

TEST(FaultSites, ThatAreOffAreReachedAndDoNotFire) {
  FaultSites sites(1, only(kSite, FaultSites::kAlways));
  EXPECT_TRUE(sites.on(kSite));
  EXPECT_FALSE(sites.on(FaultSite::pool_empty));
  EXPECT_FALSE(sites.fires(FaultSite::pool_empty));
  EXPECT_EQ(sites.use(FaultSite::pool_empty).reached, 1u);
  EXPECT_EQ(sites.use(FaultSite::pool_empty).fired, 0u);
}

TEST(FaultSites, GiveASeedTheSameFaultsWhateverOtherSitesDo) {
  FaultSites alone(7, only(kSite, 256));
  FaultSites::Odds both = only(kSite, 256);
  both[static_cast<size_t>(FaultSite::poll_late)] = 256;
  FaultSites among(7, both);
  (void)visits(among, FaultSite::poll_late, 50);
  const std::vector<bool> wanted = visits(alone, kSite, 100);
  EXPECT_EQ(visits(among, kSite, 100), wanted);
  FaultSites other(8, only(kSite, 256));
  EXPECT_NE(visits(other, kSite, 100), wanted);
}

TEST(FaultSites, AreEachOnInOneOfThreeDraws) {
  std::array<int, kFaultSites> on{};
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    const FaultSites::Odds odds = FaultSites::draw(seed);
    for (size_t site = 0; site < kFaultSites; ++site) on[site] += odds[site] != 0 ? 1 : 0;
  }
  for (const int times : on) EXPECT_NEAR(times, 100, 5 * 8);
  EXPECT_EQ(FaultSites::draw(3), FaultSites::draw(3));
}

// In builds without sites a probe is empty and says no.
TEST(FaultProbe, AsksTheSitesThatItWasGivenWhereTheBuildHasThem) {
  FaultSites sites(1, only(kSite, FaultSites::kAlways));
  EXPECT_EQ(FaultProbe(&sites).fires(kSite), kHasFaultSites);
  EXPECT_EQ(sites.use(kSite).reached, kHasFaultSites ? 1u : 0u);
  EXPECT_FALSE(FaultProbe().fires(kSite));
  EXPECT_EQ(std::is_empty_v<FaultProbe>, !kHasFaultSites);
}

}  // namespace
}  // namespace eddy
