// LetFlow: a flow that pauses long enough to end a flowlet draws a new path at random.
//
// Source: reference A.5.
#include <array>

#include "lb/draws.h"
#include "lb/flowlets.h"
#include "lb/schemes/scheme.h"
#include "lb/turns.h"

namespace eddy::lb {
namespace {

using namespace literals;

class LetFlow {
 public:
  static constexpr std::string_view kSummary =
      "a random path for each flowlet; slow paths shed load because they make gaps";
  static constexpr bool kPromisesOrder = true;
  static constexpr bool kGuardsFlowlets = true;
  using Token = NoToken;

  struct Parameters {
    Duration gap = 50_us;
    int64_t entries = 65'536;
    FlowletMode mode = FlowletMode::agebit;
    SweepPhase phase = SweepPhase::zero;
    bool weighted = false;
  };
  static constexpr auto parameters() {
    return std::array{
        ranged<&Parameters::gap>("gap", 1_us, 10_s,
                                 {"idle time that ends a flowlet; agebit: between this and twice "
                                  "this",
                                  "reference A.5"}),
        ranged<&Parameters::entries>("entries", 64, 16'777'216,
                                     {"flowlet table entries of 8 octets", "reference A.5"}),
        choice<&Parameters::mode>("mode", kFlowletModeNames,
                                  {"one-bit ageing as in hardware, or exact", "reference A.5"}),
        choice<&Parameters::phase>(
            "phase", kSweepPhaseNames,
            {"agebit: all entries age together, or as under a sweeping checker", "reference A.5"}),
        flag<&Parameters::weighted>("weighted",
                                    {"draw in proportion to static weights", "reference A.5"})};
  }

  LetFlow(const SelectorInit& init, const Parameters& parameters)
      : turns_(init.sets, parameters.weighted ? BucketShare::weighted : BucketShare::equal),
        draws_(stream_of(init)),
        flowlets_({parameters.gap, parameters.mode, parameters.phase, parameters.entries},
                  init.slots) {}

  void prepare(const PathView& view, std::span<Packet* const> burst) {
    for (const Packet* packet : burst) flowlets_.prefetch(*packet);
    flowlets_.set_time(view.now());
  }

  Proposal<Token> propose(const PathView& view, const Packet& packet, uint16_t set) const {
    const MemberMask live = view.live(set);
    const size_t index = flowlets_.index_of(packet);
    const FlowSlot flowlet = flowlets_[index];
    const bool young = flowlets_.is_young(flowlet, index);
    if (young & !contains(live, flowlet.member())) [[unlikely]]
      return {astray(flowlet, live, packet, set)};
    const MemberIndex drawn = turns_.draw(set, live, draws_.peek());
    // Arithmetic, not a branch: whether a flowlet has ended is what no predictor can know.
    const auto keep = static_cast<MemberIndex>(-static_cast<int>(young));
    return {static_cast<MemberIndex>((flowlet.member() & keep) | (drawn & ~keep))};
  }

  // propose() and commit() of each.
  void select_burst(const PathView& view, std::span<Packet* const> burst,
                    std::span<const uint16_t> set_of, const ByEcmp& control) {
    flowlets_.with_cursor(
        [&](const auto& flowlets) { select_from(flowlets, view, burst, set_of, control); });
  }

