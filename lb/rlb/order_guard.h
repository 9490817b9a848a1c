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
// the scheme makes, too, and flows are watched always. A path that
// is down is left by force.
// A strict guard of all changes may be patient: a flow that has paused, and that its scheme wants
// to take off a slower path, waits until what it sent before has arrived. By the slow path it would
// arrive no sooner than those packets, so waiting costs the way of the echo, and the flow is off
// the slow path. Without patience it stays there, as a slow path is what delays the proof.
// Two tables. Where every packet is guarded for its own sake (`strict`, scope `all`, by packet),
// flows are in PathView::slots(), the words of lb/flow_slots.h: flows of a slot are one flow here,
// and a slot that is mixed moves only when it has been silent for the age. Else they are in
// PathView::flows(), each with a place; one that finds none stays on the scheme's path (`moves`) or
// on the one that its hash picks (`all`).
// Owner: the selector. Bounds: no memory of its own. Cost: a load and a branch while nothing is
// watched, else a line for each packet. Source: reference B.10, B.11; architecture, section 11;
// docs/adr/0009, docs/adr/0031.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "config/rlb.h"
#include "lb/flow_paths.h"
#include "lb/flow_slots.h"
#include "lb/members.h"
#include "lb/path_view.h"
#include "lb/preview.h"
#include "net/packet.h"
#include "net/rebase.h"

namespace eddy::lb {

// As PathTable::Leads has it.
inline Duration last_lead(const PathTable& paths, size_t set, MemberIndex slow, MemberIndex quick) {
  return Duration::nanoseconds(paths.leads().ns(set, slow, quick));
}

// Of a flow's earlier packets.
struct FlowTrace {
  FlowPath* entry = nullptr;  // null: the flow has no place yet
  FlowPath* room = nullptr;   // and this is where it may settle; null: there is no place
  Instant last;               // none was given later; Instant{}: there are none. Where not known
  bool known = false;         // what follows is from the entry, else the worst that can be
  bool dead = false;          // the path is down
  MemberIndex member = 0;     // the path that they took
  MemberIndex base = 0;       // what the scheme wanted for the last one

  // Of a slot: where it is, and what it said before the packet.
  FlowSlot* slot = nullptr;
  FlowSlot was;
  bool pinned = false;  // to `member`: more than this flow may be on the way

  // Nothing was ever sent of the flow, as far as the table tells.
  bool is_first() const { return !known && !pinned && !placeless() && last == Instant{}; }
  bool placeless() const { return slot == nullptr && entry == nullptr && room == nullptr; }
  bool stays() const { return pinned || placeless(); }
};

// Which flows of slots may leave their members: what a scheme that guards its flowlets by the burst
// asks of every packet.
struct SlotProofs {
  PathArrivals::Reader arrivals;  // where queues is not 0
  uint64_t now = 0;               // as slots have it
  uint64_t step = 0;              // and as arrivals have it
  uint64_t age = 0;               // steps; longer than this nothing is on the way
  MeasuredPackets measured;       // of which anything is proven
  bool doubtful = false;          // slots may say less than there is
  bool exact = false;             // frees() and FlowSlot::after() may be asked of all slots
  bool all_heed = false;          // warnings, whichever flow it is

