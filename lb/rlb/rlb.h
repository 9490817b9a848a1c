// Rlb<Scheme>: RLB around any scheme, itself a PathScheme. A packet that the scheme would send into
// a path that is warned of PFC goes another way.
//
// For each packet it follows Algorithm 1 of the RLB paper with its gaps closed. It takes the
// scheme's choice, unless that is warned; else the first of the scheme's alternatives that is not
// warned; and if all are warned, the least severe, the earlier one of equals. Each member is asked
// about at most once. Where no path is left that is not warned, and one switch warns of more than
// half of them, the bottleneck is behind that switch and no path helps: then the scheme decides
// alone. (`suspend: most` does so although a path is left.) A flow's first packet may take the path
// of the smallest delay instead (`placement`). A packet whose destination a warning names as its
// cause does not heed it. Where the other path is slower by more
// than a round in the loop takes, the packet goes round the loop and is looked at again, as long as
// the limits allow (waiting.h). commit() tells the scheme what was used, so that a flowlet stays
// where it was moved. All that it finds out of a packet is in the token, with the scheme's own
// token, and is told and counted by commit() or wait(). A scheme that may wait itself, such as
// another RLB, is let wait. Whether a flow may leave the path of its earlier packets is the order
// guard's decision (order_guard.h). Owner: the selector's shard. Bounds: no memory but the
// scheme's, the guard's and a rate for each port. Cost: a load and a branch while nothing is warned
// and no flow is watched. Source: reference B.8, B.11; RLB paper, section 3.4.
#pragma once

#include <bit>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "lb/members.h"
#include "lb/rlb/order_guard.h"
#include "lb/selector.h"
#include "lb/selector_init.h"
#include "lb/waiting.h"
#include "lb/warning_table.h"
#include "net/congestion/destination_tag.h"
#include "net/rebase.h"

namespace eddy::lb {

// What of the configuration a decision asks for.
struct RlbPolicy {
  bool cumulative = true;
  bool rebase_on_return = false;
  config::OnExceed on_exceed{};
  config::AllWarned all_warned{};
  config::Suspend suspend{};
  config::Placement placement{};
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
            .placement = rlb.placement,
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

// What there is to tell of a packet once it is settled where it goes.
struct RlbVerdict {
  Decision decision = Decision::direct;
  bool weighs = false;  // Trip::other, for the first time
  bool forces = false;  // to or off Trip::other
  bool stays = false;   // for the order guard, where it was

  bool tells() const { return std::bit_cast<uint32_t>(*this) != 0; }
};
static_assert(sizeof(RlbVerdict) == sizeof(uint32_t) && Decision::direct == Decision{});

// How a packet gets round a warned path.
struct RlbWay {
  RlbVerdict verdict;
  Trip trip;  // so far; of one that is to wait, with the round that begins
};

// Of a packet that must not just follow its scheme.
struct RlbRuling {
  RlbRuling() {}  // not an aggregate, as Token
  FlowTrace trace;
  RlbWay way;
};

// A scheme with flowlets in slots that guards them by the burst: it has select_guarded(), as
// letflow.
template <class S>
concept GuardsFlowlets = requires {
  requires S::kGuardsFlowlets;
};

// Which packets go round a warned path at once, by the first of their alternatives that is not
// warned. Of all others more is to be asked.
struct QuickWays {
  PathTable::Leads leads;
  int64_t most_ns = INT64_MIN;  // by which the other path may be slower
  bool by_delay = false;        // a flow's first packet takes the path of the smallest delay
};

// What such a scheme asks of RLB while it chooses for a burst. Both may say kWait: there is no
// member, the packet goes round or has gone with its flow.
template <class Alone, class Around, class Drains>
struct FlowletGuide {
  const SlotProofs& proofs;
  const QuickWays quick;
  Alone& alone;          // (packet, set, index): propose() and commit() of the packet
  const Around& around;  // (packet, slot, set, index, member, other): for one whose flow may leave
                         // its path, instead of a member that is warned, by `other` if that is
                         // not kWait; only where proofs.all_heed
  const Drains& drains;  // (set, from, to): a flow may be worth holding back, off a slower path
};
template <class Alone, class Around, class Drains>
FlowletGuide(const SlotProofs&, const QuickWays&, Alone&, const Around&, const Drains&)
    -> FlowletGuide<Alone, Around, Drains>;

template <PathScheme Scheme>
class Rlb {
 public:
  static constexpr ShimNeed kNeeds = ShimNeed::sampled;  // together with the scheme's own

