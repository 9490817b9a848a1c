// Valiant: each flowlet, or packet, goes by way of a random other group of the dragonfly, and
// inside a group by another switch: whatever the traffic is, it loads all links alike, at twice the
// cost. Source: reference A.16.
#include "lb/schemes/detours.h"

namespace eddy::lb {
namespace {

class AnyDetour {
 public:
  struct Parameters {
    DetourGranularity granularity = DetourGranularity::flowlet;
    Duration gap = kDetourGap;
    int64_t flows = kDetourFlows;
  };

  AnyDetour(const SelectorInit&, const Parameters&) {}
  MemberIndex choose(const PathView&, const Packet&, uint16_t, const Ways& ways,
                     uint64_t word) const {
    return random_of(ways.detours, static_cast<uint32_t>(word >> 32));
  }
};

class Valiant : public DetourScheme<AnyDetour> {
 public:
  static constexpr std::string_view kSummary =
      "dragonflies: each flowlet or packet takes a random detour, by another group or switch";
  static constexpr auto parameters() { return detour_parameters<Parameters>(); }
  using DetourScheme::DetourScheme;
};

}  // namespace

EDDY_SCHEME(valiant, Valiant)

}  // namespace eddy::lb
