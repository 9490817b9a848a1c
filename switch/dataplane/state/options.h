// SwitchOptions: what a world decides about an object, beside its configuration.
#pragma once

#include <cstddef>
#include <memory>

#include "net/fault_sites.h"
#include "switch/dataplane/state/routes.h"

namespace eddy {

struct SwitchOptions {
  size_t shards = 1;                         // 1..16
  RouteEngine routes = RouteEngine::ranges;  // automatic and fib need an EAL
  std::shared_ptr<const RouteTable>
      shared_routes;                       // a fabric's common table; null = from the configuration
  [[no_unique_address]] FaultProbe sites;  // of all shards
};

}  // namespace eddy
