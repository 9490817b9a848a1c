// FlowcutAcks: an egress leaf tells a source leaf how far a flow has arrived.
//
// Each packet that has a number in its flow is acknowledged by a frame that names the number; one
// frame for so many packets of a flow, or for those of a time. It carries the stamp of the last of
// them, how long that has waited here, how many hops it came over, and its length: so the source
// knows the round trip. What has arrived at this leaf goes into its host's queue in the order of
// its arrival. With several shards that is sure a while later only (Voice::proof_lag), and no frame
// says so before. With `after_line` a packet counts once its host's line has had it
// (lb/agents/ack_stage.h). Where there is no room for another frame that waits, the oldest is sent
// early or, where none may be sent at once, left out: the next one says as much. Owner: one shard's
// agent. Bounds: kMost frames that wait, which take memory when they are first used. Cost: a line
// or two a packet. Source: reference A.12, 1.8.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "lb/agent.h"
#include "net/memory/reserved.h"
#include "net/rebase.h"
#include "net/units.h"

namespace eddy::lb {

class FlowcutAcks {
 public:
  static constexpr uint32_t kMost = 1'024;
  struct Plan {
    int64_t packets = 1;        // of a flow that one frame acknowledges, at most
    Duration wait;              // for more of them, at most
    bool back_by_port = false;  // frames leave by the port by which the packets came
    bool after_line = false;    // packets come by left(): nothing more can overtake them
  };
  // A packet, as its shim has it.
  struct Numbered {
    uint64_t flow = 0;
    uint32_t stamp_ns = 0;
    uint16_t number = 0;
    uint16_t set = 0;  // that leads back
    uint16_t octets = 0;
    PortId port;  // by which it came
    uint8_t hops = 0;
  };
  static Numbered numbered(const Packet& packet, const Shim& shim, uint16_t set);

  explicit FlowcutAcks(const Plan& plan) : plan_(plan), groups_(kMost), open_(kMost) {}

  void arrived(Voice& voice, std::span<const Arrival> burst);
  // A packet has left to its host. What is complete by it is sent with on_timers().
  void left(const Numbered& packet, Instant now);
  Instant next_deadline() const {
    return first_ == end_ ? Instant::never() : std::min(complete_since_, of(first_).due);
  }
  void on_timers(Voice& voice);
  void rebase(const Rebase& rebase);

 private:
  // Packets of a flow that one frame acknowledges.
  struct Group {
    uint64_t flow;
    Instant closes;  // none joins from then on
    Instant due;
    uint32_t stamp_ns;  // of the last of them, as what follows
    uint32_t came_ns;
    uint16_t number;
    uint16_t set;
    uint16_t octets;
    PortId port;
    uint16_t packets;
    uint8_t hops;
    bool sent;
  };

  // What it belongs to now; null: it is late. `at_once`: frames may be sent now.
  Group* take(const Numbered& packet, Duration lag, Voice* at_once);
  Group* open_group(uint64_t flow);
  Group& begin_group(uint64_t flow, Duration lag, Voice* at_once);
  void send_complete(Voice& voice);
  void send(Voice& voice, Group& group);
  void forget_sent();
  Group& of(uint32_t serial) { return groups_[serial % kMost]; }
  const Group& of(uint32_t serial) const { return groups_[serial % kMost]; }

  Plan plan_;
  Reserved<Group> groups_;   // a ring, by what is due first
  Reserved<uint32_t> open_;  // by flow: the serial of the group that it may join, plus one
  uint32_t first_ = 0;       // serials
  uint32_t end_ = 0;
  Instant complete_since_ = Instant::never();  // by left(); some may have been sent since
  Instant now_;                                // of the call
};

}  // namespace eddy::lb