  // Of a slot that is not mixed: all that it was given has arrived.
  bool is_proven(FlowSlot slot) const {
    return !doubtful && arrivals.ago(slot.set(), slot.member(), step) < slot.idle_steps(now);
  }
  // Of any slot: nothing that it was given is on the way. Without a branch, as no predictor can
  // know it.
  bool frees(FlowSlot slot) const {
    const uint64_t ago = arrivals.ago(slot.set(), slot.member(), step);
    const uint64_t proven = ago | -static_cast<uint64_t>(slot.mixed());
    const bool idle = slot.idle_steps(now) > std::min(proven, age);
    return (static_cast<int>(idle) | static_cast<int>(!slot.used())) != 0;
  }
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
    slots_ = by_slots_ ? view.slots() : nullptr;
    if (slots_ != nullptr) look_at_slots(view);
    return true;
  }
  void rebase(const Rebase& rebase);
  // What wake() writes, so that a preview can put it back.
  struct Memory {
    bool awake;
    bool warned;
    bool doubted;  // its slots were
    FlowSlots* slots;
    SlotProofs proofs;
    Instant doubtful_till;
    Instant awake_until;
    Instant awake_since;
  };
  Memory memory(const PathView& view) const {
    const bool doubted = view.slots() != nullptr && view.slots()->doubted();
    return {awake_, warned_, doubted, slots_, proofs_, doubtful_till_, awake_until_, awake_since_};
  }
  void put_back(const PathView& view, const Memory& memory);
  // `stays`: the packet must not leave trace.member.
  Hold hold_of(const FlowTrace& trace, bool stays) const;
  bool awake() const { return awake_; }
  bool warned() const { return warned_; }  // some path was, before the burst
  bool watches(const PathView& view) const {
    return watches_ && (slots_ != nullptr || view.flows() != nullptr);
  }
  void prefetch(const PathView& view, std::span<Packet* const> burst) const {
    for (const Packet* packet : burst)
      slots_ != nullptr ? slots_->prefetch(*packet) : view.flows()->prefetch(packet->order_hash);
  }

  // Flows are in slots: all that is asked of one that is known and off warned paths is whether its
  // old path is proven drained.
  bool is_brief() const { return slots_ != nullptr; }
  SlotProofs& proofs() { return proofs_; }
  // Then: the flow's slot if the packet may follow the scheme. Null: more is to be asked.
  FlowSlot* slot_if_free(const PathView& view, const Packet& packet, uint16_t set,
                         MemberIndex base) const {
    FlowSlot& slot = slots_->of(packet);
    if (!slot.used() || !slot.is_plain(set) || !proves(packet)) [[unlikely]]
      return nullptr;
    if (warned_ && contains(view.warnings()->warned(set, packet.queue), base)) return nullptr;
    return slot.member() == base || proofs_.is_proven(slot) ? &slot : nullptr;
  }
  // And it went to `member` from `old`.
  void note_free(const PathView& view, uint16_t set, FlowSlot* slot, MemberIndex old,
                 MemberIndex member) const {
    if (member != old) view.report(GuardEvent::moved);
    *slot = FlowSlot(proofs_.now, set, member);
  }

  // Whether flows are in slots, where there are some, or each by itself.
  static bool guards_slots(const config::RlbConfig& rlb);

  // What is known of the packet's flow; `base`: what the scheme proposes. `trace` is a new one, and
  // written where it stays: to copy at once what was just written word by word waits for all of it.
  void trace(const PathView& view, const Packet& packet, uint16_t set, MemberIndex base,
             FlowTrace& trace) const {
    if (slots_ != nullptr)
      trace_slot(view, packet, set, base, trace);
    else
      trace = trace_flow(view, packet, set, base);
  }
  FlowTrace trace_flow(const PathView& view, const Packet& packet, uint16_t set,
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
    if (trace.stays()) return true;
    if (config_.mode != config::GuardMode::strict || is_free(trace, base)) return false;
    return !has_arrived(view, packet, set, trace);
  }
  // The packet may go to `member`, holds() being false.
  bool allows(const PathView& view, uint16_t set, const FlowTrace& trace, MemberIndex base,
              MemberIndex member) const {
    return config_.mode != config::GuardMode::paced || member == trace.member ||
           is_free(trace, base) || arrives_later(view, set, trace, member);
  }
  // holds() being true: whether the packet waits until it may go to `to`, which its scheme wants.
  // `so_far`: it has.
  bool drains(const PathView& view, const Packet& packet, uint16_t set, const FlowTrace& trace,
              MemberIndex to, Duration so_far) const {
    if (!patient_ || view.loop() == nullptr || to == trace.member) return false;
    if (so_far >= config_.patience || !trace.known || trace.dead) return false;
    const bool begins = so_far == Duration{};
    if (begins && idle(trace, view.now()) < config_.pause) return false;
    return (!begins || pays_to_wait(view, set, trace.member, to)) &&
           view.loop()->lets_drain(packet);
  }
  // `from` is slower than `to`, as far as is known, by enough. What was ever measured, fresh or
  // not, denies that for most packets that it is asked about.
  bool pays_to_wait(const PathView& view, uint16_t set, MemberIndex from, MemberIndex to) const {
    if (!patient_ || view.paths() == nullptr) return false;
    const PathTable& paths = *view.paths();
    return last_lead(paths, set, from, to) > least_lead(paths) && leads(view, set, from, to);
  }
  // It went to `member`.
  void note(const PathView& view, const Packet& packet, uint16_t set, const FlowTrace& trace,
            MemberIndex base, MemberIndex member);

