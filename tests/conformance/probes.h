// Probes, which only tests have: they stand around a scheme as RLB does, and check the protocol of
// propose, alternative and commit from inside.
#pragma once

#include <vector>

#include "lb/schemes/scheme.h"

namespace eddy::lb {

// What a probe saw, one entry a commit. Reserve before a run: selectors must not allocate.
struct Seen {
  MemberIndex proposed;   // by the scheme
  MemberIndex committed;  // what the probe said was used
  bool steady;            // asked again, the scheme answered the same
};
inline std::vector<Seen> seen;

template <PathScheme Scheme>
class ProbeBase {
 public:
  struct Token {
    typename Scheme::Token of_scheme;
    MemberIndex proposed = 0;
    bool steady = true;
  };

  template <class Parameters>
  ProbeBase(const SelectorInit& init, const Parameters& of_scheme) : scheme_(init, of_scheme) {}

  void prepare(const PathView& view, std::span<Packet* const> burst) {
    if constexpr (PreparesBurst<Scheme>) scheme_.prepare(view, burst);
  }
  MemberIndex alternative(const PathView& view, const Packet& packet, uint16_t set,
                          MemberMask tried) {
    return scheme_.alternative(view, packet, set, tried);
  }
  void commit(const PathView& view, const Packet& packet, uint16_t set, MemberIndex member,
              const Token& token) {
    scheme_.commit(view, packet, set, member, token.of_scheme);
    seen.push_back({token.proposed, member, token.steady});
  }

 protected:
  Scheme scheme_;
};

// Takes the scheme's alternative whenever there is one.
template <PathScheme Scheme>
class SecondChoice : public ProbeBase<Scheme> {
 public:
  using ProbeBase<Scheme>::ProbeBase;
  using typename ProbeBase<Scheme>::Token;
  Proposal<Token> propose(const PathView& view, const Packet& packet, uint16_t set) {
    const auto first = this->scheme_.propose(view, packet, set);
    const Token token{.of_scheme = first.token, .proposed = first.member};
    if (count_of(view.live(set)) == 1) return {first.member, token};
    return {this->scheme_.alternative(view, packet, set, bit_of(first.member)), token};
  }
};

// Asks for everything several times and then takes what was proposed.
template <PathScheme Scheme>
class AskAgain : public ProbeBase<Scheme> {
 public:
  using ProbeBase<Scheme>::ProbeBase;
  using typename ProbeBase<Scheme>::Token;
  Proposal<Token> propose(const PathView& view, const Packet& packet, uint16_t set) {
    Scheme& scheme = this->scheme_;
    const auto first = scheme.propose(view, packet, set);
    bool steady = true;
    if (const MemberMask tried = bit_of(first.member); tried != view.live(set)) {
      const MemberIndex second = scheme.alternative(view, packet, set, tried);
      steady = scheme.alternative(view, packet, set, tried) == second && second != first.member;
    }
    steady = steady && scheme.propose(view, packet, set).member == first.member;
    return {first.member, {first.token, first.member, steady}};
  }
};

// The registered schemes, each inside the probe; `make` makes it.
std::span<const SchemeInfo> second_choice_schemes();
std::span<const SchemeInfo> ask_again_schemes();

template <class Probe, class Scheme>
SchemeInfo describe_probe(std::string_view name) {
  SchemeInfo info;
  info.name = name;
  info.make = &detail::make<Probe, Scheme>;
  return info;
}

}  // namespace eddy::lb

#define EDDY_PROBED_SCHEME(name, Type)                                              \
  ::eddy::lb::SchemeInfo name##_second_choice() {                                   \
    return ::eddy::lb::describe_probe<::eddy::lb::SecondChoice<Type>, Type>(#name); \
  }                                                                                 \
  ::eddy::lb::SchemeInfo name##_ask_again() {                                       \
    return ::eddy::lb::describe_probe<::eddy::lb::AskAgain<Type>, Type>(#name);     \
  }
