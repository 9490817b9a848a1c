// Probes: what the conformance suite stands around a scheme, inside RLB and around RLB, to see from
// there that propose, alternative, commit and their tokens keep the protocol (lb/selector.h).
//
// A probe passes everything on. It notes what was proposed and what was committed, and whether the
// token that came back is that of the packet; asked to, it asks for everything again, and for
// another packet in between, or takes the second choice. Only programs that run the suite, and
// plugins, are compiled with probes: a plugin brings those of its own scheme along
// (SchemeInfo::probes). Owner: the suite. Bounds: a probe writes into the log that it was given,
// which its owner has reserved. Source: docs/adr/0024.
#pragma once

#include <concepts>
#include <cstdint>
#include <vector>

#include "lb/schemes/scheme.h"

namespace eddy::lb {

enum class ProbeMode : uint8_t { passes, asks_again, takes_second };

struct ProbeLog {
  struct Entry {
    MemberIndex proposed;   // by the scheme inside
    MemberIndex committed;  // what whoever stands outside says was used
    bool steady;            // asked again, the scheme answered the same
    bool own_token;         // the token was made for this packet
  };

  ProbeMode mode = ProbeMode::passes;
  std::vector<Entry> commits;
};

// What a scheme with a probe somewhere is made from.
template <class Parameters>
struct ProbedParameters {
  const Parameters& of_scheme;
  ProbeLog& log;
};

template <PathScheme Scheme>
class Probe;
template <class Scheme>
inline constexpr bool kHoldsProbe = false;
template <class Scheme>
inline constexpr bool kHoldsProbe<Probe<Scheme>> = true;
template <class Scheme>
inline constexpr bool kHoldsProbe<Rlb<Scheme>> = kHoldsProbe<Scheme>;

template <PathScheme Scheme>
class Probe {
 public:
  struct Token {
    typename Scheme::Token of_scheme;
    MemberIndex proposed;
    bool steady;
    uint64_t flow;  // of the packet that it was made for
  };

  template <class Parameters>
  Probe(const SelectorInit& init, const ProbedParameters<Parameters>& given)
      : scheme_(init, for_scheme(given)), log_(given.log) {}

  void prepare(const PathView& view, std::span<Packet* const> burst) {
    if constexpr (PreparesBurst<Scheme>) scheme_.prepare(view, burst);
    if (burst.size() > 1) other_ = burst.back();
  }

  Proposal<Token> propose(const PathView& view, const Packet& packet, uint16_t set) {
    const auto proposal = probed(
        view, packet, set, [&](const PathView& at) { return scheme_.propose(at, packet, set); });
    if (log_.mode == ProbeMode::asks_again) ask_for_another(view, set);
    return proposal;
  }
  Proposal<Token> again(const PathView& view, const Packet& packet, uint16_t set,
                        const Trip& trip) requires MayWait<Scheme> {
    return probed(view, packet, set,
                  [&](const PathView& at) { return scheme_.again(at, packet, set, trip); });
  }
  MemberIndex alternative(const PathView& view, const Packet& packet, uint16_t set,
                          MemberMask tried) {
    return scheme_.alternative(view, packet, set, tried);
  }
  Trip wait(const PathView& view, uint16_t set, const Token& token) requires MayWait<Scheme> {
    return scheme_.wait(view, set, token.of_scheme);
  }
  Token follow(const PathView& view, const Packet& packet, uint16_t set, MemberIndex member) {
    return {token_for(scheme_, view, packet, set, member), member, true, packet.order_hash};
  }
  void commit(const PathView& view, const Packet& packet, uint16_t set, MemberIndex member,
              const Token& token) {
    scheme_.commit(view, packet, set, member, token.of_scheme);
    log_.commits.push_back({token.proposed, member, token.steady, token.flow == packet.order_hash});
  }

  Scheme& inner() { return scheme_; }  // which speaks, if any does (lb/agent.h)

  void rebase(const Rebase& rebase) {
    if constexpr (KeepsTime<Scheme>) scheme_.rebase(rebase);
  }
  FlowTableUse flow_table(Instant now, size_t from, size_t count) requires KeepsFlows<Scheme> {
    return scheme_.flow_table(now, from, count);
  }

