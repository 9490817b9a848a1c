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
#include "lb/octet_draws.h"
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

    [[gnu::always_inline]] void add(const FourWords& of_moved, const FourWords& of_stayed,
                                    const FourWords& of_rerouted) {
      moved += of_moved;
      stayed += of_stayed;
      if constexpr (kWarned) rerouted += of_rerouted;
    }
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

  // The first packet of which more is to be asked.
  struct Halt {
    size_t lane = kFour;  // kFour: of none
    // Only where it goes instead of `warned`, perhaps by `other`; kWait: all are warned.
    bool is_warned = false;
    MemberIndex warned = 0;
    MemberIndex other = 0;
  };

  // Sends the packets on up to there. `guests`: WaitingRoom's.
  [[gnu::always_inline]] Halt take(const Four& four, const WaitingRoom::Guests& guests,
                                   Draws::Ahead& draws, Tally& tally) const {
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
      choice.good &= ~may_be(guests, hash);
      choice.random = mixed(hash ^ draw);
      find_ways(set_of, sets, slots, choice);
    }
    choice.good &= slots.going | choice.goes_on;
    const FourWords good = choice.good & ~choice.waits;
    const FourWords moved = ~choice.stays & slots.plain;
    const FourWords stayed = ~choice.stays & slots.keeps;
    const FourWords next = slots.next | choice.member;
    const auto put = [&](size_t lane) __attribute__((always_inline)) {
      flowlets_.put(index[lane], FlowSlot::of_word(next[lane]));
      assign(*packets[lane], sets_[set_of[lane]], static_cast<MemberIndex>(choice.member[lane]));
    };
    if ((four.from & 1) == 0 || !have_all(good, ones_)) [[unlikely]] {
      const unsigned odd = ~lanes_of(good << 63) & four.from & kAll;
      const auto end = static_cast<size_t>(std::countr_zero(odd | 1u << kFour));
      const unsigned going = four.from & ((1u << end) - 1);
      const FourWords gone = mask_of(going);
      tally.add(moved & gone, stayed & gone, choice.turns_off & gone);
      for (size_t lane = 0; lane < kFour; ++lane)
        if ((going >> lane & 1) != 0) put(lane);
      draws.take_four(over & going);
      if constexpr (kWarned)
        if (end != kFour && (choice.good[end] & choice.waits[end] & 1) != 0)
          return {end, true, static_cast<MemberIndex>(choice.base[end]),
                  static_cast<MemberIndex>(choice.other[end] | choice.all_bad[end])};
      return {end};
    }
    tally.add(moved, stayed, choice.turns_off);
    for (size_t lane = 0; lane < kFour; ++lane) put(lane);
    draws.take_four(over);
    return {};
  }

 private:
  static constexpr unsigned kAll = (1u << kFour) - 1;

  struct Choice {
    FourWords old;   // where the flow went
    FourWords base;  // as propose(), if that lives
    FourWords member;
    FourWords live;
    FourWords good;         // the lowest bit: nothing more is to be asked
    FourWords goes_on;      // masks: the flowlet does, where it went
    FourWords stays;        // the packet goes where its flow went, and would whatever the slot says
    FourWords turns_off{};  // off a member that is warned
    FourWords waits{};      // it may wait for that, or more is to be asked
    FourWords other;        // the first that is not warned,
    FourWords all_bad;      // unless there is none
    FourWords random;       // what its alternatives are drawn by
  };

  // As Guests has it, in the lowest bit.
  static FourWords may_be(const WaitingRoom::Guests& guests, const FourWords& hash) {
    using Guests = WaitingRoom::Guests;
    return four_of(guests.one) >> (hash & Guests::kBits) &
           four_of(guests.other) >> (hash >> Guests::kShift & Guests::kBits);
  }
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

  [[gnu::always_inline]] DrawnAgain drawn_again(const FourWords& left,
                                                const FourWords& random) const {
    if (alike_ - 1 < OctetDraws::kMost) [[likely]]
      return octets_.draw(left, random);
    return draw_far(left, random);
  }
  [[gnu::noinline]] static DrawnAgain draw_far(const FourWords& left, const FourWords& random) {
    return draw_again_each(left, random);
  }
  // first_outside() for all, whether they need it or not.
  [[gnu::always_inline]] void find_ways(const std::array<size_t, kFour>& set_of,
                                        const FourWords& sets, const SlotVerdicts& slots,
                                        Choice& choice) const {
    const FourWords random = choice.random;
    const FourWords bad = four_by([&](size_t lane) { return warnings_.warned(set_of[lane]); });
    const FourWords taken = ones_ << choice.base;
    const auto warned = FourWords((bad & taken) == taken);
    const FourWords member = choice.member;
    choice.turns_off = warned & ~slots.keeps;
    choice.goes_on &= ~warned;
    const FourWords second = turns_of(sets, random);
    const FourWords offered = ones_ << second;
    FourWords left = choice.live & ~(taken | offered);
    const FourWords all_bad = FourWords((bad & choice.live) == choice.live);
    // One more, should the third be in `bad`: to branch on that costs more.
    const DrawnAgain drawn = drawn_again(left, random);
    const FourWords later = either_of(-(bad >> drawn.one & 1), drawn.next, drawn.one);
    const auto second_does = FourWords((choice.live & ~bad & offered) == offered);
    FourWords other = either_of(second_does, second, later);
    left &= ~(ones_ << drawn.one);
    const FourWords escapes = choice.turns_off & ~all_bad;
    FourWords missed = escapes & -(bad >> other & 1);
    while (!are_zero(missed)) [[unlikely]] {
        left &= ~(ones_ << other);
        other = either_of(missed, draw_far(left, random).one, other);
        missed &= -(bad >> other & 1);
      }
    // Of a flow of another set this set may have no such member, nor one where all are in `bad`.
    const FourWords left_one = member & choice.turns_off;
    const FourWords way = other & escapes;
    const FourWords lead = four_by([&](size_t lane) {
      return static_cast<uint64_t>(leads_.ns(set_of[lane], way[lane], left_one[lane]));
    });
    const auto too_slow = FourWords(FourSigned(lead) > FourSigned(most_lead_));
    choice.waits = choice.turns_off & (all_bad | too_slow | (~slots.plain & by_delay_));
    choice.other = other;
    choice.all_bad = all_bad;
    choice.member = either_of(choice.turns_off, other, member);
    choice.stays =
        either_of(slots.keeps, choice.stays & ~warned, FourWords(choice.member == choice.old));
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
  const OctetDraws octets_{};
};

}  // namespace eddy::lb
