// Worker: one polling thread: it runs a shard over its ports until told to stop.
//
// Each turn reads the clock once, polls the shard, and idles by policy when nothing came. Thread:
// run() is the worker's; stop() and the counters are anyone's; one other thread holds it. Cost over
// the shard's: one rdtsc, one histogram add and five plain stores a poll. Source: architecture,
// section 6.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <span>

#include "config/config.h"
#include "net/rebase.h"
#include "net/units.h"
#include "switch/dataplane/object/shard.h"
#include "switch/dataplane/state/counters.h"
#include "switch/dpdk/clock.h"
#include "switch/dpdk/dpdk_io.h"
#include "switch/dpdk/idle.h"
#include "switch/dpdk/poll_gap.h"
#include "switch/dpdk/poll_turns.h"

namespace eddy {

// name, help
#define EDDY_WORKER_COUNTERS(X)                                                            \
  X(worker_polls, "turns of the polling loop")                                             \
  X(worker_busy_polls, "turns that received, sent or carried a message")                   \
  X(worker_busy_cycles, "TSC cycles spent in such turns")                                  \
  X(worker_idle_cycles, "TSC cycles spent in other turns, yielding and sleeping included") \
  X(worker_sleeps, "times the worker slept")                                               \
  X(worker_rx_packets, "packets taken from ports")                                         \
  X(worker_tx_packets, "packets given to ports")                                           \
  X(worker_messages, "messages taken from other workers and from control")                 \
  X(worker_poll_gap_exceeded, "seconds whose 99.9th percentile of the poll gap was too long")

#define EDDY_ENUM_ENTRY(name, help) name,
#define EDDY_COUNT_ENTRY(name, help) +1
enum class WorkerCounter : uint8_t { EDDY_WORKER_COUNTERS(EDDY_ENUM_ENTRY) };
inline constexpr size_t kWorkerCounters = EDDY_WORKER_COUNTERS(EDDY_COUNT_ENTRY);
#undef EDDY_ENUM_ENTRY
#undef EDDY_COUNT_ENTRY
std::span<const CounterInfo> worker_counter_infos();

// Writer: the worker.
class WorkerCounters {
 public:
  Counter& operator[](WorkerCounter which) { return values_[static_cast<size_t>(which)]; }
  uint64_t read(size_t which) const { return values_[which].read(); }
  uint64_t read(WorkerCounter which) const { return read(static_cast<size_t>(which)); }

 private:
  std::array<Counter, kWorkerCounters> values_;
};

// The poll gap of the last full second; each value is right by itself.
struct PollGapReport {
  std::atomic<int64_t> median_ns{0};
  std::atomic<int64_t> p999_ns{0};
  std::atomic<int64_t> longest_ns{0};
};

class Worker {
 public:
  Worker(Shard& shard, DpdkIo& io, const TscClock& clock, config::IdlePolicy idle,
         Duration poll_gap);

  void run();
  void stop() { order_.store(Order::stop, std::memory_order_relaxed); }
  // Another thread's: the worker rests between two turns from the return of wait_held() until
  // resume(), and what it polls may be changed meanwhile; or it does not run.
  void hold() { change_order(Order::go, Order::hold); }
  void wait_held() const;
  void resume() { change_order(Order::hold, Order::go); }
  // While it is held.
  void rebase(const Rebase& rebase);
  bool running() const { return polls_.running(); }

  const WorkerCounters& counters() const { return counters_; }
  const PollGapReport& poll_gap() const { return gap_report_; }
  // Waits until no driver call that began before this call is still under way. Another thread's.
  void wait_for_turn() const { polls_.wait(); }

 private:
  enum class Order : uint8_t { go, hold, stop };

  // Unless it was told to stop meanwhile, which stays.
  void change_order(Order from, Order to) {
    order_.compare_exchange_strong(from, to, std::memory_order_release, std::memory_order_relaxed);
  }
  void take_turn();
  void rest_held();
  void count(const PollStats& stats, uint64_t cycles);
  void rest(Instant now, bool idle);
  void review_gaps(Instant now);

  Shard& shard_;
  DpdkIo& io_;
  WorkerClock clock_;
  Idler idler_;
  Duration allowed_gap_;
  PollGapHistogram gaps_;
  Instant review_at_;
  Instant last_turn_;
  uint64_t turn_began_ = 0;  // cycles
  WorkerCounters counters_;
  PollGapReport gap_report_;
  alignas(64) std::atomic<Order> order_{Order::go};
  std::atomic<bool> held_{false};
  PollTurns polls_;
};

}  // namespace eddy
