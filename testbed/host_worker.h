// HostWorker: the polling thread of a group of hosts.
//
// Its time is negative until release(), which makes "now" the run's zero. Each turn reads the clock
// once, polls the group, and idles by policy when nothing came. Thread: run() is the worker's, the
// rest anyone's. Cost over the group's: one rdtsc, one histogram step and a few plain stores a
// poll. Source: architecture, section 6; switch/dpdk/worker.h.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>

#include "config/config.h"
#include "switch/dpdk/clock.h"
#include "switch/dpdk/idle.h"
#include "switch/dpdk/poll_gap.h"
#include "switch/dpdk/poll_turns.h"
#include "switch/dpdk/port_cell.h"
#include "testbed/dpdk_wire.h"
#include "testbed/host_group.h"

namespace eddy::testbed {

struct HostWorkerCounts {
  uint64_t polls = 0;
  uint64_t busy_cycles = 0;  // of turns in which frames came or went
  uint64_t idle_cycles = 0;
};

class HostWorker {
 public:
  HostWorker(HostGroup& group, std::span<DpdkWire> wires, const Bell& bell, const TscClock& clock,
             Idler idler);

  void run();  // until stop()
  void release() { zero_ps_.store(clock_.at(TscClock::cycles()).ps(), std::memory_order_release); }
  void stop() { stop_.store(true, std::memory_order_relaxed); }
  // Returns when no driver call that began before is under way.
  void wait_for_turn() const { polls_.wait(); }

  // The run's time; negative before release().
  Instant now() const { return time_of(clock_.at(TscClock::cycles())); }
  // After run() has returned.
  const HostWorkerCounts& counts() const { return counts_; }
  const PollGapHistogram& gaps() const { return gaps_; }  // from release() on
  Instant ended_at() const { return last_; }

 private:
  // Far enough ahead of any process start that time is negative until release().
  static constexpr int64_t kNotYet = Duration::seconds(1'000'000).ps();

  Instant time_of(Instant since_start) const {
    return since_start - Duration::picoseconds(zero_ps_.load(std::memory_order_acquire));
  }
  void rest(Instant now, bool idle);

  HostGroup& group_;
  std::span<DpdkWire> wires_;
  const Bell& bell_;
  const TscClock& clock_;
  Idler idler_;
  std::atomic<int64_t> zero_ps_{kNotYet};
  std::atomic<bool> stop_{false};
  PollTurns polls_;
  Instant last_;
  HostWorkerCounts counts_;
  PollGapHistogram gaps_;
};

}  // namespace eddy::testbed
