// SwitchNode: a Switch object in the virtual-time world, and the Io through which its one shard
// sees links and packets.
//
// Frames that arrive at one instant on several ports reach the shard in a seeded order that changes
// with the instant, so that no port is favoured; such ties are counted. With a burst limit
// (busy_poll) at most that many frames a port are read in a poll, the rest count as its backlog.
// Owner: the world. Cost: a few instructions a packet, however many wait unread; sorting only when
// more than one has come, or ports where there is a limit.
// Source: architecture, section 3.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "lab/world/packet_pool.h"
#include "lab/world/row.h"
#include "lb/packet_fifo.h"
#include "net/ids.h"
#include "net/packet.h"
#include "net/random.h"
#include "net/units.h"
#include "switch/dataplane/object/shard.h"
#include "switch/dataplane/object/switch.h"
#include "switch/dataplane/state/io.h"

namespace eddy::lab {

// Where a switch puts frames that leave; its partition.
class Wires {
 public:
  virtual ~Wires() = default;
  // The frame's last bit leaves at `packet.sent_at`; with `last` the line reports itself free then.
  // Always takes it: returns 1, as Io::transmit() does of one frame.
  virtual uint16_t send(uint32_t line, Packet* packet, bool last) = 0;
  // The line reports itself free at `at`, behind a frame that was not the `last`.
  virtual void await(uint32_t line, Instant at) = 0;
};

class SwitchIo final : public Io {
 public:
  struct Setup {
    Wires* wires = nullptr;
    PacketPool* pool = nullptr;
    uint32_t first_line = 0;  // line of port p = first_line + p
    size_t ports = 0;
    size_t burst = 0;  // frames a port and poll; 0 = all
    uint64_t seed = 0;
  };
  explicit SwitchIo(const Setup& setup);
  // From now on frames leave there, and packets come from this pool. `by_clock`: lines report
  // themselves only where the shard asks for it.
  void connect(Wires& wires, PacketPool& pool, bool by_clock) {
    setup_.wires = &wires;
    setup_.pool = &pool;
    news_.lines_by_clock = by_clock;
  }

  void arrive(PortId port, Packet* packet) {
    arrived_.append({0, port, packet});
    news_.packets = true;
  }
  void complete(PortId port) {
    completed_.append(port);
    news_.completions = completed_.all();
  }
  void change_link(PortId port, bool up) {
    links_.append({port, up});
    news_.link_changes = links_.all();
  }
  // Before each poll: puts what has arrived in order.
  void begin(Instant now) {
    if (arrived_.size() > 1 || unread_ != 0) [[unlikely]]
      order(now);
  }
  // After each poll: what was read is gone.
  void end() {
    if (!news_.completions.empty()) {
      completed_.clear();
      news_.completions = {};
    }
    if (!news_.link_changes.empty()) [[unlikely]] {
      links_.clear();
      news_.link_changes = {};
    }
    if (!news_.packets) return;
    news_.packets = unread_ != 0;
    arrived_.clear();
    read_ = 0;
  }

  // Nothing of it is left for the next poll.
  bool is_read() const {
    return !news_.packets && news_.completions.empty() && news_.link_changes.empty();
  }
  size_t waiting() const { return arrived_.size() + unread_; }
  bool has_waiting() const { return news_.packets; }
  // Lines have become free, or links have changed, and the shard has not been polled since.
  bool has_unread_news() const { return !completed_.empty() || !links_.empty(); }
  uint64_t ties() const { return ties_; }
  bool pool_was_empty() const { return pool_was_empty_; }
  // While set, the shard gets no packets of its own (a fault).
  void starve(bool on) { starved_ = on; }

  Received receive(std::span<Packet*> out) override;
  const News& news() override { return news_; }
  uint16_t transmit(PortId port, std::span<Packet* const> packets, Instant done) override;
  void await(PortId port, Instant at) override { setup_.wires->await(line_of(port), at); }
  Packet* allocate() override;
  void free(std::span<Packet* const> packets) override {
    for (Packet* packet : packets) setup_.pool->put(packet);
  }

 private:
  struct Arrival {
    uint64_t order;
    PortId port;
    Packet* packet;
  };
  uint32_t line_of(PortId port) const {
    return static_cast<uint32_t>(setup_.first_line + port.index());
  }
  void order(Instant now);
  void sort(uint64_t salt);
  void deal(uint64_t salt);
  Received receive_run(std::span<Packet*> out);
  uint16_t transmit_row(PortId port, std::span<Packet* const> packets, bool reported);
  size_t run_length(size_t from) const;  // arrivals of one port, from here on

  // Of a port, behind what this poll reads: its backlog.
  struct Unread {
    PacketFifo packets;
    Bytes octets;
  };
  struct Turn {
    uint64_t order;
    PortId port;
  };

  Setup setup_;
  Row<Arrival> arrived_;
  size_t read_ = 0;    // arrivals handed to the shard or skipped in this poll
  size_t unread_ = 0;  // of all ports
  Row<PortId> completed_;
  Row<LinkChange> links_;
  std::vector<Unread> unread_of_;  // by port; all empty without a burst limit
  Row<Turn> turns_;                // of ports with something unread
  uint64_t ties_ = 0;
  bool starved_ = false;
  bool pool_was_empty_ = false;
};

struct alignas(64) SwitchNode {  // its neighbours may be other threads'
  std::unique_ptr<Switch> object;
  std::unique_ptr<Shard> instead;  // WorldOptions::instead
  Shard* shard = nullptr;          // that is polled
  std::unique_ptr<SwitchIo> io;
  Instant wake_at = Instant::never();
  Instant stalled_until;         // a fault: not polled before
  Duration grid_offset;          // busy_poll
  RandomStream jitter{0, 0, 0};  // of its polls
  Duration clock_ahead;          // of the world's
  bool rebased = false;          // WorldOptions::rebase_every: forward, an odd number of times
  uint64_t polls = 0;            // counted where it is rebased
};

}  // namespace eddy::lab
