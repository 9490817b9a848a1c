// What the parts of one shard share: the poll in progress, the snapshot in force, counters, events
// and the state that the switch's shards have in common. No logic beyond counting.
//
// Owner: the shard; `common` is reached by all shards, each line of it with one writer
// (docs/adr/0003).
#pragma once

#include <rte_rcu_qsbr.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "lb/path_view.h"
#include "net/ids.h"
#include "net/packet.h"
#include "net/units.h"
#include "pfc/buffer_pool.h"
#include "switch/dataplane/counters.h"
#include "switch/dataplane/events.h"
#include "switch/dataplane/io.h"
#include "switch/dataplane/mailbox.h"
#include "switch/dataplane/shard.h"
#include "switch/dataplane/snapshot.h"

namespace eddy {

// Watermarks and state of an egress queue for readers; its octets are in PortSignals. Writer: the
// port's shard.
struct QueueGauge {
  std::atomic<int64_t> user_watermark{0};
  std::atomic<int64_t> persistent_watermark{0};
  std::atomic<bool> storm{false};
};

// State that shards share. Sized at construction, never moved.
struct CommonState {
  CommonState(size_t shard_count, size_t port_count);

  Mailbox& mail(size_t from, ShardId to) { return *mailboxes[from * shards + to.index()]; }
  size_t control() const { return shards; }  // as a sender of mail
  void publish(const Snapshot& now) {        // control
    snapshot.store(&now, std::memory_order_release);
    newest.store(now.generation, std::memory_order_relaxed);
  }
  pfc::PgBuffer& pg(PortId port, PriorityGroupId pg) {
    return pg_buffers[port.index() * kPriorities + pg.index()];
  }
  QueueGauge& gauge(PortId port, QueueId queue) {
    return queue_gauges[port.index() * kPriorities + queue.index()];
  }

  size_t shards;
  std::vector<lb::PortSignals> signals;
  std::vector<pfc::PgBuffer> pg_buffers;
  std::vector<pfc::PoolUse> pool_use;  // by shard
  std::vector<QueueGauge> queue_gauges;
  std::vector<std::unique_ptr<Mailbox>>
      mailboxes;  // [sender][receiver]; the last sender is control
  std::atomic<const Snapshot*> snapshot{nullptr};
  std::atomic<uint64_t> newest{0};           // its generation
  std::atomic<uint32_t> link_generation{0};  // grows with every change of PortSignals::up
  struct FreeAligned {
    void operator()(void* memory) const;
  };
  std::unique_ptr<rte_rcu_qsbr, FreeAligned> readers;
};

struct ShardContext {
  ShardContext(CommonState& common_state, ShardId self, size_t ports)
      : common(common_state),
        id(self),
        counters(ports),
        events(kEventCapacity),
        signals_(common_state.signals.data()) {}

  // Takes a snapshot into use.
  void obey(const Snapshot* latest) {
    snapshot = latest;
    ports_ = latest->ports.data();
  }
  const PortSettings& settings(PortId port) const { return ports_[port.index()]; }
  lb::PortSignals& signals(PortId port) { return signals_[port.index()]; }
  bool owns(PortId port) const { return settings(port).owner == id; }
  void event(EventKind kind, PortId port, uint64_t value = 0, Priority priority = {}) {
    events.push({now, value, port, priority, kind});
  }
  void count(PortId port, PortCounter which, uint64_t n = 1) { counters[port].port[which].add(n); }

  // Gives a packet back to the world, in bursts. The caller has counted it and released its charge.
  void free(Packet* packet) {
    freed_[freed_count_++] = packet;
    if (freed_count_ == freed_.size()) flush_freed();
  }
  void flush_freed() {
    if (freed_count_ != 0) io->free({freed_.data(), freed_count_});
    freed_count_ = 0;
  }

  static constexpr size_t kEventCapacity = 4096;

  CommonState& common;
  const ShardId id;
  Io* io = nullptr;  // during a poll
  Instant now;
  const Snapshot* snapshot = nullptr;
  Counters counters;
  EventRing events;
  PollStats stats;

 private:
  const PortSettings* ports_ = nullptr;  // of the snapshot
  lb::PortSignals* signals_;
  std::array<Packet*, 2 * kBurst> freed_{};
  size_t freed_count_ = 0;
};

}  // namespace eddy
