// PathView: what a selector may see of the switch while it decides, and the one thing it may tell:
// that members were equally good. Signals are read live, never pushed.
//
// PortSignals is one cache line a port, written by the one shard that owns the port (relaxed), read
// by all: on another shard a value is stale by at most one poll. Units are octets and
// PathView::now. Cost: construction is a few pointers; each read one load. Source: architecture,
// section 5; reference 1.3, A.7.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <span>

#include "lb/flow_paths.h"
#include "lb/flow_slots.h"
#include "lb/path_set.h"
#include "lb/path_table.h"
#include "lb/waiting.h"
#include "lb/warning_table.h"
#include "net/ids.h"
#include "net/units.h"

namespace eddy::lb {

struct alignas(64) PortSignals {
  std::array<std::atomic<uint32_t>, kPriorities>
      queued_bytes;                       // by queue, the packet on the line included
  std::atomic<uint64_t> dre_bytes{0};     // register X of reference A.7, as of dre_since_ps
  std::atomic<int64_t> dre_since_ps{0};   // when the T_dre period began that X was last decayed to
  std::atomic<uint8_t> paused_queues{0};  // bit = queue stopped by PFC
  std::atomic<uint8_t> up{0};             // link and admin state
  std::atomic<uint8_t> line_queue{0};     // of line_bytes; kPriorities: a frame of the switch's own
  std::atomic<uint32_t> line_bytes{0};    // of the frame on the line; 0: the line rests
  std::atomic<uint32_t> sojourn_ns{0};  // smoothed, of packets with a tolerable delay, where asked

  // Octets waiting in `queue` and in every queue served before or beside it (index >= queue).
  uint64_t backlog_from(QueueId queue) const {
    uint64_t sum = 0;
    for (size_t q = queue.index(); q < kPriorities; ++q)
      sum += queued_bytes[q].load(std::memory_order_relaxed);
    return sum;
  }
  // The same without the frame that is on the line.
  uint64_t waiting_from(QueueId queue) const {
    const uint64_t queued = backlog_from(queue);
    const size_t of = line_queue.load(std::memory_order_relaxed);
    if (of < queue.index() || of >= kPriorities) return queued;
    const uint64_t on_line = line_bytes.load(std::memory_order_relaxed);
    return queued - std::min(on_line, queued);  // another shard's line may have ended meanwhile
  }
  bool paused(QueueId queue) const {
    return (paused_queues.load(std::memory_order_relaxed) >> queue.index() & 1) != 0;
  }
};
static_assert(sizeof(PortSignals) == 64);

// What a selector may lean on beside the signals of its ports; null where there is none.
struct PathAids {
  const WarningTable* warnings = nullptr;
  const PathTable* paths = nullptr;
  FlowPaths* flows = nullptr;   // that RLB's order guard watches, each by itself
  FlowSlots* slots = nullptr;   // or by slots
  WaitingRoom* loop = nullptr;  // in which packets go round
};

// What RLB made of a packet whose scheme chose a warned path.
enum class Decision : uint8_t {
  direct,      // nothing: the path was not warned
  rerouted,    // another path
  all_warned,  // the least bad one
  suspended,   // nothing: the receiver's own leaf warns of most paths
  waits,       // none yet: it goes round for the first time
  forced,      // whatever `on_exceed` says: it would have gone round, but a limit forbids
  placed,      // rerouted, too, and where delays say, as it is its flow's first packet
  culprit,     // nothing: its destination is why the path is warned
};
inline constexpr size_t kDecisions = static_cast<size_t>(Decision::culprit) + 1;

// What RLB's order guard made of a flow whose packet was to take another path.
enum class GuardEvent : uint8_t {
  moved,      // it took it
  stayed,     // it kept the old one
  forced,     // the old one is down or excluded: it took it, whatever is on the way
  placeless,  // the table had no room: it went where flows without a place go
  replaced,   // the table forgot another flow, of which nothing is on the way
  drains,     // it waits until its earlier packets have arrived
  overdue,    // they had not in time: it kept the old one
};
inline constexpr size_t kGuardEvents = static_cast<size_t>(GuardEvent::overdue) + 1;

class PathView {
 public:
  PathView(Instant now, std::span<const PathSet> sets, const MemberMask* live,
           const PortSignals* ports, const PathAids& aids = {})
      : now_(now), sets_(sets), live_(live), ports_(ports), aids_(aids) {}

