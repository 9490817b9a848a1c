// Spray: a new path for every packet, in one of three ways. Reorders by design. Source: reference
// A.3.
#include <algorithm>
#include <array>
#include <vector>

#include "lb/draws.h"
#include "lb/schemes/scheme.h"
#include "lb/turns.h"

namespace eddy::lb {
namespace {

enum class SprayMode : uint8_t { random, round_robin, permutation };
constexpr std::array<std::string_view, 3> kModeNames = {"random", "round_robin", "permutation"};

// A path set's place in its list of turns.
struct Round {
  TurnIndex turn = 0;
  std::vector<MemberIndex> order;  // permutation: this round's order; else empty
};

class Spray {
 public:
  static constexpr std::string_view kSummary = "a path for each packet, whatever its flow";
  static constexpr bool kPromisesOrder = false;
  static constexpr bool kBlindToQueues = true;
  using Token = NoToken;

  struct Parameters {
    SprayMode mode = SprayMode::random;
    bool weighted = false;
  };
  static constexpr auto parameters() {
    return std::array{
        choice<&Parameters::mode>(
            "mode", kModeNames,
            {"a draw each packet, turns in order, or turns in a new random order each round",
             "reference A.3"}),
        flag<&Parameters::weighted>("weighted",
                                    {"shares in proportion to static weights", "reference A.3"})};
  }

  Spray(const SelectorInit& init, const Parameters& parameters)
      : mode_(parameters.mode),
        turns_(init.sets, parameters.weighted ? BucketShare::weighted : BucketShare::equal),
        draws_(stream_of(init)),
        rounds_(init.sets.size()) {
    if (mode_ != SprayMode::permutation) return;
    for (size_t set = 0; set < rounds_.size(); ++set) {
      const auto slots = turns_.of(static_cast<uint16_t>(set));
      rounds_[set].order.assign(slots.begin(), slots.end());
      shuffle(rounds_[set]);
    }
  }

  Reason reason(const PathView&, const Packet&, uint16_t, MemberIndex) const {
    return Reason::packet;
  }
  Proposal<Token> propose(const PathView& view, const Packet&, uint16_t set) const {
    return {choose(set, view.live(set))};
  }
  MemberIndex alternative(const PathView& view, const Packet&, uint16_t set,
                          MemberMask tried) const {
    return choose(set, view.live(set) & ~tried);
  }

  // propose() and commit() of each.
  void select_burst(const PathView& view, std::span<Packet* const> burst,
                    std::span<const uint16_t> set_of, const ByEcmp& control) {
    const TurnList::Cursor turns(turns_);
    const PathSet* const sets = view.sets().data();
    const MemberMask* const live_of = view.live();
    for (size_t i = 0; i < burst.size(); ++i) {
      Packet& packet = *burst[i];
      const uint16_t set = set_of[i];
      MemberIndex member = turns.at(set, draws_.peek());
      if (mode_ != SprayMode::random || !contains(live_of[set], member) || control.has(packet))
          [[unlikely]]
        member = select_alone(*this, view, packet, set, control);
      else
        draws_.take(true);
      assign(packet, sets[set], member);
    }
  }

  void commit(const PathView&, const Packet&, uint16_t set, MemberIndex member, const Token&) {
    Round& round = rounds_[set];
    switch (mode_) {
      case SprayMode::random:
        draws_.take(true);
        return;
      case SprayMode::round_robin:
        round.turn = turns_.next(set, round.turn, bit_of(member)) + 1u;
        return;
      case SprayMode::permutation:
        take(round, member);
        return;
    }
  }

 private:
  MemberIndex choose(uint16_t set, MemberMask mask) const {
    const Round& round = rounds_[set];
    switch (mode_) {
      case SprayMode::random:
        break;
      case SprayMode::round_robin:
        return turns_.of(set)[turns_.next(set, round.turn, mask)];
      case SprayMode::permutation:
        const auto left = std::find_if(round.order.begin() + round.turn, round.order.end(),
                                       [&](MemberIndex member) { return contains(mask, member); });
        if (left != round.order.end()) return *left;
        break;
    }
    return turns_.draw(set, mask, draws_.peek());
  }

  // Takes the member's turn of this round; one that has none left begins the next round.
  void take(Round& round, MemberIndex member) {
    auto found = std::find(round.order.begin() + round.turn, round.order.end(), member);
    if (found == round.order.end()) {
      draws_.take(true);
      shuffle(round);
      found = std::find(round.order.begin(), round.order.end(), member);
    }
    std::iter_swap(found, round.order.begin() + round.turn);
    if (++round.turn == round.order.size()) shuffle(round);
  }

  void shuffle(Round& round) {
    round.turn = 0;
    for (size_t i = round.order.size(); i > 1; --i)
      std::swap(round.order[i - 1], round.order[draws_.take_below(static_cast<uint32_t>(i))]);
  }

  SprayMode mode_;
  TurnList turns_;
  Draws draws_;
  std::vector<Round> rounds_;
};

}  // namespace

EDDY_SCHEME(spray, Spray)

}  // namespace eddy::lb
