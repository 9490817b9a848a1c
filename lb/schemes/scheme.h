// What lb/schemes/<name>.cpp builds on: the loop that drives a scheme, and its entry in the
// registry.
//
// A scheme S is a class that satisfies PathScheme and has
//   S::Parameters, S::parameters() (lb/parameters.h), S::kSummary, S::kPromisesOrder,
//   S(const SelectorInit&, const S::Parameters&),
//   S::Token, what its commit() wants to know of its propose(), or NoToken,
//   S::kSpeech, if it reads PathView::paths() or speaks: what of it (lb/agent.h), and the calls
//   that this declares,
//   if it finds flows by the high half of their order hash, flow_lines() (lb/flow_lines.h), for
//   prefetches; if otherwise, expect(burst), called before a burst is admitted, of which most comes
//   to select: prefetches of what it reads of their flows, and nothing else,
//   if it can use a look at the whole burst, prepare(view, burst), called before each burst's first
//   propose: values that depend on now() alone,
//   if it can choose for a whole burst better than packet by packet, select_burst(view, burst,
//   set_of, control): to the same effect, bit for bit, as propose, commit and assign() of each
//   packet (lb/selector.h), those for ECMP set apart (ByEcmp). The conformance suite compares both:
//   behind a probe, a scheme is asked packet by packet,
//   if it keeps flowlets, flow_slots(): SelectorInit::slots or a table of its own (lb/flowlets.h),
//   if it remembers flows, flow_table(now, from, count), for reports,
//   if it keeps what a propose() has looked at for later ones, memory(view, set) and
//   put_back(view, set, memory), so that a preview leaves no trace,
//   if it can say why it proposes a member, reason(view, packet, set, member), after propose(),
//   if it knows something of its paths, knowledge(now, set, member), for reports,
//   if packets of a flow are to be held, ordered or marked at the edge, stage(place)
//   (lb/flow_stage.h),
//   if it is for fabrics of groups, kGrouped: what it asks of them (lb/registry.h),
//   kBlindToQueues, true if what it chooses does not depend on what is queued: else each burst of a
//   poll is counted in its queues before the next one is chosen for,
//   and, if it keeps any time of its own, rebase(rebase) (net/rebase.h).
// The file ends with EDDY_SCHEME(name, S). Randomness comes from stream_of() through lb/draws.h:
// propose and alternative peek, commit takes, so asking twice changes nothing.
// Cost: one virtual call a burst; the rest is inlined. Source: architecture, section 5.
#pragma once

#include <algorithm>
#include <concepts>
#include <memory>
#include <utility>

#include "lb/agent.h"
#include "lb/buckets.h"
#include "lb/registry.h"
#include "lb/rlb/rlb.h"
#include "net/random.h"

namespace eddy::lb {

// The random stream of a selector: its own for each switch and shard.
inline RandomStream stream_of(const SelectorInit& init) {
  constexpr uint32_t kPurpose = 0x6c62;  // "lb"
  const auto entity = static_cast<uint32_t>(init.switch_id.index() << 8 | init.shard.index());
  return {init.seed, entity, kPurpose};
}

// For select_burst(): propose() and commit() of a packet that goes another way than the rest.
template <class Scheme>
[[gnu::noinline]] MemberIndex select_alone(Scheme& scheme, const PathView& view,
                                           const Packet& packet, uint16_t set,
                                           const ByEcmp& control) {
  if (control.has(packet)) return control.pick(packet, set, view.live(set));
  const auto proposal = scheme.propose(view, packet, set);
  scheme.commit(view, packet, set, proposal.member, proposal.token);
  return proposal.member;
}

namespace detail {

// Whoever speaks of a scheme with something around it: the innermost, which the rest only chooses
// for.
template <class S>
auto& speaker_in(S& scheme) {
  if constexpr (requires { scheme.inner(); })
    return speaker_in(scheme.inner());
  else
    return scheme;
}
template <class S>
using SpeakerIn = std::remove_reference_t<decltype(speaker_in(std::declval<S&>()))>;

struct NoAgent {
  template <class S>
  explicit NoAgent(S&) {}
};
template <class S>
struct AgentFor {
  using Type = NoAgent;
};
template <Speaks S>
struct AgentFor<S> {
  using Type = SchemeAgent<S>;
};
template <class S>
using AgentOf = typename AgentFor<S>::Type;

}  // namespace detail

// RLB around a scheme that guards its flowlets by the burst.
template <class S>
inline constexpr bool kGuardsBurst = false;
template <GuardsFlowlets S>
inline constexpr bool kGuardsBurst<Rlb<S>> = true;

// RoCE ACK, NAK and CNP are flows of their own that every scheme sends by ECMP (reference 1.5):
// here, so that neither schemes nor RLB ever see them. With SelectorInit::control_by_scheme only
// control frames between leaves go so.
template <PathScheme Scheme>
class SelectorOf final : public Selector {
  using Speaker = detail::SpeakerIn<Scheme>;
  static_assert(has_what_it_declares<Speaker>(), "a call that S::kSpeech declares is missing");

