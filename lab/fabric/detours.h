// Detours: ways from a switch of a dragonfly to a leaf that are longer than the shortest, for
// schemes that take such.
//
// To another group: by a third one, over each global cable that leads from the group of the switch
// to it, and from there by the shortest way. Inside the group: by each other switch that has a
// cable to both. Which cable the second switch takes belongs to the detour, where it is not what
// the shortest way takes from there. Keeps the plan by reference. Cost: linear in the cables of a
// group. Source: reference A.16 (Valiant by group).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "lab/fabric/fabric_plan.h"
#include "lab/fabric/path_sets.h"

namespace eddy::lab {

struct Detour {
  uint32_t cable = 0;            // at the switch
  std::optional<uint32_t> then;  // at the next one; none: as it chooses
  int hops = 0;                  // cables to the leaf
};

// Of every switch, cables of its shortest way by the next hops; 0: it has none, or is there.
[[nodiscard]] std::vector<int> hops_along(const FabricPlan& plan, const PathFinder::NextHops& next);

class DetourFinder {
 public:
  explicit DetourFinder(const FabricPlan& plan);
  // `hops`: hops_along() of the next hops to the leaf.
  [[nodiscard]] std::vector<Detour> between(size_t from, size_t leaf,
                                            const std::vector<int>& hops) const;

 private:
  int group(size_t node) const { return plan_.switches[node].group; }
  std::optional<uint32_t> cable_between(size_t from, size_t to) const;
  std::vector<Detour> by_other_switches(size_t from, size_t leaf) const;

  const FabricPlan& plan_;
  std::vector<std::vector<uint32_t>> local_;   // by switch: cables inside its group that are up
  std::vector<std::vector<uint32_t>> global_;  // by group: those to other groups
};

}  // namespace eddy::lab
