#include "lb/buckets.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "net/assert.h"

namespace eddy::lb {
namespace {

// Pieces of a list, each of which is there once.
template <class T>
class Pieces {
 public:
  explicit Pieces(std::vector<T>& all) : all_(all) {}

  uint32_t place_of(const std::vector<T>& piece) {
    const auto [known, is_new] = places_.try_emplace(piece, static_cast<uint32_t>(all_.size()));
    if (is_new) all_.insert(all_.end(), piece.begin(), piece.end());
    return known->second;
  }

 private:
  std::vector<T>& all_;
  std::map<std::vector<T>, uint32_t> places_;
};

std::vector<PathExit> exits_of(const PathSet& set) {
  std::vector<PathExit> exits;
  for (size_t i = 0; i < set.count; ++i)
    exits.push_back({set.members[i].port, set.members[i].path});
  return exits;
}

}  // namespace

// Largest remainders: whole slots first, then one more to those who lost most by rounding.
std::vector<uint32_t> shares_of(std::span<const uint32_t> weights, uint32_t slots, uint64_t tie) {
  const size_t count = weights.size();
  const uint64_t total = std::accumulate(weights.begin(), weights.end(), uint64_t{0});
  ASSERT(total > 0);
  std::vector<uint32_t> share(count);
  std::vector<size_t> order(count);
  for (size_t i = 0; i < count; ++i) {
    share[i] = static_cast<uint32_t>(uint64_t{weights[i]} * slots / total);
    order[i] = (i + tie) % count;
  }
  const auto lost = [&](size_t i) { return uint64_t{weights[i]} * slots % total; };
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return lost(a) > lost(b); });
  uint32_t left = slots - std::accumulate(share.begin(), share.end(), uint32_t{0});
  for (size_t i = 0; left > 0; ++i, --left) ++share[order[i]];
  return share;
}

std::vector<MemberIndex> spread_over(std::span<const uint32_t> weights, uint32_t slots,
                                     uint64_t tie) {
  const std::vector<uint32_t> share = shares_of(weights, slots, tie);
  std::vector<int64_t> credit(weights.size());
  std::vector<MemberIndex> members(slots);
  for (MemberIndex& slot : members) {
    for (size_t i = 0; i < credit.size(); ++i) credit[i] += share[i];
    const auto most = std::max_element(credit.begin(), credit.end());
    *most -= slots;
    slot = static_cast<MemberIndex>(most - credit.begin());
  }
  return members;
}

std::vector<uint32_t> weights_of(const PathSet& set, BucketShare share) {
  std::vector<uint32_t> weights(set.count, 1);
  if (share == BucketShare::weighted)
    for (size_t i = 0; i < set.count; ++i) weights[i] = set.members[i].weight;
  const MemberMask detours = detours_of(set);
  if (count_of(detours) == set.count) return weights;
  for (MemberIndex i = 0; i < set.count; ++i)
    if (contains(detours, i)) weights[i] = 0;
  return weights;
}

BucketTable::BucketTable(std::span<const PathSet> sets, const Shape& shape)
    : seed_(shape.seed), buckets_(shape.buckets) {
  auto shared = std::make_shared<Shared>();
  Pieces<MemberIndex> homes(shared->homes);
  Pieces<PathExit> exits(shared->exits);
  for (size_t i = 0; i < sets.size(); ++i) {
    const std::vector<uint32_t> weights = weights_of(sets[i], shape.share);
    shared->sets.push_back({homes.place_of(spread_over(weights, buckets_, mix64(seed_ + i))),
                            exits.place_of(exits_of(sets[i]))});
  }
  sets_ = shared->sets.data();
  homes_ = shared->homes.data();
  exits_ = shared->exits.data();
  shared_ = std::move(shared);
}

MemberIndex BucketTable::detour(uint16_t set, uint64_t hash, MemberMask live) const {
  MemberIndex member = 0;
  for (int i = 0; i < kProbes; ++i) {
    hash = mix64(hash);
    member = at(set, hash);
    if (contains(live, member)) return member;
  }
  return next_of(live, member);
}

}  // namespace eddy::lb
