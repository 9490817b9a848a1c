// Command: a request from control to a shard, and the rows that it is answered with.
//
// Owner: whoever posts it (Switch::post), until `done`. The shard writes rows into memory that the
// caller brought; it allocates none.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "lb/path_table.h"
#include "lb/selector.h"
#include "net/addresses.h"
#include "net/ids.h"
#include "net/units.h"
#include "pfc/watermarks.h"

namespace eddy {

struct CaptureOrder;
struct Explanation;

struct NeighborRow {
  IpAddress address;
  MacAddress mac;
  PortId port;
  Duration age;            // since last confirmed
  bool is_static = false;  // configured with its MAC
  bool lost = false;       // does not answer any more; its MAC is still used
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
  lb::PathKnowledge told;  // what the scheme has of others
};

// A flow that RLB's order guard watches, as its shard knows it.
struct FlowRow {
  uint64_t flow = 0;     // its order hash, but for bit 0; of a slot its first flow's
  LeafId leaf;           // where it goes; none: there are too many path sets to tell
  uint16_t set = 0;      // the path set to it
  uint8_t member = 0;    // that its last packet took
  uint8_t wanted = 0;    // that the scheme wanted for it; of a slot not known
  bool guarded = false;  // arrivals on its path are proven (PathTable::arrived_before)
  bool slot = false;     // all flows of one (lb/flow_slots.h)
  bool shared = false;   // flows to several leaves; to which is not known
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
  size_t watched = 0;        // flows in it: of the slice, or with the first slice all
  size_t scheme_places = 0;  // in the scheme's own table; 0: it keeps none
  size_t scheme_flows = 0;   // flows or flowlets in it, of the slice; of them, if `phased`:
  bool phased = false;
  size_t asking = 0;  // as lb::FlowTableUse has them
  size_t moved = 0;
};

// A host or flow that congests a port of this switch, or whose packets are isolated here.
struct IsolatedRow {
  enum class Named : uint8_t { unknown, host, flow };  // what the tag is of
  // hot: others are told, or have told. crowded: nobody is told, since most of the leaf's hosts are
  // hot. cold: what is on its way to it isolated keeps it known.
  enum class State : uint8_t { hot, crowded, cold };
  uint32_t tag = 0;
  uint32_t host = 0;      // the tag of its host; `tag` where that is not known
  IpAddress destination;  // all zero: not known to the shard
  LeafId leaf;            // the destination's; none(): not known
  PortId port;            // of this switch, that it congests; none(): it is elsewhere
  SwitchId origin;        // who told of it; none(): nobody
  Named named{};
  State state{};
  bool was_hot = false;      // `hot_for` says something
  Duration hot_for;          // since it became hot, as known here
  uint32_t queue_bytes = 0;  // of its port: now, or by the last message
  uint64_t packets = 0;      // isolated here for it
  uint64_t flows = 0;        // theirs, a bit each: IsolatedHost::flow_bit()
};

// A slice of what a shard knows of them: at most kPlaces places from `next` on are looked at.
struct IsolatedScan {
  static constexpr size_t kPlaces = 1'024;
  std::span<IsolatedRow> rows;  // in: kPlaces of them
  size_t next = 0;              // in: where to begin; out: where to go on
  bool more = false;            // out: there is more, from `next` on
  size_t row_count = 0;         // out
};

// What has watermarks.
enum class WatermarkOf : uint8_t { pg_shared, pg_headroom, queue, pool, headroom_pool, stages };
inline constexpr size_t kWatermarkOf = static_cast<size_t>(WatermarkOf::stages) + 1;

// Which watermarks are meant.
struct WatermarkScope {
  pfc::WatermarkKind kind = pfc::WatermarkKind::user;
  uint8_t of = (1u << kWatermarkOf) - 1;  // mask of WatermarkOf
  bool has(WatermarkOf what) const { return (of >> static_cast<unsigned>(what) & 1) != 0; }
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
    scan_isolated,
    drain,
    capture,
    explain,
  };
  Kind kind{};
  PortId port = PortId::none();           // clear_watermarks: none is every port, and the pools
  WatermarkScope watermarks;              // clear_watermarks
  bool on = false;                        // set_port_tx
  std::span<NeighborRow> rows;            // dump_neighbors: filled from the front
  std::span<PathRow> path_rows;           // dump_paths: the same, all members of all sets in order
  FlowScan flows;                         // scan_flows
  IsolatedScan isolated;                  // scan_isolated
  const CaptureOrder* capture = nullptr;  // capture: null ends it
  Explanation* explanation = nullptr;     // explain: filled in
  size_t row_count = 0;
  Command* next = nullptr;        // the shard's, while it waits
  std::atomic<bool> done{false};  // set last, with release
};

}  // namespace eddy
