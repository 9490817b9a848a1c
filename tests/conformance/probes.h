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
  template <class Parameters>
  ProbeBase(const SelectorInit& init, const Parameters& of_scheme) : scheme_(init, of_scheme) {}

  void prepare(const PathView& view, std::span<Packet* const> burst) {
    if constexpr (PreparesBurst<Scheme>) scheme_.prepare(view, burst);
  }
  MemberIndex alternative(const PathView& view, const Packet& packet, uint16_t set,
                          MemberMask tried) {
    return scheme_.alternative(view, packet, set, tried);
  }
  void commit(const PathView& view, const Packet& packet, uint16_t set, MemberIndex member) {
    scheme_.commit(view, packet, set, member);
    seen.push_back({proposed_, member, steady_});
  }

 protected:
  Scheme scheme_;
  MemberIndex proposed_ = 0;
  bool steady_ = true;
};

// Takes the scheme's alternative whenever there is one.
template <PathScheme Scheme>
class SecondChoice : public ProbeBase<Scheme> {
 public:
  using ProbeBase<Scheme>::ProbeBase;
  MemberIndex propose(const PathView& view, const Packet& packet, uint16_t set) {
    this->proposed_ = this->scheme_.propose(view, packet, set);
    if (count_of(view.live(set)) == 1) return this->proposed_;
    return this->scheme_.alternative(view, packet, set, bit_of(this->proposed_));
  }
};

// Asks for everything several times and then takes what was proposed.
template <PathScheme Scheme>
class AskAgain : public ProbeBase<Scheme> {
 public:
  using ProbeBase<Scheme>::ProbeBase;
  MemberIndex propose(const PathView& view, const Packet& packet, uint16_t set) {
    Scheme& scheme = this->scheme_;
    const MemberIndex first = scheme.propose(view, packet, set);
    bool steady = true;
    if (const MemberMask tried = bit_of(first); tried != view.live(set)) {
      const MemberIndex second = scheme.alternative(view, packet, set, tried);
      steady = scheme.alternative(view, packet, set, tried) == second && second != first;
    }
    this->steady_ = steady && scheme.propose(view, packet, set) == first;
    this->proposed_ = first;
    return first;
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