  struct Token {
    // Not an aggregate: that would be cleared first, and most of it is a ruling that is not there.
    Token(const typename Scheme::Token& token, MemberIndex choice, FlowSlot* slot = nullptr)
        : of_scheme(token),
          base(choice),
          old(slot != nullptr ? slot->member() : choice),
          free(slot) {}

    [[no_unique_address]] typename Scheme::Token of_scheme;
    MemberIndex base;                 // the scheme's choice
    MemberIndex old;                  // that the flow took before, if it is
    FlowSlot* free;                   // of a flow that may follow it, without more ado
    std::optional<RlbRuling> ruling;  // of any other, with the guard awake
  };

  template <class Parameters>
  Rlb(const SelectorInit& init, const Parameters& of_scheme)
      : scheme_(init, of_scheme),
        guard_(init.rlb->guard, init.rlb->granularity),
        policy_(RlbPolicy::of(*init.rlb, seed_of(init.seed, init.switch_id))) {
    guard_.proofs().all_heed = policy_.heeds_all();
    for (const PortLine& line : init.lines) lines_.push_back(LineRate(line.rate));
  }

  void prepare(const PathView& view, std::span<Packet* const> burst) {
    if constexpr (PreparesBurst<Scheme>) scheme_.prepare(view, burst);
    if (guard_.wake(view) && guard_.watches(view) && !shares_slots(view)) [[unlikely]]
      guard_.prefetch(view, burst);
  }

  // Since prepare(): flows are in the scheme's own slots. Then the scheme may choose for the burst.
  // `alone`: as in FlowletGuide. Where paths get credit each packet is asked for, as one that stays
  // gives some, too.
  bool guards_flowlets(const PathView& view) const {
    return guard_.is_brief() && shares_slots(view) && view.warnings() != nullptr && !policy_.credit;
  }
  template <class Alone>
  requires GuardsFlowlets<Scheme>
  void select_guarded(const PathView& view, std::span<Packet* const> burst,
                      std::span<const uint16_t> set_of, const ByEcmp& control, Alone&& alone) {
    const auto around = [&view, this](Packet& packet, FlowSlot slot, uint16_t set, size_t index,
                                      MemberIndex warned, MemberIndex other) {
      return go_around(view, packet, set, index, {warned, slot.is_new_to(set), other});
    };
    const auto drains = [&](uint16_t set, MemberIndex from, MemberIndex to) {
      return guard_.pays_to_wait(view, set, from, to);
    };
    const bool warned = guard_.warned() || (view.loop() != nullptr && view.loop()->occupied());
    const QuickWays quick = warned ? quick_ways(view) : QuickWays{};
    const FlowletGuide guide{guard_.proofs(), quick, alone, around, drains};
    if (warned)
      scheme_.template select_guarded<true>(view, burst, set_of, control, guide);
    else
      scheme_.template select_guarded<false>(view, burst, set_of, control, guide);
  }

  // Since prepare(): this wrapper has nothing to say of any packet, and the scheme decides.
  bool rests() const { return !guard_.awake(); }
  Scheme& inner() { return scheme_; }

  Proposal<Token> propose(const PathView& view, const Packet& packet, uint16_t set) {
    const Base base = scheme_.propose(view, packet, set);
    if (!guard_.awake() || waits_already(base)) [[likely]]
      return as_proposed(base);
    FlowSlot* const free =
        guard_.is_brief() ? guard_.slot_if_free(view, packet, set, base.member) : nullptr;
    if (free != nullptr) [[likely]]
      return {base.member, Token(base.token, base.member, free)};
    return rule(view, packet, set, base, nullptr);
  }

