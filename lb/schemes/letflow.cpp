// LetFlow: a flow that pauses long enough to end a flowlet draws a new path at random.
//
// Source: reference A.5.
#include <array>

#include "lb/draws.h"
#include "lb/either.h"
#include "lb/flowlets.h"
#include "lb/schemes/scheme.h"
#include "lb/slot_verdicts.h"
#include "lb/turns.h"

namespace eddy::lb {
namespace {

using namespace literals;

class LetFlow {
 public:
  static constexpr std::string_view kSummary =
      "a random path for each flowlet; slow paths shed load because they make gaps";
  static constexpr bool kPromisesOrder = true;
  static constexpr bool kBlindToQueues = true;
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

  FlowLines flow_lines() const { return flowlets_.lines(); }
  void prepare(const PathView& view, std::span<Packet* const>) { flowlets_.set_time(view.now()); }

  Proposal<Token> propose(const PathView& view, const Packet& packet, uint16_t set) const {
    const MemberMask live = view.live(set);
    const size_t index = flowlets_.index_of(packet);
    const FlowSlot flowlet = flowlets_[index];
    const bool young = flowlets_.is_young(flowlet, index);
    if (young & !contains(live, flowlet.member())) [[unlikely]]
      return {astray(flowlet, live, packet, set)};
    // Whether a flowlet has ended is what no predictor can know.
    return {either(young, flowlet.member(), turns_.draw(set, live, draws_.peek()))};
  }

  Reason reason(const PathView& view, const Packet& packet, uint16_t set, MemberIndex) const {
    const size_t index = flowlets_.index_of(packet);
    if (!flowlets_.is_young(flowlets_[index], index)) return Reason::begins;
    return contains(view.live(set), flowlets_[index].member()) ? Reason::keeps : Reason::leaves;
  }

  // propose() and commit() of each.
  void select_burst(const PathView& view, std::span<Packet* const> burst,
                    std::span<const uint16_t> set_of, const ByEcmp& control) {
    flowlets_.with_cursor(
        [&](const auto& flowlets) { select_from(flowlets, view, burst, set_of, control); });
  }

  // The same with RLB around it: a flowlet that is over leaves its member only if nothing that its
  // slot was given is on the way. kWarned: paths are warned, or packets are in the loop.
  template <bool kWarned, class Guide>
  void select_guarded(const PathView& view, std::span<Packet* const> burst,
                      std::span<const uint16_t> set_of, const ByEcmp& control, const Guide& guide) {
    if (flowlets_.odd() || !guide.proofs.exact) [[unlikely]]
      return select_alone_each(view, burst, set_of, guide);
    const Guarded<Guide> all{view, burst, set_of, control, guide, guide.proofs.measured.queues};
    const uint32_t over = flows_pause_ ? select_by_proof<kWarned>(all) : select_young<kWarned>(all);
    flows_pause_ = over * kFewOver > burst.size();
  }

