#include "lab/fabric/detours.h"

#include <algorithm>

namespace eddy::lab {
namespace {

// Next hops lead nearer and nearer, so this ends.
int find_hops(const FabricPlan& plan, const PathFinder::NextHops& next, size_t node,
              std::vector<int>& hops) {
  if (hops[node] != 0 || next[node].empty()) return hops[node];
  int least = 0;
  for (const uint32_t cable : next[node]) {
    const int beyond = find_hops(plan, next, plan.cables[cable].other(node), hops) + 1;
    least = least == 0 ? beyond : std::min(least, beyond);
  }
  return hops[node] = least;
}

}  // namespace

std::vector<int> hops_along(const FabricPlan& plan, const PathFinder::NextHops& next) {
  std::vector<int> hops(next.size());
  for (size_t node = 0; node < next.size(); ++node) find_hops(plan, next, node, hops);
  return hops;
}

DetourFinder::DetourFinder(const FabricPlan& plan) : plan_(plan), local_(plan.switches.size()) {
  for (uint32_t i = 0; i < plan.cables.size(); ++i) {
    const FabricPlan::Cable& cable = plan.cables[i];
    if (!cable.up) continue;
    for (const size_t end : {cable.a, cable.b}) {
      if (group(cable.a) == group(cable.b)) {
        local_[end].push_back(i);
        continue;
      }
      const auto of = static_cast<size_t>(group(end));
      if (of >= global_.size()) global_.resize(of + 1);
      global_[of].push_back(i);
    }
  }
}

std::optional<uint32_t> DetourFinder::cable_between(size_t from, size_t to) const {
  const auto found = std::ranges::find_if(
      local_[from], [&](uint32_t cable) { return plan_.cables[cable].other(from) == to; });
  if (found == local_[from].end()) return std::nullopt;
  return *found;
}

std::vector<Detour> DetourFinder::by_other_switches(size_t from, size_t leaf) const {
  std::vector<Detour> detours;
  for (const uint32_t cable : local_[from]) {
    const size_t by = plan_.cables[cable].other(from);
    if (by == leaf) continue;
    if (const auto then = cable_between(by, leaf)) detours.push_back({cable, then, 2});
  }
  return detours;
}

std::vector<Detour> DetourFinder::between(size_t from, size_t leaf,
                                          const std::vector<int>& hops) const {
  if (from == leaf) return {};
  if (group(from) == group(leaf)) return by_other_switches(from, leaf);
  std::vector<Detour> detours;
  const auto own = static_cast<size_t>(group(from));
  if (own >= global_.size()) return detours;
  for (const uint32_t cable : global_[own]) {
    const FabricPlan::Cable& each = plan_.cables[cable];
    const size_t gateway = group(each.a) == group(from) ? each.a : each.b;
    const size_t beyond = each.other(gateway);
    if (group(beyond) == group(leaf) || hops[beyond] == 0) continue;
    if (gateway == from) {
      detours.push_back({cable, std::nullopt, 1 + hops[beyond]});
    } else if (const auto local = cable_between(from, gateway)) {
      detours.push_back({*local, cable, 2 + hops[beyond]});
    }
  }
  return detours;
}

}  // namespace eddy::lab
