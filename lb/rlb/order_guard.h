// OrderGuard: whether a flow may take another path than its earlier packets took.
//
// `off` and `follow`: always. `paced`: when the packet would arrive behind the earlier ones by the
// delays measured, or the flow has paused. `strict`: when everything given to the old path until
// the flow's last packet is proven to have arrived (PathTable::arrived_before). Scope `moves`: only
// changes that RLB makes are guarded; flows are watched while something is warned and a while
// after, and of a flow seen for the first time the last packet came, at the latest, when the watch
// began. Scope `all`: changes that the scheme makes are guarded, too, and flows are watched always.
// A flow without a place in the table is on the scheme's path (`moves`) or on the one that its hash
// picks (`all`). A path that is down is left by force.
// Owner: the selector; flows are in PathView::flows(). Bounds: no memory of its own. Cost: a load
// and a branch while nothing is watched, else a line a packet. Source: reference B.10, B.11;
// architecture, section 11; docs/adr/0009.
#pragma once

#include <cstdint>

#include "config/rlb.h"
#include "lb/members.h"
#include "lb/path_view.h"
#include "lb/rlb/flow_paths.h"
#include "net/packet.h"

namespace eddy::lb {

// Of a flow's earlier packets.
struct FlowTrace {
  FlowPath* entry = nullptr;  // null: the flow has no place yet
  bool known = false;         // what follows is from the entry, else the worst that can be
  bool placeless = false;     // and there is no place
  bool dead = false;          // the path is down
  MemberIndex member = 0;     // the path that they took
  MemberIndex base = 0;       // what the scheme wanted for the last one
  Instant last;               // none was given later; Instant{}: there are none
};

class OrderGuard {
 public:
  OrderGuard(const config::GuardConfig& config, config::Granularity granularity);

  // Before each burst. True: flows are watched, or paths are warned.
  bool wake(const PathView& view) {
    const bool warned = view.warnings() != nullptr && !view.warnings()->quiet();
    if (!warned && !always_ && view.now() >= awake_until_) [[likely]]
      return awake_ = false;
    stay_awake(view, warned);
    return true;
  }
  bool awake() const { return awake_; }
  bool watches(const PathView& view) const { return watches_ && view.flows() != nullptr; }

  // What is known of the packet's flow; `base`: what the scheme proposes.
  FlowTrace trace(const PathView& view, const Packet& packet, uint16_t set, MemberIndex base) const;
  // Where the packet is to go, warnings aside.
  MemberIndex wanted(const FlowTrace& trace, MemberIndex base, Instant now) const {
    if (base == trace.member || trace.placeless) return trace.member;
    const bool same_unit = keeps_units_ && base == trace.base && idle(trace, now) < config_.pause;
    return same_unit && !trace.dead ? trace.member : base;
  }
  // The packet stays on trace.member, whatever else there is.
  bool holds(const PathView& view, const Packet& packet, uint16_t set, const FlowTrace& trace,
             MemberIndex base) const;
  // The packet may go to `member`, holds() being false.
  bool allows(const PathView& view, uint16_t set, const FlowTrace& trace, MemberIndex base,
              MemberIndex member) const;
  // It went to `member`.
  void note(const PathView& view, const Packet& packet, uint16_t set, const FlowTrace& trace,
            MemberIndex base, MemberIndex member);

 private:
  void stay_awake(const PathView& view, bool warned);
  FlowTrace unknown(const PathView& view, const Packet& packet, uint16_t set,
                    MemberIndex base) const;
  // The scheme takes the flow off its path by itself, and that is not guarded.
  bool is_free(const FlowTrace& trace, MemberIndex base) const {
    return trace.dead || (trace.known && !always_ && base != trace.base && base != trace.member);
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
  Instant awake_until_;     // whatever is warned
  Instant awake_since_;     // entries that are older say nothing
  Instant placeless_till_;  // a flow without a place was sent last
};

}  // namespace eddy::lb
