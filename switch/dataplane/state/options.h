// SwitchOptions: what a world decides about an object, beside its configuration.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

#include "lb/flow_stage.h"
#include "net/fault_sites.h"
#include "switch/dataplane/state/routes.h"

namespace eddy {

// A stage at the place that whoever embeds the object adds, for a shard; null: none. A stage that
// it returns again stays as it is.
using StageMaker = std::function<std::shared_ptr<lb::FlowStage>(lb::StagePlace, ShardId)>;

inline constexpr size_t kMostStages = 3;  // at a place: the maker's, the scheme's, the resequencer

struct SwitchOptions {
  size_t shards = 1;                         // 1..16
  RouteEngine routes = RouteEngine::ranges;  // automatic and fib need an EAL
  std::shared_ptr<const RouteTable>
      shared_routes;                       // a fabric's common table; null = from the configuration
  [[no_unique_address]] FaultProbe sites;  // of all shards
  StageMaker stage;                        // null: none
};

}  // namespace eddy
