// AckStage: has packets acknowledged when they have left to their host, where FlowcutAcks would do
// so when they have come to its leaf.
//
// A host's queue is first in, first out. So of what the stage has passed to a queue that has left
// which the queue no longer holds, and the signals of its port say how much it holds. The stage
// looks when the first packet that is to be acknowledged could have left by the line's rate, and
// again until it has. What else there is in the queue makes an acknowledgement late, and what was
// dropped early; both end when the queue is empty. A packet for which there is no place is
// acknowledged at once. It holds nothing. Owner: the shard of the hosts' ports. Bounds: kMost
// packets, in 40 octets each that take memory when they are first used; 32 octets a queue. Cost: a
// line a packet. Source: reference A.12 (ack_at = transmit).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "lb/agents/flowcut_acks.h"
#include "lb/flow_stage.h"
#include "lb/path_set.h"
#include "lb/selector_init.h"
#include "net/deadlines.h"
#include "net/ids.h"
#include "net/memory/reserved.h"
#include "net/packet.h"
#include "net/rebase.h"
#include "net/shim.h"
#include "net/units.h"

namespace eddy::lb {

class AckStage final : public FlowStage {
 public:
  static constexpr uint32_t kMost = 16'384;
  static constexpr Duration kLook = Duration::microseconds(1);  // at the least between two looks

  // A host's line may change later: it says when to look, and no more.
  AckStage(FlowcutAcks& acks, std::span<const PathSet> sets, std::span<const PortLine> lines);

  StageBounds bounds() const override { return {}; }
  void take(StageView& view, std::span<Packet* const> burst) override;
  Instant next_deadline() const override { return looks_.next(); }
  void on_timers(StageView& view) override;
  void release_all(StageView&) override {}
  void rebase(const Rebase& rebase) override { looks_.rebase(rebase); }

 private:
  static constexpr uint32_t kNobody = 0;
  static constexpr uint16_t kNoSet = UINT16_MAX;
  struct Waiting {
    FlowcutAcks::Numbered packet;
    uint64_t end;   // of it, in what was passed to its queue
    uint32_t next;  // behind it, or among those that are free; its place plus one
  };
  struct Queue {  // of a port
    uint64_t passed = 0;
    uint64_t gone = 0;  // of that
    uint32_t first = kNobody;
    uint32_t last = kNobody;
  };

  static uint32_t queue_of(PortId port, QueueId queue) {
    return static_cast<uint32_t>(port.index() * kPriorities + queue.index());
  }
  static int64_t octets_of(const Packet& packet);
  uint64_t held_in(const StageView& view, uint32_t queue) const;
  uint16_t set_of(const Packet& packet, Shim& shim) const;
  void put(StageView& view, uint32_t queue, const FlowcutAcks::Numbered& packet);
  uint32_t place();
  void look(const StageView& view, uint32_t queue);

  FlowcutAcks& acks_;
  std::vector<uint16_t> set_of_leaf_;  // the first that leads there
  std::vector<LineRate> lines_;        // by port
  std::vector<Queue> queues_;          // by port and queue
  Deadlines looks_;                    // likewise
  Reserved<Waiting> waiting_;
  uint32_t ever_used_ = 0;  // of waiting_
  uint32_t free_ = kNobody;
};

}  // namespace eddy::lb
