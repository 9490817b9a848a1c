// Resequencer: puts RoCEv2 requests of a flow back in order before they leave by a host port.
//
// It works at the leaf of the receiver, where all paths of a flow meet again. A packet that is
// ahead of the sequence number due is held until what is missing has come, `wait` is over, or there
// is no room. Then what is held leaves in order; if something is still missing, the NIC sees the
// gap as it would have without a resequencer. So a scheme may spread the packets of a flow over
// paths, and a go-back-N receiver need not know. Watched are RC requests (SEND, WRITE, READ
// request, atomics) that came by a fabric port; responses of READs are not. A flow that is not
// known begins with the first packet of a message. If the sender goes back, to a packet that was
// given up or after a silence, the sequence number due goes back with it.
// What is held stays charged to its ingress PG. Owner: the shard of the egress port. Bounds: a
// table of flows, packets of a flow, octets in all; PFC bounds them, too. Cost: a load and a branch
// where it is off; a line for each packet where it is on. Source: docs/adr/0012; InfiniBand 9.2,
// 9.7.
#pragma once

#include <cstdint>
#include <memory>

#include "net/ids.h"
#include "net/packet.h"
#include "net/rebase.h"
#include "net/units.h"
#include "switch/dataplane/state/flow_orders.h"
#include "switch/dataplane/state/packet_fifo.h"
#include "switch/dataplane/state/resequence_plan.h"
#include "switch/dataplane/state/shard_context.h"

namespace eddy {

class Resequencer {
 public:
  explicit Resequencer(ShardContext& context) : context_(context) {}

  bool watches(const Packet& packet) const {
    constexpr uint16_t kKind = kPacketRoce | kPacketRoceControl | kPacketOriginated;
    return plan_.enabled && (packet.flags & kKind) == kPacketRoce;
  }
  // A packet that is watched, on its way to a host. True: it goes on at once, and what has waited
  // for it follows by due(). False: it is held, or has become due() together with others.
  [[nodiscard]] bool take(Packet* packet);
  // What has been held and goes on now, in order. Whoever calls anything below, or take(), empties
  // it.
  PacketFifo& due() { return due_; }

  void on_timers();
  void rebase(const Rebase& rebase);
  // Everything becomes due.
  void release_all();
  void adopt(const Snapshot& now);
  uint64_t held() const { return held_ + due_.count(); }
  int64_t octets() const { return octets_; }

 private:
  void hold(FlowOrder& flow, Packet* packet, uint32_t psn);
  void give_up_what_is_lost(FlowOrder& flow);
  void insert(FlowOrder& flow, Packet* packet, uint32_t psn);
  Packet* pop(FlowOrder& flow);
  // What is next in order.
  void release_due(FlowOrder& flow);
  // All, whatever is missing.
  void release_whole(FlowOrder& flow);
  void begin_wait(FlowOrder& flow);
  void end_wait(FlowOrder& flow);
  void follow_timer();

  ShardContext& context_;
  ResequencePlan plan_;
  std::shared_ptr<FlowOrders> flows_;  // of the snapshot
  uint32_t first_ = FlowOrder::kNone;  // flows that wait, the longest first
  uint32_t last_ = FlowOrder::kNone;
  uint64_t held_ = 0;  // by flows
  int64_t octets_ = 0;
  PacketFifo due_;
};

}  // namespace eddy
