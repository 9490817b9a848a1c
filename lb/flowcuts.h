// Flowcuts: what a switch knows of flows that have packets on their way.
//
// A packet gets the next number of its flow, and an acknowledgement names one: all up to it has
// arrived. So one that is lost, doubled or late does no harm, and a flow has nothing in flight when
// the last number that was given has come back. Numbers are modulo 65,535; kShimUnnumbered is none.
// The table has lines of four places; a place whose flow has nothing in flight is free for others,
// and no flow that has something is ever put out. Flows are told apart by 64 bits of their order
// hash less one, and by the line. Times are ticks of 2^20 ps modulo 2^32, which no rebase moves.
// Owner: one shard. Bounds: 28 octets a flow and 4 a line, which take memory when they are first
// used. Cost: a line of the table a packet, half a line more an acknowledgement. Source: reference
// A.12.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <utility>

#include "lb/flow_lines.h"
#include "lb/members.h"
#include "net/ids.h"
#include "net/measure/round_trips.h"
#include "net/memory/reserved.h"
#include "net/shim.h"
#include "net/units.h"

namespace eddy::lb {

// Numbers of packets.
constexpr uint16_t number_after(uint16_t number) {
  return number + 1 == kShimUnnumbered ? uint16_t{0} : static_cast<uint16_t>(number + 1);
}
// From one to the other, forward.
constexpr uint16_t numbers_between(uint16_t from, uint16_t to) {
  return static_cast<uint16_t>(to - from - (to < from ? 1 : 0));
}

// A flow, as its packets see it.
struct Flowcut {
  uint32_t used = 0;   // tick of its last packet or acknowledgement
  uint16_t given = 0;  // number of its last packet
  uint16_t acked = 0;
  uint16_t path_set = 0;
  MemberIndex member = 0;
  uint8_t flags = 0;

  // Of flags.
  static constexpr uint8_t kDrains = 1;   // its source was told to stop, or is to be
  static constexpr uint8_t kShuns = 2;    // once it is empty: the next choice is not this member
  static constexpr uint8_t kOverrun = 4;  // packets went without a number
  static constexpr int kGroup = 4;        // from this bit on: the priority group of its packets

  bool has(uint8_t flag) const { return (flags & flag) != 0; }
  void set(uint8_t flag) { flags = static_cast<uint8_t>(flags | flag); }
  void clear(uint8_t which) { flags = static_cast<uint8_t>(flags & ~which); }
  // A flowcut does, of packets of the group.
  void begin(PriorityGroupId group) { flags = static_cast<uint8_t>(group.index() << kGroup); }
  PriorityGroupId group() const { return PriorityGroupId(flags >> kGroup); }
  uint16_t in_flight() const { return numbers_between(acked, given); }
  bool is_empty() const { return given == acked && !has(kOverrun); }
};
static_assert(sizeof(Flowcut) == 12);

// The same, as acknowledgements see it.
struct FlowcutPast {
  uint32_t mark = 0;  // tick: while it drains, when its source was told; else when it may again
  PortId port;        // by which its packets come
  Norm average = 0;
  Norm last = 0;
  int16_t gradient = 0;
};
static_assert(sizeof(FlowcutPast) == 12);

class FlowcutTable {
 public:
  static constexpr size_t kWays = 4;
  static constexpr uint32_t kNowhere = UINT32_MAX;

  explicit FlowcutTable(size_t flows)
      : count_(static_cast<uint32_t>((flows + kWays - 1) / kWays)),
        lines_(count_),
        pasts_(count_ * kWays),
        crowded_(count_) {}

  static constexpr int kTickShift = 20;
  static uint32_t tick_of(Instant at) { return static_cast<uint32_t>(at.ps() >> kTickShift); }
  static uint32_t ticks_of(Duration time) {
    return static_cast<uint32_t>(std::min<int64_t>((time.ps() >> kTickShift) + 1, INT32_MAX));
  }

  size_t capacity() const { return count_ * kWays; }
  FlowLines lines() const { return {lines_.begin(), count_}; }

  // Its place, or kNowhere.
  uint32_t find(uint64_t key) const {
    const uint32_t line = line_of(key);
    const auto& tags = lines_[line].tags;
    uint32_t ways = 0;  // nobody can foretell which, so there is no branch on each
    for (uint32_t way = 0; way < kWays; ++way) ways |= (tags[way] == tag_of(key) ? 1u : 0u) << way;
    if (ways == 0) return kNowhere;
    return line * kWays + static_cast<uint32_t>(std::countr_zero(ways));
  }
  // Where a flow that is not known could be kept: in a place that is free, or whose flow is over:
  // bool over(uint32_t place).
  template <class Over>
  uint32_t room(uint64_t key, Over&& over) const {
    const uint32_t line = line_of(key);
    for (uint32_t way = 0; way < kWays; ++way) {
      const uint32_t place = line * kWays + way;
      if (lines_[line].tags[way] == 0 || at(place).is_empty() || over(place)) return place;
    }
    return kNowhere;
  }
  void settle(uint64_t key, uint32_t place) {
    lines_[place / kWays].tags[place % kWays] = tag_of(key);
    at(place) = {};
    past(place) = {};
  }

  Flowcut& at(uint32_t place) { return lines_[place / kWays].flows[place % kWays]; }
  const Flowcut& at(uint32_t place) const { return lines_[place / kWays].flows[place % kWays]; }
  FlowcutPast& past(uint32_t place) { return pasts_[place]; }
  const FlowcutPast& past(uint32_t place) const { return pasts_[place]; }

  // Flows of the key's line had no room there, less than `ticks` ago.
  bool was_crowded(uint64_t key, uint32_t tick, uint32_t ticks) const {
    const uint32_t since = crowded_[line_of(key)];
    return since != 0 && tick - since < ticks;
  }
  void note_crowd(uint64_t key, uint32_t tick) { crowded_[line_of(key)] = std::max(tick, 1u); }

  // Of the places [from, from + count), which are whole lines: those whose flow has packets on the
  // way.
  size_t used(size_t from, size_t count) const {
    const size_t end = std::min(from + count, capacity());
    size_t used = 0;
    for (size_t place = from; place < end; ++place) {
      const bool known = lines_[place / kWays].tags[place % kWays] != 0;
      used += known && !at(static_cast<uint32_t>(place)).is_empty() ? 1 : 0;
    }
    return used;
  }

 private:
  static constexpr uint32_t kInUse = 1;  // bit of every tag present
  struct alignas(64) Line {
    std::array<uint32_t, kWays> tags;
    std::array<Flowcut, kWays> flows;
  };
  static_assert(sizeof(Line) == 64);

  static uint32_t tag_of(uint64_t key) { return static_cast<uint32_t>(key) | kInUse; }
  uint32_t line_of(uint64_t key) const {
    return scaled_to(static_cast<uint32_t>(key >> 32), count_);
  }

  uint32_t count_;
  Reserved<Line> lines_;
  Reserved<FlowcutPast> pasts_;
  Reserved<uint32_t> crowded_;  // by line: tick; 0: never
};

}  // namespace eddy::lb
