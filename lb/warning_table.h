// WarningTable: which members of which path sets are warned that PFC will stop them, and until
// when.
//
// Three kinds of entry, each of one queue: of a port, for whatever leaf lies behind it; of a pause
// that is in force at a port; and of a member, for its set's leaf alone. A path is warned while any
// of them holds. Only queues that carry lossless traffic have entries; marks of others are ignored.
// Where `pauses_apart` is false a pause and a warning of the port share one entry, which the more
// severe takes. Soft state: an entry ends when it is cleared or when its time is up, whichever is
// first. What a selector reads is a mask a (set, queue), kept up to date. An older message of the
// same source, or one of a source that is less severe than what is there, changes nothing.
// Where the plan says so, an entry keeps the culprits that its message named, and for them a path
// is not warned: they are the reason why others are. Owner: one shard, which learns of other
// shards' warnings by mail. Bounds: for each lossless queue 24 octets a member and 48 a port, and
// 32 more for each entry's culprits, taken at construction. Cost: warned() a load; mark() a heap
// operation and, when a warning begins or ends, a few operations for each set that the port is in;
// names() a load while nothing is named, else two lists of four. Source: reference B.3 to B.5;
// docs/adr/0016, docs/adr/0040.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "lb/members.h"
#include "lb/path_set.h"
#include "net/cnm.h"
#include "net/deadlines.h"
#include "net/ids.h"
#include "net/rebase.h"
#include "net/units.h"

namespace eddy::lb {

// What a congestion point says, as it concerns a port of this switch.
struct WarningMark {
  PortId port;
  LeafId leaf = LeafId::none();  // behind the port; none: all
  QueueId queue;                 // of the port
  uint8_t severity = 0;          // 0: clear; 1..63
  bool is_pause = false;         // the port is stopped already
  uint32_t sequence = 0;         // of the source, compared modulo 2^32
  uint32_t source = 0;           // the congestion point, hashed
  uint32_t origin = 0;           // its switch, hashed
  Instant expiry;
  CulpritList culprits{};
};

// stale: no newer than what its source said before.
enum class MarkEffect : uint8_t { begun, refreshed, cleared, ignored, stale };

struct WarningTablePlan {
  uint8_t queues = 0xff;     // that may be warned, as a mask
  bool pauses_apart = true;  // from the warnings of their port
  bool culprits = false;     // are kept
  bool operator==(const WarningTablePlan&) const = default;
};

class WarningTable {
 public:
  WarningTable(std::span<const PathSet> sets, size_t ports, const WarningTablePlan& plan = {});

  MarkEffect mark(const WarningMark& mark);
  // An entry whose time was up. That of a pause with an entry of its own ends with the pause, as it
  // was told to; any other was not refreshed.
  struct Ended {
    PortId port;
    bool was_pause = false;
  };
  // Ends one entry that is due, if there is one. What ended long ago is forgotten.
  std::optional<Ended> expire_one(Instant now);
  Instant next_expiry() const { return expiries_.next(); }
  void rebase(const Rebase& rebase);

  // Members of the set whose packets of the queue would soon be stopped.
  MemberMask warned(size_t set, QueueId queue) const {
    return masks_[set * kPriorities + queue.index()];
  }
  // The same for a loop over packets of one queue.
  class OfQueue {
   public:
    OfQueue() = default;  // to be asked nothing
    MemberMask warned(size_t set) const { return masks_[set * kPriorities]; }

   private:
    friend class WarningTable;
    explicit OfQueue(const MemberMask* masks) : masks_(masks) {}
    const MemberMask* masks_ = nullptr;
  };
  OfQueue of(QueueId queue) const { return OfQueue(masks_.data() + queue.index()); }
  bool quiet() const { return active_ == 0; }
  size_t active() const { return active_; }  // entries
  // Of the worst of the entries that concern it; 0: not warned.
  uint8_t severity(size_t set, MemberIndex member, QueueId queue) const;
  // Until when it is warned as far as is known, or was last, in any queue; long_past(): never was.
  Instant warned_until(size_t set, MemberIndex member) const;
  // More than half of the live members are warned by the switch that warns this one.
  bool is_last_hop(size_t set, QueueId queue, MemberIndex member, MemberMask live) const;
  // A warning of the member names the destination. Never of tag 0.
  bool names(size_t set, MemberIndex member, QueueId queue, uint32_t tag) const {
    return named_ != 0 && names_one(set, member, queue, tag);
  }
  bool names_any() const { return named_ != 0; }
  // Of the port's warning for all leaves; none of them is there without one.
  CulpritList culprits(PortId port, QueueId queue) const;
  const WarningTablePlan& plan() const { return plan_; }

 private:
  static constexpr Duration kRemember = Duration::milliseconds(1);  // an entry that has ended
  static constexpr uint8_t kNoSlot = 0xff;

  struct Entry {
    uint32_t sequence = 0;
    uint32_t source = 0;
    uint32_t origin = 0;
    uint8_t severity = 0;  // 0: none
    Instant until = Instant::long_past();
    bool warns() const { return severity != 0; }
  };
  static_assert(sizeof(Entry) == 24);
  struct Place {  // of a port
    uint16_t set;
    MemberIndex member;
  };

  size_t member_of(const Place& place) const { return first_[place.set] + place.member; }
  size_t entry_of_port(PortId port, size_t slot) const {
    return (port.index() * slots_ + slot) * voices_;
  }
  size_t entry_of_member(size_t member, size_t slot) const {
    return members_from_ + member * slots_ + slot;
  }
  void keep_culprits(size_t entry, const CulpritList& culprits);
  bool names_one(size_t set, MemberIndex member, QueueId queue, uint32_t tag) const;
  // The entry that warns the member, the worst of all; null: none.
  const Entry* worst(size_t set, MemberIndex member, QueueId queue) const;
  MarkEffect mark_port(const WarningMark& mark, size_t slot);
  MarkEffect mark_members(const WarningMark& mark, size_t slot);
  MarkEffect mark_entry(size_t entry, const WarningMark& mark);
  void end(size_t entry, Instant at);
  // What the selector reads, after an entry of the slot began or ended.
  void follow_port(PortId port, size_t slot);
  void follow(const Place& place, size_t slot);

  WarningTablePlan plan_;
  size_t slots_ = 0;                            // queues that have entries
  size_t voices_;                               // of a port and slot: its warning; a pause
  size_t members_from_;                         // the first member's entry
  std::array<uint8_t, kPriorities> slot_of_{};  // by queue
  std::vector<QueueId> queue_of_;               // by slot
  std::vector<PortId> port_of_;                 // by member, set by set
  std::vector<size_t> first_;                   // a set's first member
  std::vector<std::vector<Place>> places_;      // by port
  std::vector<Place> place_of_;                 // by member, set by set
  std::vector<LeafId> leaf_of_;                 // by set
  std::vector<Entry> entries_;                  // [port][slot][voice], then [member][slot]
  std::vector<CulpritList> culprits_;           // by entry, where they are kept
  std::vector<MemberMask> masks_;               // [set][queue]
  Deadlines expiries_;                          // by entry
  size_t active_ = 0;
  size_t named_ = 0;  // entries with culprits
};

}  // namespace eddy::lb
