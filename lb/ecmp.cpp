// ECMP: a flow's hash picks its path; oblivious to load. Source: reference A.1.
#include <array>

#include "lb/scheme.h"

namespace eddy::lb {
namespace {

class Ecmp {
 public:
  static constexpr std::string_view kSummary =
      "one path a flow, by hash over equal shares; resilient when members come and go";
  static constexpr bool kPromisesOrder = true;

  struct Parameters {
    int64_t buckets = kEcmpBuckets;
  };
  static constexpr auto parameters() {
    return std::array{ranged<&Parameters::buckets>("buckets", 64, 4'096,
                                                   {"hash buckets a path set", "reference A.1"})};
  }

  Ecmp(const SelectorInit& init, const Parameters& parameters)
      : table_(init.sets, {.buckets = static_cast<uint32_t>(parameters.buckets),
                           .share = BucketShare::equal,
                           .seed = seed_of(init.seed, init.switch_id)}) {}

  MemberIndex propose(const PathView& view, const Packet& packet, uint16_t set) const {
    return table_.pick(set, packet.balance_hash, view.live(set));
  }
  MemberIndex alternative(const PathView& view, const Packet& packet, uint16_t set,
                          MemberMask tried) const {
    return table_.pick(set, packet.balance_hash, view.live(set) & ~tried);
  }
  void commit(const PathView&, const Packet&, uint16_t, MemberIndex) const {}

 private:
  BucketTable table_;
};

}  // namespace

EDDY_SCHEME(ecmp, Ecmp)

}  // namespace eddy::lb
