// Places: which PortId the ports of a file have in a switch that runs.
//
// A switch has as many places for ports as its first file has ports and room for more
// (spare_ports); PortId = place. A port keeps its place as long as files name it, wherever it
// stands there; a place without a port is a PortConfig that is absent(). Control plane; pure.
// Source: docs/adr/0049.
#pragma once

#include <vector>

#include "config/config.h"
#include "net/ids.h"
#include "net/result.h"

namespace eddy::config {

// A place that no port has: down, in no class of traffic that anybody set aside anything for.
// `worker`: who looks after it.
PortConfig empty_place(int worker);

// Of the first file: its ports in their order, then the places to spare, dealt to the workers in
// turn.
SwitchConfig seated(SwitchConfig config);

struct Seating {
  SwitchConfig config;        // `next`, with ports by place
  std::vector<PortId> added;  // places that get a port, ascending
  std::vector<PortId> removed;
};
// A later file: ports by name where `running` has them, those that are new where it has nobody:
// first where their worker looks after the place already. A place that is left by the same file is
// no room yet. Problems: which ports find none, and how many there are.
Result<Seating> seated_like(const SwitchConfig& next, const SwitchConfig& running);

// The place of a port; the number of places: no port has the name.
size_t place_of(const SwitchConfig& config, const std::string& port);

}  // namespace eddy::config
