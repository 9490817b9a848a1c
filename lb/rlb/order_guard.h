// OrderGuard: whether a flow may take another path than its earlier packets took.
//
// A packet that arrives before an earlier one of its flow costs a RoCEv2 sender a window of
// retransmissions. The modes differ in when a flow may leave its path. `off` and `follow`: always.
// `paced`: when the packet would arrive behind the earlier ones by the delays measured, or when the
// flow has paused. `strict`: when everything that was given to the old path until the flow's last
// packet is proven to have arrived (PathTable::arrived_before).
// The scopes differ in whose changes are guarded. `moves`: only those that RLB makes. Flows are
// then watched only while something is warned and for a while after; of a flow that is seen for the
// first time it is assumed that its last packet came just before the watch began. `all`: those that
// the scheme makes, too, and flows are watched always. A flow for which the table has no place
// stays on the scheme's path (`moves`) or on the one that its hash picks (`all`). A path that is
// down is left by force.
// Owner: the selector; flows are in PathView::flows(). Bounds: no memory of its own. Cost: a load
// and a branch while nothing is watched, else a line for each packet. Source: reference B.10, B.11;
// architecture, section 11; docs/adr/0009.
#pragma once

#include <algorithm>
#include <cstdint>

#include "config/rlb.h"
#include "lb/flow_paths.h"
#include "lb/members.h"
#include "lb/path_view.h"
#include "net/packet.h"
#include "net/rebase.h"

namespace eddy::lb {

// Of a flow's earlier packets.
struct FlowTrace {
  FlowPath* entry = nullptr;  // null: the flow has no place yet
  FlowPath* room = nullptr;   // and this is where it may settle; null: there is no place
  Instant last;               // none was given later; Instant{}: there are none. Where not known
  bool known = false;         // what follows is from the entry, else the worst that can be
  bool dead = false;          // the path is down
  MemberIndex member = 0;     // the path that they took
  MemberIndex base = 0;       // what the scheme wanted for the last one

  bool placeless() const { return entry == nullptr && room == nullptr; }
};

class OrderGuard {
 public:
  OrderGuard(const config::GuardConfig& config, config::Granularity granularity);

  // Before each burst. True: flows are watched, or paths are warned.
  bool wake(const PathView& view) {
    warned_ = view.warnings() != nullptr && !view.warnings()->quiet();
    if (!warned_ && !always_ && view.now() >= awake_until_) [[likely]]
      return awake_ = false;
    stay_awake(view);
    brief_ = always_ && !keeps_units_ && view.flows() != nullptr && view.paths() != nullptr &&
             config_.mode == config::GuardMode::strict;
    return true;
  }
  void rebase(const Rebase& rebase);
  bool awake() const { return awake_; }
  bool warned() const { return warned_; }  // some path was, before the burst
  bool watches(const PathView& view) const { return watches_ && view.flows() != nullptr; }

  // All that is asked of a flow that is known and off warned paths is whether its old path is
  // proven drained.
  bool is_brief() const { return brief_; }
  // Then: the flow's entry if the packet may follow the scheme. Null: more is to be asked.
  FlowPath* entry_if_free(const PathView& view, const Packet& packet, uint16_t set,
                          MemberIndex base) const {
    FlowPath* entry = view.flows()->find(packet.order_hash);
    if (entry == nullptr || !entry->of(set)) [[unlikely]]
      return nullptr;
    if (warned_ && contains(view.warnings()->warned(set, packet.queue), base)) return nullptr;
    const MemberIndex member = entry->member();
    if (member == base) return entry;
    const Instant arrived = view.paths()->arrived_before(set, member, packet.queue);
    return is_proven(*entry, arrived) ? entry : nullptr;
  }
  // And it went to `member`.
  void note_free(const PathView& view, const Packet& packet, uint16_t set, FlowPath* entry,
                 MemberIndex base, MemberIndex member) const {
    if (member != entry->member()) view.report(GuardEvent::moved);
    *entry = FlowPath(set, member, base, view.now(), is_measured(view, packet.queue));
  }

