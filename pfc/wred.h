// WredCurve: the probability of an ECN mark, by the length of the egress queue.
//
// p = 0 for q <= kmin, 1 for q >= kmax, linear from 0 to pmax between. Units: octets, and
// probabilities in 2^-32 (certainty is 2^32, which no random word reaches). The queue is measured
// as the packet finds it, before it is added; whether the packet is ECN-capable is the caller's
// matter. Immutable. Cost: two compares below kmin, a multiplication between. Error of the fixed
// point: under 2^-30 for kmax - kmin up to 4 GiB. Source: reference C.7; RED.
#pragma once

#include <cstdint>

namespace eddy::config {
struct WredProfile;
}

namespace eddy::pfc {

class WredCurve {
 public:
  static constexpr uint64_t kCertain = uint64_t{1} << 32;

  WredCurve() = default;  // never marks
  static WredCurve of(const config::WredProfile& profile);

  [[nodiscard]] uint64_t probability(int64_t queue_bytes) const {
    if (queue_bytes <= kmin_) [[likely]]
      return 0;
    if (queue_bytes >= kmax_) return kCertain;
    return (static_cast<uint64_t>(queue_bytes - kmin_) * slope_) >> 32;
  }

  // The longest queue that never marks.
  [[nodiscard]] int64_t unmarked() const { return kmin_; }
  // `draw` gives the next uniform 32-bit word; it is asked only where chance decides.
  template <class Draw>
  [[nodiscard]] bool marks(int64_t queue_bytes, Draw&& draw) const {
    const uint64_t p = probability(queue_bytes);
    if (p == 0 || p == kCertain) return p != 0;
    return static_cast<uint32_t>(draw()) < p;
  }
  bool operator==(const WredCurve&) const = default;

 private:
  int64_t kmin_ = INT64_MAX;
  int64_t kmax_ = INT64_MAX;
  uint64_t slope_ = 0;  // probability an octet, in 2^-64
};

}  // namespace eddy::pfc
