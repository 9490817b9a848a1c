// Switch: the object. N shards (one a worker), the state they share, and the immutable snapshot
// they obey.
//
// It never asks for the time, for randomness or for memory: construction allocates all, polls only
// use it. Threads: shard(i) belongs to the worker that polls it; everything marked "control" to one
// control thread; everything marked "any" may be read from any thread and is stale by at most one
// poll. Source: architecture, sections 1, 3 and 6.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "config/config.h"
#include "lb/path_view.h"
#include "net/addresses.h"
#include "net/ids.h"
#include "net/rebase.h"
#include "net/result.h"
#include "net/units.h"
#include "switch/dataplane/object/shard.h"
#include "switch/dataplane/state/command.h"
#include "switch/dataplane/state/counters.h"
#include "switch/dataplane/state/delay_histogram.h"
#include "switch/dataplane/state/events.h"
#include "switch/dataplane/state/options.h"
#include "switch/dataplane/state/status.h"

namespace eddy {

class Switch {
 public:
  // `config` is scaled and valid, PortConfig::worker < shards. Control.
  static Result<std::unique_ptr<Switch>> create(const config::SwitchConfig& config,
                                                const SwitchOptions& options);
  ~Switch();

  size_t shard_count() const;
  Shard& shard(ShardId id);

  // A new configuration: all of it or nothing, adopted by each shard at its next poll. Keys classed
  // `restart` must not differ. Returns the generation. Control.
  Result<uint64_t> reconfigure(const config::SwitchConfig& config);
  // Frees snapshots that no shard can see any more; returns how many are still waiting. Control.
  size_t reclaim();
  // False when the shard's mailbox is full. Control.
  bool post(ShardId shard, Command& command);

  // The clock of every shard goes back: polls go on with an `now` that much earlier. Control, while
  // no shard is polling. Cost: a walk over all that keeps time, flow tables among it.
  void rebase(const Rebase& rebase);
  // For how long a received pause that is in force has lasted up to `now`, less what
  // pfc_rx_paused_ps has of it: that is counted when a pause ends or is renewed. Control, while no
  // shard is polling.
  Duration uncounted_pause(PortId port, Priority priority, Instant now) const;

  // Any.
  size_t port_count() const;
  const config::SwitchConfig& config() const;  // control: what the newest snapshot was built from
  const Counters& counters(ShardId shard) const;
  const DelayHistogram& waits(ShardId shard) const;  // in RLB's loop, a packet that went round
  // From a host port's threshold to a switch that hears of it, and to the first packet that a host
  // there sends and that is isolated; while switches share a clock.
  const DelayHistogram& heard(ShardId shard) const;
  const DelayHistogram& isolated(ShardId shard) const;
  EventRing& events(ShardId shard);  // pop: control
  const lb::PortSignals& signals(PortId port) const;
  PgStatus pg_status(PortId port, PriorityGroupId pg) const;
  QueueStatus queue_status(PortId port, QueueId queue) const;
  // A packet in the queue came in by the port `from` and is charged to its group there. To be asked
  // only while no shard is polling. Cost: a walk along the queue.
  bool holds_of(PortId port, QueueId queue, PortId from, PriorityGroupId pg) const;
  BufferStatus buffer_status() const;
  // Of the switch behind a fabric port, configured or learned; zero: not known.
  MacAddress peer_mac(PortId port) const;
  // Of the newest snapshot. Control. Null: no path is measured.
  const lb::PathTable* paths() const;
  std::span<const lb::PathSet> path_sets() const;
  // Exact only while no shard is polling.
  Balance balance() const;
  LoopUse loop_use(ShardId shard) const;

 private:
  struct State;
  explicit Switch(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace eddy