  // Of a packet that is back from the loop.
  Proposal<Token> again(const PathView& view, const Packet& packet, uint16_t set,
                        const Trip& trip) {
    const Base base = base_again(view, packet, set, trip);
    if (!guard_.awake() || waits_already(base)) return as_proposed(base);
    return rule(view, packet, set, base, &trip);
  }

  // The packet goes right behind one of its flow.
  Token follow(const PathView& view, const Packet& packet, uint16_t set, MemberIndex member) {
    Token token(token_for(scheme_, view, packet, set, member), member);
    if (!guard_.awake()) return token;
    token.ruling.emplace();
    if (guard_.watches(view)) guard_.trace(view, packet, set, member, token.ruling->trace);
    return token;
  }

  // The packet goes round, and takes this along.
  Trip wait(const PathView& view, uint16_t set, const Token& token) {
    if constexpr (MayWait<Scheme>)
      if (token.base == kWait) return scheme_.wait(view, set, token.of_scheme);
    return begin_round(view, set, token.ruling->way);
  }

  // What a wrapper around this one may take instead.
  MemberIndex alternative(const PathView& view, const Packet& packet, uint16_t set,
                          MemberMask tried) {
    return scheme_.alternative(view, packet, set, tried);
  }

  void commit(const PathView& view, const Packet& packet, uint16_t set, MemberIndex member,
              const Token& token) {
    scheme_.commit(view, packet, set, member, token.of_scheme);
    if (token.free != nullptr) return guard_.note_free(view, set, token.free, token.old, member);
    if (token.ruling) note(view, packet, set, member, token);
  }

  // What prepare() and propose() write that is not the burst's.
  auto memory(const PathView& view, uint16_t set) const {
    if constexpr (Remembers<Scheme>)
      return std::pair(guard_.memory(view), scheme_.memory(view, set));
    else
      return std::pair(guard_.memory(view), NoToken{});
  }
  template <class Memory>
  void put_back(const PathView& view, uint16_t set, const Memory& memory) {
    guard_.put_back(view, memory.first);
    if constexpr (Remembers<Scheme>) scheme_.put_back(view, set, memory.second);
  }
  // Of a proposal that is not committed.
  void tell(const Token& token, Preview& preview) const {
    if constexpr (requires { scheme_.tell(token.of_scheme, preview); })
      scheme_.tell(token.of_scheme, preview);
    preview.wanted = token.base;
    if (token.free != nullptr) {
      preview.hold = Hold::free;
      preview.last = token.old;
    }
    if (!token.ruling) return;
    const RlbWay& way = token.ruling->way;
    preview.decision = way.verdict.decision;
    preview.hold =
        way.trip.drains ? Hold::drains : guard_.hold_of(token.ruling->trace, way.verdict.stays);
    if (token.ruling->trace.known || token.ruling->trace.pinned)
      preview.last = token.ruling->trace.member;
  }

  void rebase(const Rebase& rebase) {
    if constexpr (KeepsTime<Scheme>) scheme_.rebase(rebase);
    guard_.rebase(rebase);
  }

  FlowStage* stage(StagePlace place) requires HasStages<Scheme> { return scheme_.stage(place); }

  FlowTableUse flow_table(Instant now, size_t from, size_t count) requires KeepsFlows<Scheme> {
    return scheme_.flow_table(now, from, count);
  }

 private:
  using Base = Proposal<typename Scheme::Token>;

  bool shares_slots(const PathView& view) const {
    if constexpr (GuardsFlowlets<Scheme>)
      return scheme_.flow_slots().get() == view.slots();
    else
      return false;
  }
  // A wrapper inside has it wait.
  static bool waits_already(const Base& base) { return MayWait<Scheme> && base.member == kWait; }
  static Proposal<Token> as_proposed(const Base& base) {
    return {base.member, Token(base.token, base.member)};
  }
  Base base_again(const PathView& view, const Packet& packet, uint16_t set, const Trip& trip) {
    if constexpr (MayWait<Scheme>) {
      return scheme_.again(view, packet, set, trip);
    } else {
      if (policy_.rebase_on_return || !contains(view.live(set), trip.member))
        return scheme_.propose(view, packet, set);
      return {trip.member, token_for(scheme_, view, packet, set, trip.member)};
    }
  }

