// SelectiveRepeat: what IRN's sending QPs know of packets that arrived behind a gap, and which to
// send again.
//
// A NAK (PSN: the packet wanted, MSN field: the one that arrived) or a timeout starts a recovery.
// In it every packet below the highest known to have arrived, and not known to have arrived itself,
// counts as lost and is sent again once, lowest first, before new ones; after a timeout the lowest
// unacknowledged one counts as lost, too. The recovery ends when all that had been sent at its
// start is acknowledged; what is lost a second time waits for a timeout. Owner: one Nic. Bounds: a
// bit a packet of the window. Cost: a word or two a packet. Source: IRN, section 3.1; reference
// D.2.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "host/sequence_sets.h"

namespace eddy::host {

class SelectiveRepeat {
 public:
  SelectiveRepeat() = default;
  SelectiveRepeat(size_t queue_pairs, size_t packets)
      : arrived_(queue_pairs, packets), recoveries_(queue_pairs) {}

  uint64_t window() const { return arrived_.size(); }

  // `sequence` has arrived; all below `unacked` have, too, and `next` would be the next new one.
  // False when that was known.
  bool on_arrived(uint32_t qpn, uint64_t unacked, uint64_t next, uint64_t sequence) {
    Recovery& recovery = recoveries_[qpn];
    recovery.known_end = std::max(recovery.known_end, sequence + 1);
    enter(recovery, unacked, next);
    return arrived_.add(qpn, sequence);
  }

  // All in [from, to) have arrived.
  void on_advance(uint32_t qpn, uint64_t from, uint64_t to) {
    Recovery& recovery = recoveries_[qpn];
    const uint64_t end = std::min(to, recovery.known_end);
    for (uint64_t sequence = from; sequence < end; ++sequence) arrived_.remove(qpn, sequence);
    recovery.cursor = std::max(recovery.cursor, to);
    if (recovery.running && to >= recovery.end) recovery.running = false;
  }

  void on_timeout(uint32_t qpn, uint64_t unacked, uint64_t next) {
    Recovery& recovery = recoveries_[qpn];
    recovery.running = false;
    enter(recovery, unacked, next);
    recovery.known_end = std::max(recovery.known_end, unacked + 1);
    arrived_.remove(qpn, unacked);  // somebody lied: its receiver would have moved over it
  }

  // A recovery goes on, or packets are known to have arrived that are not acknowledged.
  bool knows_beyond(uint32_t qpn, uint64_t unacked) const {
    return recoveries_[qpn].running || recoveries_[qpn].known_end > unacked;
  }
  bool has_lost(uint32_t qpn) {
    Recovery& recovery = recoveries_[qpn];
    if (!recovery.running) return false;
    while (recovery.cursor < recovery.known_end && arrived_.has(qpn, recovery.cursor))
      ++recovery.cursor;
    return recovery.cursor < recovery.known_end;
  }
  // The packet to send again; only after has_lost().
  uint64_t take_lost(uint32_t qpn) { return recoveries_[qpn].cursor++; }

 private:
  struct Recovery {
    uint64_t end = 0;        // the recovery is over when all below are acknowledged
    uint64_t cursor = 0;     // the next that may be lost
    uint64_t known_end = 0;  // one past the highest known to have arrived
    bool running = false;
  };

  static void enter(Recovery& recovery, uint64_t unacked, uint64_t next) {
    if (recovery.running) return;
    recovery.running = true;
    recovery.end = next;
    recovery.cursor = unacked;
  }

  SequenceSets arrived_;
  std::vector<Recovery> recoveries_;
};

}  // namespace eddy::host