  // What is known of the packet's flow; `base`: what the scheme proposes.
  FlowTrace trace(const PathView& view, const Packet& packet, uint16_t set,
                  MemberIndex base) const {
    FlowPath* entry = view.flows()->find(packet.order_hash);
    const bool tells = entry != nullptr && (always_ || !entry->ends_before(awake_since_));
    if (!tells) [[unlikely]]
      return unknown(view, packet, set, base, entry);
    if (!entry->of(set)) return {.entry = entry, .member = base, .base = base};  // rerouted
    const MemberIndex member = entry->member();
    return {.entry = entry,
            .known = true,
            .dead = !contains(view.live(set), member),
            .member = member,
            .base = entry->base()};
  }
  // Where the packet is to go, warnings aside.
  MemberIndex wanted(const FlowTrace& trace, MemberIndex base, Instant now) const {
    if (base == trace.member || trace.placeless()) return trace.member;
    const bool same_unit = keeps_units_ && base == trace.base && idle(trace, now) < config_.pause;
    return same_unit && !trace.dead ? trace.member : base;
  }
  // The packet stays on trace.member, whatever else there is.
  bool holds(const PathView& view, const Packet& packet, uint16_t set, const FlowTrace& trace,
             MemberIndex base) const {
    if (trace.placeless()) return true;
    if (config_.mode != config::GuardMode::strict || is_free(trace, base)) return false;
    return !has_arrived(view, packet, set, trace);
  }
  // The packet may go to `member`, holds() being false.
  bool allows(const PathView& view, uint16_t set, const FlowTrace& trace, MemberIndex base,
              MemberIndex member) const {
    return config_.mode != config::GuardMode::paced || member == trace.member ||
           is_free(trace, base) || arrives_later(view, set, trace, member);
  }
  // It went to `member`.
  void note(const PathView& view, const Packet& packet, uint16_t set, const FlowTrace& trace,
            MemberIndex base, MemberIndex member);

 private:
  void stay_awake(const PathView& view) {
    if (!awake_) awake_since_ = view.now();
    awake_ = true;
    awake_since_ = std::max(awake_since_, view.now() - FlowPath::kHorizon / 2);
    if (warned_) awake_until_ = std::max(awake_until_, view.now() + config_.linger);
  }
  // Of a flow that has no entry, or one that is too old to tell.
  FlowTrace unknown(const PathView& view, const Packet& packet, uint16_t set, MemberIndex base,
                    FlowPath* entry) const;
  bool arrives_later(const PathView& view, uint16_t set, const FlowTrace& trace,
                     MemberIndex member) const;
  static bool is_measured(const PathView& view, QueueId queue) {
    return view.paths() != nullptr && view.paths()->parameters().measures(queue);
  }
  // The scheme takes the flow off its path by itself, and that is not guarded.
  bool is_free(const FlowTrace& trace, MemberIndex base) const {
    return trace.dead || (trace.known && !always_ && base != trace.base && base != trace.member);
  }
  // Where nothing has arrived for sure there is no instant to compare with.
  static bool is_proven(const FlowPath& path, Instant arrived_before) {
    return arrived_before != Instant{} && path.ends_before(arrived_before);
  }
  bool is_over(const PathView& view, const FlowPath& path) const;
  bool has_arrived(const PathView& view, const Packet& packet, uint16_t set,
                   const FlowTrace& trace) const;
  static Duration idle(const FlowTrace& trace, Instant now) {
    return trace.known ? trace.entry->idle(now) : now - trace.last;
  }

  config::GuardConfig config_;
  bool keeps_units_;
  bool watches_;     // a packet's path depends on its flow's earlier packets
  bool always_;      // also while nothing is warned
  Duration memory_;  // of a flow that pauses
  bool awake_ = false;
  bool warned_ = false;
  bool brief_ = false;
  Instant awake_until_;     // whatever is warned
  Instant awake_since_;     // entries that are older say nothing
  Instant placeless_till_;  // a flow without a place was sent last
};

}  // namespace eddy::lb
