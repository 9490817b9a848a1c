// ClassPair: the traffic class whose packets isolation puts apart, and the one that it puts them
// into, as the maps of a switch have them.
//
// Both mean the same on all ports. On fabric ports both are lossless, and the isolated one has a
// priority group, a queue and a priority that no other class has, so that what fills it pauses and
// holds up nothing else. At the first switch a packet stays charged to the group that it arrived
// in, and to hosts both classes leave by the normal one's queue: ports of hosts need no group for
// the isolated one. Control only. Source: docs/adr/0039.
#pragma once

#include <cstdint>

#include "config/config.h"
#include "net/ids.h"
#include "net/result.h"

namespace eddy::pfc {

struct ClassPair {
  struct Class {
    TrafficClass traffic_class;
    PriorityGroupId pg;
    QueueId queue;
    uint8_t dscp = 0;  // on the wire
    bool operator==(const Class&) const = default;
  };
  Class normal;
  Class isolated;
  Priority priority;  // that pauses the normal class: how messages name it
  bool operator==(const ClassPair&) const = default;
};

// Every reason why the configuration has none, with what would be valid.
[[nodiscard]] Result<ClassPair> class_pair_of(const config::SwitchConfig& config);

}  // namespace eddy::pfc
