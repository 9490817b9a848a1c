// What others may read of a port's queues and line, as frames start and end.
//
// Writer: the port's shard.
#pragma once

#include <atomic>
#include <cstdint>

#include "lb/path_view.h"
#include "net/ids.h"

namespace eddy {

inline void take_octets(std::atomic<uint32_t>& queued, uint32_t octets) {
  queued.store(queued.load(std::memory_order_relaxed) - octets, std::memory_order_relaxed);
}

// `queue`: kPriorities stands for a frame of the switch's own.
inline void put_on_line(lb::PortSignals& signals, uint8_t queue, uint32_t octets) {
  signals.line_bytes.store(octets, std::memory_order_relaxed);
  signals.line_queue.store(queue, std::memory_order_relaxed);
}

// The frame's octets are in no queue any more.
inline void take_off_line(lb::PortSignals& signals) {
  const uint8_t queue = signals.line_queue.load(std::memory_order_relaxed);
  if (queue != kPriorities)
    take_octets(signals.queued_bytes[queue], signals.line_bytes.load(std::memory_order_relaxed));
  signals.line_bytes.store(0, std::memory_order_relaxed);
}

}  // namespace eddy
