// FlowTable: bounded state for each flow, in a 4-way set-associative table in which the least
// recently used way is replaced.
//
// It is keyed by the order hash. The high half of the hash finds the set, and a Tag keeps all but
// two bits of the rest; two flows that agree in both are treated as one flow. With 16 octets for
// each way (a State of 8, or a Tag of 4 and a State of 12) a set of ways is one cache line. The
// order of the ways is the order of their last use, so there are no stamps and no ageing; but the
// first two stand as they are, and a bit says which was used later. Owner: the selector. Cost: one
// line; touch() moves up to 4 ways, and none for the two latest flows. Whoever has looked for a
// flow may hand its place to touch(), which then does not look again. Source: architecture, section
// 5 (bounded tables); reference 1.7.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "lb/flow_lines.h"
#include "lb/members.h"

namespace eddy::lb {

template <class State, class Tag = uint64_t>
class FlowTable {
 public:
  static constexpr size_t kWays = 4;

 private:
  static constexpr Tag kInUse = 1;        // bit of every tag present
  static constexpr Tag kSecondLater = 2;  // of the first way's tag: the second was used later
  static constexpr Tag tag_of(uint64_t key) {
    return (static_cast<Tag>(key) | kInUse) & ~kSecondLater;
  }
  struct Way {
    Tag tag = 0;
    State state{};
  };
  using Ways = std::array<Way, kWays>;
  struct alignas(64) Set {
    Ways ways{};
  };

 public:
  explicit FlowTable(size_t flows) : sets_((flows + kWays - 1) / kWays) {}

  // Places, and how many of [from, from + count), which are whole sets of ways, hold a flow.
  size_t capacity() const { return sets_.size() * kWays; }
  size_t used(size_t from, size_t count) const {
    const size_t end = std::min(from + count, capacity()) / kWays;
    size_t used = 0;
    for (size_t set = from / kWays; set < end; ++set)
      for (const Way& way : sets_[set].ways) used += way.tag != 0 ? 1 : 0;
    return used;
  }

  void prefetch(uint64_t key) const { lines().prefetch(key); }
  FlowLines lines() const { return {sets_.data(), sets_.size()}; }

  // nullptr when the flow is not known.
  const State* find(uint64_t key) const { return at(key, place_of(key)); }

  // The way that holds the flow, until the next touch(); kNowhere: none does.
  enum class Place : uint8_t {};
  static constexpr Place kNowhere{kWays};
  Place place_of(uint64_t key) const { return place_in(sets_[index_of(key)].ways, key); }
  const State* at(uint64_t key, Place place) const {
    return place == kNowhere ? nullptr
                             : &sets_[index_of(key)].ways[static_cast<size_t>(place)].state;
  }

  // The flow's state, now the most recently used; a default one in place of the least recently used
  // when it was not known.
  State& touch(uint64_t key) { return Cursor(*this).touch(key); }
  State& touch(uint64_t key, Place place) {
    Ways& ways = sets_[index_of(key)].ways;
    if (place > Place{1}) [[unlikely]]
      return bring_to_front(ways, key, place);
    return use_early(ways, place == Place{1});
  }

  // For a whole burst, with what touch() asks of the table in registers.
  class Cursor {
   public:
    explicit Cursor(FlowTable& table)
        : sets_(table.sets_.data()), count_(static_cast<uint32_t>(table.sets_.size())) {}
    State& touch(uint64_t key) const {
      [[maybe_unused]] bool known;
      return touch(key, known);
    }
    // known: the flow was, before.
    State& touch(uint64_t key, bool& known) const {
      known = true;
      if (key == last_key_ && last_ != nullptr) return *last_;
      Ways& ways = sets_[scaled_to(static_cast<uint32_t>(key >> 32), count_)].ways;
      const Tag to_first = (ways[0].tag & ~kSecondLater) ^ tag_of(key);
      const Tag to_second = ways[1].tag ^ tag_of(key);
      last_key_ = key;
      if (std::min(to_first, to_second) != 0) [[unlikely]] {
        const Place place = place_in(ways, key);
        known = place != kNowhere;
        last_ = &bring_to_front(ways, key, place);
      } else {
        last_ = &use_early(ways, to_second == 0);
      }
      return *last_;
    }

