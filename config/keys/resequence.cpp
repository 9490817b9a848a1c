// The keys of resequencing.
#include "config/keys/makers.h"
#include "config/keys/units.h"

namespace eddy::config {
namespace {

constexpr std::array<std::string_view, 3> kLossProofs = {"auto", "none", "ports"};

}  // namespace

template <>
std::span<const std::string_view> choices_of<LossProof>() {
  return kLossProofs;
}

template <>
const Section& section_of<ResequenceConfig>() {
  using S = ResequenceConfig;
  static const Section section = make_section(
      "resequence",
      "The leaf of the receiver puts RoCEv2 requests back in order, so that a scheme may spread a "
      "flow over paths and a go-back-N receiver need not know.",
      {
          key<S>(&S::enabled, {.name = "enabled", .help = "packets are put in order at all"}),
          key<S>(&S::wait, {.name = "wait",
                            .min = kMicrosecond,
                            .max = 1'000'000 * kMicrosecond,
                            .absent = "auto",
                            .help = "for what is missing, before the rest goes on without it; "
                                    "auto: 64 base round trips (path_service.base_rtt)"}),
          key<S>(&S::loss_proof,
                 {.name = "loss_proof",
                  .help = "when nobody waits for what is missing any more. ports: later packets "
                          "have come by all fabric ports, where a flow has one path to each, as in "
                          "two tiers; none: never; auto: ports in leaf-spine experiments"}),
          key<S>(&S::flows, {.name = "flows",
                             .min = 64,
                             .max = 16'777'216,
                             .absent = "auto",
                             .help = "flows watched, of a shard; 64 octets each; auto: 16384, in "
                                     "virtual time as many as the run's flows need"}),
          key<S>(&S::packets, {.name = "packets",
                               .min = 1,
                               .max = 32'767,
                               .help = "of a flow that are held; one more and all leave"}),
          key<S>(&S::cap,
                 {.name = "cap",
                  .max = kGib,
                  .absent = "auto",
                  .help = "octets held by a shard, in the buffer of the stages or in priority "
                          "groups; one more and the flow leaves; auto: half of what both "
                          "share"}),
      },
      ResequenceConfig{});
  return section;
}

}  // namespace eddy::config
