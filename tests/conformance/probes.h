// Wrappers that only tests have: they stand where RLB will stand, and check the protocol of
// propose, alternative and commit from inside.
#pragma once

#include <array>
#include <vector>

#include "lb/scheme.h"

namespace eddy::lb {

// What a probe saw, one entry a commit. Reserve before a run: selectors must not allocate.
struct Seen {
  MemberIndex proposed;   // by the scheme
  MemberIndex committed;  // what the wrapper said was used
  bool steady;            // asked again, the scheme answered the same
};
inline std::vector<Seen> seen;

template <PathScheme Scheme>
class ProbeBase {
 public:
  template <class Own, class Inner>
  ProbeBase(const SelectorInit& init, const Own&, const Inner& inner) : scheme_(init, inner) {}

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
struct SecondChoice {
  static constexpr std::string_view kName = "second_choice";
  static constexpr std::string_view kSummary = "takes the alternative to what the scheme proposes";
  struct Parameters {};
  static constexpr auto parameters() { return std::array<Declared<Parameters>, 0>{}; }

  template <PathScheme Scheme>
  class Around : public ProbeBase<Scheme> {
   public:
    using ProbeBase<Scheme>::ProbeBase;
    MemberIndex propose(const PathView& view, const Packet& packet, uint16_t set) {
      this->proposed_ = this->scheme_.propose(view, packet, set);
      if (count_of(view.live(set)) == 1) return this->proposed_;
      return this->scheme_.alternative(view, packet, set, bit_of(this->proposed_));
    }
  };
};

// Asks for everything several times and then takes what was proposed.
struct AskAgain {
  static constexpr std::string_view kName = "ask_again";
  static constexpr std::string_view kSummary = "asks several times before it commits";
  struct Parameters {};
  static constexpr auto parameters() { return std::array<Declared<Parameters>, 0>{}; }

  template <PathScheme Scheme>
  class Around : public ProbeBase<Scheme> {
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
};

// The registered schemes with these wrappers.
std::span<const SchemeInfo> probed_schemes();

}  // namespace eddy::lb

#define EDDY_PROBED_SCHEME(name, Type)                                                      \
  ::eddy::lb::SchemeInfo name##_probed() {                                                  \
    using Probes = ::eddy::lb::WrapperList<::eddy::lb::SecondChoice, ::eddy::lb::AskAgain>; \
    return ::eddy::lb::describe<Type, Probes>(#name);                                       \
  }
