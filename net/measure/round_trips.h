// How a flow's round trips are judged: as multiples of the least one over as many hops.
//
// Switches and NICs that watch flowcuts do it alike. Times are in ns; ticks are of the caller's,
// modulo 2^32. Owner: whoever keeps it, one thread. Bounds: 6 octets a flow, 200 in all. Cost: a
// dozen instructions a round trip, one division. Source: reference A.12.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace eddy {

// A round-trip time as a multiple of the least one, in 2^-11.
using Norm = uint16_t;
constexpr int kNormShift = 11;
constexpr Norm kNormOne = Norm{1} << kNormShift;
constexpr Norm norm_of(int64_t rtt_ns, int64_t least_ns) {
  const int64_t norm = (rtt_ns << kNormShift) / std::max<int64_t>(least_ns, 1);
  return static_cast<Norm>(std::clamp<int64_t>(norm, kNormOne, UINT16_MAX));
}

// Moving averages of a flow's norm, and of how it changes.
struct Trend {
  Norm average = kNormOne;
  Norm last = kNormOne;
  int16_t gradient = 0;  // saturates

  void take(Norm norm, int alpha_percent) {
    const int change = std::clamp(norm - last, INT16_MIN + 0, INT16_MAX + 0);
    average = static_cast<Norm>(average + part_of(norm - average, alpha_percent));
    gradient = static_cast<int16_t>(gradient + part_of(change - gradient, alpha_percent));
    last = norm;
  }

 private:
  static constexpr int part_of(int whole, int percent) {
    const int product = whole * percent;
    return (product + (product < 0 ? -50 : 50)) / 100;
  }
};

// The least round trip by the number of hops, of the last one to two periods.
class LeastTimes {
 public:
  static constexpr size_t kHops = 16;

  explicit LeastTimes(uint32_t period_ticks) : period_(std::max(period_ticks, 1u)) {}

  // Takes one more, and returns the least.
  uint32_t take(size_t hops, uint32_t rtt_ns, uint32_t tick) {
    Least& least = of_[std::min(hops, kHops - 1)];
    const uint32_t periods = (tick - least.since) / period_;
    if (periods != 0) {
      least.before = periods == 1 ? least.now : kNone;
      least.now = kNone;
      least.since += periods * period_;
    }
    least.now = std::min(least.now, rtt_ns);
    return std::min(least.now, least.before);
  }

 private:
  static constexpr uint32_t kNone = UINT32_MAX;
  struct Least {
    uint32_t since = 0;
    uint32_t now = kNone;
    uint32_t before = kNone;
  };
  uint32_t period_;
  std::array<Least, kHops> of_{};
};

}  // namespace eddy