  // What around() comes to for most packets. None where schemes may be let alone or warnings name
  // culprits; a loop is worth it only for who would lose more than a round.
  QuickWays quick_ways(const PathView& view) const {
    QuickWays ways;
    if (view.paths() == nullptr) return ways;
    ways.leads = view.paths()->leads();
    ways.by_delay = policy_.placement == config::Placement::least_delay;
    if (policy_.suspend != config::Suspend::all || view.warnings()->names_any()) return ways;
    ways.most_ns = view.loop() == nullptr ? INT64_MAX : view.loop()->shortest_round().ps() / 1'000;
    return ways;
  }

  struct Warned {
    MemberIndex member;
    bool first = false;         // packet of its flow
    MemberIndex other = kWait;  // the first alternative that is not warned, where it is known
  };
  // What rule() and note() come to, of a packet whose flow may leave its path for sure.
  [[gnu::noinline]] MemberIndex go_around(const PathView& view, Packet& packet, uint16_t set,
                                          size_t index, Warned warned) {
    RlbWay way;
    const MemberIndex member = heeds_none(view, packet, set, warned.member, way)
                                   ? warned.member
                                   : around(view, packet, set, warned, way);
    if (member == kWait) {
      view.loop()->enter(&packet, begin_round(view, set, way));
      view.report_away(index);
      return kWait;
    }
    if (way.verdict.tells()) tell(view, set, way);
    return member;
  }
  static Trip begin_round(const PathView& view, uint16_t set, const RlbWay& way) {
    if (way.trip.drains) {
      if (way.trip.drained == Duration{}) view.report(GuardEvent::drains);
      return way.trip;
    }
    if (way.trip.rounds == 1) view.report(Decision::waits);
    if (way.verdict.weighs) view.paths()->use(set, way.trip.other).weigh();
    return way.trip;
  }

  [[gnu::noinline]] void note(const PathView& view, const Packet& packet, uint16_t set,
                              MemberIndex member, const Token& token) {
    const RlbRuling& ruling = *token.ruling;
    if (ruling.way.verdict.tells()) tell(view, set, ruling.way);
    if (policy_.credit && member != token.base && view.paths() != nullptr)
      view.paths()->use(set, member).move(packet.wire_len);
    if (guard_.watches(view)) guard_.note(view, packet, set, ruling.trace, token.base, member);
  }
  static void tell(const PathView& view, uint16_t set, const RlbWay& way) {
    const RlbVerdict& verdict = way.verdict;
    if (verdict.decision != Decision::direct) view.report(verdict.decision);
    if (verdict.decision == Decision::placed) view.report(Decision::rerouted);
    if (verdict.stays) view.report(GuardEvent::stayed);
    if (!verdict.weighs && !verdict.forces) return;
    PathUse& use = view.paths()->use(set, way.trip.other);
    if (verdict.weighs) use.weigh();
    if (verdict.forces) use.force();
  }

  [[gnu::noinline]] Proposal<Token> rule(const PathView& view, const Packet& packet, uint16_t set,
                                         Base base, const Trip* trip) {
    Proposal<Token> proposal = as_proposed(base);
    RlbRuling& ruling = proposal.token.ruling.emplace();
    if (trip != nullptr) ruling.way.trip = *trip;
    proposal.member = guard_.watches(view) ? guarded(view, packet, set, base.member, ruling)
                                           : unguarded(view, packet, set, base.member, ruling);
    return proposal;
  }

  MemberIndex unguarded(const PathView& view, const Packet& packet, uint16_t set, MemberIndex base,
                        RlbRuling& ruling) {
    if (!is_warned(view, packet, set, base) || heeds_none(view, packet, set, base, ruling.way))
      return base;
    return around(view, packet, set, {base}, ruling.way);
  }

