// PauseClock: which priorities of a NIC its switch has paused, and for how long they were.
//
// A pause is timed at the line's speed from the moment its frame is received; time 0 resumes at
// once, and a new time replaces the old one. Ends are noticed by expire(). Owner: one Nic. Cost:
// blocked() is a bit; a frame 8 steps. Source: reference C.1, C.5.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "net/ids.h"
#include "net/pause_frame.h"
#include "net/units.h"

namespace eddy::host {

class PauseClock {
 public:
  explicit PauseClock(BitRate speed) : line_(speed) {}

  void apply(const PauseFrame& frame, Instant now) {
    expire(now);
    for (size_t i = 0; i < kPriorities; ++i)
      if ((frame.enabled >> i & 1) != 0) set(i, frame.quanta[i], now);
  }

  void expire(Instant now) {
    if (paused_ != 0) [[unlikely]]
      expire_some(now);
  }

  // As of the last expire().
  bool blocked(Priority priority) const { return (paused_ >> priority.index() & 1) != 0; }
  // Of a blocked priority.
  Instant end_of(Priority priority) const { return pauses_[priority.index()].until; }

  bool paused(Priority priority, Instant now) const {
    return blocked(priority) && now < end_of(priority);
  }
  Duration paused_time(Priority priority, Instant now) const {
    const Pause& pause = pauses_[priority.index()];
    if (!blocked(priority)) return pause.total;
    return pause.total + (std::min(now, pause.until) - pause.since);
  }

 private:
  [[gnu::noinline]] void expire_some(Instant now) {
    for (size_t i = 0; i < kPriorities; ++i)
      if (blocked(Priority(i)) && pauses_[i].until <= now) end(i, pauses_[i].until);
  }
  struct Pause {
    Instant since;
    Instant until;
    Duration total;  // of the pauses that have ended
  };

  void set(size_t i, uint16_t quanta, Instant now) {
    const bool running = blocked(Priority(i));
    if (quanta == 0) {
      if (running) end(i, now);
      return;
    }
    if (!running) pauses_[i].since = now;
    pauses_[i].until = now + line_.time_of_quanta(quanta);
    paused_ = static_cast<uint8_t>(paused_ | 1u << i);
  }
  void end(size_t i, Instant at) {
    pauses_[i].total += at - pauses_[i].since;
    paused_ = static_cast<uint8_t>(paused_ & ~(1u << i));
  }

  LineRate line_;
  uint8_t paused_ = 0;
  std::array<Pause, kPriorities> pauses_{};
};

}  // namespace eddy::host
