// LetFlowFours: four of a burst's packets at once, for letflow with the order guard around it.
//
// Whether a flowlet is over, whether its slot is free or keeps its member, and, where paths are
// warned, whether that of a packet is and by which it goes instead: no predictor can know any of
// it, so all of it is computed for each packet, in vectors (lb/four_words.h). A packet of which
// more is to be asked ends the four: those before it have gone, those behind it are taken anew.
// Owner: a call. Cost: some 65 instructions a packet; where paths are warned, 130. Source:
// reference A.5; docs/adr/0031.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

#include "lb/draws.h"
#include "lb/either.h"
#include "lb/flowlets.h"
#include "lb/four_words.h"
#include "lb/members.h"
#include "lb/path_view.h"
#include "lb/rlb/rlb.h"
#include "lb/selector.h"
#include "lb/slot_verdicts.h"
#include "lb/turns.h"

namespace eddy::lb {

// Mixed with the flow: several flows may be moved before the next draw is taken.
inline uint32_t random_for(const Packet& packet, uint32_t draw) {
  return static_cast<uint32_t>(mix64(packet.order_hash ^ draw));
}

// The first of letflow's alternatives to `member` that is not in `bad`, as `member` is; kWait: all
// that live are in `bad`. Which of the first two it is no predictor can know.
inline MemberIndex first_outside(const TurnList::Cursor& turns, uint16_t set, MemberMask live,
                                 MemberMask bad, MemberIndex member, uint32_t random) {
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

// kWarned: paths are warned, or packets are in the loop.
template <bool kWarned>
class LetFlowFours {
 public:
  struct Plan {
    FlowletTable& flowlets;
    const TurnList& turns;
    uint32_t alike;  // TurnList::alike()
    const PathView& view;
    const SlotProofs& proofs;
    const QuickWays& quick;
    QueueId queue;  // of all
  };
  explicit LetFlowFours(const Plan& plan)
      : flowlets_(plan.flowlets),
        turns_(plan.turns),
        alike_(plan.alike),
        sets_(plan.view.sets().data()),
        live_of_(plan.view.live()),
        leads_(plan.quick.leads),
        measure_({plan.proofs.arrivals, plan.proofs.now, plan.proofs.step, plan.proofs.age,
                  flowlets_.bound(), flowlets_.span()}),
        most_lead_(four_of(static_cast<uint64_t>(plan.quick.most_ns))),
        by_delay_(four_of(plan.quick.by_delay ? ~uint64_t{0} : 0)) {
    if constexpr (kWarned) warnings_ = plan.view.warnings()->of(plan.queue);
  }

  // What became of a burst's packets, by lane: less one for each.
  struct Tally {
    FourWords moved{};
    FourWords stayed{};
    FourWords rerouted{};

    static uint32_t sum(const FourWords& lanes) {
      return static_cast<uint32_t>(-(lanes[0] + lanes[1] + lanes[2] + lanes[3]));
    }
    void tell(const PathView& view) const {
      view.report(GuardEvent::moved, sum(moved));
      view.report(GuardEvent::stayed, sum(stayed));
      view.report(Decision::rerouted, sum(rerouted));
    }
  };
  // From where a burst's packets stand; `from`: as a mask of bits, those that are still to go.
  struct Four {
    Packet* const* burst;
    const uint16_t* sets;
    unsigned from;
  };

  // Sends the packets on up to the first of which more is to be asked; returns its lane.
  // `guests`: WaitingRoom's.
  [[gnu::always_inline]] size_t take(const Four& four, uint64_t guests, Draws::Ahead& draws,
                                     Tally& tally) const {
    const std::array<Packet*, kFour> packets = {four.burst[0], four.burst[1], four.burst[2],
                                                four.burst[3]};
    const std::array<size_t, kFour> set_of = {four.sets[0], four.sets[1], four.sets[2],
                                              four.sets[3]};
    const FourWords sets = four_at(four.sets);
    std::array<size_t, kFour> index;
    std::array<uint64_t, kFour> words;
    for (size_t lane = 0; lane < kFour; ++lane) {
      index[lane] = flowlets_.index_of(*packets[lane]);
      words[lane] = flowlets_[index[lane]].word();
    }
    const SlotVerdicts slots(words, sets, measure_);
    const unsigned over = lanes_of(slots.over) & four.from;
    const FourWords draw = draws.peek_four(over);
    Choice choice;
    choice.old = slots.words & members_;
    choice.base = either_of(slots.over, turns_of(sets, draw), choice.old);
    choice.member = either_of(slots.keeps, choice.old, choice.base);
    choice.live = four_by([&](size_t lane) { return live_of_[set_of[lane]]; });
    choice.good =
        (choice.live >> choice.base) & (choice.live >> choice.member) & ~twins_of(slots.words);
    choice.goes_on = ~slots.over & slots.plain;
    choice.stays = FourWords(choice.base == choice.old);
    if constexpr (kWarned) {
      const FourWords hash = four_by([&](size_t lane) { return packets[lane]->order_hash; });
      choice.good &= ~(four_of(guests) >> (hash & 63));
      choice.random = mixed(hash ^ draw);
      find_ways(four, set_of, sets, slots, choice);
    }
    choice.good &= slots.going | choice.goes_on;
    const FourWords moved = ~choice.stays & slots.plain;
    const FourWords stayed = ~choice.stays & slots.keeps;
    if ((four.from & 1) == 0 || !have_all(choice.good, ones_)) [[unlikely]] {
      const Some some{four_by([&](size_t lane) { return index[lane]; }),
                      slots.next,
                      choice.member,
                      {moved, stayed, choice.turns_off}};
      const size_t end = put_some(four, lanes_of(choice.good << 63), some, tally);
      draws.take_four(over & ((1u << end) - 1));
      return end;
    }
    if constexpr (kWarned) tally.rerouted += choice.turns_off;
    tally.moved += moved;
    tally.stayed += stayed;
    const FourWords next = slots.next | choice.member;
    for (size_t lane = 0; lane < kFour; ++lane) {
      flowlets_.put(index[lane], FlowSlot::of_word(next[lane]));
      assign(*packets[lane], sets_[set_of[lane]], static_cast<MemberIndex>(choice.member[lane]));
    }
    draws.take_four(over);
    return kFour;
  }

 private:
  struct Choice {
    FourWords old;   // where the flow went
    FourWords base;  // as propose(), if that lives
    FourWords member;
    FourWords live;
    FourWords good;         // the lowest bit: nothing more is to be asked
    FourWords goes_on;      // masks: the flowlet does, where it went
    FourWords stays;        // the packet goes where its flow went, and would whatever the slot says
    FourWords turns_off{};  // off a member that is warned
    FourWords random;       // what its alternatives are drawn by
  };
  struct Some {
    FourWords index, next, member;
    Tally tally;
  };
  struct Missed {
    FourWords lanes, live, bad, member, random, other;
  };

  FourWords turns_of(const FourWords& sets, const FourWords& random) const {
    if (alike_ != 0) [[likely]]
      return product_of(random, four_of(alike_)) >> 32;
    return look_up(sets, random);
  }
  [[gnu::noinline]] FourWords look_up(const FourWords& sets, const FourWords& random) const {
    return four_by([&](size_t lane) {
      return uint64_t{
          turns_.at(static_cast<uint16_t>(sets[lane]), static_cast<uint32_t>(random[lane]))};
    });
  }
  // As mix64().
  static FourWords mixed(FourWords x) {
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return x ^ (x >> 31);
  }

  // first_outside() for all, whether they need it or not.
  [[gnu::always_inline]] void find_ways(const Four& four, const std::array<size_t, kFour>& set_of,
                                        const FourWords& sets, const SlotVerdicts& slots,
                                        Choice& choice) const {
    const FourWords random = choice.random;
    const FourWords bad = four_by([&](size_t lane) { return warnings_.warned(set_of[lane]); });
    const FourWords warned = -(bad >> choice.base & 1);
    const FourWords member = choice.member;
    choice.turns_off = warned & ~slots.keeps;
    choice.goes_on &= ~warned;
    choice.good &= ~(choice.turns_off & FourWords((bad & choice.live) == choice.live));
    const FourWords second = turns_of(sets, random);
    const FourWords left = choice.live & ~(ones_ << member) & ~(ones_ << second);
    const FourWords third = four_octets([&](size_t lane) {
      return TurnList::draw_again(left[lane], static_cast<uint32_t>(random[lane]));
    });
    FourWords other = either_of(-((choice.live & ~bad) >> second & 1), second, third);
    const FourWords missed = choice.turns_off & -(bad >> other & 1);
    if (!are_zero(missed)) [[unlikely]]
      other = draw_on(four, {missed, choice.live, bad & choice.live, member, random, other});
    // Of a flow of another set this set may have no such member.
    const FourWords left_one = member & choice.turns_off;
    const FourWords lead = four_by([&](size_t lane) {
      return static_cast<uint64_t>(leads_.ns(set_of[lane], static_cast<MemberIndex>(other[lane]),
                                             static_cast<MemberIndex>(left_one[lane])));
    });
    choice.good &= ~(choice.turns_off & FourWords(FourSigned(lead) > FourSigned(most_lead_)));
    choice.good &= ~(choice.turns_off & ~slots.plain & by_delay_);
    choice.member = either_of(choice.turns_off, other, member);
    choice.stays =
        either_of(slots.keeps, choice.stays & ~warned, FourWords(choice.member == choice.old));
  }
  [[gnu::noinline]] FourWords draw_on(const Four& four, const Missed& missed) const {
    FourWords other = missed.other;
    for (size_t lane = 0; lane < kFour; ++lane) {
      if (missed.lanes[lane] == 0) continue;
      const MemberIndex found =
          first_outside(turns_, four.sets[lane], missed.live[lane], missed.bad[lane],
                        static_cast<MemberIndex>(missed.member[lane]),
                        static_cast<uint32_t>(missed.random[lane]));
      other[lane] = found == kWait ? 0u : found;  // of which more is asked anyway
    }
    return other;
  }
  [[gnu::noinline]] size_t put_some(const Four& four, unsigned good, const Some& some,
                                    Tally& tally) const {
    const unsigned odd = ~good & four.from & ((1u << kFour) - 1);
    const auto end = static_cast<size_t>(std::countr_zero(odd | 1u << kFour));
    for (auto lane = static_cast<size_t>(std::countr_zero(four.from)); lane < end; ++lane) {
      const auto member = static_cast<MemberIndex>(some.member[lane]);
      flowlets_.put(some.index[lane], FlowSlot::of_word(some.next[lane] | member));
      assign(*four.burst[lane], sets_[four.sets[lane]], member);
      tally.moved[0] += some.tally.moved[lane];
      tally.stayed[0] += some.tally.stayed[lane];
      tally.rerouted[0] += some.tally.rerouted[lane];
    }
    return end;
  }

  const FlowletTable::Cursor<false> flowlets_;
  const TurnList::Cursor turns_;
  const uint64_t alike_;
  const PathSet* const sets_;
  const MemberMask* const live_of_;
  WarningTable::OfQueue warnings_;
  const PathTable::Leads leads_;
  const SlotVerdicts::Measure measure_;
  const FourWords most_lead_;  // by which the other path may be slower
  const FourWords by_delay_;   // a mask: a flow's first packet takes the path of the smallest delay
  const FourWords members_ = four_of(FlowSlot::kMemberBits);
  const FourWords ones_ = four_of(1);
};

}  // namespace eddy::lb
