// SendTimes: when each packet in flight of a NIC's sending QPs left, for round-trip times.
//
// A QP's last size() packets are known. Of one that was sent twice nobody can tell which of the two
// was answered, so its time is not known. Owner: one Nic. Bounds: queue_pairs x packets
// times, `packets` rounded up to a power of two, taken at construction. Cost: a store a packet, a
// load an ACK. Source: reference D.4.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "net/units.h"

namespace eddy::host {

class SendTimes {
 public:
  SendTimes() = default;
  SendTimes(size_t queue_pairs, size_t packets)
      : size_(queue_pairs == 0 ? 0 : std::bit_ceil(std::max<size_t>(packets, 1))),
        sent_(queue_pairs * size_) {}

  void note(uint32_t qpn, uint64_t sequence, Instant now) { at(qpn, sequence) = {sequence, now}; }
  void note_again(uint32_t qpn, uint64_t sequence) {
    at(qpn, sequence) = {sequence, Instant::never()};
  }

  // From the start of `sequence` until now; 0: not known.
  Duration since(uint32_t qpn, uint64_t sequence, Instant now) const {
    const Sent& sent = sent_[qpn * size_ + (sequence & (size_ - 1))];
    if (sent.sequence != sequence || sent.at == Instant::never()) return {};
    return now - sent.at;
  }

 private:
  struct Sent {
    uint64_t sequence = UINT64_MAX;
    Instant at;
  };

  Sent& at(uint32_t qpn, uint64_t sequence) {
    return sent_[qpn * size_ + (sequence & (size_ - 1))];
  }

  size_t size_ = 0;
  std::vector<Sent> sent_;
};

}  // namespace eddy::host
