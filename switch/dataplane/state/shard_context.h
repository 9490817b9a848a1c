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
#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include "lb/packet_fifo.h"
#include "lb/path_view.h"
#include "net/addresses.h"
#include "net/deadlines.h"
#include "net/fault_sites.h"
#include "net/ids.h"
#include "net/memory/reserved.h"
#include "net/packet.h"
#include "net/rebase.h"
#include "net/units.h"
#include "pfc/buffer_pool.h"
#include "switch/dataplane/state/counters.h"
#include "switch/dataplane/state/credit_lane.h"
#include "switch/dataplane/state/events.h"
#include "switch/dataplane/state/io.h"
#include "switch/dataplane/state/mailbox.h"
#include "switch/dataplane/state/packet_lane.h"
#include "switch/dataplane/state/port_feeds.h"
#include "switch/dataplane/state/snapshot.h"

namespace eddy {

// An egress queue, in one line. Writer: the port's shard, to whom all is private but the atomics;
// its octets are in PortSignals.
struct alignas(64) EgressQueue {
  PacketFifo fifo;
  Instant progress_at;  // last packet sent, or became non-empty
  pfc::Watermarks watermarks;
  std::atomic<bool> storm{false};  // the watchdog acts on it
  bool row_open = false;           // packets may stand in its QueueRow, behind those of `fifo`
};
static_assert(sizeof(EgressQueue) == 64);

// What one shard has charged to the buffer of the flow stages, less what it gave back there, which
// may have been another's: only the sum of all lines means something. One line a shard.
struct alignas(64) StageUse {
  std::atomic<int64_t> octets{0};
  pfc::Watermarks watermarks;  // of what all shards hold, as this one has seen it
};

// What a queue's counters of storms stood at when the last one began. Writer: the port's shard.
struct LastStorm {
  std::atomic<uint64_t> tx{0};
  std::atomic<uint64_t> tx_dropped{0};
  std::atomic<uint64_t> rx{0};
  std::atomic<uint64_t> rx_dropped{0};
};

// The MAC at the other end of a fabric link, for readers on other threads. Writer: the port's
// shard.
class PeerMac {
 public:
  void write(const MacAddress& mac) {
    uint64_t octets = 0;
    std::memcpy(&octets, mac.octets.data(), mac.octets.size());
    octets_.store(octets, std::memory_order_relaxed);
  }
  MacAddress read() const {  // zero: not known
    const uint64_t octets = octets_.load(std::memory_order_relaxed);
    MacAddress mac;
    std::memcpy(mac.octets.data(), &octets, mac.octets.size());
    return mac;
  }

 private:
  std::atomic<uint64_t> octets_{0};
};

// What others have changed, rarely: the one line that a shard looks at in every poll, and there
// only at `count` while nothing has changed. Writers: control, but `links`: the shard of the link
// or the path.
struct alignas(64) Changes {
  std::atomic<const Snapshot*> snapshot{nullptr};
  std::atomic<uint64_t> newest{0};  // its generation
  std::atomic<uint64_t> grace{0};   // rte_rcu_qsbr's token to be passed
  std::atomic<uint32_t> links{0};   // changes of PortSignals::up and PathTable::failed()
  std::atomic<uint32_t> count{0};   // of all that is here; raised behind each change
  std::array<std::atomic<uint16_t>, kMaxShards> commands{};  // posted to each shard

  void publish(const Snapshot& now) {
    snapshot.store(&now, std::memory_order_release);
    newest.store(now.generation, std::memory_order_release);
    tell();
  }
  void pass_grace(uint64_t token) {
    grace.store(token, std::memory_order_release);
    tell();
  }
  void change_links() {
    links.fetch_add(1, std::memory_order_release);
    tell();
  }
  void post_command(ShardId shard) {
    std::atomic<uint16_t>& posted = commands[shard.index()];
    const unsigned before = posted.load(std::memory_order_relaxed);
    posted.store(static_cast<uint16_t>(before + 1), std::memory_order_release);
    tell();
  }

