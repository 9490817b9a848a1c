// PathFinder: by which cables each switch of a plan sends towards one leaf.
//
// Equal-cost ways hop by hop, over cables that are up. Immutable; keeps the plan by reference.
// Cost: towards() is linear in switches and cables. Source: reference A.16 (dragonfly, minimal),
// A.17 (up and down).
#pragma once

#include <cstdint>
#include <vector>

#include "lab/fabric/fabric_plan.h"

namespace eddy::lab {

class PathFinder {
 public:
  // Of every switch the cables that lead on, in the plan's order; none: no way, or there already.
  using NextHops = std::vector<std::vector<uint32_t>>;

  explicit PathFinder(const FabricPlan& plan);

  // `barred`: by switch, whether no way may pass it; empty: all may be used.
  [[nodiscard]] NextHops towards(size_t leaf, const std::vector<bool>& barred = {}) const;

 private:
  static constexpr int kFar = 1 << 28;  // no way; one more hop does not overflow

  struct Query {
    size_t leaf;
    const std::vector<bool>& barred;
    bool bars(size_t node) const { return !barred.empty() && barred[node]; }
  };

  NextHops up_down(const Query& query) const;
  NextHops shortest(const Query& query) const;
  NextHops dragonfly(const Query& query) const;
  // Hops to the nearest of `from` over cables that `usable(cable, at, next)` lets pass from `next`
  // to `at`.
  template <class Usable>
  std::vector<int> distances(const std::vector<size_t>& from, Usable usable) const;

  bool climbs(uint32_t cable, size_t from) const;

  const FabricPlan& plan_;
  std::vector<std::vector<uint32_t>> cables_of_;  // by switch: those that are up
  std::vector<size_t> from_top_;                  // switches, the highest tier first
};

}  // namespace eddy::lab
