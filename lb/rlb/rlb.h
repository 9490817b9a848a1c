// RLB as a wrapper around any scheme: a packet that the scheme would send into a path that is
// warned of PFC goes another way.
//
// Per packet, by Algorithm 1 with its gaps closed: the scheme's choice, unless it is warned; else
// the first of the scheme's alternatives that is not; if all are warned, the least severe, earlier
// ones first. Each member is asked about at most once. Where more than half of the paths to a leaf
// are warned by one switch, its own receiver is the bottleneck and no other path helps: then the
// scheme decides alone. Commit says what was used, so that a flowlet stays where it was moved.
// Owner: the selector's shard. Bounds: no memory but the scheme's. Cost: a load and a branch while
// nothing is warned. Source: reference B.8, B.11; RLB paper, section 3.4.
#pragma once

#include <array>
#include <string_view>

#include "lb/members.h"
#include "lb/parameters.h"
#include "lb/registry.h"
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
        : scheme_(init, inner) {}

    void prepare(const PathView& view, std::span<Packet* const> burst) {
      if constexpr (PreparesBurst<Scheme>) scheme_.prepare(view, burst);
    }

    MemberIndex propose(const PathView& view, const Packet& packet, uint16_t set) {
      const MemberIndex base = scheme_.propose(view, packet, set);
      decision_ = Decision::direct;
      const WarningTable* warnings = view.warnings();
      if (warnings == nullptr || warnings->quiet()) [[likely]]
        return base;
      const MemberMask warned = warnings->warned(set, packet.queue) & view.live(set);
      return contains(warned, base) ? around(view, packet, set, base) : base;
    }

    // What a wrapper around this one may take instead.
    MemberIndex alternative(const PathView& view, const Packet& packet, uint16_t set,
                            MemberMask tried) {
      return scheme_.alternative(view, packet, set, tried);
    }

    void commit(const PathView& view, const Packet& packet, uint16_t set, MemberIndex member) {
      scheme_.commit(view, packet, set, member);
      if (decision_ != Decision::direct) [[unlikely]]
        view.report(decision_);
    }

   private:
    // The member to take instead of `base`, which is warned.
    MemberIndex around(const PathView& view, const Packet& packet, uint16_t set, MemberIndex base) {
      const WarningTable& warnings = *view.warnings();
      const MemberMask live = view.live(set);
      const MemberMask warned = warnings.warned(set, packet.queue) & live;
      if (warnings.is_last_hop(set, packet.queue, base, live)) {
        decision_ = Decision::suspended;
        return base;
      }
      MemberIndex best = base;
      for (MemberMask tried = bit_of(base); tried != live;) {
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
    Decision decision_ = Decision::direct;  // of the last propose()
  };
};

}  // namespace eddy::lb
