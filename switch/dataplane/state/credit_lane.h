// CreditLane: octets that ingress PGs get back, on their way from the shard that sent the packets
// to the shard that owns the PGs.
//
// A credit is a word, and says by a bit in which round of the ring it was written, so that the
// taker finds out from the word itself whether it is there: where the shards run on cores of their
// own, a poll that finds credits waits for one line of the other core, instead of one with an index
// and one with the credit. The sender looks at what the taker has taken only where what it saw last
// does not do. Threads: one sender, one taker. Bounds: kRoom credits. Cost: a store, a few
// instructions each. Source: architecture, section 4.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "net/assert.h"
#include "net/ids.h"
#include "net/memory/reserved.h"

namespace eddy {

// Octets that an ingress PG gets back.
struct Credit {
  int64_t bytes;  // below 2^52
  PortId port;
  PriorityGroupId pg;
};

class CreditLane {
 public:
  static constexpr size_t kRoom = 2'048;  // a power of two

  CreditLane() : words_(kRoom) {}

  // For the sender. False: full, nothing sent.
  [[nodiscard]] bool send(const Credit& credit) {
    if (sender_.at - sender_.free_from == kRoom) [[unlikely]] {
      sender_.free_from = taken_to_.load(std::memory_order_acquire);
      if (sender_.at - sender_.free_from == kRoom) return false;
    }
    word(sender_.at).store(word_of(credit) | round_of(sender_.at), std::memory_order_release);
    ++sender_.at;
    return true;
  }

  // For the taker.
  bool empty() const { return !is_there(word(taker_.at).load(std::memory_order_relaxed)); }
  // take(const Credit&) for each that is there, in order; returns how many.
  template <class Take>
  size_t take(Take&& take) {
    const uint64_t from = taker_.at;
    for (;;) {
      const uint64_t found = word(taker_.at).load(std::memory_order_acquire);
      if (!is_there(found)) break;
      ++taker_.at;
      take(credit_of(found));
    }
    if (taker_.at != from) taken_to_.store(taker_.at, std::memory_order_release);
    return taker_.at - from;
  }

 private:
  static constexpr int kPortShift = 1, kPgShift = 9, kBytesShift = 12;
  static_assert(kMaxPorts == 1 << (kPgShift - kPortShift) &&
                kPriorities == 1 << (kBytesShift - kPgShift));

  // Places count on and on.
  struct Sender {
    uint64_t at = 0;
    uint64_t free_from = 0;  // what the taker had taken when last asked
  };
  struct Taker {
    uint64_t at = 0;
  };

  // The first round is 1, as memory that nobody has written to is 0.
  static uint64_t round_of(uint64_t at) { return ~(at / kRoom) & 1; }
  bool is_there(uint64_t word) const { return (word & 1) == round_of(taker_.at); }
  static uint64_t word_of(const Credit& credit) {
    ASSERT(credit.bytes >= 0 && credit.bytes >> (64 - kBytesShift) == 0);
    return static_cast<uint64_t>(credit.bytes) << kBytesShift |
           uint64_t{credit.pg.index()} << kPgShift | uint64_t{credit.port.index()} << kPortShift;
  }
  static Credit credit_of(uint64_t word) {
    return {.bytes = static_cast<int64_t>(word >> kBytesShift),
            .port = PortId(word >> kPortShift & (kMaxPorts - 1)),
            .pg = PriorityGroupId(word >> kPgShift & (kPriorities - 1))};
  }
  std::atomic_ref<uint64_t> word(uint64_t at) const {
    return std::atomic_ref<uint64_t>(words_[at & (kRoom - 1)]);
  }

  mutable Reserved<uint64_t> words_;
  alignas(64) std::atomic<uint64_t> taken_to_{0};  // the taker's line for the sender
  alignas(64) Sender sender_;
  alignas(64) Taker taker_;
};

}  // namespace eddy
