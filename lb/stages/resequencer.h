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
// Owner: the shard of the egress port. Bounds: a table of flows, packets of a flow, octets in all.
// Cost: a line for each packet. Source: docs/adr/0012; InfiniBand 9.2, 9.7.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "lb/flow_stage.h"
#include "lb/stages/flow_orders.h"
#include "lb/stages/resequence_plan.h"
#include "net/packet.h"
#include "net/rebase.h"
#include "net/units.h"

namespace eddy::lb {

class Resequencer final : public FlowStage {
 public:
  // Flows are remembered by the table, which may outlive the stage and be the next one's, too.
  Resequencer(const ResequencePlan& plan, std::shared_ptr<FlowOrders> flows)
      : plan_(plan), flows_(std::move(flows)) {}

  StageKind kind() const override { return StageKind::resequencer; }
  StageBounds bounds() const override { return {plan_.most_octets, plan_.longest()}; }
  void take(StageView& view, std::span<Packet* const> burst) override;
  Instant next_deadline() const override;
  void on_timers(StageView& view) override;
  void release_all(StageView& view) override;
  void rebase(const Rebase& rebase) override { flows_->rebase(rebase); }

  const ResequencePlan& plan() const { return plan_; }
  const std::shared_ptr<FlowOrders>& flows() const { return flows_; }

 private:
  bool watches(const Packet& packet) const;
  void put_in_order(StageView& view, Packet* packet);
  void hold(StageView& view, FlowOrder& flow, Packet* packet, uint32_t psn);
  void give_up_what_is_lost(StageView& view, FlowOrder& flow);
  void insert(FlowOrder& flow, Packet* packet, uint32_t psn);
  Packet* pop(FlowOrder& flow);
  // What is next in order.
  void release_due(StageView& view, FlowOrder& flow);
  // All, whatever is missing.
  void release_whole(StageView& view, FlowOrder& flow);
  void begin_wait(FlowOrder& flow, Instant now);
  void end_wait(FlowOrder& flow);

  const ResequencePlan plan_;
  const std::shared_ptr<FlowOrders> flows_;
  uint32_t first_ = FlowOrder::kNone;  // flows that wait, the longest first
  uint32_t last_ = FlowOrder::kNone;
};

}  // namespace eddy::lb