    // The same of a flow that is one of the two latest of its line, so that no other is moved;
    // null: it is not, and nothing is done.
    State* touch_early(uint64_t key) const {
      Ways& ways = sets_[scaled_to(static_cast<uint32_t>(key >> 32), count_)].ways;
      const Tag to_first = (ways[0].tag & ~kSecondLater) ^ tag_of(key);
      const Tag to_second = ways[1].tag ^ tag_of(key);
      if (std::min(to_first, to_second) != 0) [[unlikely]]
        return nullptr;
      return &use_early(ways, to_second == 0);
    }
    // touch() of a flow that is not, or null, and nothing is done: one of those held, each null or
    // touched before, is in its line and would be moved.
    template <size_t kHeld>
    State* touch_late(uint64_t key, const std::array<State*, kHeld>& held) const {
      Ways& ways = sets_[scaled_to(static_cast<uint32_t>(key >> 32), count_)].ways;
      return late_way(ways, key, held);
    }

   private:
    Set* sets_;
    uint32_t count_;
    // Of the last call: packets of a flow often come in a row.
    mutable uint64_t last_key_ = 0;
    mutable State* last_ = nullptr;
  };

 private:
  static Place place_in(const Ways& ways, uint64_t key) {
    uint8_t way = 0;
    while (way < kWays && ((ways[way].tag ^ tag_of(key)) & ~kSecondLater) != 0) ++way;
    return Place{way};
  }
  // The first way, or the second. Arithmetic, not a branch, and nothing is moved that is read right
  // behind: which of two flows sends next is what no predictor can know.
  static State& use_early(Ways& ways, bool second) {
    ways[0].tag = (ways[0].tag & ~kSecondLater) | Tag{second} * kSecondLater;
    return (ways.data() + second)->state;
  }
  template <size_t kHeld>
  [[gnu::noinline]] static State* late_way(Ways& ways, uint64_t key,
                                           const std::array<State*, kHeld>& held) {
    const auto line = reinterpret_cast<uintptr_t>(&ways);
    uint64_t shared = 0;
    for (State* const state : held)
      shared |= uint64_t{(reinterpret_cast<uintptr_t>(state) & ~(sizeof(Set) - 1)) == line};
    if (shared != 0) [[unlikely]]
      return nullptr;
    const bool third = ((ways[2].tag ^ tag_of(key)) & ~kSecondLater) == 0;
    const bool fourth = ((ways[3].tag ^ tag_of(key)) & ~kSecondLater) == 0;
    const auto place = static_cast<uint8_t>(kWays - 2 * third - fourth);
    return &bring_to_front(ways, key, Place{place});
  }
  // A later one, or a new one.
  [[gnu::noinline]] static State& bring_to_front(Ways& ways, uint64_t key, Place place) {
    const auto way = static_cast<size_t>(place);
    const size_t later = (ways[0].tag & kSecondLater) != 0 ? 1 : 0;
    ways[0].tag &= ~kSecondLater;
    const Way front = place == kNowhere ? Way{tag_of(key), {}} : ways[way];
    // As many as there are, one by one: a loop would become a call.
    static_assert(kWays == 4);
    if (way >= 3) ways[3] = ways[2];
    ways[2] = ways[1 - later];
    ways[1] = ways[later];
    ways[0] = front;
    return ways[0].state;
  }

  size_t index_of(uint64_t key) const {
    return scaled_to(static_cast<uint32_t>(key >> 32), static_cast<uint32_t>(sets_.size()));
  }

  std::vector<Set> sets_;
};

}  // namespace eddy::lb
