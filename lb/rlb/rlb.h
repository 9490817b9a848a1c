// Rlb<Scheme>: RLB around any scheme, itself a PathScheme. A packet that the scheme would send into
// a path that is warned of PFC goes another way.
//
// For each packet it follows Algorithm 1 of the RLB paper with its gaps closed. It takes the
// scheme's choice, unless that is warned; else the first of the scheme's alternatives that is not
// warned; and if all are warned, the least severe, the earlier one of equals. Each member is asked
// about at most once. Where no path is left that is not warned, and one switch warns of more than
// half of them, the bottleneck is behind that switch and no path helps: then the scheme decides
// alone. (`suspend: most` does so although a path is left.) Where the other path is slower by more
// than a round in the loop takes, the packet goes round the loop and is looked at again, as long as
// the limits allow (waiting.h). commit() tells the scheme what was used, so that a flowlet stays
// where it was moved. Whether a flow may leave the path of its earlier packets is the order guard's
// decision (order_guard.h). Owner: the selector's shard. Bounds: no memory but the scheme's, the
// guard's and a rate for each port. Cost: a load and a branch while nothing is warned and no flow
// is watched. Source: reference B.8, B.11; RLB paper, section 3.4.
#pragma once

#include <optional>
#include <vector>

#include "lb/members.h"
#include "lb/rlb/order_guard.h"
#include "lb/selector.h"
#include "lb/selector_init.h"
#include "lb/waiting.h"
#include "lb/warning_table.h"
#include "net/rebase.h"

namespace eddy::lb {

// What of the configuration a decision asks for.
struct RlbPolicy {
  bool cumulative = true;
  bool rebase_on_return = false;
  config::OnExceed on_exceed{};
  config::AllWarned all_warned{};
  config::Suspend suspend{};
  bool credit = false;     // for what was moved to a path
  Duration longest_pause;  // that the severest warning tells of
  uint64_t seed = 0;
  uint64_t least_heed = 0;  // of 2^32: flows that heed the mildest warning

  static RlbPolicy of(const config::RlbConfig& rlb, uint64_t seed) {
    return {.cumulative = rlb.recirculation.cumulative,
            .rebase_on_return = rlb.recirculation.rebase_on_return,
            .on_exceed = rlb.recirculation.on_exceed,
            .all_warned = rlb.all_warned,
            .suspend = rlb.suspend,
            .credit = rlb.reroute_credit,
            .longest_pause = rlb.warning.life,
            .seed = seed,
            .least_heed = static_cast<uint64_t>(rlb.reaction * static_cast<double>(kAll))};
  }
  // One more round costs no more than the other path would have.
  bool pays_off(const Trip& trip, Duration round) const {
    return !cumulative || trip.spent + round <= trip.allowance;
  }
  // Not all at once: the milder the warning, the fewer flows.
  bool heeds_all() const { return least_heed >= kAll; }
  bool heeds(const Packet& packet, uint8_t severity) const {
    const uint64_t share = least_heed + (kAll - least_heed) * severity / kSeverest;
    return mix64(packet.order_hash ^ seed) >> 32 < share;
  }

  Duration expected_pause(uint8_t severity) const { return longest_pause * severity / kSeverest; }

 private:
  static constexpr int kSeverest = 63;
  static constexpr uint64_t kAll = uint64_t{1} << 32;
};

template <PathScheme Scheme>
class Rlb {
 public:
  static constexpr ShimNeed kNeeds = ShimNeed::sampled;  // together with the scheme's own

  template <class Parameters>
  Rlb(const SelectorInit& init, const Parameters& of_scheme)
      : scheme_(init, of_scheme),
        guard_(init.rlb->guard, init.rlb->granularity),
        policy_(RlbPolicy::of(*init.rlb, seed_of(init.seed, init.switch_id))) {
    for (const PortLine& line : init.lines) lines_.push_back(LineRate(line.rate));
  }

  void prepare(const PathView& view, std::span<Packet* const> burst) {
    if constexpr (PreparesBurst<Scheme>) scheme_.prepare(view, burst);
    if (guard_.wake(view) && guard_.watches(view)) [[unlikely]]
      for (const Packet* packet : burst) view.flows()->prefetch(packet->order_hash);
  }

  // Since prepare(): this wrapper has nothing to say of any packet, and the scheme decides.
  bool rests() const { return !guard_.awake(); }
  Scheme& inner() { return scheme_; }

  MemberIndex propose(const PathView& view, const Packet& packet, uint16_t set) {
    const MemberIndex base = scheme_.propose(view, packet, set);
    if (!guard_.awake()) [[likely]]
      return base;
    base_ = base;
    free_ = guard_.is_brief() ? guard_.entry_if_free(view, packet, set, base) : nullptr;
    if (free_ != nullptr) [[likely]]
      return base;
    trip_ = {};
    return decide(view, packet, set);
  }

