// MarkedWindow: DCTCP's congestion window of one sending QP.
//
// Octets of payload; alpha in units of 2^-30, 1 at the start. Once a window (when everything that
// was in flight at the last update is acknowledged) alpha becomes (1 - g) alpha + g F, F being the
// fraction of packets acknowledged by marked ACKs; a window with a mark then shrinks by alpha / 2,
// one without grows by an MTU. Owner: one QP. Cost: a few instructions an ACK. Source: DCTCP,
// section 3.3.
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

  // The first window ends with the packet before `round_end`.
  void start(int64_t octets, uint64_t round_end) {
    octets_ = octets;
    round_end_ = round_end;
  }

  // `packets` more are acknowledged; the lowest unacknowledged is now `unacked`, the next to send
  // is `next`. True when the window has changed.
  bool on_ack(const Limits& limits, uint64_t packets, bool marked, uint64_t unacked,
              uint64_t next) {
    acked_ += packets;
    if (marked) marked_ += packets;
    if (unacked < round_end_) return false;
    const auto fraction = static_cast<uint32_t>((marked_ << kShift) / acked_);
    alpha_ = alpha_ - (alpha_ >> limits.g_shift) + (fraction >> limits.g_shift);
    octets_ += marked_ != 0 ? -((octets_ * alpha_) >> (kShift + 1)) : limits.mtu;
    octets_ = std::max(std::min(octets_, limits.largest), limits.smallest);
    acked_ = marked_ = 0;
    round_end_ = next;
    return true;
  }

  int64_t octets() const { return octets_; }
  uint32_t alpha_q30() const { return alpha_; }

 private:
  static constexpr int kShift = 30;

  int64_t octets_ = 0;
  uint64_t round_end_ = 0;  // sequence
  uint64_t acked_ = 0;
  uint64_t marked_ = 0;
  uint32_t alpha_ = 1U << kShift;
};

}  // namespace eddy::host
