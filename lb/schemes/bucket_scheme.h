// BucketScheme: a flow's hash picks its path through a BucketTable; what ECMP and WCMP share.
// Owner: one selector. Cost: as BucketTable::pick. Source: reference A.1, A.2.
#pragma once

#include <array>

#include "lb/schemes/scheme.h"

namespace eddy::lb {

template <BucketShare Share>
class BucketScheme {
 public:
  static constexpr bool kPromisesOrder = true;
  static constexpr bool kBlindToQueues = true;
  using Token = NoToken;

  struct Parameters {
    int64_t buckets = kEcmpBuckets;
  };
  static constexpr auto parameters() {
    return std::array{ranged<&Parameters::buckets>("buckets", 64, 4'096,
                                                   {"hash buckets a path set", "reference A.1"})};
  }

  BucketScheme(const SelectorInit& init, const Parameters& parameters)
      : table_(init.sets, {.buckets = static_cast<uint32_t>(parameters.buckets),
                           .share = Share,
                           .seed = seed_of(init.seed, init.switch_id)}),
        is_ecmp_(Share == BucketShare::equal && parameters.buckets == kEcmpBuckets) {}

  Reason reason(const PathView&, const Packet&, uint16_t, MemberIndex) const {
    return Reason::hash;
  }
  Proposal<Token> propose(const PathView& view, const Packet& packet, uint16_t set) const {
    return {table_.pick(set, packet.balance_hash, view.live(set))};
  }
  MemberIndex alternative(const PathView& view, const Packet& packet, uint16_t set,
                          MemberMask tried) const {
    return table_.pick(set, packet.balance_hash, view.live(set) & ~tried);
  }
  void commit(const PathView&, const Packet&, uint16_t, MemberIndex, const Token&) const {}
  // Null: it has another than what packets go by that no scheme is asked for.
  const BucketTable* ecmp_table() const { return is_ecmp_ ? &table_ : nullptr; }
  void select_burst(const PathView& view, std::span<Packet* const> burst,
                    std::span<const uint16_t> set_of, const ByEcmp& control) const {
    if (is_ecmp_)
      select_from<false>(view, burst, set_of, control);
    else
      select_from<true>(view, burst, set_of, control);
  }

 private:
  // kAsks: whether a packet is to go by ECMP.
  template <bool kAsks>
  void select_from(const PathView& view, std::span<Packet* const> burst,
                   std::span<const uint16_t> set_of, const ByEcmp& control) const {
    const MemberMask* const live_of = view.live();
    for (size_t i = 0; i < burst.size(); ++i) {
      Packet& packet = *burst[i];
      const uint16_t set = set_of[i];
      const MemberIndex member = kAsks && control.has(packet)
                                     ? control.pick(packet, set, live_of[set])
                                     : table_.pick(set, packet.balance_hash, live_of[set]);
      table_.assign_to(packet, set, member);
    }
  }

  BucketTable table_;
  bool is_ecmp_;  // table_ is what packets go by that no scheme is asked for
};

}  // namespace eddy::lb