  // The same with RLB around it: a flowlet that is over leaves its member only if all that it was
  // given is proven to have arrived. kWarned: paths are warned, or packets are in the loop.
  template <bool kWarned, class Guide>
  void select_guarded(const PathView& view, std::span<Packet* const> burst,
                      std::span<const uint16_t> set_of, const ByEcmp& control, const Guide& guide) {
    guide.proofs.begin(flowlets_.proof_bound(view.now()));
    const FlowletTable::Cursor<false> flowlets(flowlets_);
    const TurnList::Cursor turns(turns_);
    const PathSet* const sets = view.sets().data();
    const MemberMask* const live_of = view.live();
    const MemberMask* const drained = guide.proofs.drained.data();
    const unsigned queues = flowlets_.odd() ? 0u : guide.proofs.queues;
    const WarningTable& warnings = *view.warnings();
    const WaitingRoom* const loop = view.loop();
    const Burst<Guide> with{view, control, guide};
    uint32_t moved = 0;
    for (size_t i = 0; i < burst.size(); ++i) {
      Packet& packet = *burst[i];
      const uint16_t set = set_of[i];
      const size_t index = flowlets.index_of(packet);
      const FlowSlot flowlet = flowlets[index];
      const MemberIndex old = flowlet.member();
      const bool young = flowlets.is_young(flowlet, index);
      const auto keep = static_cast<MemberIndex>(-static_cast<int>(young));
      const MemberIndex drawn = turns.at(set, draws_.peek());
      auto member = static_cast<MemberIndex>((old & keep) | (drawn & ~keep));
      bool usual = (queues >> packet.queue.index() & 1) & contains(live_of[set], member) &
                   !control.has(packet);
      bool warned = false;
      if constexpr (kWarned) {
        warned = contains(warnings.warned(set, packet.queue), member);
        usual = usual & (loop == nullptr || loop->is_strange(packet));
      }
      if (!(usual & !warned & flowlet.is_plain(set) & (young | contains(drained[set], old))))
          [[unlikely]] {
        const Met met{i, index, flowlet, set, member, young, usual, warned};
        if constexpr (kWarned)
          member = settle(with, packet, met);
        else
          member = select_with_care(with, packet, met);
        if (kWarned && member == kWait) continue;
      } else {
        moved += member != old ? 1 : 0;
        draws_.take(!young);
        flowlets.put(index, member, set);
      }
      assign(packet, sets[set], member);
    }
    view.report(GuardEvent::moved, moved);
  }

  // Mixed with the flow: several flows may be moved before the next draw is taken.
  MemberIndex alternative(const PathView& view, const Packet& packet, uint16_t set,
                          MemberMask tried) const {
    const auto random = static_cast<uint32_t>(mix64(packet.order_hash ^ draws_.peek()));
    return turns_.draw(set, view.live(set) & ~tried, random);
  }

  // A draw is taken for every new flowlet, whatever member it got: that the next draw does not wait
  // for this packet's member is worth 7 cycles a packet.
  void commit(const PathView& view, const Packet& packet, uint16_t set, MemberIndex member,
              const Token&) {
    const MemberMask live = view.live(set);
    const size_t index = flowlets_.index_of(packet);
    const FlowSlot flowlet = flowlets_[index];
    const bool young = flowlets_.is_young(flowlet, index);
    if (young & !contains(live, flowlet.member())) [[unlikely]]
      return commit_astray(live, packet, set, member);
    draws_.take(!young);
    flowlets_.put(index, member, set);
  }

  void rebase(const Rebase& rebase) { flowlets_.rebase(rebase); }

  const std::shared_ptr<FlowSlots>& flow_slots() const { return flowlets_.slots(); }

  FlowTableUse flow_table(Instant now, size_t from, size_t count) {
    flowlets_.set_time(now);
    return {flowlets_.capacity(), flowlets_.used(from, count)};
  }

 private:
  template <class Flowlets>
  void select_from(const Flowlets& flowlets, const PathView& view, std::span<Packet* const> burst,
                   std::span<const uint16_t> set_of, const ByEcmp& control) {
    const TurnList::Cursor turns(turns_);
    const PathSet* const sets = view.sets().data();
    const MemberMask* const live_of = view.live();
    for (size_t i = 0; i < burst.size(); ++i) {
      Packet& packet = *burst[i];
      const uint16_t set = set_of[i];
      const MemberMask live = live_of[set];
      const size_t index = flowlets.index_of(packet);
      const FlowSlot flowlet = flowlets[index];
      const bool young = flowlets.is_young(flowlet, index);
      const auto keep = static_cast<MemberIndex>(-static_cast<int>(young));
      const MemberIndex drawn = turns.at(set, draws_.peek());
      auto member = static_cast<MemberIndex>((flowlet.member() & keep) | (drawn & ~keep));
      if (!contains(live, member) || control.has(packet)) [[unlikely]] {
        member = select_alone(*this, view, packet, set, control);
      } else {
        draws_.take(!young);
        flowlets.put(index, member, set);
      }
      assign(packet, sets[set], member);
    }
  }

