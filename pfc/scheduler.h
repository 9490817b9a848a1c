// Scheduler: which of a port's eight egress queues sends next, and when a rate-limited queue may.
//
// Strict queues go first, the highest number before the others; then deficit round robin (DWRR)
// with a quantum of weight * 1,024 octets. A paused queue is passed over and keeps its deficit; an
// empty one loses it. A queue gets its quantum when its turn comes and it cannot yet afford its
// head packet, so no deficit reaches quantum + one packet. Masks: bit i is queue i. Owner: the
// shard of the port. Cost: a few cycles while the queue whose turn it is can go on; else one step a
// queue passed, and a turn round all queues for each quantum that the head packet exceeds.
// Source: reference C.9; DRR; scheduler profiles of SAI.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <optional>

#include "net/ids.h"
#include "net/rebase.h"
#include "net/units.h"

namespace eddy::config {
struct PortConfig;
}

namespace eddy::pfc {

// A port's side of the configuration.
struct SchedulerPlan {
  uint8_t strict = 0;                          // the other queues are DWRR
  std::array<int32_t, kPriorities> quantum{};  // octets, at least 1
  std::array<std::optional<BitRate>, kPriorities> max_rate;

  static SchedulerPlan of(const config::PortConfig& port);
};

class Scheduler {
 public:
  // What picking and sending change: whose turn it is and what each queue may still send.
  struct State {
    std::array<int32_t, kPriorities> deficit{};  // octets
    uint8_t turn = kPriorities - 1;
    uint8_t holding = 0;  // queues whose deficit may not be 0
    bool operator==(const State&) const = default;
  };

  void configure(const SchedulerPlan& plan) {
    strict_ = plan.strict;
    quantum_ = plan.quantum;
    state_.deficit.fill(0);
    state_.holding = 0;
  }

  // A packet that was picked and could not be sent after all is undone by going back to the state
  // before its pick.
  const State& state() const { return state_; }
  void restore(const State& before) { state_ = before; }

  // The queue that sends next: nullopt if none is both in `backlogged` (not empty) and not in
  // `stopped` (paused or over its rate). int64_t head_len(QueueId) is the length of a queue's head
  // packet. Picking again without sent() picks the same.
  template <class HeadLen>
  [[nodiscard]] std::optional<QueueId> pick(uint8_t backlogged, uint8_t stopped,
                                            HeadLen&& head_len) {
    if (const unsigned emptied = state_.holding & ~backlogged; emptied != 0) [[unlikely]]
      forget(emptied);
    const unsigned eligible = backlogged & ~unsigned{stopped};
    if (const unsigned strict = eligible & strict_; strict != 0)
      return QueueId(static_cast<size_t>(std::bit_width(strict) - 1));
    if (eligible == 0) return std::nullopt;
    const size_t turn = state_.turn;
    if ((eligible >> turn & 1) == 0 || state_.deficit[turn] < head_len(QueueId(turn)))
      next_turn(eligible, head_len);
    return QueueId(state_.turn);
  }

  // The picked queue has sent its head packet.
  void sent(QueueId queue, int64_t len) {
    const size_t i = queue.index();
    if ((strict_ >> i & 1) != 0) return;
    state_.deficit[i] -= static_cast<int32_t>(len);
    state_.holding = static_cast<uint8_t>(state_.holding | 1u << i);
  }

  int64_t deficit(QueueId queue) const { return state_.deficit[queue.index()]; }

 private:
  template <class HeadLen>
  void next_turn(unsigned eligible, HeadLen&& head_len) {
    size_t turn = state_.turn;
    int64_t need;
    do {
      turn = after(turn, eligible);
      need = head_len(QueueId(turn));
      if (state_.deficit[turn] < need) state_.deficit[turn] += quantum_[turn];
      state_.holding = static_cast<uint8_t>(state_.holding | 1u << turn);
    } while (state_.deficit[turn] < need);
    state_.turn = static_cast<uint8_t>(turn);
  }

  // The first eligible queue after `turn`, cyclically; `turn` itself last.
  static size_t after(size_t turn, unsigned eligible) {
    const auto turned = std::rotr(static_cast<uint8_t>(eligible), static_cast<int>(turn + 1));
    return (turn + 1 + static_cast<size_t>(std::countr_zero(turned))) % kPriorities;
  }

  void forget(unsigned queues) {
    state_.holding = static_cast<uint8_t>(state_.holding & ~queues);
    for (; queues != 0; queues &= queues - 1) state_.deficit[std::countr_zero(queues)] = 0;
  }

  State state_;
  std::array<int32_t, kPriorities> quantum_{};
  uint8_t strict_ = 0;
};

// Token buckets of a port's rate-limited queues, kept as times: a bucket is full at `full_at_` and
// a packet may start when what it lacks is at most the burst. Exact to the picosecond.
class QueueRates {
 public:
  static constexpr Bytes kBurst = Bytes::kib(16);  // sent at line rate after a silence

  // What a queue has sent already counts under its new rate too: reconfiguring grants no burst.
  void configure(const SchedulerPlan& plan) {
    limited_ = 0;
    for (size_t i = 0; i < kPriorities; ++i) {
      if (!plan.max_rate[i]) continue;
      limited_ = static_cast<uint8_t>(limited_ | 1u << i);
      rate_[i] = LineRate(*plan.max_rate[i]);
    }
  }

  uint8_t limited() const { return limited_; }

  // Queues that may not start a packet at `now`. One test when no queue is limited.
  uint8_t stopped(Instant now) const {
    uint8_t mask = 0;
    for (unsigned left = limited_; left != 0; left &= left - 1) {
      const size_t i = static_cast<size_t>(std::countr_zero(left));
      if (eligible_at(QueueId(i)) > now) mask = static_cast<uint8_t>(mask | 1u << i);
    }
    return mask;
  }

  // When the queue may start its next packet; in the past if it may now.
  Instant eligible_at(QueueId queue) const {
    const size_t i = queue.index();
    return full_at_[i] - rate_[i].time_of(kBurst);
  }
  // The earliest of several queues; never() if none of them is limited.
  Instant next_eligible(uint8_t queues) const {
    Instant next = Instant::never();
    for (unsigned left = limited_ & queues; left != 0; left &= left - 1)
      next = std::min(next, eligible_at(QueueId(static_cast<size_t>(std::countr_zero(left)))));
    return next;
  }

  // The queue started a packet of `len` at `now`.
  void sent(QueueId queue, Bytes len, Instant now) {
    const size_t i = queue.index();
    if ((limited_ >> i & 1) == 0) return;
    full_at_[i] = std::max(full_at_[i], now) + rate_[i].time_of(len);
  }

  // What was said to be started was not.
  void refused(QueueId queue, Bytes len) {
    const size_t i = queue.index();
    if ((limited_ >> i & 1) != 0) full_at_[i] = full_at_[i] - rate_[i].time_of(len);
  }
  void rebase(const Rebase& rebase) {
    for (Instant& full_at : full_at_) rebase.shift(full_at);
  }

 private:
  uint8_t limited_ = 0;
  std::array<LineRate, kPriorities> rate_{};
  std::array<Instant, kPriorities> full_at_{};
};

}  // namespace eddy::pfc