 public:
  template <class Parameters>
  SelectorOf(const SelectorInit& init, const Parameters& parameters)
      : apart_(init.control_by_scheme ? kPacketShimControl : kPacketRoceControl),
        scheme_(init, parameters),
        control_(control_of(init, detail::speaker_in(scheme_))),
        agent_(detail::speaker_in(scheme_)) {
    if constexpr (HasFlowLines<Speaker>) flow_lines_ = detail::speaker_in(scheme_).flow_lines();
  }

  void expect(std::span<Packet* const> burst) override {
    if constexpr (ExpectsBurst<Speaker>) detail::speaker_in(scheme_).expect(burst);
    if constexpr (HasFlowLines<Speaker>)
      for (const Packet* packet : burst) flow_lines_.prefetch(packet->order_hash);
  }

  void select(const PathView& view, std::span<Packet* const> burst,
              std::span<const uint16_t> set_of) override {
    if constexpr (PreparesBurst<Scheme>) scheme_.prepare(view, burst);
    if constexpr (MayRest<Scheme>)
      if (scheme_.rests() && (view.loop() == nullptr || !view.loop()->occupied()))
        return select_by(scheme_.inner(), view, burst, set_of);
    if constexpr (kGuardsBurst<Scheme>)
      if (scheme_.guards_flowlets(view)) return select_guarded(view, burst, set_of);
    select_by(scheme_, view, burst, set_of);
  }

  MemberIndex again(const PathView& view, Packet& packet, uint16_t set, Trip& trip) override {
    Packet* const burst[] = {&packet};
    if constexpr (!MayWait<Scheme>) {  // without RLB it is chosen for as a fresh one
      select(view, burst, {&set, 1});
      return packet.member;
    } else {
      if constexpr (PreparesBurst<Scheme>) scheme_.prepare(view, burst);
      const auto proposal = scheme_.again(view, packet, set, trip);
      if (proposal.member == kWait) {
        trip = scheme_.wait(view, set, proposal.token);
        return kWait;
      }
      scheme_.commit(view, packet, set, proposal.member, proposal.token);
      assign(packet, view.set(set), proposal.member);
      return proposal.member;
    }
  }

  void follow(const PathView& view, Packet& packet, uint16_t set, MemberIndex member) override {
    Packet* const burst[] = {&packet};
    if constexpr (PreparesBurst<Scheme>) scheme_.prepare(view, burst);
    const auto token = token_for(scheme_, view, packet, set, member);
    scheme_.commit(view, packet, set, member, token);
    assign(packet, view.set(set), member);
  }

