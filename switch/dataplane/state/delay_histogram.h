// DelayHistogram: how often each delay was seen, to within a quarter: four steps an octave of
// nanoseconds, from 1 ns to half a minute.
//
// Writer: one shard; any thread reads. Cost: a store. Source: none; a log-linear histogram.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

#include "net/units.h"
#include "switch/dataplane/state/counters.h"

namespace eddy {

class DelayHistogram {
 public:
  static constexpr size_t kSteps = 140;

  void add(Duration delay) { steps_[step_of(delay)].add(1); }
  uint64_t count(size_t step) const { return steps_[step].read(); }
  // The longest delay that counts there.
  static constexpr Duration end_of(size_t step) {
    const size_t octave = step / 4;
    const uint64_t base = uint64_t{1} << octave;
    return Duration::nanoseconds(static_cast<int64_t>(base + (base * (step % 4 + 1) + 3) / 4 - 1));
  }
  static constexpr size_t step_of(Duration delay) {
    const auto ns = static_cast<uint64_t>(std::max<int64_t>(delay.ns(), 1));
    const auto octave = static_cast<size_t>(std::bit_width(ns)) - 1;
    const size_t quarter = octave >= 2 ? (ns >> (octave - 2) & 3) : (ns << (2 - octave) & 3);
    return std::min(octave * 4 + quarter, kSteps - 1);
  }

 private:
  std::array<Counter, kSteps> steps_;
};

// The delay that `percent` of what was counted did not exceed; zero when nothing was.
constexpr Duration percentile(std::span<const uint64_t> steps, uint64_t percent) {
  uint64_t total = 0;
  for (const uint64_t count : steps) total += count;
  const uint64_t rank = (total * percent + 99) / 100;
  uint64_t seen = 0;
  for (size_t step = 0; step < steps.size(); ++step) {
    seen += steps[step];
    if (rank != 0 && seen >= rank) return DelayHistogram::end_of(step);
  }
  return {};
}

}  // namespace eddy
