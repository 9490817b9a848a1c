// LetFlow: a flow that pauses long enough to end a flowlet draws a new path at random.
//
// Source: reference A.5.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "lb/draws.h"
#include "lb/either.h"
#include "lb/flowlets.h"
#include "lb/four_words.h"
#include "lb/schemes/letflow_fours.h"
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
        alike_(turns_.alike()),
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
    unproven_ = 0;
    if (burst.size() >= kFour && !goes_singly_ && all.are_usual()) [[likely]]
      select_by_fours<kWarned>(all);
    else
      select_singly<kWarned>(all, 0, burst.size());
    // Where many are not proven few fours stay whole.
    goes_singly_ = unproven_ * (goes_singly_ ? kFewUnproven : kManyUnproven) > burst.size();
  }

  MemberIndex alternative(const PathView& view, const Packet& packet, uint16_t set,
                          MemberMask tried) const {
    return turns_.draw(set, view.live(set) & ~tried, random_for(packet, draws_.peek()));
  }
  // The first of its alternatives to `member` that is not in `bad`, as `member` is; there is one.
  MemberIndex alternative_outside(const PathView& view, const Packet& packet, uint16_t set,
                                  MemberMask bad, MemberIndex member) const {
    return first_outside(TurnList::Cursor(turns_), set, view.live(set), bad, member,
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
    // Whatever their members: of all packets the same is to be asked.
    bool are_usual() const {
      uint64_t any = 0;
      uint64_t each = ~uint64_t{0};
      for (const Packet* packet : burst) {
        any |= head_of(*packet);
        each &= head_of(*packet);
      }
      const bool are_alike = ((any & control.flags()) | (any ^ each) >> kQueueShift) == 0;
      return are_alike && guide.proofs.all_heed && (queues >> (any >> kQueueShift) & 1) != 0;
    }
    bool is_strange(const Packet& packet) const {
      return WaitingRoom::is_strange(packet, guests());
    }
    WaitingRoom::Guests guests() const {
      return view.loop() == nullptr ? WaitingRoom::Guests{} : view.loop()->guests();
    }
    template <bool kWarned>
    bool is_warned(const Packet& packet, uint16_t set, MemberIndex member) const {
      if constexpr (kWarned) return contains(view.warnings()->warned(set, packet.queue), member);
      return false;
    }

   private:
    // The eight octets of a packet from its flags to its queue.
    static constexpr int kQueueShift = 56;
    static uint64_t head_of(const Packet& packet) {
      static_assert(offsetof(Packet, queue) == offsetof(Packet, flags) + kQueueShift / 8);
      uint64_t head;
      std::memcpy(&head, &packet.flags, sizeof head);
      return head;
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

  // Returns where the next one is.
  // The first packet that waits where none did before ends the short way of its burst: what comes
  // behind may be of its flow.
  template <bool kWarned, class Guide>
  [[gnu::noinline]] size_t select_singly(const Guarded<Guide>& all, size_t first, size_t end) {
    const MemberMask* const live_of = all.view.live();
    for (size_t i = first; i < end; ++i) {
      Packet& packet = *all.burst[i];
      const uint16_t set = all.set_of[i];
      const size_t index = flowlets_.index_of(packet);
      const FlowSlot slot = flowlets_[index];
      const bool young = flowlets_.is_young(slot, index);
      const MemberIndex base = young ? slot.member() : turns_.at(set, draws_.peek());
      const bool warned = all.template is_warned<kWarned>(packet, set, base);
      const bool usual = all.template is_usual<kWarned>(packet, live_of[set], base, warned);
      MemberIndex member = base;
      if (usual & young & slot.is_plain(set) & !warned)
        flowlets_.put(index, member, set);
      else
        member = select_with_care(all.view, packet, {i, slot, set, base, young, usual, warned},
                                  all.guide);
      if (member != kWait) {
        assign(packet, all.view.set(set), member);
      } else if (!kWarned) {
        select_alone_each(all.view, all.burst, all.set_of, all.guide, i + 1);
        return all.burst.size();
      }
    }
    return end;
  }

  // One whose flow may leave its path, and that is warned: all that select_singly() comes to.
  // `other`: its first alternative that is not; kWait: there is none.
  template <class Guide>
  [[gnu::noinline]] void lead_around(const Guarded<Guide>& all, size_t i, MemberIndex warned,
                                     MemberIndex other) {
    Packet& packet = *all.burst[i];
    const uint16_t set = all.set_of[i];
    const size_t index = flowlets_.index_of(packet);
    const FlowSlot slot = flowlets_[index];
    const MemberIndex member = all.guide.around(packet, slot, set, i, warned, other);
    if (member == kWait) return;
    draws_.take(!flowlets_.is_young(slot, index));
    settle(all.view, packet, {slot, set, member, true}, all.guide.proofs.now);
    assign(packet, all.view.set(set), member);
  }

  // Nobody can foresee what is to become of a packet; so four at a time, and singly those of which
  // more is to be asked. What is left at the end goes with some before it that have gone already.
  template <bool kWarned, class Guide>
  [[gnu::noinline]] void select_by_fours(const Guarded<Guide>& all) {
    using Fours = LetFlowFours<kWarned>;
    constexpr unsigned kAll = ~0u;
    const Fours fours({flowlets_, turns_, alike_, all.view, all.guide.proofs, all.guide.quick,
                       all.burst[0]->queue});
    const size_t last = all.burst.size() - kFour;
    Draws::Ahead draws = draws_.ahead();
    WaitingRoom::Guests guests = all.guests();
    typename Fours::Tally tally;
    unsigned from = kAll;
    for (size_t i = 0;;) {
      const typename Fours::Halt halt =
          fours.take({&all.burst[i], &all.set_of[i], from}, guests, draws, tally);
      size_t next = i + kFour;
      if (halt.lane != kFour) [[unlikely]] {
        const size_t at = i + halt.lane;
        next = at + 1;
        draws_.take(draws);
        if (halt.is_warned)
          lead_around(all, at, halt.warned, halt.other);
        else
          next = select_singly<kWarned>(all, at, next);
        draws = draws_.ahead();
        guests = all.guests();
      }
      if (next == all.burst.size()) break;
      i = std::min(next, last);
      from = kAll << (next - i);
    }
    draws_.take(draws);
    tally.tell(all.view);
  }

  // One of which more is to be asked. kWait: there is no member.
  template <class Guide>
  [[gnu::noinline]] MemberIndex select_with_care(const PathView& view, Packet& packet,
                                                 const Met& met, const Guide& guide) {
    const FlowSlot slot = met.slot;
    const uint16_t set = met.set;
    const bool free = guide.proofs.frees(slot);
    unproven_ += free ? 0 : 1;
    MemberIndex member = either(free, met.base, slot.member());
    // Of a slot that is not the set's alone nothing drains.
    const bool wants_off = !free && !met.young && met.base != member && slot.drawn_by(set);
    if (!met.usual || !contains(view.live(set), member) ||
        (wants_off && guide.drains(set, member, met.base)))
      return guide.alone(packet, set, met.place);
    if (free && met.warned) member = guide.around(packet, slot, set, met.place, met.base, kWait);
    if (member == kWait) return kWait;
    if (!free && (met.warned || met.base != member)) view.report(GuardEvent::stayed);
    draws_.take(!met.young);
    settle(view, packet, {slot, set, member, free}, guide.proofs.now);
    return member;
  }
  struct Settled {
    FlowSlot slot;  // before
    uint16_t set;
    MemberIndex member;
    bool free;
  };
  void settle(const PathView& view, const Packet& packet, const Settled& by, uint64_t now) {
    if (by.slot.drawn_by(by.set) && by.member != by.slot.member()) view.report(GuardEvent::moved);
    flowlets_.slots()->of(packet) = by.slot.after(now, by.set, by.member, by.free);
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

  // One of so many: from there on packets go singly, and down to there they go on so.
  static constexpr size_t kManyUnproven = 3;
  static constexpr size_t kFewUnproven = 4;

  TurnList turns_;
  uint32_t alike_;  // TurnList::alike()
  Draws draws_;
  FlowletTable flowlets_;
  uint32_t unproven_ = 0;     // guarded: packets of the burst whose slots were not free
  bool goes_singly_ = false;  // guarded: whatever the burst is, as many of the last one were so
};

}  // namespace

EDDY_SCHEME(letflow, LetFlow)

}  // namespace eddy::lb