  Preview preview(const PathView& view, Packet& packet, uint16_t set) override {
    if ((packet.flags & apart_) != 0) {
      const MemberIndex member = control_.pick(set, packet.balance_hash, view.live(set));
      return {.by = Preview::By::ecmp, .member = member, .wanted = member, .reason = Reason::hash};
    }
    if constexpr (Remembers<Scheme>) {
      const auto memory = scheme_.memory(view, set);
      const Preview preview = preview_of(view, packet, set);
      scheme_.put_back(view, set, memory);
      return preview;
    } else {
      return preview_of(view, packet, set);
    }
  }

  FlowTableUse flow_table(Instant now, size_t from, size_t count) override {
    if constexpr (KeepsFlows<Scheme>)
      return scheme_.flow_table(now, from, count);
    else
      return {};
  }

  PathKnowledge knowledge(Instant now, uint16_t set, MemberIndex member) override {
    if constexpr (KnowsPaths<Speaker>)
      return detail::speaker_in(scheme_).knowledge(now, set, member);
    else
      return {};
  }

  std::shared_ptr<FlowSlots> flow_slots() override {
    if constexpr (requires(Speaker & speaker) { speaker.flow_slots(); })
      return detail::speaker_in(scheme_).flow_slots();
    else
      return nullptr;
  }

  PathAgent* agent() override {
    if constexpr (Speaks<Speaker>)
      return &agent_;
    else
      return nullptr;
  }

  FlowStage* stage(StagePlace place) override {
    if constexpr (HasStages<Scheme>)
      return scheme_.stage(place);
    else
      return nullptr;
  }

  void rebase(const Rebase& rebase) override {
    if constexpr (KeepsTime<Scheme>) scheme_.rebase(rebase);
  }

 private:
  static BucketTable control_of(const SelectorInit& init, const Speaker& scheme) {
    if constexpr (requires { scheme.ecmp_table(); })
      if (const BucketTable* same = scheme.ecmp_table()) return *same;
    return {init.sets,
            {.buckets = kEcmpBuckets,
             .share = BucketShare::equal,
             .seed = seed_of(init.seed, init.switch_id)}};
  }

  // Apart, so that what packets go through is compiled as if it were not there.
  [[gnu::noinline]] Preview preview_of(const PathView& view, Packet& packet, uint16_t set) {
    Packet* const burst[] = {&packet};
    if constexpr (PreparesBurst<Scheme>) scheme_.prepare(view, burst);
    const uint32_t ties = view.ties();
    const auto proposal = scheme_.propose(view, packet, set);
    Preview preview{.by = Preview::By::scheme,
                    .member = proposal.member,
                    .wanted = proposal.member,
                    .tied = view.ties() != ties};
    if constexpr (requires { scheme_.tell(proposal.token, preview); })
      scheme_.tell(proposal.token, preview);
    if constexpr (GivesReasons<Speaker>)
      if (preview.wanted != kWait)
        preview.reason = detail::speaker_in(scheme_).reason(view, packet, set, preview.wanted);
    return preview;
  }

  template <class S>
  void select_by(S& scheme, const PathView& view, std::span<Packet* const> burst,
                 std::span<const uint16_t> set_of) {
    if constexpr (SelectsBurst<S>)
      return scheme.select_burst(view, burst, set_of, ByEcmp(control_, apart_));
    const uint16_t apart = apart_;
    for (size_t i = 0; i < burst.size(); ++i) {
      Packet& packet = *burst[i];
      if constexpr (MayWait<S>)
        if (view.loop() != nullptr && !view.loop()->is_strange(packet) &&
            joins(view, packet, set_of[i], i)) [[unlikely]]
          continue;
      const MemberIndex member = choose(scheme, view, packet, set_of[i], apart);
      if constexpr (MayWait<S>)
        if (member == kWait) [[unlikely]] {
          view.report_away(i);
          continue;
        }
      assign(packet, view.set(set_of[i]), member);
    }
  }

