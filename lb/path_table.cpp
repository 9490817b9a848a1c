#include "lb/path_table.h"

#include <limits>

namespace eddy::lb {
namespace {

constexpr int64_t kSmoothing = 4;  // t <- t + (sample - t) / 4

template <class T>
T load(const std::atomic<T>& value) {
  return value.load(std::memory_order_relaxed);
}
template <class T>
void store(std::atomic<T>& value, int64_t to) {
  value.store(static_cast<T>(to), std::memory_order_relaxed);
}

int64_t smoothed(int64_t before, int64_t sample) {
  const int64_t step = (sample - before) / kSmoothing;
  if (step != 0) return before + step;
  return sample;  // closer than the fixed point can step
}

}  // namespace

void PathRecord::take_delay(Duration sample, Instant now) {
  constexpr int64_t kLongest = int64_t{kUnknown} - 1;
  const int64_t ns = std::clamp<int64_t>(sample.ns(), 0, kLongest);
  store(delay_ns, known() ? smoothed(load(delay_ns), ns) : ns);
  if (ns < load(least_delay_ns)) store(least_delay_ns, ns);
  store(sampled_at_us, stamp_of(now));
  trust();
}

void PathRecord::take_marks(uint32_t packets, uint32_t marked_packets) {
  constexpr int64_t kOne = std::numeric_limits<uint16_t>::max();
  const int64_t share = std::min<int64_t>(marked_packets, packets) * kOne / packets;
  store(marked, smoothed(load(marked), share));
}

void PathRecord::take_congestion(uint8_t utilisation, Instant now) {
  store(congestion, utilisation);
  store(congestion_at_us, stamp_of(now));
}

PathTable::PathTable(std::span<const PathSet> sets, const Parameters& parameters)
    : parameters_(parameters) {
  uint32_t members = 0;
  for (const PathSet& set : sets) {
    first_.push_back(members);
    members += set.count;
  }
  records_ = std::make_unique<PathRecord[]>(members);
  failed_ = std::make_unique<std::atomic<MemberMask>[]>(sets.size());
}

}  // namespace eddy::lb
