// RLB as a wrapper around any scheme: a packet that the scheme would send into a path that is
// warned of PFC goes another way.
//
// Per packet, by Algorithm 1 with its gaps closed: the scheme's choice, unless it is warned; else
// the first of the scheme's alternatives that is not; if all are warned, the least severe, earlier
// ones first. Each member is asked about at most once. Where more than half of the paths to a leaf
// are warned by one switch, its own receiver is the bottleneck and no other path helps: then the
// scheme decides alone. Commit says what was used, so that a flowlet stays where it was moved.
// Where a flow's earlier packets are concerned the order guard has the last word (order_guard.h).
// Owner: the selector's shard. Bounds: no memory but the scheme's and the guard's. Cost: a load and
// a branch while nothing is warned. Source: reference B.8, B.11; RLB paper, section 3.4.
#pragma once

#include <array>
#include <string_view>

#include "lb/members.h"
#include "lb/parameters.h"
#include "lb/registry.h"
#include "lb/rlb/order_guard.h"
#include "lb/selector.h"
#include "lb/warning_table.h"

namespace eddy::lb {

struct Rlb {
  static constexpr std::string_view kName = "rlb";
  static constexpr std::string_view kSummary = "keeps packets off paths that PFC is about to stop";
  static constexpr ShimNeed kNeeds = ShimNeed::sampled;
  struct Parameters {};
  static constexpr auto parameters() { return std::array<Declared<Parameters>, 0>{}; }

  template <PathScheme Scheme>
  class Around {
   public:
    template <class Inner>
    Around(const SelectorInit& init, const Parameters&, const Inner& inner)
        : scheme_(init, inner), guard_(init.rlb->guard, init.rlb->granularity) {}

    void prepare(const PathView& view, std::span<Packet* const> burst) {
      if constexpr (PreparesBurst<Scheme>) scheme_.prepare(view, burst);
      if (guard_.wake(view) && guard_.watches(view)) [[unlikely]]
        for (const Packet* packet : burst) view.flows()->prefetch(packet->order_hash);
    }

    MemberIndex propose(const PathView& view, const Packet& packet, uint16_t set) {
      const MemberIndex base = scheme_.propose(view, packet, set);
      if (!guard_.awake()) [[likely]]
        return base;
      base_ = base;
      return guard_.watches(view) ? guarded(view, packet, set) : unguarded(view, packet, set);
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
      if (decision_ != Decision::direct) view.report(decision_);
      if (guard_.watches(view)) guard_.note(view, packet, set, trace_, base_, member);
    }

   private:
    MemberIndex unguarded(const PathView& view, const Packet& packet, uint16_t set) {
      decision_ = Decision::direct;
      return is_warned(view, packet, set, base_) ? around(view, packet, set, base_) : base_;
    }

    MemberIndex guarded(const PathView& view, const Packet& packet, uint16_t set) {
      decision_ = Decision::direct;
      trace_ = guard_.trace(view, packet, set, base_);
      MemberIndex member = guard_.wanted(trace_, base_, view.now());
      const bool warned = is_warned(view, packet, set, member);
      if (member == trace_.member && !warned) [[likely]]
        return member;
      bool stays = guard_.holds(view, packet, set, trace_, base_);
      if (!stays && warned) member = around(view, packet, set, member);
      stays = stays || !guard_.allows(view, set, trace_, base_, member);
      if (!stays) return member;
      decision_ = Decision::direct;
      if (!trace_.placeless) view.report(GuardEvent::stayed);
      return trace_.member;
    }

    static bool is_warned(const PathView& view, const Packet& packet, uint16_t set,
                          MemberIndex member) {
      return view.warnings() != nullptr &&
             contains(view.warnings()->warned(set, packet.queue), member);
    }

    // The member to take instead of one that is warned.
    MemberIndex around(const PathView& view, const Packet& packet, uint16_t set,
                       MemberIndex member) {
      const WarningTable& warnings = *view.warnings();
      const MemberMask live = view.live(set);
      const MemberMask warned = warnings.warned(set, packet.queue) & live;
      if (warnings.is_last_hop(set, packet.queue, member, live)) {
        decision_ = Decision::suspended;
        return member;
      }
      MemberIndex best = member;
      for (MemberMask tried = bit_of(member); tried != live;) {
        const MemberIndex other = scheme_.alternative(view, packet, set, tried);
        tried |= bit_of(other);
        if (!contains(warned, other)) {
          decision_ = Decision::rerouted;
          return other;
        }
        if (warnings.severity(set, other, packet.queue) <
            warnings.severity(set, best, packet.queue))
          best = other;
      }
      decision_ = Decision::all_warned;
      return best;
    }

    Scheme scheme_;
    OrderGuard guard_;
    // Of the last propose() with the guard awake:
    Decision decision_ = Decision::direct;
    MemberIndex base_ = 0;  // the scheme's choice
    FlowTrace trace_;
  };
};

}  // namespace eddy::lb
