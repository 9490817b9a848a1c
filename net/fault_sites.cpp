#include "net/fault_sites.h"

#include <iterator>

namespace eddy {
namespace {

constexpr uint32_t kOddsPurpose = 0x6f646473;   // "odds"
constexpr uint32_t kFiresPurpose = 0x66697265;  // "fire"

}  // namespace

FaultSites::Odds FaultSites::draw(uint64_t seed) {
  constexpr uint16_t kChoices[] = {kAlways / 4, kAlways / 32, kAlways / 256};
  constexpr uint32_t kOnIn = 3;
  Odds odds{};
  for (uint32_t site = 0; site < kFaultSites; ++site) {
    RandomStream random(seed, site, kOddsPurpose);
    if (random.below(kOnIn) == 0) odds[site] = kChoices[random.below(std::size(kChoices))];
  }
  return odds;
}

FaultSites::FaultSites(uint64_t seed, const Odds& odds) : odds_(odds) {
  for (uint32_t site = 0; site < kFaultSites; ++site)
    streams_.emplace_back(seed, site, kFiresPurpose);
}

bool FaultSites::fires(FaultSite site) {
  const auto index = static_cast<size_t>(site);
  ++uses_[index].reached;
  if (odds_[index] == 0 || streams_[index].below(kAlways) >= odds_[index]) return false;
  ++uses_[index].fired;
  return true;
}

}  // namespace eddy
