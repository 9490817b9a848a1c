// LatePauses: the pauses that a switch reads later than headroom is planned for.
//
// Headroom holds what a peer sends until its next poll. On a port where more is unread than a poll
// reads, a pause frame waits for what came before it, perhaps for many polls, and what is sent
// meanwhile has no place. The switch that wants the pause can do nothing about that. Such a pause
// is late until it ends, which is when its XON arrives. Owner: a Checker. Cost: a look at the
// frames that wait, a turn of a switch. Source: reference C.4.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "lab/world/world.h"
#include "net/ids.h"
#include "net/pause_frame.h"
#include "net/units.h"

namespace eddy::lab {

class LatePauses {
 public:
  // `in_time`: what a switch may take to read a frame. None: it reads what has arrived, all of it.
  LatePauses(World& world, std::optional<Duration> in_time);

  // A pause frame has come over the line, to a switch.
  void arrive(uint32_t line, const PauseFrame& pause);
  // The switch may have read.
  void look(uint32_t node);
  // A pause that the switch sent out of the port came late, and has not ended.
  bool late(uint32_t node, PortId port, Priority priority);

 private:
  struct Unread {
    uint32_t line;
    uint64_t place;  // among the frames that the line delivers
    Instant arrived;
    uint8_t priorities;
  };

  World& world_;
  std::optional<Duration> in_time_;
  std::vector<std::vector<Unread>> unread_;  // by switch
  std::vector<uint8_t> late_;                // priorities, by the line of the pause
};

}  // namespace eddy::lab
