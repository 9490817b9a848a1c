// Pause frames that no NIC of the lab sends by itself: those of slow receivers and of storms.
//
// They are put on a line at once and take no line time. Cost: a packet of the pool; nothing happens
// when it is empty. Source: 802.1Q clause 36.
#pragma once

#include <cstdint>

#include "lab/world/world.h"
#include "net/addresses.h"
#include "net/ids.h"
#include "net/pause_frame.h"

namespace eddy::lab {

struct PauseOrder {
  Priority priority{0};
  uint16_t quanta = 0;  // 0: resume
};

inline bool inject_pause(World& world, uint32_t line, const MacAddress& source,
                         const PauseOrder& order) {
  Packet* packet = world.pool().get();
  if (packet == nullptr) return false;
  PauseFrame frame{.source = source};
  frame.set(order.priority, order.quanta);
  const size_t length = encode(frame, {packet->data(), PacketPool::kDataRoom});
  packet->set_length(length, length);
  world.inject(line, packet);
  return true;
}

}  // namespace eddy::lab
