// FlowPaths: for each flow that may still have packets on the way, the path that they took and when
// the last one was given to it.
//
// A bounded, 4-way set-associative table with 16 octets for each flow. It is keyed by 63 bits of
// the order hash; flows with equal keys are treated as one flow. A flow makes room for another only
// if the caller can say that none of its packets is on the way any more. A flow that may have some
// is never removed, so that no flow changes its path because it was forgotten; if all places are
// taken by such flows, the newcomer gets no place. Times are kept in steps of 4.096 ns and modulo
// 2.5 hours: a flow that comes back after half of that is taken for one that has just sent. Owner:
// one shard. Bounds: all memory is taken at construction. Cost: one line; find() is a vector
// compare where there is AVX2. Source: reference B.1, B.10, B.16.
#pragma once

#ifdef __AVX2__
#include <immintrin.h>
#endif
#include <rte_prefetch.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "lb/members.h"
#include "net/fault_sites.h"
#include "net/units.h"

namespace eddy::lb {

// Bits 0-5: the member; 6-11: what the scheme would have chosen; 12-21: the path set modulo 1,024;
// 22: arrivals are measured in its queue; above: the time.
class FlowPath {
 public:
  static constexpr Duration kHorizon = Duration::picoseconds(int64_t{1} << 52);  // 75 minutes
  static constexpr size_t kSetTags = 1'024;

  FlowPath() = default;
  FlowPath(uint16_t set, MemberIndex member, MemberIndex base, Instant given, bool measured = true)
      : word_(stamp_of(given) << kStampShift | (measured ? kMeasured : 0) | tag_of(set) |
              uint64_t{base} << 6 | member) {}

  MemberIndex member() const { return static_cast<MemberIndex>(word_ & 0x3F); }
  MemberIndex base() const { return static_cast<MemberIndex>(word_ >> 6 & 0x3F); }
  bool of(uint16_t set) const { return (word_ & kTagBits) == tag_of(set); }
  uint16_t set() const { return static_cast<uint16_t>(word_ >> 12 & 0x3FF); }  // modulo 1,024
  bool measured() const { return (word_ & kMeasured) != 0; }
  // The last packet was given before `then`, which is less than kHorizon from it, for sure.
  bool ends_before(Instant then) const { return steps_until(then) > 0; }
  // Since the last packet, to a step.
  Duration idle(Instant now) const {
    const int64_t steps = steps_until(now);
    return Duration::picoseconds(steps > 0 ? steps << kStepShift : 0);
  }

 private:
  static constexpr int kStepShift = 12;  // 4,096 ps
  static constexpr int kStampShift = 23;
  static constexpr uint64_t kTagBits = uint64_t{0x3FF} << 12;
  static constexpr uint64_t kMeasured = uint64_t{1} << 22;
  static constexpr uint64_t tag_of(uint16_t set) { return uint64_t{set} << 12 & kTagBits; }
  static uint64_t stamp_of(Instant at) { return static_cast<uint64_t>(at.ps()) >> kStepShift; }
  int64_t steps_until(Instant then) const {
    const uint64_t ahead = (stamp_of(then) << kStampShift) - (word_ >> kStampShift << kStampShift);
    return static_cast<int64_t>(ahead) >> kStampShift;
  }

  uint64_t word_ = 0;
};
static_assert(sizeof(FlowPath) == 8 && kMaxPaths == 64);

// The keys of one line of the table, and which of them (bit 0 for the first) equal one: compared
// all at once where the processor can.
inline constexpr size_t kFlowPathWays = 4;
using FlowPathKeys = std::array<uint64_t, kFlowPathWays>;
inline unsigned ways_of_portable(const FlowPathKeys& keys, uint64_t key) {
  unsigned ways = 0;
  for (size_t way = 0; way < kFlowPathWays; ++way)
    ways |= static_cast<unsigned>(keys[way] == key) << way;
  return ways;
}
#ifdef __AVX2__
inline unsigned ways_of(const FlowPathKeys& keys, uint64_t key) {
  const __m256i line = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(keys.data()));
  const __m256i same = _mm256_cmpeq_epi64(line, _mm256_set1_epi64x(static_cast<int64_t>(key)));
  return static_cast<unsigned>(_mm256_movemask_pd(_mm256_castsi256_pd(same)));
}
#else
inline unsigned ways_of(const FlowPathKeys& keys, uint64_t key) {
  return ways_of_portable(keys, key);
}
#endif

class FlowPaths {
 public:
  static constexpr size_t kWays = kFlowPathWays;

  explicit FlowPaths(size_t flows, FaultProbe sites = {})
      : lines_((flows + kWays - 1) / kWays), sites_(sites) {}

  size_t capacity() const { return lines_.size() * kWays; }
  void prefetch(uint64_t key) const { rte_prefetch0(&lines_[index_of(key)]); }

  // Null when the flow is not known. The four keys of a line are compared at once.
  FlowPath* find(uint64_t key) {
    Line& line = lines_[index_of(key)];
    const unsigned ways = ways_of(line.keys, key | kInUse);
    if (ways == 0) return nullptr;
    return &line.paths[static_cast<size_t>(std::countr_zero(ways))];
  }

  // Where a flow that is not known could be kept: a free place, or that of a flow which is over,
  // bool over(const FlowPath&). Null: nowhere.
  template <class Over>
  FlowPath* room(uint64_t key, Over&& over) {
    if (sites_.fires(FaultSite::guard_table_full)) return nullptr;
    Line& line = lines_[index_of(key)];
    for (size_t way = 0; way < kWays; ++way)
      if (line.keys[way] == 0 || over(line.paths[way])) return &line.paths[way];
    return nullptr;
  }
  // The flow takes the room that it was given. True: another flow was forgotten.
  bool settle(uint64_t key, FlowPath* room) {
    Line& line = lines_[index_of(key)];
    uint64_t& place = line.keys[static_cast<size_t>(room - line.paths.data())];
    const bool used = place != 0;
    flows_ += used ? 0 : 1;
    place = key | kInUse;
    return used;
  }
  size_t flows() const { return flows_; }  // in the table

  // visit(key, path) for each flow of the places [from, from + count), which are whole lines; for
  // reports, not for packets.
  template <class Visit>
  void for_each(size_t from, size_t count, Visit&& visit) const {
    const size_t end = std::min(from + count, capacity()) / kWays;
    for (size_t line = from / kWays; line < end; ++line)
      for (size_t way = 0; way < kWays; ++way)
        if (lines_[line].keys[way] != 0) visit(lines_[line].keys[way], lines_[line].paths[way]);
  }

 private:
  static constexpr uint64_t kInUse = 1;  // bit of every key present
  struct alignas(64) Line {
    FlowPathKeys keys{};
    std::array<FlowPath, kWays> paths{};
  };
  static_assert(sizeof(Line) == 64);

  size_t index_of(uint64_t key) const {
    return scaled_to(static_cast<uint32_t>(key >> 32), static_cast<uint32_t>(lines_.size()));
  }

  std::vector<Line> lines_;
  size_t flows_ = 0;
  [[no_unique_address]] FaultProbe sites_;
};

}  // namespace eddy::lb
