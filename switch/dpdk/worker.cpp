#include "switch/dpdk/worker.h"

#include <rte_pause.h>

#include <algorithm>

#include "switch/dataplane/state/events.h"
#include "switch/dpdk/resting.h"

namespace eddy {
namespace {

constexpr Duration kReviewInterval = Duration::seconds(1);
constexpr Duration kHoldCheck = Duration::microseconds(5);
constexpr CounterInfo kInfos[] = {
#define EDDY_INFO_ENTRY(name, help) {#name, help},
    EDDY_WORKER_COUNTERS(EDDY_INFO_ENTRY)
#undef EDDY_INFO_ENTRY
};

}  // namespace

std::span<const CounterInfo> worker_counter_infos() {
  return kInfos;
}

Worker::Worker(Shard& shard, DpdkIo& io, const TscClock& clock, config::IdlePolicy idle,
               Duration poll_gap)
    : shard_(shard), io_(io), clock_(clock), idler_(idle, poll_gap), allowed_gap_(poll_gap) {}

void Worker::run() {
  allow_short_sleeps();
  polls_.start();
  last_turn_ = clock_.now();
  review_at_ = last_turn_ + kReviewInterval;
  turn_began_ = TscClock::cycles();
  for (;;) {
    const Order order = order_.load(std::memory_order_relaxed);
    if (order == Order::stop) break;
    if (order == Order::hold) [[unlikely]] {
      rest_held();
      continue;
    }
    take_turn();
  }
  polls_.stop();
}

inline void Worker::take_turn() {
  const Instant now = clock_.now();
  gaps_.add(now - last_turn_);
  last_turn_ = now;
  io_.begin_poll(now);
  const PollStats stats = shard_.poll(io_, now);
  rest(now, stats.idle());
  const uint64_t turn_ended = TscClock::cycles();
  count(stats, turn_ended - turn_began_);
  turn_began_ = turn_ended;
  if (now >= review_at_) review_gaps(now);
}

void Worker::rest_held() {
  held_.store(true, std::memory_order_release);
  while (order_.load(std::memory_order_acquire) == Order::hold) rte_pause();
  held_.store(false, std::memory_order_relaxed);
}

void Worker::wait_held() const {
  while (running() && !held_.load(std::memory_order_acquire)) sleep_for(kHoldCheck);
}

// The time for which it was held shows as a gap between two polls.
void Worker::rebase(const Rebase& rebase) {
  clock_.rebase(rebase);
  io_.rebase(rebase);
  rebase.shift(last_turn_);
  rebase.shift(review_at_);
}

void Worker::rest(Instant now, bool idle) {
  if (!idle) return idler_.worked();
  const Instant wake_at = std::min(shard_.next_deadline(), io_.next_completion());
  if (carry_out(idler_.idle(now, wake_at))) counters_[WorkerCounter::worker_sleeps].add(1);
}

void Worker::count(const PollStats& stats, uint64_t cycles) {
  if (stats.idle()) {
    counters_[WorkerCounter::worker_idle_cycles].add(cycles);
  } else {
    counters_[WorkerCounter::worker_busy_cycles].add(cycles);
    counters_[WorkerCounter::worker_busy_polls].add(1);
    counters_[WorkerCounter::worker_rx_packets].add(stats.received);
    counters_[WorkerCounter::worker_tx_packets].add(stats.transmitted);
    counters_[WorkerCounter::worker_messages].add(stats.messages);
  }
  counters_[WorkerCounter::worker_polls].add(1);
  polls_.end_turn();
}

void Worker::review_gaps(Instant now) {
  review_at_ = now + kReviewInterval;
  const Duration p999 = gaps_.quantile(999);
  gap_report_.median_ns.store(gaps_.quantile(500).ns(), std::memory_order_relaxed);
  gap_report_.p999_ns.store(p999.ns(), std::memory_order_relaxed);
  gap_report_.longest_ns.store(gaps_.longest().ns(), std::memory_order_relaxed);
  if (p999 > allowed_gap_) {
    counters_[WorkerCounter::worker_poll_gap_exceeded].add(1);
    shard_.push_event({.at = now,
                       .value = static_cast<uint64_t>(p999.ns()),
                       .kind = EventKind::poll_gap_exceeded});
  }
  gaps_.clear();
}

}  // namespace eddy
