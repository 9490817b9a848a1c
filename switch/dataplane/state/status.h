// What control and the lab may ask about an object at any time: a priority group, a queue, the
// buffer, RLB's loop, and the balance of packets. Copies, stale by at most one poll.
#pragma once

#include <cstdint>

namespace eddy {

// The highest level since somebody cleared it.
struct Watermark {  // octets
  int64_t user = 0;
  int64_t persistent = 0;
};

struct PgStatus {    // octets
  int64_t used = 0;  // reserved + shared + headroom
  int64_t headroom = 0;
  int64_t xoff = 0;            // the threshold in force now
  Watermark shared_watermark;  // of used - headroom
  Watermark headroom_watermark;
  bool pausing = false;  // XOFF sent and not withdrawn
};

// What a storm of a queue did to packets, in the words of SONiC's `show pfcwd stats`.
struct StormPackets {
  uint64_t tx = 0;          // sent from the queue
  uint64_t tx_dropped = 0;  // discarded or refused there
  uint64_t rx = 0;          // admitted to the queue's priority groups, on the same port
  uint64_t rx_dropped = 0;  // discarded or refused there
};

struct QueueStatus {  // octets
  int64_t used = 0;
  Watermark watermark;
  bool paused = false;
  bool storm = false;       // the watchdog acts on it
  StormPackets last_storm;  // what the queue's counters pfcwd_... stood at when it began
};

struct BufferStatus {  // octets
  int64_t size = 0;
  int64_t reserved = 0;  // set aside: reserved and headroom of all PGs
  int64_t shared_size = 0;
  int64_t shared_used = 0;
  int64_t headroom_used = 0;
  int64_t stages_size = 0;  // set aside for what flow stages hold
  int64_t stages_used = 0;
  Watermark shared_watermark;
  Watermark headroom_watermark;
  Watermark stages_watermark;
};

// What is in RLB's loop of a shard.
struct LoopUse {
  int64_t octets = 0;
  int64_t most_octets = 0;  // that the configuration in force allows
  int64_t port_octets = 0;  // of one ingress port, the most
  uint32_t rounds = 0;      // that a packet has begun, the most since that configuration came
};

struct Balance {  // conservation: rx + originated == tx + consumed + dropped + held
  uint64_t rx = 0;
  uint64_t originated = 0;
  uint64_t tx = 0;
  uint64_t consumed = 0;
  uint64_t dropped = 0;
  uint64_t held = 0;
  bool holds() const { return rx + originated == tx + consumed + dropped + held; }
};

}  // namespace eddy
