// PathEchoes: what a destination leaf has heard of the paths that end here, by source leaf, and has
// not told the source yet: stamps to echo, utilisation, packets and ECN marks.
//
// The paths from one source leaf share as many places as our own set to that leaf has members,
// rounded up to a power of two. A path that finds no place takes another path's. Times are
// nanoseconds modulo 2^32. What packets to a leaf may have to take along is one bit for each member
// of its set, so that a packet that takes nothing costs a load. Owner: one shard; made by control.
// Bounds: 24 octets for each path and, for each set, 8 and a deadline. Cost: a few loads; the place
// of a path is looked for from where its id hashes to. Source: reference 1.7.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "lb/members.h"
#include "lb/path_set.h"
#include "net/deadlines.h"
#include "net/ids.h"

namespace eddy {

struct HeardPath {
  uint32_t stamp_ns = 0;    // to echo
  uint32_t arrived_ns = 0;  // when it came
  uint32_t since_ns = 0;    // since when something waits to be echoed
  PathId path;
  PortId port;          // by which it came
  uint8_t packets = 0;  // since the last report; saturating
  uint8_t marked = 0;
  uint8_t congestion = 0;
  bool used : 1 = false;
  bool kept_way : 1 = false;  // the stamp
  bool probe : 1 = false;     // the stamp came by one
};
static_assert(sizeof(HeardPath) == 20);

class PathEchoes {
 public:
  explicit PathEchoes(std::span<const lb::PathSet> sets)
      : attention_(sets.size(), kAll), due_(sets.size()) {
    size_t places = 0;
    for (const lb::PathSet& set : sets) {
      groups_.push_back({.first = static_cast<uint32_t>(places),
                         .size = std::bit_ceil(static_cast<uint32_t>(set.count))});
      places += groups_.back().size;
    }
    heard_ = std::make_unique<HeardPath[]>(places);
  }

  struct Place {
    HeardPath& heard;
    uint8_t index;  // in the group
    bool evicted;   // another path's state was lost
    bool fresh;     // the path had no place
  };
  // The place of a path of the set's leaf, taken if it has none.
  Place place(size_t set, PathId path) {
    const Group& group = groups_[set];
    const uint32_t mask = group.size - 1;
    const auto home = static_cast<uint32_t>(lb::mix64(path.index())) & mask;
    for (uint32_t i = 0; i < group.size; ++i) {
      const uint32_t index = (home + i) & mask;
      HeardPath& heard = heard_[group.first + index];
      if (heard.used && heard.path != path) continue;
      const bool fresh = !heard.used;
      if (fresh) heard = {.path = path, .used = true};
      return {heard, static_cast<uint8_t>(index), false, fresh};
    }
    HeardPath& heard = heard_[group.first + home];
    heard = {.path = path, .used = true};
    done(set, static_cast<uint8_t>(home));
    return {heard, static_cast<uint8_t>(home), true, true};
  }

  // Stamps of the set's leaf that wait for their echo, as a mask of places.
  uint64_t waiting(size_t set) const { return groups_[set].waiting; }
  HeardPath& at(size_t set, uint8_t index) { return heard_[groups_[set].first + index]; }
  bool has(size_t set, uint8_t index) const {
    return index < groups_[set].size && heard_[groups_[set].first + index].used;
  }
  void wait(size_t set, uint8_t index) {
    groups_[set].waiting |= uint64_t{1} << index;
    attend(set);
  }
  void done(size_t set, uint8_t index) {
    groups_[set].waiting &= ~(uint64_t{1} << index);
    attend(set);
  }
  // Our own paths: a stamp is due on the member, as far as this shard knows.
  bool stamp_is_due(size_t set, size_t member) const {
    return (groups_[set].stamps_due >> member & 1) != 0;
  }
  void set_stamps_due(size_t set) {
    groups_[set].stamps_due = kAll;
    attend(set);
  }
  void stamped(size_t set, size_t member) {
    groups_[set].stamps_due &= ~(uint64_t{1} << member);
    attend(set);
  }
  // By set: members by which a packet may have something to take along. A stamp goes by the member
  // that it is due on; an echo, with any packet to the leaf.
  const lb::MemberMask* attention() const { return attention_.data(); }
  size_t sets() const { return groups_.size(); }

  // By set: when the oldest waiting stamp must be echoed.
  Deadlines& due() { return due_; }

 private:
  static constexpr uint64_t kAll = ~uint64_t{0};
  struct Group {
    uint32_t first;
    uint32_t size;  // 1..64
    uint64_t waiting = 0;
    uint64_t stamps_due = kAll;
  };

  void attend(size_t set) {
    const Group& group = groups_[set];
    attention_[set] = group.waiting != 0 ? kAll : group.stamps_due;
  }

  std::vector<Group> groups_;  // by set
  std::unique_ptr<HeardPath[]> heard_;
  std::vector<lb::MemberMask> attention_;  // by set
  Deadlines due_;
};

}  // namespace eddy
