// PollGapHistogram: how long a worker stayed away from its ports, so that the poll_gap which
// headroom assumes can be checked against what happens.
//
// Units: nanoseconds; buckets of a quarter octave (a quantile is right to 25 %, and never too low).
// Owner: one worker. Bounds: 1 ns to 4 s. Cost: a bit scan and an increment a poll. Source:
// architecture, section 6.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "net/units.h"

namespace eddy {

class PollGapHistogram {
 public:
  void add(Duration gap) {
    const int64_t ns = gap.ns();
    ++buckets_[bucket_of(ns > 0 ? static_cast<uint64_t>(ns) : 0)];
    ++count_;
    if (gap > longest_) longest_ = gap;
  }

  uint64_t count() const { return count_; }
  Duration longest() const { return longest_; }
  // The upper edge of the bucket below which `permille` of 1,000 gaps lie, at most longest().
  Duration quantile(uint64_t permille) const {
    const uint64_t wanted = (count_ * permille + 999) / 1'000;
    uint64_t seen = 0;
    for (size_t i = 0; i < kBuckets; ++i) {
      seen += buckets_[i];
      if (seen < wanted || seen == 0) continue;
      const Duration edge = Duration::nanoseconds(static_cast<int64_t>(lower_edge(i + 1)));
      return edge < longest_ ? edge : longest_;
    }
    return longest_;
  }
  void clear() { *this = PollGapHistogram{}; }

 private:
  static constexpr size_t kSteps = 4;  // a factor of two is cut into this many buckets
  static constexpr size_t kBuckets = 32 * kSteps;

  static constexpr size_t bucket_of(uint64_t ns) {
    if (ns < kSteps) return static_cast<size_t>(ns);
    const int octave = std::bit_width(ns) - 1;  // at least 2
    const size_t step = (ns >> (octave - 2)) & (kSteps - 1);
    const size_t bucket = static_cast<size_t>(octave - 1) * kSteps + step;
    return bucket < kBuckets ? bucket : kBuckets - 1;
  }
  static constexpr uint64_t lower_edge(size_t bucket) {
    if (bucket < kSteps) return bucket;
    return (kSteps + bucket % kSteps) << (bucket / kSteps - 1);
  }

  std::array<uint32_t, kBuckets> buckets_{};
  uint64_t count_ = 0;
  Duration longest_;
};

}  // namespace eddy
