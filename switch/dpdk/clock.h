// TscClock: the daemon's time. The processor's time stamp counter becomes an Instant by one
// 64x64->128 bit multiplication.
//
// Units: picoseconds since the clock was made (zero = process start), or since its last rebase made
// that earlier. Calibrated once, against CLOCK_MONOTONIC_RAW, over whatever time the start of the
// process took. Thread: a TscClock may be shared after calibrate(), and changes only while no
// worker polls; each worker holds its own WorkerClock, which never goes back but by a rebase.
// Bounds: a rate between 10 MHz and 100 GHz; 106 days from one rebase to the next. Cost: one rdtsc,
// one multiplication. Source: architecture, section 3; docs/adr/0017.
#pragma once

#include <rte_cycles.h>

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "net/rebase.h"
#include "net/units.h"

namespace eddy {

// cycles -> picoseconds in fixed point, fraction of 40 bits: the error stays below 1 ps a second.
class CycleScale {
 public:
  constexpr CycleScale() = default;
  // `cycles` took `time`; both above zero.
  constexpr CycleScale(uint64_t cycles, Duration time)
      : ps_a_cycle_q40_(static_cast<uint64_t>(
            ((static_cast<unsigned __int128>(time.ps()) << kShift) + cycles / 2) / cycles)) {}

  constexpr Duration to_time(uint64_t cycles) const {
    return Duration::picoseconds(
        static_cast<int64_t>((static_cast<unsigned __int128>(cycles) * ps_a_cycle_q40_) >> kShift));
  }
  constexpr uint64_t to_cycles(Duration time) const {
    return static_cast<uint64_t>((static_cast<unsigned __int128>(time.ps()) << kShift) /
                                 ps_a_cycle_q40_);
  }

 private:
  static constexpr int kShift = 40;
  uint64_t ps_a_cycle_q40_ = uint64_t{1} << kShift;
};

class TscClock {
 public:
  TscClock();        // zero is now
  void calibrate();  // at least kMinCalibration after construction, waits for the rest of it

  // The time since the start is taken modulo 2^64 ps, 213 days, and so is what it went back by.
  Instant at(uint64_t tsc) const {
    const auto since_start = static_cast<uint64_t>(scale_.to_time(tsc - zero_).ps());
    const uint64_t back = back_ps_.load(std::memory_order_relaxed);
    return Instant::at(Duration::picoseconds(static_cast<int64_t>(since_start - back)));
  }
  void rebase(const Rebase& rebase) {
    back_ps_.fetch_add(static_cast<uint64_t>(rebase.back().ps()), std::memory_order_relaxed);
  }
  const CycleScale& scale() const { return scale_; }
  // Wall-clock time of the start, for people: nanoseconds since 1970.
  int64_t zero_unix_ns() const { return zero_unix_ns_; }

  static constexpr Duration kMinCalibration = Duration::milliseconds(20);
  static uint64_t cycles() { return rte_rdtsc(); }  // the counter itself

 private:
  uint64_t zero_;
  int64_t zero_raw_ns_;
  int64_t zero_unix_ns_;
  CycleScale scale_;
  std::atomic<uint64_t> back_ps_{0};
};

// A worker's view: never before an Instant it has already given out.
class WorkerClock {
 public:
  explicit WorkerClock(const TscClock& clock) : clock_(&clock) {}
  Instant now() { return last_ = std::max(last_, clock_->at(TscClock::cycles())); }
  void rebase(const Rebase& rebase) { rebase.shift(last_); }
  const TscClock& clock() const { return *clock_; }

 private:
  const TscClock* clock_;
  Instant last_;
};

}  // namespace eddy