  Instant now() const { return now_; }
  size_t set_count() const { return sets_.size(); }
  const PathSet& set(size_t set_index) const { return sets_[set_index]; }
  // Members whose port is up and that no detector has excluded, unless only those are left; a set
  // without any never reaches a selector.
  MemberMask live(size_t set_index) const { return live_[set_index]; }
  // Both by set, for a loop over a burst.
  const MemberMask* live() const { return live_; }
  std::span<const PathSet> sets() const { return sets_; }
  const PortSignals& port(PortId port) const { return ports_[port.index()]; }

  // A scheme's own choice fell between members that its measure cannot tell apart; its seeded rule
  // decided. Once a propose().
  void report_tie(bool tied = true) const { ties_ += tied ? 1 : 0; }
  void report_ties(uint32_t ties) const { ties_ += ties; }
  uint32_t ties() const { return ties_; }  // since this view was made

  const WarningTable* warnings() const { return aids_.warnings; }
  // What was measured of the paths; null: nothing is.
  const PathTable* paths() const { return aids_.paths; }
  FlowPaths* flows() const { return aids_.flows; }
  FlowSlots* slots() const { return aids_.slots; }
  WaitingRoom* loop() const { return aids_.loop; }
  // Which of a burst went to the loop instead of getting a member, as a mask.
  void report_away(size_t index) const { away_ |= uint64_t{1} << index; }
  uint64_t away() const { return away_; }
  // So many packets went by ECMP instead of the scheme, which has failed; `first`: just now. It
  // shows in away(), so that nobody has to ask while all is well.
  void report_fallback(uint32_t packets, bool first) const {
    fallback_ += packets;
    away_ |= first ? kFallback | kFailed : kFallback;
  }
  uint32_t fallback() const { return fallback_; }
  // So many packets went by their hash, as the scheme's own table had no place for their flow. It
  // shows in away(), too.
  void report_placeless(uint32_t packets) const {
    placeless_ += packets;
    away_ |= kPlaceless;
  }
  uint32_t placeless() const { return placeless_; }
  bool failed() const { return (away_ & kFailed) != 0; }
  // What a wrapper did to a packet, other than nothing. Once a commit().
  void report(Decision decision, uint32_t times = 1) const {
    decisions_[static_cast<size_t>(decision)] += times;
    decided_ |= mark_of(static_cast<size_t>(decision), times);
  }
  uint32_t decisions(Decision decision) const { return decisions_[static_cast<size_t>(decision)]; }
  // Which were reported, as a mask.
  uint32_t decided() const { return decided_; }
  void report(GuardEvent event, uint32_t times = 1) const {
    guarded_[static_cast<size_t>(event)] += times;
    events_ |= mark_of(static_cast<size_t>(event), times);
  }
  uint32_t guarded(GuardEvent event) const { return guarded_[static_cast<size_t>(event)]; }
  uint32_t guarded() const { return events_; }

 private:
  // Of away_: no packets', bursts are shorter.
  static constexpr uint64_t kFallback = uint64_t{1} << 63;
  static constexpr uint64_t kFailed = uint64_t{1} << 62;
  static constexpr uint64_t kPlaceless = uint64_t{1} << 61;

  static_assert(kDecisions <= 8 && kGuardEvents <= 8);
  static uint8_t mark_of(size_t which, uint32_t times) {
    return static_cast<uint8_t>(uint32_t{times != 0} << which);
  }

  Instant now_;
  std::span<const PathSet> sets_;
  const MemberMask* live_;
  const PortSignals* ports_;
  PathAids aids_;
  mutable uint32_t ties_ = 0;
  mutable uint32_t fallback_ = 0;
  mutable uint32_t placeless_ = 0;
  mutable uint64_t away_ = 0;
  mutable std::array<uint32_t, kDecisions> decisions_{};
  mutable std::array<uint32_t, kGuardEvents> guarded_{};
  // What was reported, as masks: who asks whether anything was does not wait for counts.
  mutable uint8_t decided_ = 0;
  mutable uint8_t events_ = 0;
};

}  // namespace eddy::lb
