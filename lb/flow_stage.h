// FlowStage: what holds, orders, paces or marks packets of a flow at the edge of the fabric, on
// their way to hosts or from them.
//
// The data plane owns the place (switch/dataplane/queues/flow_stages.h): it hands a stage bursts in
// the order in which they would go on, charges what is held, runs timers, and takes everything back
// when a stage is replaced, a switch is drained, or something was held for longer than the stage
// said. Several stages may stand behind each other; what one passes is the next one's burst. A
// stage sees the packet's line, the frame's headers and the signals of ports. It keeps what it
// holds in lists of its own, linked by Packet::next. Units: octets, of frames. Owner: one shard.
// Bounds: what it says in bounds(); it allocates nothing after construction. Cost: one virtual call
// a burst, one more for a packet that is held, released or marked; nothing where no stage stands.
// Source: docs/adr/0026; reference A.12, A.13.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "lb/packet_fifo.h"
#include "lb/path_view.h"
#include "net/assert.h"
#include "net/ids.h"
#include "net/packet.h"
#include "net/rebase.h"
#include "net/units.h"

namespace eddy::lb {

enum class StagePlace : uint8_t {
  from_hosts,  // admitted at a host's port, and no path chosen yet; at the shard of that port
  to_hosts,    // on the way to a host's port; at the shard of that port
};
inline constexpr size_t kStagePlaces = 2;

// What a stage reports, beside the packets that it holds, which are counted without it.
enum class StageEvent : uint8_t {
  missed_flow,       // what was waited for did not come, and the rest went on
  forced_flow,       // there was no room to wait, and the rest went on
  placeless_packet,  // its table had no place for the flow
};
inline constexpr size_t kStageEvents = 3;

// Whose counters they are: resequence_... or stage_...
enum class StageKind : uint8_t { resequencer, other };

struct StageBounds {
  int64_t octets = 0;  // held at a time
  Duration longest;    // for which a packet is ever held
};

// Where a stage stands, what it may see there and what it may do with packets.
class StageView {
 public:
  StageView(const Instant& now, const PortSignals* ports) : now_(now), ports_(ports) {}
  StageView(const StageView&) = delete;
  StageView& operator=(const StageView&) = delete;

  StagePlace place() const { return place_; }
  Instant now() const { return now_; }
  const PortSignals& port(PortId port) const { return ports_[port.index()]; }
  uint64_t held_packets() const { return held_; }
  int64_t held_octets() const { return octets_; }
  // Whether the packet may be held without breaking the stage's own bound.
  bool has_room_for(const Packet& packet) const {
    return octets_ + packet.wire_len <= bounds_.octets;
  }

  // It goes on now, behind all that was passed before it. Not for what is held.
  void pass(Packet* packet) { passed_.push(packet); }
  // From now on the packet is the stage's, until it is released. A stage that holds more than its
  // bound at the end of a call is emptied.
  void hold(Packet* packet) {
    ++held_;
    octets_ += packet->wire_len;
    packet->held_in = static_cast<uint16_t>(interval_);
    ++held_in_[interval_ % kIntervals];
    taken(*packet);
  }
  // What is held goes on now.
  void release(Packet* packet) {
    ASSERT(held_ != 0);
    --held_;
    octets_ -= packet->wire_len;
    --held_in_[packet->held_in % kIntervals];
    passed_.push(packet);
  }

  // Congestion experienced; nothing happens to a packet whose sender is not ECN-capable.
  virtual void mark_ce(Packet& packet) = 0;
  // The packet's DSCP, and with it its traffic class and the queue that it will wait in. It stays
  // charged to the priority group that it came in by. `dscp` is below 64.
  virtual void set_dscp(Packet& packet, uint8_t dscp) = 0;
  // Counted at the packet's egress port, or its ingress port where it comes from a host.
  virtual void report(StageEvent event, const Packet& packet) = 0;

 protected:
  ~StageView() = default;
  virtual void taken(Packet& packet) = 0;

  // Time goes in intervals of a quarter of the longest hold: what was taken before the last four is
  // overdue.
  static constexpr size_t kIntervals = 8;
  static constexpr uint64_t kPatience = 4;

  StagePlace place_{};
  StageBounds bounds_;
  PacketFifo passed_;
  uint64_t held_ = 0;
  int64_t octets_ = 0;
  uint64_t interval_ = kIntervals;
  std::array<uint64_t, kIntervals>
      held_in_{};  // packets taken in the last intervals, and still held

 private:
  const Instant& now_;
  const PortSignals* ports_;
};

class FlowStage {
 public:
  virtual ~FlowStage() = default;
  virtual StageKind kind() const { return StageKind::other; }
  virtual StageBounds bounds() const = 0;
  // Each packet of the burst is passed or held, and may be marked before. What was held may be
  // released in between: all goes on in the order of these calls.
  virtual void take(StageView& view, std::span<Packet* const> burst) = 0;
  // never(): nothing is to be done by time.
  virtual Instant next_deadline() const = 0;
  // At or after next_deadline(), which lies later when it returns.
  virtual void on_timers(StageView& view) = 0;
  // Releases everything.
  virtual void release_all(StageView& view) = 0;
  // Between two polls.
  virtual void rebase(const Rebase& rebase) = 0;
};

}  // namespace eddy::lb
