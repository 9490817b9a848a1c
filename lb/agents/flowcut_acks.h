// FlowcutAcks: an egress leaf tells a source leaf how far a flow has arrived.
//
// Each packet that has a number in its flow is acknowledged by a frame that names the number; one
// frame for so many packets of a flow, or for those of a time. It carries the stamp of the last of
// them, how long that has waited here, how many hops it came over, and its length: so the source
// knows the round trip. What has arrived at this leaf goes into its host's queue in the order of
// its arrival. With several shards that is sure a while later only (Voice::proof_lag), and no frame
// says so before. Where there is no room for another frame that waits, the oldest is sent early or,
// with several shards, left out: the next one says as much. Owner: one shard's agent. Bounds: kMost
// frames that wait, which take memory when they are first used. Cost: a line or two a packet.
// Source: reference A.12, 1.8.
#pragma once

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
  };

  explicit FlowcutAcks(const Plan& plan) : plan_(plan), groups_(kMost), open_(kMost) {}

  void arrived(Voice& voice, std::span<const Arrival> burst);
  Instant next_deadline() const { return first_ == end_ ? Instant::never() : of(first_).due; }
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

  void take(Voice& voice, const Arrival& arrival, Duration lag);
  Group* open_group(uint64_t flow);
  Group& begin_group(Voice& voice, uint64_t flow, Duration lag);
  void send(Voice& voice, Group& group);
  void forget_sent();
  Group& of(uint32_t serial) { return groups_[serial % kMost]; }
  const Group& of(uint32_t serial) const { return groups_[serial % kMost]; }

  Plan plan_;
  Reserved<Group> groups_;   // a ring, by what is due first
  Reserved<uint32_t> open_;  // by flow: the serial of the group that it may join, plus one
  uint32_t first_ = 0;       // serials
  uint32_t end_ = 0;
  Instant now_;  // of the call
};

}  // namespace eddy::lb