 private:
  static constexpr int64_t kLeadShare = 4;                 // of a base round trip, by which it pays
  static constexpr size_t kMostSets = FlowSlot::kSetTags;  // that slots tell apart

  static Duration least_lead(const PathTable& paths) {
    return paths.parameters().base_rtt / kLeadShare;
  }
  static bool leads(const PathView& view, uint16_t set, MemberIndex from, MemberIndex to);
  void stay_awake(const PathView& view) {
    if (!awake_) awake_since_ = view.now();
    awake_ = true;
    awake_since_ = std::max(awake_since_, view.now() - FlowPath::kHorizon / 2);
    if (warned_) awake_until_ = std::max(awake_until_, view.now() + config_.linger);
  }
  void look_at_slots(const PathView& view);
  void trace_slot(const PathView& view, const Packet& packet, uint16_t set, MemberIndex base,
                  FlowTrace& trace) const;
  void note_slot(const PathView& view, const Packet& packet, uint16_t set, const FlowTrace& trace,
                 MemberIndex member);
  bool proves(const Packet& packet) const { return proofs_.measured.in(packet.queue, packet.pg); }
  // Of a flow that has no entry, or one that is too old to tell.
  FlowTrace unknown(const PathView& view, const Packet& packet, uint16_t set, MemberIndex base,
                    FlowPath* entry) const;
  bool arrives_later(const PathView& view, uint16_t set, const FlowTrace& trace,
                     MemberIndex member) const;
  static bool is_measured(const PathView& view, const Packet& packet) {
    return view.paths() != nullptr &&
           view.paths()->parameters().measured.in(packet.queue, packet.pg);
  }
  // The scheme takes the flow off its path by itself, and that is not guarded.
  bool is_free(const FlowTrace& trace, MemberIndex base) const {
    return trace.dead || (trace.known && !always_ && base != trace.base && base != trace.member);
  }
  // Where nothing has arrived for sure there is no instant to compare with, and one from so long
  // ago that stamps do not tell whether it was before the flow's last packet or behind it proves
  // nothing.
  static bool is_proven(const PathView& view, const FlowPath& path, Instant arrived_before) {
    return arrived_before != Instant{} && view.now() - arrived_before < FlowPath::kHorizon &&
           path.ends_before(arrived_before);
  }
  bool is_over(const PathView& view, const FlowPath& path) const;
  bool has_arrived(const PathView& view, const Packet& packet, uint16_t set,
                   const FlowTrace& trace) const;
  Duration idle(const FlowTrace& trace, Instant now) const {
    if (!trace.known) return now - trace.last;
    return trace.slot != nullptr ? trace.was.idle(proofs_.now) : trace.entry->idle(now);
  }

  config::GuardConfig config_;
  bool keeps_units_;
  bool watches_;     // a packet's path depends on its flow's earlier packets
  bool always_;      // also while nothing is warned
  bool by_slots_;    // where there are some
  bool patient_;     // flows may wait for a slow path to drain
  Duration memory_;  // of a flow that pauses
  bool awake_ = false;
  bool warned_ = false;
  FlowSlots* slots_ = nullptr;
  SlotProofs proofs_;
  Instant doubtful_till_;   // of slots that nobody guarded before
  Instant awake_until_;     // whatever is warned
  Instant awake_since_;     // entries that are older say nothing
  Instant placeless_till_;  // a flow without a place was sent last
};

}  // namespace eddy::lb
