// Io: everything a shard takes from and gives to its world, in bursts. The world implements it; the
// shard calls it from poll() only. Two worlds exist: DPDK ports and the TSC clock (switch/dpdk),
// and virtual time (the lab, tests).
//
// Ownership: a received packet belongs to the shard; an accepted transmit or a free() gives it back
// to the world. Thread: the shard's. Cost: a virtual call a burst. Source: architecture, sections
// 2, 3 and 6.
#pragma once

#include <cstdint>
#include <span>

#include "net/ids.h"
#include "net/packet.h"
#include "net/units.h"

namespace eddy {

struct Received {
  PortId port;
  uint16_t count = 0;  // packets written; 0 ends the poll's reception
  // Readable but not yet read on this port, where the world knows it: counts towards XOFF and XON.
  Bytes backlog{0};
  uint32_t backlog_packets = 0;  // that it is made of: each takes whole cells
  bool last = false;             // the world knows that this is all: the poll does not ask again
  bool sums_good = false;  // the world has found the checksum of each packet's IPv4 header good
};

struct LinkChange {
  PortId port;
  bool up = false;
};

struct News {
  // Ports whose line became free: the `done` of their last transmit() is not after this poll's now.
  // A port reported early or twice is harmless.
  std::span<const PortId> completions;
  std::span<const LinkChange> link_changes;  // in order; ports start down
  bool packets = true;                       // false: receive() would bring none
  // The world reports only the lines that it is asked for. The shard knows by the clock when the
  // others are free, and settles what has left them when it is next polled.
  bool lines_by_clock = false;
  // The world asks for no order among frames of different ports that one poll sends: each port has
  // a queue of its own, as those of NICs have.
  bool ports_apart = false;
};

// What a poll did.
struct PollStats {
  uint32_t received = 0;
  uint32_t transmitted = 0;
  uint32_t messages = 0;  // from other shards and control
  bool idle() const { return received + transmitted + messages == 0; }
};

class Io {
 public:
  virtual ~Io() = default;

  // The next burst, all from one port. The world has set the mbuf's data and Packet::wire_len;
  // nothing else of Packet.
  virtual Received receive(std::span<Packet*> out) = 0;
  // What has happened since the last poll. Valid until the next call.
  virtual const News& news() = 0;

  // Hands frames to `port` in order; each carries Packet::sent_at, when its last bit leaves the
  // (virtual) line. `done` is the last one's; never(), with News::lines_by_clock: the line need not
  // be reported. Returns how many were taken from the front; the rest stay with the shard.
  virtual uint16_t transmit(PortId port, std::span<Packet* const> packets, Instant done) = 0;
  // With News::lines_by_clock: a line that need not be reported is to be after all. It is free at
  // `at`.
  virtual void await(PortId /*port*/, Instant /*at*/) {}

  // An empty packet for a frame of our own (data_len 0, room for 1,500 octets), from a reserved
  // pool; null if exhausted.
  virtual Packet* allocate() = 0;
  virtual void free(std::span<Packet* const> packets) = 0;

 protected:
  News news_;  // where an implementation may keep what news() returns
};

}  // namespace eddy
