// What a leaf measures of its paths, as plain values: how often, by which packets, and in which
// metric.
//
// Times are not scaled yet; those that are nullopt follow from the base round trip. Owner: whoever
// loaded it. Source: reference 1.6, 1.7, B.6; architecture, section 11.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "net/units.h"

namespace eddy::config {

// Which packets to other leaves get a shim; automatic: as scheme and RLB need it; free: the same in
// virtual time, and it costs nothing.
enum class ShimUse : uint8_t { automatic, off, sampled, every, free };  // YAML: auto, ...
// one_way: where the clock is common; else, or round_trip: there and back.
enum class DelayMetric : uint8_t { one_way, round_trip };

struct PathServiceConfig {
  ShimUse shim = ShimUse::automatic;
  DelayMetric delay = DelayMetric::one_way;
  bool common_clock = false;         // all leaves of the fabric share one
  std::optional<Duration> base_rtt;  // host to host, idle; nullopt: eight cables and a poll
  std::optional<Duration> sample;    // between stamps on a path; nullopt: four base_rtt
  std::optional<Duration> echo;      // a stamp waits for a packet back; nullopt: half of base_rtt
  std::optional<Duration> probe;     // idle paths; nullopt: eight base_rtt; 0: never
  int smoothing = 4;                 // t += (sample - t) / smoothing
  std::optional<int> traffic_class;  // of what is measured; nullopt: the first lossless one
  bool operator==(const PathServiceConfig&) const = default;
};

}  // namespace eddy::config
