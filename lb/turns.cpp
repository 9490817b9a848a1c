#include "lb/turns.h"

#include <algorithm>
#include <numeric>

#include "net/assert.h"

namespace eddy::lb {
namespace {

constexpr uint32_t kLongestList = 256;

// Turns of each member in one round.
std::vector<uint32_t> turns_each(std::vector<uint32_t> weights) {
  uint32_t divisor = 0;
  for (uint32_t weight : weights) divisor = std::gcd(divisor, weight);
  ASSERT(divisor > 0);  // a path set has members, and each a weight
  for (uint32_t& weight : weights) weight /= divisor;
  if (std::accumulate(weights.begin(), weights.end(), uint64_t{0}) <= kLongestList) return weights;
  std::vector<uint32_t> turns = shares_of(weights, kLongestList, 0);
  for (uint32_t& count : turns) count = std::max(count, 1u);
  return turns;
}

}  // namespace

TurnList::TurnList(std::span<const PathSet> sets, BucketShare share) {
  for (const PathSet& set : sets) {
    const std::vector<uint32_t> turns = turns_each(weights_of(set, share));
    const uint32_t length = std::accumulate(turns.begin(), turns.end(), uint32_t{0});
    const std::vector<MemberIndex> slots = spread_over(turns, length, 0);
    starts_.push_back(static_cast<uint32_t>(slots_.size()));
    slots_.insert(slots_.end(), slots.begin(), slots.end());
  }
  starts_.push_back(static_cast<uint32_t>(slots_.size()));
}

uint32_t TurnList::alike() const {
  const uint32_t length = starts_.size() > 1 ? starts_[1] : 0;
  for (size_t set = 0; set + 1 < starts_.size(); ++set) {
    const std::span<const MemberIndex> slots = of(static_cast<uint16_t>(set));
    if (slots.size() != length) return 0;
    for (size_t turn = 0; turn < slots.size(); ++turn)
      if (slots[turn] != turn) return 0;
  }
  return length;
}

}  // namespace eddy::lb
