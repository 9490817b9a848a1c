// What others may read of a port's queues and line, as frames start and end, and what is counted of
// frames that the device took.
//
// Writer: the port's shard.
#pragma once

#include <atomic>
#include <cstdint>

#include "lb/path_view.h"
#include "net/ids.h"
#include "switch/dataplane/state/shard_context.h"

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

inline void count_sent_of_queue(const PortTally& counters, uint8_t queue, uint32_t frames,
                                uint32_t octets) {
  counters.queue[queue][QueueCounter::queue_tx_packets].add(frames);
  counters.queue[queue][QueueCounter::queue_tx_bytes].add(octets);
}

// Of all queues of the port, and frames of our own.
inline void count_sent(ShardContext& context, const PortTally& counters, lb::PortSignals& signals,
                       uint32_t frames, uint32_t octets, Instant now) {
  counters.port[PortCounter::tx_packets].add(frames);
  counters.port[PortCounter::tx_bytes].add(octets);
  context.dre->add(signals, octets, now);
  context.stats.transmitted += frames;
}

}  // namespace eddy
