// last_choice: a flow's hash picks two paths, and the packet takes the one with less in its queue;
// of two that are alike the first. It keeps nothing, so packets of a flow overtake one another.
#include "lb/schemes/plugin.h"

namespace eddy::lb {
namespace {

using namespace eddy::literals;

class LastChoice {
 public:
  static constexpr std::string_view kSummary =
      "the shorter queue of two that the flow's hash picks";
  static constexpr bool kPromisesOrder = false;
  using Token = NoToken;  // commit() asks nothing of propose()

  struct Parameters {
    Bytes margin{0};
  };
  static constexpr auto parameters() {
    return std::array{ranged<&Parameters::margin>(
        "margin", Bytes(0), 1_MiB, {"how much longer the first may be", "this example"})};
  }

  LastChoice(const SelectorInit& init, const Parameters& parameters)
      : seed_(seed_of(init.seed, init.switch_id)),
        margin_(static_cast<uint64_t>(parameters.margin.count())) {}

  Proposal<NoToken> propose(const PathView& view, const Packet& packet, uint16_t set) const {
    const MemberMask live = view.live(set);
    const MemberIndex first = pick(packet, live);
    const MemberMask rest = live & ~bit_of(first);
    if (rest == 0) return {first};
    const MemberIndex second = pick(packet, rest);
    const bool is_shorter =
        queued(view, packet, set, second) + margin_ < queued(view, packet, set, first);
    return {is_shorter ? second : first};
  }
  MemberIndex alternative(const PathView& view, const Packet& packet, uint16_t set,
                          MemberMask tried) const {
    return pick(packet, view.live(set) & ~tried);
  }
  void commit(const PathView&, const Packet&, uint16_t, MemberIndex, NoToken) const {}

 private:
  MemberIndex pick(const Packet& packet, MemberMask of) const {
    return nth_of(of, mix64(packet.balance_hash ^ seed_) % count_of(of));
  }
  static uint64_t queued(const PathView& view, const Packet& packet, uint16_t set,
                         MemberIndex member) {
    return view.port(view.set(set).members[member].port).backlog_from(packet.queue);
  }

  uint64_t seed_;
  uint64_t margin_;
};

}  // namespace

EDDY_PLUGIN(last_choice, LastChoice)

}  // namespace eddy::lb