  // Mixed with the flow: several flows may be moved before the next draw is taken.
  MemberIndex alternative(const PathView& view, const Packet& packet, uint16_t set,
                          MemberMask tried) const {
    return turns_.draw(set, view.live(set) & ~tried, random_for(packet, draws_.peek()));
  }
  // The first of its alternatives to `member` that is not in `bad`, as `member` is; there is one.
  // Which of the first two it is no predictor can know.
  MemberIndex alternative_outside(const PathView& view, const Packet& packet, uint16_t set,
                                  MemberMask bad, MemberIndex member) const {
    return outside(TurnList::Cursor(turns_), set, view.live(set), bad, member,
                   random_for(packet, draws_.peek()));
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
  // A packet of a burst, and its slot.
  struct Seen {
    Packet& packet;
    size_t index;
    FlowSlot slot;
    uint16_t set;
    bool young;
  };
  template <class Flowlets>
  [[gnu::always_inline]] static Seen seen(const Flowlets& flowlets, Packet& packet, uint16_t set) {
    const size_t index = flowlets.index_of(packet);
    const FlowSlot slot = flowlets[index];
    return {packet, index, slot, set, flowlets.is_young(slot, index)};
  }

  template <class Flowlets>
  void select_from(const Flowlets& flowlets, const PathView& view, std::span<Packet* const> burst,
                   std::span<const uint16_t> set_of, const ByEcmp& control) {
    const TurnList::Cursor turns(turns_);
    const PathSet* const sets = view.sets().data();
    const MemberMask* const live_of = view.live();
    const uint16_t apart = control.flags();
    Draws::Ahead draws = draws_.ahead();
    for (size_t i = 0; i < burst.size(); ++i) {
      Packet& packet = *burst[i];
      const uint16_t set = set_of[i];
      const size_t index = flowlets.index_of(packet);
      const FlowSlot flowlet = flowlets[index];
      const uint64_t young = flowlets.young(flowlet, index);
      const uint64_t drawn = turns.at(set, draws.peek());
      auto member = static_cast<MemberIndex>(drawn ^ ((drawn ^ flowlet.member()) & young));
      if (!contains(live_of[set], member) || (packet.flags & apart) != 0) [[unlikely]] {
        draws_.take(draws);
        member = select_alone(*this, view, packet, set, control);
        draws = draws_.ahead();
      } else {
        draws.take_unless(young);
        flowlets.put(index, member, set);
      }
      assign(packet, sets[set], member);
    }
    draws_.take(draws);
  }

  static uint32_t random_for(const Packet& packet, uint32_t draw) {
    return static_cast<uint32_t>(mix64(packet.order_hash ^ draw));
  }

  // As alternative_outside(); kWait: all that live are in `bad`.
  [[gnu::always_inline]] static MemberIndex outside(const TurnList::Cursor& turns, uint16_t set,
                                                    MemberMask live, MemberMask bad,
                                                    MemberIndex member, uint32_t random) {
    if (bad == live) [[unlikely]]
      return kWait;
    const MemberIndex drawn = turns.at(set, random);
    MemberMask left = live & ~bit_of(member) & ~bit_of(drawn);
    MemberIndex other =
        either(contains(live & ~bad, drawn), drawn, TurnList::draw_again(left, random));
    while (contains(bad, other)) [[unlikely]] {
        left &= ~bit_of(other);
        other = TurnList::draw_again(left, random);
      }
    return other;
  }

  // Of a guarded burst, while more is to be asked of each packet than the loop asks.
  template <class Guide>
  [[gnu::noinline]] void select_alone_each(const PathView& view, std::span<Packet* const> burst,
                                           std::span<const uint16_t> set_of, const Guide& guide,
                                           size_t first = 0) {
    for (size_t i = first; i < burst.size(); ++i) {
      const MemberIndex member = guide.alone(*burst[i], set_of[i], i);
      if (member != kWait) assign(*burst[i], view.set(set_of[i]), member);
    }
  }

  // Handed on by value, so that a loop keeps it in registers.
  template <class Guide>
  struct Guarded {
    const PathView& view;
    std::span<Packet* const> burst;
    std::span<const uint16_t> set_of;
    const ByEcmp control;
    const Guide& guide;
    uint8_t queues;  // that are measured, as a mask

    // In a queue that is measured, to a member that lives, of no flow in the loop.
    template <bool kWarned>
    bool is_usual(const Packet& packet, MemberMask live, MemberIndex member, bool warned) const {
      bool usual =
          (queues >> packet.queue.index() & 1) & contains(live, member) & !control.has(packet);
      if constexpr (kWarned) usual = usual & is_strange(packet) & (!warned | guide.proofs.all_heed);
      return usual;
    }
    // Whatever its member: of all packets the same is to be asked.
    bool are_usual(const SlotVerdicts& verdicts) const {
      return verdicts.are_alike(control.flags()) && guide.proofs.all_heed &&
             (queues >> verdicts.queue().index() & 1) != 0;
    }
    template <bool kWarned>
    WarningTable::OfQueue warnings(QueueId queue) const {
      return kWarned ? view.warnings()->of(queue) : WarningTable::OfQueue{};
    }
    SlotVerdicts::Measure measure() const {
      const SlotProofs& proofs = guide.proofs;
      return {proofs.arrivals, proofs.now, proofs.step, proofs.age};
    }
    bool is_strange(const Packet& packet) const {
      return WaitingRoom::is_strange(packet, guests());
    }
    uint64_t guests() const { return view.loop() == nullptr ? 0 : view.loop()->guests(); }
    template <bool kWarned>
    bool is_warned(const Packet& packet, uint16_t set, MemberIndex member) const {
      if constexpr (kWarned) return contains(view.warnings()->warned(set, packet.queue), member);
      return false;
    }
  };
  // A packet of a guarded burst.
  struct Met {
    size_t place;
    FlowSlot slot;
    uint16_t set;
    MemberIndex base;  // as propose(), if that lives
    bool young;
    bool usual;
    bool warned;  // the base
  };

  // Where most flowlets go on, which need no proof and no draw. Returns how many packets did not.
  // The first packet that waits where none did before ends the short way of its burst: what comes
  // behind may be of its flow.
  template <bool kWarned, class Guide>
  [[gnu::noinline]] uint32_t select_young(const Guarded<Guide> all) {
    const FlowletTable::Cursor<false> flowlets(flowlets_);
    const PathSet* const sets = all.view.sets().data();
    const MemberMask* const live_of = all.view.live();
    uint32_t over = 0;
    size_t rest = all.burst.size();
    for (size_t i = 0; i < all.burst.size(); ++i) {
      const auto [packet, index, slot, set, young] = seen(flowlets, *all.burst[i], all.set_of[i]);
      MemberIndex member = slot.member();
      bool warned = all.template is_warned<kWarned>(packet, set, member);
      const bool usual = all.template is_usual<kWarned>(packet, live_of[set], member, warned);
      if (!(usual & young & slot.is_plain(set) & !warned)) [[unlikely]] {
        ++over;
        if (!young) member = turns_.at(set, draws_.peek());
        warned = all.template is_warned<kWarned>(packet, set, member);
        const bool goes = all.template is_usual<kWarned>(packet, live_of[set], member, warned);
        member = select_with_care(all.view, packet, {i, slot, set, member, young, goes, warned},
                                  all.guide);
        if (member == kWait) {
          if constexpr (kWarned) continue;
          rest = i + 1;
          break;
        }
      } else {
        flowlets.put(index, member, set);
      }
      assign(packet, sets[set], member);
    }
    if (rest != all.burst.size()) [[unlikely]]
      select_alone_each(all.view, all.burst, all.set_of, all.guide, rest);
    return over;
  }

  // What became of a burst's packets.
  struct Tally {
    uint64_t parted = 0;  // a sum of verdicts: kPlain and kKeeps have an octet each
    uint32_t rerouted = 0;
    // `parts`: the packet goes elsewhere than its flow went, or would if the slot let it.
    void count(uint64_t verdict, bool parts) {
      constexpr uint64_t kCounted = SlotVerdicts::kPlain | SlotVerdicts::kKeeps;
      parted += verdict & kCounted & -static_cast<uint64_t>(parts);
    }
    void tell(const PathView& view) const {
      view.report(GuardEvent::moved, parted >> SlotVerdicts::kPlainBit & UINT8_MAX);
      view.report(GuardEvent::stayed, parted >> SlotVerdicts::kKeepsBit & UINT8_MAX);
      view.report(Decision::rerouted, rerouted);
    }
  };

  // Where many flowlets are over: whether one is, and whether its slot is free or keeps its member,
  // is computed and not branched on. Returns how many were.
  template <bool kWarned, class Guide>
  [[gnu::noinline]] uint32_t select_by_proof(const Guarded<Guide> all) {
    const FlowletTable::Cursor<false> flowlets(flowlets_);
    const TurnList::Cursor turns(turns_);
    SlotVerdicts verdicts(all.measure());
    verdicts.look_at(flowlets, all.burst, all.set_of);
    if (!all.are_usual(verdicts)) [[unlikely]]
      return select_young<kWarned>(all);
    const auto warnings = all.template warnings<kWarned>(verdicts.queue());
    const PathSet* const sets = all.view.sets().data();
    const MemberMask* const live_of = all.view.live();
    const QuickWays quick = all.guide.quick;
    Draws::Ahead draws = draws_.ahead();
    uint64_t guests = all.guests();
    Tally tally;
    size_t rest = all.burst.size();
    for (size_t i = 0; i < all.burst.size(); ++i) {
      Packet& packet = *all.burst[i];
      const uint16_t set = all.set_of[i];
      const SlotVerdicts::Verdict verdict = verdicts.of(i, flowlets, set);
      const bool young = verdict.has(SlotVerdicts::kYoung);
      const bool keeps = verdict.has(SlotVerdicts::kKeeps);
      const MemberIndex old = verdict.slot.member();
      const MemberIndex base = either(young, old, turns.at(set, draws.peek()));
      MemberIndex member = either(keeps, old, base);
      const bool strange = !kWarned || WaitingRoom::is_strange(packet, guests);
      const MemberMask live = live_of[set];
      const bool usual = contains(live, base) & strange;
      const bool warned = kWarned && contains(warnings.warned(set), base);
      bool parts = (base != old) | (keeps & warned);
      // In words, as compilers make two branches of two conditions.
      const uint64_t turns_off = uint64_t{warned} & ~(verdict.bits >> SlotVerdicts::kKeepsBit);
      const uint64_t stops = uint64_t{warned} * SlotVerdicts::kGoesOn;
      if ((usual & contains(live, member)) && (verdict.bits & ~stops & kGoing) != 0) [[likely]] {
        if (kWarned && turns_off != 0) {
          const MemberIndex other = outside(turns, set, live, warnings.warned(set) & live, member,
                                            random_for(packet, draws.peek()));
          if (other != kWait && quick.lets(verdict.slot, set, member, other)) [[likely]] {
            member = other;
            ++tally.rerouted;
          } else {
            draws_.take(draws);
            member = all.guide.around(packet, verdict.slot, set, i, member, other);
            draws = draws_.ahead();
            if (guests = all.guests(); member == kWait) continue;
          }
          parts = member != old;
        }
        tally.count(verdict.bits, parts);
        draws.take(!young);
        flowlets.put(verdict.index, verdicts.after(i, member));
      } else {
        draws_.take(draws);
        member = select_with_care(all.view, packet,
                                  {i, verdict.slot, set, base, young, usual, warned}, all.guide);
        draws = draws_.ahead();
        if (guests = all.guests(); member == kWait) {
          if constexpr (kWarned) continue;
          rest = i + 1;
          break;
        }
      }
      assign(packet, sets[set], member);
    }
    draws_.take(draws);
    tally.tell(all.view);
    if (rest != all.burst.size()) [[unlikely]]
      select_alone_each(all.view, all.burst, all.set_of, all.guide, rest);
    return static_cast<uint32_t>(all.burst.size()) - verdicts.young();
  }

  // One of which more is to be asked. kWait: there is no member.
  template <class Guide>
  [[gnu::noinline]] MemberIndex select_with_care(const PathView& view, Packet& packet,
                                                 const Met& met, const Guide& guide) {
    const FlowSlot slot = met.slot;
    const uint16_t set = met.set;
    const bool free = guide.proofs.frees(slot);
    MemberIndex member = either(free, met.base, slot.member());
    // Of a slot that is not the set's alone nothing drains.
    const bool wants_off = !free && !met.young && met.base != member && slot.drawn_by(set);
    if (!met.usual || !contains(view.live(set), member) ||
        (wants_off && guide.drains(set, member, met.base)))
      return guide.alone(packet, set, met.place);
    if (free && met.warned) member = guide.around(packet, slot, set, met.place, met.base, kWait);
    if (member == kWait) return kWait;
    if (!free && (met.warned || met.base != member)) view.report(GuardEvent::stayed);
    if (slot.drawn_by(set) && member != slot.member()) view.report(GuardEvent::moved);
    draws_.take(!met.young);
    flowlets_.slots()->of(packet) = slot.after(guide.proofs.now, set, member, free);
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

  static constexpr uint32_t kFewOver = 4;  // of so many, one
  // Verdicts on slots whose packet the loop sends on.
  static constexpr uint64_t kGoing =
      SlotVerdicts::kFree | SlotVerdicts::kKeeps | SlotVerdicts::kGoesOn;

  TurnList turns_;
  Draws draws_;
  FlowletTable flowlets_;
  bool flows_pause_ = false;  // guarded: in the last burst many flowlets were over
};

}  // namespace

EDDY_SCHEME(letflow, LetFlow)

}  // namespace eddy::lb