  // Of a packet that is back from the loop.
  MemberIndex again(const PathView& view, const Packet& packet, uint16_t set, Trip& trip) {
    const bool asks = policy_.rebase_on_return || !contains(view.live(set), trip.member);
    const MemberIndex base = asks ? scheme_.propose(view, packet, set) : trip.member;
    if (!guard_.awake()) return base;
    trip_ = trip;
    base_ = base;
    free_ = nullptr;
    const MemberIndex member = decide(view, packet, set);
    trip = trip_;
    return member;
  }
  const Trip& trip() const { return trip_; }

  // The packet goes right behind one of its flow.
  void follow(const PathView& view, const Packet& packet, uint16_t set, MemberIndex member) {
    base_ = member;
    free_ = nullptr;
    decision_ = Decision::direct;
    if (guard_.awake() && guard_.watches(view)) trace_ = guard_.trace(view, packet, set, member);
    commit(view, packet, set, member);
  }

  // What a wrapper around this one may take instead.
  MemberIndex alternative(const PathView& view, const Packet& packet, uint16_t set,
                          MemberMask tried) {
    return scheme_.alternative(view, packet, set, tried);
  }

  void commit(const PathView& view, const Packet& packet, uint16_t set, MemberIndex member) {
    scheme_.commit(view, packet, set, member);
    if (!guard_.awake()) [[likely]]
      return;
    if (free_ != nullptr) [[likely]]
      return guard_.note_free(view, packet, set, free_, base_, member);
    note(view, packet, set, member);
  }

  void rebase(const Rebase& rebase) {
    if constexpr (KeepsTime<Scheme>) scheme_.rebase(rebase);
    guard_.rebase(rebase);
  }

  FlowTableUse flow_table(Instant now, size_t from, size_t count) requires KeepsFlows<Scheme> {
    return scheme_.flow_table(now, from, count);
  }

 private:
  [[gnu::noinline]] void note(const PathView& view, const Packet& packet, uint16_t set,
                              MemberIndex member) {
    if (decision_ != Decision::direct) view.report(decision_);
    if (policy_.credit && member != base_ && view.paths() != nullptr)
      view.paths()->use(set, member).move(packet.wire_len);
    if (guard_.watches(view)) guard_.note(view, packet, set, trace_, base_, member);
  }

  [[gnu::noinline]] MemberIndex decide(const PathView& view, const Packet& packet, uint16_t set) {
    decision_ = Decision::direct;
    return guard_.watches(view) ? guarded(view, packet, set) : unguarded(view, packet, set);
  }

  MemberIndex unguarded(const PathView& view, const Packet& packet, uint16_t set) {
    return is_warned(view, packet, set, base_) ? around(view, packet, set, base_) : base_;
  }

  MemberIndex guarded(const PathView& view, const Packet& packet, uint16_t set) {
    trace_ = guard_.trace(view, packet, set, base_);
    MemberIndex member = guard_.wanted(trace_, base_, view.now());
    const bool warned = is_warned(view, packet, set, member);
    if (member == trace_.member && !warned) [[likely]]
      return member;
    bool stays = guard_.holds(view, packet, set, trace_, base_);
    if (!stays && warned) member = around(view, packet, set, member);
    if (member == kWait) return member;
    stays = stays || !guard_.allows(view, set, trace_, base_, member);
    if (!stays) return member;
    decision_ = Decision::direct;
    if (!trace_.placeless()) view.report(GuardEvent::stayed);
    return trace_.member;
  }

  bool is_warned(const PathView& view, const Packet& packet, uint16_t set,
                 MemberIndex member) const {
    if (!guard_.warned()) [[likely]]
      return false;
    const WarningTable& warnings = *view.warnings();
    if (!contains(warnings.warned(set, packet.queue), member)) return false;
    return policy_.heeds_all() ||
           policy_.heeds(packet, warnings.severity(set, member, packet.queue));
  }

  // The member to take instead of one that is warned, or kWait.
  MemberIndex around(const PathView& view, const Packet& packet, uint16_t set, MemberIndex member) {
    const WarningTable& warnings = *view.warnings();
    const MemberMask live = view.live(set);
    const MemberMask warned = warnings.warned(set, packet.queue) & live;
    const bool escapes = (live & ~warned) != 0;
    if (stands_aside(view, packet, set, member, escapes)) return member;
    MemberIndex best = member;
    for (MemberMask tried = bit_of(member); tried != live;) {
      const MemberIndex other = scheme_.alternative(view, packet, set, tried);
      tried |= bit_of(other);
      if (!contains(warned, other)) return weigh(view, packet, set, member, other);
      if (!escapes && is_less_bad(view, packet, set, other, best)) best = other;
    }
    return without_escape(view, packet, set, member, best);
  }

