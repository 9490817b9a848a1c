// The keys of what is measured of paths.
#include "config/keys/makers.h"
#include "config/keys/units.h"

namespace eddy::config {
namespace {

constexpr int64_t kLongestTurn = 1'000'000 * kMicrosecond;

constexpr std::array<std::string_view, 5> kUses = {"auto", "off", "sampled", "every", "free"};
constexpr std::array<std::string_view, 2> kMetrics = {"one_way", "round_trip"};

}  // namespace

template <>
std::span<const std::string_view> choices_of<ShimUse>() {
  return kUses;
}
template <>
std::span<const std::string_view> choices_of<DelayMetric>() {
  return kMetrics;
}

template <>
const Section& section_of<PathServiceConfig>() {
  using S = PathServiceConfig;
  static const Section section = make_section(
      "path_service",
      "What a leaf measures of its paths: delay, ECN marks, load, and what has arrived. A shim of "
      "32 octets on packets between leaves carries it.",
      {
          key<S>(&S::shim, {.name = "shim",
                            .help = "which packets carry a shim; auto: those that the scheme and "
                                    "RLB need; every one where paths are pinned; free: as auto, in "
                                    "virtual time only, and its octets are on no line, in no "
                                    "buffer, queue, threshold, load or counter (ADR 0020)",
                            .source = "reference 1.6"}),
          key<S>(&S::delay, {.name = "delay",
                             .help = "one_way needs common_clock and is round_trip without it",
                             .source = "reference B.6"}),
          key<S>(&S::common_clock, {.name = "common_clock",
                                    .default_says = "false; in experiments true",
                                    .help = "all leaves share a clock (one process, or PTP)"}),
          key<S>(&S::base_rtt, {.name = "base_rtt",
                                .min = kMicrosecond / 10,
                                .max = kLongestTurn,
                                .absent = "auto",
                                .help = "from host to host and back while nothing waits; auto: "
                                        "eight times the longest fabric cable, and poll_gap"}),
          key<S>(&S::sample, {.name = "sample",
                              .max = kLongestTurn,
                              .absent = "auto",
                              .help = "a path in use is measured so often; auto: four base_rtt",
                              .source = "RLB paper"}),
          key<S>(&S::echo, {.name = "echo",
                            .max = kLongestTurn,
                            .absent = "auto",
                            .help = "an echo waits so long for a packet to carry it; auto: half of "
                                    "base_rtt"}),
          key<S>(&S::probe, {.name = "probe",
                             .max = kLongestTurn,
                             .absent = "auto",
                             .help = "an idle path is probed so often, 0s: never; auto: 8 base_rtt",
                             .source = "reference B.6"}),
          key<S>(&S::smoothing, {.name = "smoothing",
                                 .min = 1,
                                 .max = 64,
                                 .help = "a sample moves the delay by this part of the difference",
                                 .source = "1: the RLB paper"}),
          key<S>(&S::traffic_class,
                 {.name = "traffic_class",
                  .max = 7,
                  .absent = "auto",
                  .help = "that is measured; auto: the first lossless one, or 0"}),
      },
      PathServiceConfig{});
  return section;
}

}  // namespace eddy::config
