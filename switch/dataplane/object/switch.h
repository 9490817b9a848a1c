// Switch: the object. N shards (one a worker), the state they share, and the immutable snapshot
// they obey.
//
// It never asks for the time, for randomness or for memory: construction allocates all, polls only
// use it. Threads: shard(i) belongs to the worker that polls it; everything marked "control" to one
// control thread; everything marked "any" may be read from any thread and is stale by at most one
// poll. Source: architecture, sections 1, 3 and 6.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "config/config.h"
#include "lb/path_view.h"
#include "net/addresses.h"
#include "net/fault_sites.h"
#include "net/ids.h"
#include "net/result.h"
#include "net/units.h"
#include "switch/dataplane/state/counters.h"
#include "switch/dataplane/state/delay_histogram.h"
#include "switch/dataplane/state/events.h"
#include "switch/dataplane/state/routes.h"

namespace eddy {

class Shard;

// What a world decides about an object, beside its configuration.
struct SwitchOptions {
  size_t shards = 1;                         // 1..16
  RouteEngine routes = RouteEngine::ranges;  // automatic and fib need an EAL
  std::shared_ptr<const RouteTable>
      shared_routes;                       // a fabric's common table; null = from the configuration
  [[no_unique_address]] FaultProbe sites;  // of all shards
};

struct NeighborRow {
  IpAddress address;
  MacAddress mac;
  PortId port;
  Duration age;  // since last confirmed
  bool is_static = false;
};

// A member of a path set, as the shard that is asked sees it.
struct PathRow {
  LeafId leaf;            // the set's
  uint8_t member = 0;     // of the set
  bool live = false;      // its port is up
  bool measured = false;  // lately: `delay` and `age` say something
  bool failed = false;    // excluded by a detector
  bool last = false;      // but used, for want of another
  lb::PathFailure failure{};
  Duration delay;          // smoothed, in the metric of the configuration
  Duration least_delay;    // ever measured; 0: never
  Duration age;            // since the last sample
  uint16_t marked = 0;     // of its packets, 65535: all
  uint8_t congestion = 0;  // most utilised link, 255: full
  uint8_t unanswered = 0;  // requests in a row
  uint8_t warned = 0;      // queues
  uint8_t severity = 0;    // of the worst warning, 1 to 63
  uint8_t paused = 0;      // queues
};

// A flow that RLB's order guard watches, as its shard knows it.
struct FlowRow {
  uint64_t flow = 0;     // its order hash, but for bit 0
  LeafId leaf;           // where it goes; none: there are too many path sets to tell
  uint16_t set = 0;      // the path set to it
  uint8_t member = 0;    // that its last packet took
  uint8_t wanted = 0;    // that the scheme wanted for it
  bool guarded = false;  // arrivals on its path are proven (PathTable::arrived_before)
  uint16_t worker = 0;   // whose flow it is; control's to say
  Duration idle;         // since its last packet
};

// A slice of a shard's tables of flows: at most kPlaces places from `next` on are looked at.
struct FlowScan {
  static constexpr size_t kPlaces = 4'096;
  std::span<FlowRow> rows;   // in: kPlaces of them; the watched flows of the slice
  size_t next = 0;           // in: where to begin; out: where to go on
  bool more = false;         // out: there is more, from `next` on
  size_t row_count = 0;      // out, as what follows
  size_t places = 0;         // in the table of the order guard; 0: RLB is off
  size_t watched = 0;        // flows in it
  size_t scheme_places = 0;  // in the scheme's own table; 0: it keeps none
  size_t scheme_flows = 0;   // flows or flowlets in it, of the slice
};

struct PgStatus {    // octets
  int64_t used = 0;  // reserved + shared + headroom
  int64_t headroom = 0;
  int64_t xoff = 0;  // the threshold in force now
  int64_t user_watermark = 0;
  int64_t persistent_watermark = 0;
  bool pausing = false;  // XOFF sent and not withdrawn
};

struct QueueStatus {  // octets
  int64_t used = 0;
  int64_t user_watermark = 0;
  int64_t persistent_watermark = 0;
  bool paused = false;
  bool storm = false;  // the watchdog acts on it
};

struct BufferStatus {  // octets
  int64_t size = 0;
  int64_t reserved = 0;  // set aside: reserved and headroom of all PGs
  int64_t shared_size = 0;
  int64_t shared_used = 0;
  int64_t headroom_used = 0;
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

// A request from control to a shard, carried out inside its next poll. The caller owns it until
// done.
struct Command {
  enum class Kind : uint8_t {
    set_port_tx,
    clear_watermarks,
    dump_neighbors,
    dump_paths,
    scan_flows,
    drain,
  };
  Kind kind{};
  PortId port;
  bool on = false;               // set_port_tx
  std::span<NeighborRow> rows;   // dump_neighbors: filled from the front
  std::span<PathRow> path_rows;  // dump_paths: the same, all members of all sets in order
  FlowScan flows;                // scan_flows
  size_t row_count = 0;
  Command* next = nullptr;        // the shard's, while it waits
  std::atomic<bool> done{false};  // set last, with release
};

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

  // Any.
  size_t port_count() const;
  const config::SwitchConfig& config() const;  // control: what the newest snapshot was built from
  const Counters& counters(ShardId shard) const;
  const DelayHistogram& waits(ShardId shard) const;  // in RLB's loop, a packet that went round
  EventRing& events(ShardId shard);                  // pop: control
  const lb::PortSignals& signals(PortId port) const;
  PgStatus pg_status(PortId port, PriorityGroupId pg) const;
  QueueStatus queue_status(PortId port, QueueId queue) const;
  BufferStatus buffer_status() const;
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