 private:
  template <class Parameters>
  static const auto& for_scheme(const ProbedParameters<Parameters>& given) {
    if constexpr (kHoldsProbe<Scheme>)
      return given;
    else
      return given.of_scheme;
  }

  template <class Ask>
  Proposal<Token> probed(const PathView& view, const Packet& packet, uint16_t set, Ask ask) {
    const auto first = ask(view);
    Token token{first.token, first.member, true, packet.order_hash};
    if (log_.mode == ProbeMode::asks_again)
      token.steady = is_steady(view, packet, set, first.member, ask);
    const bool takes_second = log_.mode == ProbeMode::takes_second && first.member != kWait;
    if (!takes_second || bit_of(first.member) == view.live(set)) return {first.member, token};
    return {alternative(view, packet, set, bit_of(first.member)), token};
  }

  // What the further answers tell the view is of no interest.
  template <class Ask>
  bool is_steady(const PathView& view, const Packet& packet, uint16_t set, MemberIndex first,
                 Ask ask) {
    const PathView aside = view;
    bool steady = ask(aside).member == first;
    if (first != kWait && bit_of(first) != view.live(set)) {
      const MemberMask tried = bit_of(first);
      const MemberIndex second = alternative(aside, packet, set, tried);
      steady = steady && second != first && contains(view.live(set), second) &&
               alternative(aside, packet, set, tried) == second;
    }
    return steady && ask(aside).member == first;
  }

  // What is kept of a proposal outside its token is another packet's now. Only where the scheme was
  // asked anyway: one that remembers what it looked at (conga) has done so for whoever asks.
  void ask_for_another(const PathView& view, uint16_t set) {
    if (other_ == nullptr) return;
    const PathView aside = view;
    (void)scheme_.propose(aside, *other_, set);
  }

  Scheme scheme_;
  ProbeLog& log_;
  const Packet* other_ = nullptr;  // of the last burst
};

using MakeProbed = Result<std::unique_ptr<Selector>> (*)(const SelectorInit& init, ProbeLog& log);

// How a scheme S is made with probes at its places.
struct SchemeProbes {
  MakeProbed around_scheme;    // Probe<S>
  MakeProbed around_rlb;       // Probe<Rlb<S>>
  MakeProbed inside_rlb;       // Rlb<Probe<S>>
  MakeProbed between_rlbs;     // Rlb<Probe<Rlb<S>>>
  MakeProbed around_two_rlbs;  // Probe<Rlb<Probe<Rlb<S>>>>
};

namespace detail {

template <class Probed, class Scheme>
Result<std::unique_ptr<Selector>> make_probed(const SelectorInit& init, ProbeLog& log) {
  const auto parameters = parse_parameters<Scheme>("the scheme", init.parameters);
  if (!parameters) return parameters.problems();
  const ProbedParameters<typename Scheme::Parameters> given{parameters.value(), log};
  return std::unique_ptr<Selector>(std::make_unique<SelectorOf<Probed>>(init, given));
}

}  // namespace detail

template <class Scheme>
inline constexpr SchemeProbes kProbesOf = {
    .around_scheme = &detail::make_probed<Probe<Scheme>, Scheme>,
    .around_rlb = &detail::make_probed<Probe<Rlb<Scheme>>, Scheme>,
    .inside_rlb = &detail::make_probed<Rlb<Probe<Scheme>>, Scheme>,
    .between_rlbs = &detail::make_probed<Rlb<Probe<Rlb<Scheme>>>, Scheme>,
    .around_two_rlbs = &detail::make_probed<Probe<Rlb<Probe<Rlb<Scheme>>>>, Scheme>};

template <class Scheme>
SchemeInfo describe_with_probes(std::string_view name) {
  SchemeInfo info = describe<Scheme>(name);
  info.probes = &kProbesOf<Scheme>;
  return info;
}

}  // namespace eddy::lb

// EDDY_SCHEME of a program that runs the suite.
#define EDDY_PROBED_SCHEME(name, Type)                    \
  ::eddy::lb::SchemeInfo name##_probed() {                \
    return ::eddy::lb::describe_with_probes<Type>(#name); \
  }