 private:
  void tell() { count.fetch_add(1, std::memory_order_release); }
};
static_assert(sizeof(Changes) == 64);

// How far a shard has got: what it selected in polls before this instant is with the shards of the
// egress ports, or in their lanes. Written while paths are measured.
struct alignas(64) GivenTo {
  std::atomic<int64_t> at_ps{0};
};

// State that shards share. Sized at construction, never moved.
struct CommonState {
  CommonState(size_t shard_count, size_t port_count, FaultProbe fault_sites = {});

  Mailbox& mail(size_t from, ShardId to) { return *mailboxes[from * shards + to.index()]; }
  PacketLane& lane(ShardId from, ShardId to) { return *lanes[from.index() * shards + to.index()]; }
  CreditLane& credits(ShardId from, ShardId to) {
    return *credit_lanes[from.index() * shards + to.index()];
  }
  size_t control() const { return shards; }  // as a sender of mail
  pfc::PgBuffer& pg(PortId port, PriorityGroupId pg) {
    return pg_buffers[port.index() * kPriorities + pg.index()];
  }
  EgressQueue& queue(PortId port, QueueId queue) {
    return queues[port.index() * kPriorities + queue.index()];
  }

  LastStorm& last_storm(PortId port, QueueId queue) {
    return last_storms[port.index() * kPriorities + queue.index()];
  }
  // While no shard is polling.
  void rebase(const Rebase& rebase);

  Changes changes;
  size_t shards;
  std::vector<lb::PortSignals> signals;
  std::vector<pfc::PgBuffer> pg_buffers;
  std::vector<pfc::PoolUse> pool_use;  // by shard
  std::vector<StageUse> stage_use;     // by shard
  std::vector<EgressQueue> queues;
  Reserved<LastStorm> last_storms;  // by port and queue
  std::vector<PeerMac> peer_macs;   // by port
  PortFeeds feeds;
  std::vector<GivenTo> given;  // by shard
  std::vector<std::unique_ptr<Mailbox>>
      mailboxes;  // [sender][receiver]; the last sender is control; null to oneself
  std::vector<std::unique_ptr<PacketLane>> lanes;         // [sender][receiver]; null to oneself
  std::vector<std::unique_ptr<CreditLane>> credit_lanes;  // likewise
  struct FreeAligned {
    void operator()(void* memory) const;
  };
  std::unique_ptr<rte_rcu_qsbr, FreeAligned> readers;
  [[no_unique_address]] FaultProbe sites;
};

// Whose next deadlines stand in ShardContext::timers.
enum class Timers : uint8_t {
  egress,
  ingress_buffer,
  pause_sender,
  pause_receiver,
  watchdog,
  peers,
  neighbors,
  predictor,
  warnings,
  paths,
  agents,
  recirculation,
  stages,
  hot_ports,
  isolation,
};
inline constexpr size_t kTimers = static_cast<size_t>(Timers::isolation) + 1;

// Ordered by use, a line each: what every poll reads; what a departing frame needs; what an
// arriving one needs besides; and the rest.
struct alignas(64) ShardContext {
  ShardContext(CommonState& common_state, ShardId self, size_t ports);

