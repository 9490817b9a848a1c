// MarkedWindow: DCTCP's congestion window of one sending QP.
//
// Octets of payload; alpha in units of 2^-30, 1 at the start. Once a round (when everything that
// was in flight at the last one's end is acknowledged) alpha becomes (1 - g) alpha + g F, F being
// the fraction of packets acknowledged by marked ACKs; after a round with a mark the window shrinks
// by alpha / 2, after one without it grows by an MTU. Owner: one QP. Cost: a division a round.
// Source: DCTCP, section 3.3.
#pragma once

#include <algorithm>
#include <cstdint>

namespace eddy::host {

class MarkedWindow {
 public:
  struct Limits {
    int g_shift = 0;
    int64_t mtu = 0;
    int64_t smallest = 0;
    int64_t largest = 0;  // unless that is below the smallest
  };

  explicit MarkedWindow(int64_t octets = 0) : octets_(octets) {}

  // `acked` packets were acknowledged, at least one; `marked` of them by marked ACKs.
  void end_round(const Limits& limits, uint64_t acked, uint64_t marked) {
    const auto fraction = static_cast<uint32_t>((marked << kShift) / acked);
    alpha_ = alpha_ - (alpha_ >> limits.g_shift) + (fraction >> limits.g_shift);
    octets_ += marked != 0 ? -((octets_ * alpha_) >> (kShift + 1)) : limits.mtu;
    octets_ = std::max(std::min(octets_, limits.largest), limits.smallest);
  }

  int64_t octets() const { return octets_; }
  uint32_t alpha_q30() const { return alpha_; }

 private:
  static constexpr int kShift = 30;

  int64_t octets_ = 0;
  uint32_t alpha_ = 1U << kShift;
};

}  // namespace eddy::host
