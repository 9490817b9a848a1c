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
                           .seed = seed_of(init.seed, init.switch_id)}) {}

  Proposal<Token> propose(const PathView& view, const Packet& packet, uint16_t set) const {
    return {table_.pick(set, packet.balance_hash, view.live(set))};
  }
  MemberIndex alternative(const PathView& view, const Packet& packet, uint16_t set,
                          MemberMask tried) const {
    return table_.pick(set, packet.balance_hash, view.live(set) & ~tried);
  }
  void commit(const PathView&, const Packet&, uint16_t, MemberIndex, const Token&) const {}

 private:
  BucketTable table_;
};

}  // namespace eddy::lb
