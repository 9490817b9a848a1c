// What may look at a world or stand in a frame's way: filters of lines, watchers, and what is
// between a line and a NIC.
//
// Whoever sets one sees the world as one partition, instant by instant (world.h). Owner: whoever
// sets it; it outlives the world's run.
#pragma once

#include <cstddef>
#include <cstdint>

#include "net/packet.h"
#include "net/units.h"

namespace eddy::lab {

// Looks at frames of lines that are `filtered`, when they leave.
class LineFilter {
 public:
  struct Verdict {
    bool lose = false;
    bool duplicate = false;
    Duration extra_delay{};
  };
  virtual ~LineFilter() = default;
  virtual Verdict judge(uint32_t line, Packet& packet, Instant now) = 0;
};

// Sees every frame and every turn, as they happen; for checkers. It changes nothing but may stop().
class Watcher {
 public:
  enum class Step : uint8_t { entered, delivered, lost };
  virtual ~Watcher() = default;
  virtual void on_frame(uint32_t line, Step step, const Packet& packet) = 0;
  virtual void on_turn(uint32_t node) = 0;
  virtual void on_instant() = 0;  // all events and turns of now() are done
};

// Stands between a host's line and its NIC: takes frames, and hands them on by World::deliver().
class Intake {
 public:
  virtual ~Intake() = default;
  virtual void take(Packet* packet) = 0;
  virtual size_t held() const = 0;  // frames
};

}  // namespace eddy::lab