  void select_guarded(const PathView& view, std::span<Packet* const> burst,
                      std::span<const uint16_t> set_of) {
    // kWait: there is nothing to assign, the packet goes round or has gone with its flow.
    const auto alone = [&](Packet& packet, uint16_t set, size_t index) {
      if (view.loop() != nullptr && !view.loop()->is_strange(packet) &&
          joins(view, packet, set, index))
        return kWait;
      const MemberIndex member = choose(scheme_, view, packet, set, apart_);
      if (member == kWait) view.report_away(index);
      return member;
    };
    scheme_.select_guarded(view, burst, set_of, ByEcmp(control_, apart_), alone);
  }

  // Packets of its flow are in the loop: it goes behind them, or after them.
  [[gnu::noinline]] bool joins(const PathView& view, Packet& packet, uint16_t set, size_t index) {
    if ((packet.flags & apart_) != 0) return false;
    const WaitingRoom::Company company = view.loop()->join(&packet);
    if (company.waits) {
      view.report_away(index);
    } else if (company.member != kWait) {
      follow(view, packet, set, company.member);
    }
    return company.waits || company.member != kWait;
  }

  template <class S>
  MemberIndex choose(S& scheme, const PathView& view, Packet& packet, uint16_t set,
                     uint16_t apart) {
    if ((packet.flags & apart) != 0) [[unlikely]]
      return control_.pick(set, packet.balance_hash, view.live(set));
    const auto proposal = scheme.propose(view, packet, set);
    if constexpr (MayWait<S>)
      if (proposal.member == kWait) [[unlikely]] {
        view.loop()->enter(&packet, scheme.wait(view, set, proposal.token));
        return kWait;
      }
    scheme.commit(view, packet, set, proposal.member, proposal.token);
    return proposal.member;
  }

  uint16_t apart_;  // Packet::flags of those that go by ECMP
  Scheme scheme_;   // here: a small one shares a line with what leads to it
  BucketTable control_;
  [[no_unique_address]] detail::AgentOf<Speaker> agent_;
};

namespace detail {

// A selector of S: the scheme, or it with something around it.
template <class S, class Scheme>
Result<std::unique_ptr<Selector>> make(const SelectorInit& init) {
  const auto parameters = parse_parameters<Scheme>("the scheme", init.parameters);
  if (!parameters) return parameters.problems();
  return std::unique_ptr<Selector>(std::make_unique<SelectorOf<S>>(init, parameters.value()));
}

// The same of a fabric of groups.
template <class Scheme>
constexpr Grouped grouped_of() {
  if constexpr (requires { Scheme::kGrouped; })
    return Scheme::kGrouped;
  else
    return {};
}

template <class Scheme>
constexpr bool is_blind_to_queues() {
  if constexpr (requires { Scheme::kBlindToQueues; })
    return Scheme::kBlindToQueues;
  else
    return false;
}

// What a scheme declares, or nothing.
template <class Scheme>
constexpr Speech speech_of() {
  if constexpr (Declares<Scheme>)
    return Scheme::kSpeech;
  else
    return {};
}

}  // namespace detail

template <class Scheme>
SchemeInfo describe(std::string_view name) {
  return {.name = name,
          .summary = Scheme::kSummary,
          .parameters = kParameterInfos<Scheme>,
          .promises_order = Scheme::kPromisesOrder,
          .grouped = detail::grouped_of<Scheme>(),
          .blind_to_queues = detail::is_blind_to_queues<Scheme>(),
          .speech = detail::speech_of<Scheme>(),
          .needs = detail::speech_of<Scheme>().shim,
          .needs_with_rlb = std::max(Rlb<Scheme>::kNeeds, detail::speech_of<Scheme>().shim),
          .make = &detail::make<Scheme, Scheme>,
          .make_with_rlb = &detail::make<Rlb<Scheme>, Scheme>};
}

}  // namespace eddy::lb

// Defines the function that the generated registry calls for the scheme `name`.
#define EDDY_SCHEME(name, Type)               \
  ::eddy::lb::SchemeInfo name##_scheme() {    \
    return ::eddy::lb::describe<Type>(#name); \
  }
