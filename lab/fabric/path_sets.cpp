#include "lab/fabric/path_sets.h"

#include <algorithm>
#include <numeric>

namespace eddy::lab {

PathFinder::PathFinder(const FabricPlan& plan)
    : plan_(plan), cables_of_(plan.switches.size()), from_top_(plan.switches.size()) {
  for (uint32_t i = 0; i < plan.cables.size(); ++i) {
    if (!plan.cables[i].up) continue;
    cables_of_[plan.cables[i].a].push_back(i);
    cables_of_[plan.cables[i].b].push_back(i);
  }
  std::iota(from_top_.begin(), from_top_.end(), size_t{0});
  std::stable_sort(from_top_.begin(), from_top_.end(), [&](size_t x, size_t y) {
    return plan.switches[x].tier > plan.switches[y].tier;
  });
}

PathFinder::NextHops PathFinder::towards(size_t leaf, const std::vector<bool>& barred) const {
  const Query query{leaf, barred};
  switch (plan_.routing) {
    case FabricRouting::up_down:
      return up_down(query);
    case FabricRouting::shortest:
      return shortest(query);
    case FabricRouting::dragonfly:
      return dragonfly(query);
  }
  return {};
}

bool PathFinder::climbs(uint32_t cable, size_t from) const {
  const size_t to = plan_.cables[cable].other(from);
  return plan_.switches[to].tier > plan_.switches[from].tier;
}

template <class Usable>
std::vector<int> PathFinder::distances(const std::vector<size_t>& from, Usable usable) const {
  std::vector<int> hops(plan_.switches.size(), kFar);
  std::vector<size_t> reached = from;
  for (const size_t node : from) hops[node] = 0;
  for (size_t i = 0; i < reached.size(); ++i) {
    const size_t at = reached[i];
    for (const uint32_t cable : cables_of_[at]) {
      const size_t next = plan_.cables[cable].other(at);
      if (hops[next] != kFar || !usable(cable, at, next)) continue;
      hops[next] = hops[at] + 1;
      reached.push_back(next);
    }
  }
  return hops;
}

// Who reaches the leaf by going down alone does so; the others climb to the nearest who does.
PathFinder::NextHops PathFinder::up_down(const Query& query) const {
  const std::vector<int> down =
      distances({query.leaf}, [&](uint32_t cable, size_t at, size_t next) {
        return climbs(cable, at) && !query.bars(next);
      });
  std::vector<int> hops = down;
  NextHops result(plan_.switches.size());
  for (const size_t node : from_top_) {
    if (node == query.leaf) continue;
    const bool only_down = down[node] != kFar;
    const auto usable = [&](uint32_t cable) {
      return climbs(cable, node) != only_down && !query.bars(plan_.cables[cable].other(node));
    };
    const std::vector<int>& beyond = only_down ? down : hops;
    int best = kFar;
    for (const uint32_t cable : cables_of_[node])
      if (usable(cable)) best = std::min(best, beyond[plan_.cables[cable].other(node)]);
    if (best == kFar) continue;
    hops[node] = best + 1;
    for (const uint32_t cable : cables_of_[node])
      if (usable(cable) && beyond[plan_.cables[cable].other(node)] == best)
        result[node].push_back(cable);
  }
  return result;
}

PathFinder::NextHops PathFinder::shortest(const Query& query) const {
  const std::vector<int> hops =
      distances({query.leaf}, [&](uint32_t, size_t, size_t next) { return !query.bars(next); });
  NextHops result(plan_.switches.size());
  for (size_t node = 0; node < result.size(); ++node) {
    if (hops[node] == kFar) continue;
    for (const uint32_t cable : cables_of_[node])
      if (hops[plan_.cables[cable].other(node)] == hops[node] - 1) result[node].push_back(cable);
  }
  return result;
}

// Inside the leaf's group the shortest way; outside, to the group's nearest edge, whichever switch
// of it that is, and never through a third group.
PathFinder::NextHops PathFinder::dragonfly(const Query& query) const {
  const auto group = [&](size_t node) { return plan_.switches[node].group; };
  const int home = group(query.leaf);
  const std::vector<int> inside = distances({query.leaf}, [&](uint32_t, size_t, size_t next) {
    return group(next) == home && !query.bars(next);
  });
  std::vector<size_t> edge;
  for (size_t node = 0; node < plan_.switches.size(); ++node)
    if (inside[node] != kFar) edge.push_back(node);
  const std::vector<int> outside = distances(edge, [&](uint32_t, size_t at, size_t next) {
    return (group(at) == home || group(at) == group(next)) && group(next) != home &&
           !query.bars(next);
  });
  NextHops result(plan_.switches.size());
  for (size_t node = 0; node < result.size(); ++node) {
    const std::vector<int>& hops = group(node) == home ? inside : outside;
    if (hops[node] == kFar) continue;
    for (const uint32_t cable : cables_of_[node]) {
      const size_t next = plan_.cables[cable].other(node);
      const bool same_group_or_home = group(next) == group(node) || group(next) == home;
      if (same_group_or_home && hops[next] == hops[node] - 1) result[node].push_back(cable);
    }
  }
  return result;
}

}  // namespace eddy::lab
