#include "switch/dpdk/clock.h"

#include <rte_cycles.h>

#include <ctime>

namespace eddy {
namespace {

struct Reading {
  uint64_t tsc;
  int64_t raw_ns;
};

int64_t nanoseconds_of(clockid_t clock) {
  timespec t{};
  clock_gettime(clock, &t);
  return t.tv_sec * 1'000'000'000 + t.tv_nsec;
}

// The counter and the kernel's clock at one moment: the tightest of several brackets, so that a
// preemption between the two readings does not count.
Reading read_both() {
  Reading best{};
  uint64_t tightest = ~uint64_t{0};
  for (int i = 0; i < 16; ++i) {
    const uint64_t before = rte_rdtsc_precise();
    const int64_t raw = nanoseconds_of(CLOCK_MONOTONIC_RAW);
    const uint64_t after = rte_rdtsc_precise();
    if (after - before >= tightest) continue;
    tightest = after - before;
    best = {before + tightest / 2, raw};
  }
  return best;
}

}  // namespace

TscClock::TscClock() {
  const Reading start = read_both();
  zero_ = start.tsc;
  zero_raw_ns_ = start.raw_ns;
  zero_unix_ns_ = nanoseconds_of(CLOCK_REALTIME);
}

void TscClock::calibrate() {
  const int64_t elapsed = nanoseconds_of(CLOCK_MONOTONIC_RAW) - zero_raw_ns_;
  if (elapsed < kMinCalibration.ns()) {
    const timespec rest{0, kMinCalibration.ns() - elapsed};
    nanosleep(&rest, nullptr);
  }
  const Reading end = read_both();
  scale_ = CycleScale(end.tsc - zero_, Duration::nanoseconds(end.raw_ns - zero_raw_ns_));
}

}  // namespace eddy
