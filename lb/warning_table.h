// WarningTable: which members of which path sets are warned that PFC will stop them, and until
// when.
//
// Two kinds of entry: of a port, for whatever leaf lies behind it, and of a member, for its set's
// leaf alone. Soft state: an entry ends when it is cleared or when its time is up, whichever is
// first. What a selector reads is a mask a (set, queue), kept up to date. An older message of the
// same source, or one of a source that is less severe than what is there, changes nothing.
// Owner: one shard, which learns of other shards' warnings by mail. Bounds: 32 octets a member and
// a port, taken at construction. Cost: warned() a load; mark() a heap operation and, when
// other queues are warned, a few operations for each set that the port is in. Source: reference
// B.4, B.5.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "lb/members.h"
#include "lb/path_set.h"
#include "net/deadlines.h"
#include "net/ids.h"
#include "net/units.h"

namespace eddy::lb {

// What a congestion point says, as it concerns a port of this switch.
struct WarningMark {
  PortId port;
  LeafId leaf = LeafId::none();  // behind the port; none: all
  uint8_t queues = 0;            // of the port, as a mask
  uint8_t severity = 0;          // 0: clear; 1..63
  uint32_t sequence = 0;         // of the source, compared modulo 2^32
  uint32_t source = 0;           // the congestion point, hashed
  uint32_t origin = 0;           // its switch, hashed
  Instant expiry;
};

// stale: no newer than what its source said before.
enum class MarkEffect : uint8_t { begun, refreshed, cleared, ignored, stale };

class WarningTable {
 public:
  WarningTable(std::span<const PathSet> sets, size_t ports);

  MarkEffect mark(const WarningMark& mark);
  // Ends one entry that is due, if there is one; returns its port. What ended long ago is
  // forgotten.
  std::optional<PortId> expire_one(Instant now);
  Instant next_expiry() const { return expiries_.next(); }

  // Members of the set whose packets of the queue would soon be stopped.
  MemberMask warned(size_t set, QueueId queue) const {
    return masks_[set * kPriorities + queue.index()];
  }
  bool quiet() const { return active_ == 0; }
  size_t active() const { return active_; }  // entries
  // Of the worse of the entries that concern it; 0: not warned.
  uint8_t severity(size_t set, MemberIndex member, QueueId queue) const;
  // Until when it is warned as far as is known, or was last, in any queue; Instant{}: never was.
  Instant warned_until(size_t set, MemberIndex member) const;
  // More than half of the live members are warned by the switch that warns this one.
  bool is_last_hop(size_t set, QueueId queue, MemberIndex member, MemberMask live) const;

 private:
  static constexpr Duration kRemember = Duration::milliseconds(1);  // an entry that has ended

  struct Entry {
    uint32_t sequence = 0;
    uint32_t source = 0;
    uint32_t origin = 0;
    uint8_t severity = 0;  // 0: none
    uint8_t queues = 0;
    Instant until;
    uint8_t warned_queues() const { return severity != 0 ? queues : uint8_t{0}; }
    bool holds(QueueId queue) const { return (warned_queues() >> queue.index() & 1) != 0; }
  };
  struct Place {  // of a port
    uint16_t set;
    MemberIndex member;
  };

  // The entry that warns the member, the worse of two; null: none.
  const Entry* worst(size_t set, MemberIndex member, QueueId queue) const;
  size_t entry_of(const Place& place) const { return first_[place.set] + place.member; }
  size_t entry_of(PortId port) const { return port.index(); }
  MarkEffect mark_entry(size_t entry, const WarningMark& mark);
  void end(size_t entry, Instant at);
  // What the selector reads, after these queues have changed.
  void follow_port(PortId port, uint8_t queues);
  void follow(const Place& place, uint8_t queues);

  std::vector<PortId> port_of_;             // by entry, from the first member's on
  std::vector<size_t> first_;               // entry of a set's first member
  std::vector<std::vector<Place>> places_;  // by port
  std::vector<Place> place_of_;             // by entry, from the first member's on
  std::vector<LeafId> leaf_of_;             // by set
  std::vector<Entry> entries_;              // ports, then members set by set
  std::vector<MemberMask> masks_;           // [set][queue]
  Deadlines expiries_;                      // by entry
  size_t active_ = 0;
};

}  // namespace eddy::lb
