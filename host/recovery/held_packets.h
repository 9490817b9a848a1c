// HeldPackets: which packets ahead of the one expected a receiving QP keeps.
//
// Owner: one Nic. Bounds: a bit a packet that a QP may hold. Cost: a word a packet. Source:
// reference D.2.
#pragma once

#include "host/recovery.h"
#include "host/sequence_sets.h"

namespace eddy::host {

class HeldPackets {
 public:
  explicit HeldPackets(const LawInit& init) : sets_(init.nic.receivers, init.nic.reorder_packets) {}

  bool fits(const ReceiveState& state, uint64_t sequence) const {
    return sequence - state.expected < sets_.size();
  }
  // Only if it fits.
  Disposal::Packet keep(uint32_t qpn, uint64_t sequence, ReceiveState& state) {
    if (!sets_.add(qpn, sequence)) return Disposal::Packet::duplicate;
    ++state.held;
    return Disposal::Packet::kept;
  }
  uint64_t size() const { return sets_.size(); }
  // Those of the 64 from `from` on that are kept: bit i is from + i.
  uint64_t bits(uint32_t qpn, uint64_t from) const { return sets_.bits(qpn, from); }
  // Moves on over the packets that wait behind the one that has come.
  void take(uint32_t qpn, ReceiveState& state) {
    while (state.held != 0 && sets_.remove(qpn, state.expected)) {
      ++state.expected;
      --state.held;
    }
  }

 private:
  SequenceSets sets_;
};

}  // namespace eddy::host