  // The scheme decides alone; that is a decision only where there is a choice.
  bool stands_aside(const PathView& view, const Packet& packet, uint16_t set, MemberIndex member,
                    bool escapes) {
    const MemberMask live = view.live(set);
    if (policy_.suspend == config::Suspend::all) {
      if (escapes) return false;
      if (live == bit_of(member)) return true;
    }
    if (!view.warnings()->is_last_hop(set, packet.queue, member, live)) return false;
    decision_ = Decision::suspended;
    return true;
  }

  // Of two that are warned.
  bool is_less_bad(const PathView& view, const Packet& packet, uint16_t set, MemberIndex a,
                   MemberIndex b) const {
    if (policy_.all_warned == config::AllWarned::score)
      return score(view, packet, set, a) < score(view, packet, set, b);
    const WarningTable& warnings = *view.warnings();
    return warnings.severity(set, a, packet.queue) < warnings.severity(set, b, packet.queue);
  }

  // What the packet may take by the member, as far as is known.
  Duration score(const PathView& view, const Packet& packet, uint16_t set,
                 MemberIndex member) const {
    const Duration pause =
        policy_.expected_pause(view.warnings()->severity(set, member, packet.queue));
    const PathTable* paths = view.paths();
    if (paths == nullptr) return pause;
    return delay(view, set, member).value_or(paths->least_delay(set, member)) + pause;
  }

  // As measured, and for what has been moved there since.
  std::optional<Duration> delay(const PathView& view, uint16_t set, MemberIndex member) const {
    auto delay = view.paths()->delay(set, member, view.now());
    if (!delay || !policy_.credit) return delay;
    const uint32_t moved = view.paths()->use(set, member).moved.load(std::memory_order_relaxed);
    const PortId port = view.set(set).members[member].port;
    return *delay + lines_[port.index()].time_of(Bytes(moved));
  }

  // To `other`, or to wait for `member`.
  MemberIndex weigh(const PathView& view, const Packet& packet, uint16_t set, MemberIndex member,
                    MemberIndex other) {
    decision_ = Decision::rerouted;
    if (view.loop() == nullptr || view.paths() == nullptr) return other;
    const auto here = delay(view, set, member);
    const auto there = delay(view, set, other);
    if (!here || !there) return other;
    const Duration round = view.loop()->round(view.now());
    if (*there - *here <= round) return other;
    if (trip_.rounds == 0) trip_.allowance = *there - *here;
    trip_.other = other;
    PathUse& use = view.paths()->use(set, other);
    if (trip_.rounds == 0) use.weigh();
    if (policy_.pays_off(trip_, round) && waits(view, packet, set, member)) return kWait;
    use.force();
    decision_ = Decision::forced;
    switch (policy_.on_exceed) {
      case config::OnExceed::optimal:
        return member;
      case config::OnExceed::suboptimal:
        return other;
      case config::OnExceed::least_bad:
        break;
    }
    const bool stays = score(view, packet, set, member) < score(view, packet, set, other);
    return stays ? member : other;
  }

  MemberIndex without_escape(const PathView& view, const Packet& packet, uint16_t set,
                             MemberIndex member, MemberIndex best) {
    decision_ = Decision::all_warned;
    switch (policy_.all_warned) {
      case config::AllWarned::least_bad:
      case config::AllWarned::score:
        return best;
      case config::AllWarned::base:
        return member;
      case config::AllWarned::wait_once:
        break;
    }
    const bool once = trip_.rounds == 0 && view.loop() != nullptr;
    if (once && waits(view, packet, set, member)) return kWait;
    return policy_.on_exceed == config::OnExceed::optimal ? member : best;
  }

  bool waits(const PathView& view, const Packet& packet, uint16_t set, MemberIndex member) {
    if (trip_.rounds >= view.loop()->rounds_left(packet, view.now())) return false;
    if (trip_.rounds == 0) view.report(Decision::waits);
    trip_.set = set;
    trip_.member = member;
    ++trip_.rounds;
    return true;
  }

  Scheme scheme_;
  OrderGuard guard_;
  RlbPolicy policy_;
  std::vector<LineRate> lines_;  // by port
  // Of the last propose() with the guard awake:
  Decision decision_ = Decision::direct;
  MemberIndex base_ = 0;      // the scheme's choice
  FlowPath* free_ = nullptr;  // of a flow that may follow it, without more ado
  FlowTrace trace_;
  Trip trip_;  // the packet's, so far
};

}  // namespace eddy::lb