  // A guarded burst.
  template <class Guide>
  struct Burst {
    const PathView& view;
    const ByEcmp& control;
    const Guide& guide;
  };
  // A packet of it.
  struct Met {
    size_t place;
    size_t index;  // of its slot
    FlowSlot flowlet;
    uint16_t set;
    MemberIndex base;  // as propose(), if that lives
    bool young;
    bool usual;   // in a queue that is measured, to a member that lives, of no flow in the loop
    bool warned;  // the base
  };
  // One of which more is to be asked. kWait: there is no member. In the loop where many are.
  template <class Guide>
  [[gnu::noinline]] MemberIndex select_with_care(const Burst<Guide>& with, Packet& packet,
                                                 const Met& met) {
    return settle(with, packet, met);
  }
  template <class Guide>
  [[gnu::always_inline]] inline MemberIndex settle(const Burst<Guide>& with, Packet& packet,
                                                   const Met& met) {
    const PathView& view = with.view;
    SlotProofs& proofs = with.guide.proofs;
    const FlowSlot flowlet = met.flowlet;
    const uint16_t set = met.set;
    const size_t place = met.place;
    const size_t index = met.index;
    const MemberIndex base = met.base;
    const MemberIndex old = flowlet.member();
    const MemberMask live = view.live(set);
    const bool young = met.young;
    const bool plain = flowlet.is_plain(set);
    const bool of_one_set = flowlet.drawn_by(set) & !flowlet.has_many_sets();
    const bool heeds = !met.warned | proofs.all_heed;
    if (!(met.usual & heeds & (plain | !of_one_set))) return with.guide.alone(packet, set, place);
    const bool known = plain & flowlet.used();
    const bool goes =
        known ? (!young & contains(proofs.drained[set], old)) || proofs.is_free(view, flowlet, set)
              : proofs.frees_stranger(view, flowlet);
    if (!goes && !contains(live, old)) return with.guide.alone(packet, set, place);
    MemberIndex member = goes ? base : old;
    if (goes && met.warned) member = with.guide.around(packet, set, place, base);
    if (member == kWait) return kWait;
    if (!goes && (met.warned || base != old)) view.report(GuardEvent::stayed);
    if (known && member != old) view.report(GuardEvent::moved);
    draws_.take(!young);
    if (plain || goes)
      flowlets_.put(index, member, set);
    else
      flowlets_.share(index);
    return member;
  }

  // A young flowlet whose member does not live in this set: it died, and the flowlet ends; or the
  // entry is another set's, and the flow goes by its hash.
  [[gnu::noinline]] MemberIndex astray(FlowSlot flowlet, MemberMask live, const Packet& packet,
                                       uint16_t set) const {
    return flowlet.drawn_by(set) ? turns_.draw(set, live, draws_.peek()) : by_hash(packet, live);
  }
  [[gnu::noinline]] void commit_astray(MemberMask live, const Packet& packet, uint16_t set,
                                       MemberIndex member) {
    const size_t index = flowlets_.index_of(packet);
    if (!flowlets_[index].drawn_by(set) && member == by_hash(packet, live))
      return flowlets_.keep(index);
    draws_.take(true);
    flowlets_.put(index, member, set);
  }

  TurnList turns_;
  Draws draws_;
  FlowletTable flowlets_;
};

}  // namespace

EDDY_SCHEME(letflow, LetFlow)

}  // namespace eddy::lb
