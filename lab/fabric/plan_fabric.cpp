#include "lab/fabric/plan_fabric.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "lab/fabric/fabric_file.h"

namespace eddy::lab {
namespace {

using config::TopologyConfig;

constexpr int kLeafTier = 0;
constexpr int kSpineTier = 1;
constexpr int kCoreTier = 2;
constexpr int kMostSwitches = 65'534;  // what ids of switches and leaves can number

size_t index_of(int number) {
  return static_cast<size_t>(number);
}

std::string numbered(const char* word, int index) {
  return word + std::to_string(index + 1);
}

class SizeProblems {
 public:
  void at_least(const char* key, int value, int least) {
    if (value >= least) return;
    problems_.push_back(std::string("topology.") + key + ": " + std::to_string(value) +
                        ", at least " + std::to_string(least) + " would be valid");
  }
  void even(const char* key, int value) {
    if (value % 2 != 0)
      problems_.push_back(std::string("topology.") + key + ": " + std::to_string(value) +
                          " is odd, an even number would be valid");
  }
  void switches(int64_t count) {
    if (problems_.empty() && count > kMostSwitches)
      problems_.push_back("topology: " + std::to_string(count) + " switches, at most " +
                          std::to_string(kMostSwitches) + " would be valid");
  }
  Problems take() { return std::move(problems_); }

 private:
  Problems problems_;
};

Problems check(const TopologyConfig& config) {
  SizeProblems problems;
  switch (config.kind) {
    case config::TopologyKind::leaf_spine:
      problems.at_least("leaves", config.leaves, 1);
      problems.at_least("spines", config.spines, 1);
      problems.at_least("hosts_per_leaf", config.hosts_per_leaf, 1);
      problems.at_least("parallel_links", config.parallel_links, 1);
      problems.switches(int64_t{config.leaves} + config.spines);
      break;
    case config::TopologyKind::fat_tree:
      problems.at_least("k", config.k, 2);
      problems.even("k", config.k);
      problems.at_least("oversubscription", config.oversubscription, 1);
      problems.switches(int64_t{config.k} * config.k + int64_t{config.k} * config.k / 4);
      break;
    case config::TopologyKind::dragonfly:
      problems.at_least("groups", config.groups, 1);
      problems.at_least("routers", config.routers, 1);
      problems.at_least("hosts_per_router", config.hosts_per_router, 1);
      problems.at_least("global_links", config.global_links, 1);
      problems.switches(int64_t{config.groups} * config.routers);
      break;
    case config::TopologyKind::file:
    case config::TopologyKind::hpcc:
      break;
  }
  return problems.take();
}

FabricPlan leaf_spine(const TopologyConfig& config) {
  FabricPlan plan;
  plan.name = "leaf_spine";
  std::vector<size_t> spines;
  spines.reserve(static_cast<size_t>(config.spines));
  for (int l = 0; l < config.leaves; ++l) {
    const size_t leaf = plan.add_switch(numbered("leaf", l), kLeafTier);
    plan.add_hosts(leaf, config.hosts_per_leaf, config);
  }
  for (int s = 0; s < config.spines; ++s)
    spines.push_back(plan.add_switch(numbered("spine", s), kSpineTier));
  for (int l = 0; l < config.leaves; ++l)
    for (const size_t spine : spines)
      for (int i = 0; i < config.parallel_links; ++i)
        plan.add_cable(static_cast<size_t>(l), spine, config);
  return plan;
}

// k pods of k/2 leaves and k/2 aggregation switches; the a-th of a pod has the a-th k/2 cores.
FabricPlan fat_tree(const TopologyConfig& config) {
  FabricPlan plan;
  plan.name = "fat_tree";
  const int half = config.k / 2;
  const int edges = config.k * half;
  for (int e = 0; e < edges; ++e)
    plan.add_hosts(plan.add_switch(numbered("leaf", e), kLeafTier), config.oversubscription * half,
                   config);
  for (int a = 0; a < edges; ++a) plan.add_switch(numbered("agg", a), kSpineTier);
  for (int c = 0; c < half * half; ++c) plan.add_switch(numbered("core", c), kCoreTier);
  const auto agg = [=](int pod, int i) { return index_of(edges + pod * half + i); };
  for (int e = 0; e < edges; ++e)
    for (int i = 0; i < half; ++i) plan.add_cable(static_cast<size_t>(e), agg(e / half, i), config);
  for (int pod = 0; pod < config.k; ++pod)
    for (int i = 0; i < half; ++i)
      for (int c = 0; c < half; ++c)
        plan.add_cable(agg(pod, i), index_of(2 * edges + i * half + c), config);
  return plan;
}

// A group's global cables go round its routers in turn, those to one other group beside each other.
FabricPlan dragonfly(const TopologyConfig& config) {
  FabricPlan plan;
  plan.name = "dragonfly";
  plan.routing = FabricRouting::dragonfly;
  const int routers = config.routers;
  for (int g = 0; g < config.groups; ++g)
    for (int r = 0; r < routers; ++r)
      plan.add_hosts(plan.add_switch(numbered("leaf", g * routers + r), kLeafTier, g),
                     config.hosts_per_router, config);
  for (int g = 0; g < config.groups; ++g)
    for (int a = 0; a < routers; ++a)
      for (int b = a + 1; b < routers; ++b)
        plan.add_cable(index_of(g * routers + a), index_of(g * routers + b), config);
  const auto owner = [&](int group, int other, int link) {
    const int before = other < group ? other : other - 1;  // groups that come first in its turn
    return index_of(group * routers + (before * config.global_links + link) % routers);
  };
  for (int g = 0; g < config.groups; ++g)
    for (int h = g + 1; h < config.groups; ++h)
      for (int i = 0; i < config.global_links; ++i)
        plan.add_cable(owner(g, h, i), owner(h, g, i), config);
  return plan;
}

}  // namespace

Result<FabricPlan> plan_fabric(const TopologyConfig& config) {
  if (Problems problems = check(config); !problems.empty()) return problems;
  FabricPlan plan;
  switch (config.kind) {
    case config::TopologyKind::leaf_spine:
      plan = leaf_spine(config);
      break;
    case config::TopologyKind::fat_tree:
      plan = fat_tree(config);
      break;
    case config::TopologyKind::dragonfly:
      plan = dragonfly(config);
      break;
    case config::TopologyKind::file:
    case config::TopologyKind::hpcc:
      return read_fabric(config);
  }
  name_cables(plan);
  number_nodes(plan);
  return plan;
}

}  // namespace eddy::lab
