#include "lab/fabric/fabric_plan.h"

#include <map>
#include <utility>

namespace eddy::lab {

size_t FabricPlan::add_switch(std::string switch_name, int tier, int group) {
  switches.push_back({std::move(switch_name), tier, group, 0});
  return switches.size() - 1;
}

void FabricPlan::add_hosts(size_t at, int count, const config::TopologyConfig& config) {
  for (int i = 0; i < count; ++i) hosts.push_back({at, config.host_rate, config.host_delay, 0});
}

void FabricPlan::add_cable(size_t a, size_t b, const config::TopologyConfig& config) {
  cables.push_back({a, b, config.fabric_rate, config.fabric_delay, true, {}});
}

void name_cables(FabricPlan& plan) {
  std::map<std::pair<size_t, size_t>, int> seen;
  for (FabricPlan::Cable& cable : plan.cables) {
    const int ordinal = ++seen[{cable.a, cable.b}];
    cable.name = plan.switches[cable.a].name + "-" + plan.switches[cable.b].name;
    if (ordinal > 1) cable.name += "." + std::to_string(ordinal);
  }
}

void number_nodes(FabricPlan& plan) {
  uint32_t next = 0;
  for (FabricPlan::Host& host : plan.hosts) host.number = next++;
  for (FabricPlan::Node& node : plan.switches) node.number = next++;
}

}  // namespace eddy::lab