  MemberIndex guarded(const PathView& view, const Packet& packet, uint16_t set, MemberIndex base,
                      RlbRuling& ruling) {
    FlowTrace& trace = ruling.trace;
    guard_.trace(view, packet, set, base, trace);
    MemberIndex member = guard_.wanted(trace, base, view.now());
    const bool warned =
        is_warned(view, packet, set, member) && !heeds_none(view, packet, set, member, ruling.way);
    if (member == trace.member && !warned) [[likely]]
      return member;
    bool stays = guard_.holds(view, packet, set, trace, base);
    Trip& trip = ruling.way.trip;
    const Duration drained = trip.drained;
    trip.drains = stays && guard_.drains(view, packet, set, trace, member, drained);
    if (trip.drains) {
      trip.set = set;
      trip.member = member;
      return kWait;
    }
    if (stays && drained != Duration{}) view.report(GuardEvent::overdue);
    if (!stays && warned)
      member = around(view, packet, set, {member, trace.is_first()}, ruling.way);
    if (member == kWait) return member;
    stays = stays || !guard_.allows(view, set, trace, base, member);
    if (!stays) return member;
    ruling.way.verdict.decision = Decision::direct;
    ruling.way.verdict.stays = !trace.placeless();
    return trace.member;
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

  // The packet is of those that cause the warning, and no other path helps it.
  bool heeds_none(const PathView& view, const Packet& packet, uint16_t set, MemberIndex member,
                  RlbWay& way) const {
    const WarningTable& warnings = *view.warnings();
    if (!warnings.names_any()) [[likely]]
      return false;
    if (!warnings.names(set, member, packet.queue, destination_tag_of(packet))) return false;
    way.verdict.decision = Decision::culprit;
    return true;
  }

  // The member to take instead of one that is warned, or kWait.
  MemberIndex around(const PathView& view, const Packet& packet, uint16_t set, Warned base,
                     RlbWay& way) {
    const MemberIndex member = base.member;
    const MemberMask live = view.live(set);
    const MemberMask warned = view.warnings()->warned(set, packet.queue) & live;
    const bool escapes = (live & ~warned) != 0;
    if (stands_aside(view, packet, set, member, escapes, way)) return member;
    if (!escapes) [[unlikely]]
      return without_escape(view, packet, set, member, way);
    MemberIndex other =
        base.other != kWait ? base.other : first_outside(view, packet, set, warned, member);
    way.verdict.decision = Decision::rerouted;
    if (base.first && policy_.placement == config::Placement::least_delay) {
      way.verdict.decision = Decision::placed;
      other = quickest(view, set, live & ~warned, other);
    }
    return may_take_longer(view, set, member, other) ? weigh(view, packet, set, member, other, way)
                                                     : other;
  }

  // Of the members; `other` where none is known to be quicker.
  MemberIndex quickest(const PathView& view, uint16_t set, MemberMask members,
                       MemberIndex other) const {
    if (view.paths() == nullptr) return other;
    Duration least = delay(view, set, other).value_or(Duration::max());
    for (MemberMask left = members; left != 0; left &= left - 1) {
      const auto there = delay(view, set, first_of(left));
      if (!there || *there >= least) continue;
      least = *there;
      other = first_of(left);
    }
    return other;
  }

  // The first alternative to `member` that is not warned, as this is. There is one.
  MemberIndex first_outside(const PathView& view, const Packet& packet, uint16_t set,
                            MemberMask warned, MemberIndex member) {
    if constexpr (requires { scheme_.alternative_outside(view, packet, set, warned, member); }) {
      return scheme_.alternative_outside(view, packet, set, warned, member);
    } else {
      MemberMask tried = bit_of(member);
      MemberIndex other = scheme_.alternative(view, packet, set, tried);
      while (contains(warned, other)) {
        tried |= bit_of(other);
        other = scheme_.alternative(view, packet, set, tried);
      }
      return other;
    }
  }

  // The scheme decides alone; that is a decision only where there is a choice.
  bool stands_aside(const PathView& view, const Packet& packet, uint16_t set, MemberIndex member,
                    bool escapes, RlbWay& way) const {
    const MemberMask live = view.live(set);
    if (policy_.suspend == config::Suspend::all) {
      if (escapes) return false;
      if (live == bit_of(member)) return true;
    }
    if (!view.warnings()->is_last_hop(set, packet.queue, member, live)) return false;
    way.verdict.decision = Decision::suspended;
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
    return delay(view, {*view.paths(), set, view.now()}, set, member);
  }
  std::optional<Duration> delay(const PathView& view, const PathTable::Recent& recent, uint16_t set,
                                MemberIndex member) const {
    const uint32_t measured = recent.delay_ns(member);
    if (!PathTable::Recent::is_fresh(measured)) return std::nullopt;
    return with_credit(view, set, member, Duration::nanoseconds(measured));
  }
  Duration with_credit(const PathView& view, uint16_t set, MemberIndex member,
                       Duration measured) const {
    if (!policy_.credit) [[likely]]
      return measured;
    const uint32_t moved = view.paths()->use(set, member).moved.load(std::memory_order_relaxed);
    const PortId port = view.set(set).members[member].port;
    return measured + lines_[port.index()].time_of(Bytes(moved));
  }

  // To go by `other` than to go round and by `member`, as far as delays tell that may be too old:
  // what is not known for sure is not waited for.
  bool may_take_longer(const PathView& view, uint16_t set, MemberIndex member,
                       MemberIndex other) const {
    if (view.loop() == nullptr || view.paths() == nullptr) return false;
    return policy_.credit ||
           last_lead(*view.paths(), set, other, member) > view.loop()->shortest_round();
  }
  // To `other`, or to wait for `member`.
  [[gnu::noinline]] MemberIndex weigh(const PathView& view, const Packet& packet, uint16_t set,
                                      MemberIndex member, MemberIndex other, RlbWay& way) const {
    const PathTable::Recent recent(*view.paths(), set, view.now());
    const uint32_t here = recent.delay_ns(member);
    const uint32_t there = recent.delay_ns(other);
    if (!PathTable::Recent::is_fresh(here) || !PathTable::Recent::is_fresh(there)) return other;
    const Duration longer = with_credit(view, set, other, Duration::nanoseconds(there)) -
                            with_credit(view, set, member, Duration::nanoseconds(here));
    const Duration round = view.loop()->round(view.now());
    if (longer <= round) return other;
    Trip& trip = way.trip;
    way.verdict.weighs = trip.rounds == 0;
    if (way.verdict.weighs) trip.allowance = longer;
    trip.other = other;
    if (policy_.pays_off(trip, round) && waits(view, packet, set, member, trip)) return kWait;
    way.verdict.forces = true;
    way.verdict.decision = Decision::forced;
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

  // All are warned.
  [[gnu::noinline]] MemberIndex without_escape(const PathView& view, const Packet& packet,
                                               uint16_t set, MemberIndex member, RlbWay& way) {
    MemberIndex best = member;
    for (MemberMask tried = bit_of(member); tried != view.live(set);) {
      const MemberIndex other = scheme_.alternative(view, packet, set, tried);
      tried |= bit_of(other);
      if (is_less_bad(view, packet, set, other, best)) best = other;
    }
    way.verdict.decision = Decision::all_warned;
    switch (policy_.all_warned) {
      case config::AllWarned::least_bad:
      case config::AllWarned::score:
        return best;
      case config::AllWarned::base:
        return member;
      case config::AllWarned::wait_once:
        break;
    }
    const bool once = way.trip.rounds == 0 && view.loop() != nullptr;
    if (once && waits(view, packet, set, member, way.trip)) return kWait;
    return policy_.on_exceed == config::OnExceed::optimal ? member : best;
  }

  static bool waits(const PathView& view, const Packet& packet, uint16_t set, MemberIndex member,
                    Trip& trip) {
    if (trip.rounds >= view.loop()->rounds_left(packet, view.now())) return false;
    trip.set = set;
    trip.member = member;
    ++trip.rounds;
    return true;
  }

  Scheme scheme_;
  OrderGuard guard_;
  RlbPolicy policy_;
  std::vector<LineRate> lines_;  // by port
};

}  // namespace eddy::lb
