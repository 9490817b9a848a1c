// DpdkIo: the world of one worker: its DPDK ports, its completions and its share of the pools.
//
// A poll is begin_poll(now), then Shard::poll. receive() visits each usable port once a poll, one
// burst each, starting one port further every time. A port's line is free at the `done` of its last
// transmit; those instants wait in a small heap, one entry a port. Thread: the worker's. Bounds: 32
// ports. Cost: a virtual call and a driver call a burst; a poll without completions or news costs
// two compares. Source: architecture, sections 3 and 6.
#pragma once

#include <rte_ethdev.h>

#include <array>
#include <span>
#include <vector>

#include "net/ids.h"
#include "net/rebase.h"
#include "net/units.h"
#include "switch/dataplane/object/shard.h"
#include "switch/dataplane/state/io.h"
#include "switch/dpdk/completion_calendar.h"
#include "switch/dpdk/port_cell.h"

namespace eddy {

struct IoPort {
  PortId id;
  PortCell* cell = nullptr;
};

class DpdkIo final : public Io {
 public:
  // `control_pool` feeds allocate(). The cells must start unusable and outlive this; those that are
  // not of `worker` are left alone.
  DpdkIo(std::span<const IoPort> ports, rte_mempool* control_pool, const Bell& bell, Shard& shard,
         uint16_t worker = 0);

  // Opens a poll at `now`: adopts news, finds what completed, lets every port be visited once more.
  void begin_poll(Instant now);
  Instant next_completion() const { return calendar_.next(); }
  // Between two polls.
  void rebase(const Rebase& rebase) {
    rebase.shift(now_);
    calendar_.rebase(rebase);
  }

  Received receive(std::span<Packet*> out) override;
  const News& news() override;
  uint16_t transmit(PortId port, std::span<Packet* const> packets, Instant done) override;
  Packet* allocate() override;
  void free(std::span<Packet* const> packets) override;

 private:
  struct PortState {
    IoPort port;
    uint16_t device = 0;  // DPDK's port number
    bool mine = false;
    bool usable = false;
    bool knows_backlog = false;  // the driver counts what waits in its receive queue
    uint64_t missed = 0;         // counted so far
    uint64_t no_buffer = 0;      // counted so far
  };

  void adopt_news();
  void adopt_owner(PortState& state);
  void count_losses(PortState& state);
  Received accept(const PortState& state, std::span<rte_mbuf* const> mbufs, Packet** out);
  uint16_t make_whole(PortId port, std::span<Packet*> packets);
  static void note_backlog(const PortState& state, std::span<Packet* const> burst,
                           Received& received);

  std::vector<PortState> ports_;
  std::vector<uint16_t> usable_;                // indices into ports_
  std::array<uint16_t, kMaxPorts> state_of_{};  // PortId -> index into ports_
  rte_mempool* control_pool_;
  const Bell& bell_;
  Shard& shard_;
  const uint16_t worker_;
  uint64_t bell_heard_ = 0;
  Instant now_;
  size_t first_ = 0;    // whose turn it is to be visited first
  size_t visited_ = 0;  // ports visited in this poll
  CompletionCalendar calendar_;
  std::vector<PortId> completed_;
  std::vector<LinkChange> changes_;
  size_t completed_count_ = 0;
  size_t change_count_ = 0;
};

}  // namespace eddy