  // Takes a snapshot into use.
  void obey(const Snapshot* latest);
  const PortSettings& settings(PortId port) const { return ports_[port.index()]; }
  const PortPlans& plans(PortId port) const { return snapshot->plans[port.index()]; }
  lb::PortSignals& signals(PortId port) { return signals_[port.index()]; }
  pfc::PgBuffer& pg(PortId port, PriorityGroupId pg) {
    return pgs_[port.index() * kPriorities + pg.index()];
  }
  EgressQueue& queue(PortId port, size_t queue) {
    return queues_[port.index() * kPriorities + queue];
  }
  // For the selector, now.
  lb::PathView view() { return {now, path_sets, live, signals_, aids}; }
  lb::PathView view_without_loop() {
    lb::PathAids fewer = aids;
    fewer.loop = nullptr;
    return {now, path_sets, live, signals_, fewer};
  }
  // What the site stands for happens now.
  bool fires(FaultSite site) const { return common.sites.fires(site); }
  bool owns(PortId port) const { return sole || settings(port).owner == id; }
  void event(EventKind kind, PortId port, uint64_t value = 0, Priority priority = {}) {
    events.push({now, value, port, priority, kind, epoch});
  }
  void count(PortId port, PortCounter which, uint64_t n = 1) { counters[port].port[which].add(n); }
  // By mail; false: the mailbox is full, nothing is sent.
  [[nodiscard]] bool tell(ShardId to, const Message& message) {
    return !fires(FaultSite::mailbox_full) && common.mail(id.index(), to).send(message);
  }
  // Where a part's next deadline is kept.
  DeadlinePlace due_of(Timers which) { return timers.place(static_cast<size_t>(which)); }
  bool is_due(Timers which) const { return timers.at(static_cast<size_t>(which)) <= now; }

  // Gives a packet back to the world, in bursts. The caller has counted it and released its charge.
  void free(Packet* packet) {
    freed_[freed_count_++] = packet;
    if (freed_count_ == freed_.size()) flush_freed();
  }
  bool has_freed() const { return freed_count_ != 0; }
  void flush_freed() {
    if (!has_freed()) return;
    io->free({freed_.data(), freed_count_});
    freed_count_ = 0;
  }

  static constexpr size_t kEventCapacity = 4096;

  Io* io = nullptr;  // during a poll
  Instant now;
  CommonState& common;

 private:
  uint32_t freed_count_ = 0;

 public:
  const ShardId id;
  const bool sole;  // the only shard: everything is its own
  PollStats stats;

 private:
  const PortSettings* ports_ = nullptr;  // of the snapshot
  lb::PortSignals* signals_;
  pfc::PgBuffer* pgs_;
  EgressQueue* queues_;

 public:
  DeadlineBoard<kTimers> timers;  // of what is due, the earliest by part
  Counters counters;
  const Snapshot* snapshot = nullptr;
  const lb::Dre* dre = nullptr;  // of the snapshot, as are those that follow
  const RouteTable* routes = nullptr;
  const NextHop* next_hops = nullptr;
  const lb::MemberMask* live = nullptr;  // by path set
  lb::Selector* selector = nullptr;
  std::span<const lb::PathSet> path_sets;
  lb::WaitingRoom* loop = nullptr;       // the shard's
  lb::PathAids aids;                     // what of this the selector may lean on
  lb::WarningTable* warnings = nullptr;  // null: RLB is off
  PortFeeds* feeds = nullptr;            // null: RLB is off
  IsolatedHosts* isolated = nullptr;     // null: nobody has been isolated since the start
  lb::PathTable* paths = nullptr;        // null: no path is measured
  uint32_t shim_reserve = 0;             // octets that a packet to another leaf may yet grow by
  bool dressing = false;                 // packets to other leaves may get a shim
  // Queues hold at each burst what the burst before has brought; else what all of a poll have
  // brought is counted at once.
  bool counts_by_burst = true;
  // Bit = packets of the priority group may be to be isolated, or are; nobody is while it is 0.
  uint8_t isolating = 0;
  Instant host_isolated_at = Instant::long_past();  // a packet to a host that was named whole
  // Of what a QueueRow keeps: a snapshot, a peer, a neighbor, a port that comes or goes, a queue
  // that is emptied.
  uint64_t way_changes = 1;
  EventRing events;
  int32_t epoch = 0;  // rebases of `now`

 private:
  std::array<Packet*, 2 * kBurst> freed_{};
};

}  // namespace eddy
