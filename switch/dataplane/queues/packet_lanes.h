// PacketLanes: packets on their way to the shards that own their egress ports.
//
// put() and put_ready() write into the lane of each shard, send() shows it what is there. What a
// lane has no room for is kept, in order and charged to its ingress PG, and goes with later polls:
// no packet is lost between shards, and the buffer bounds what is kept. Owner: the sending shard.
// Source: architecture, section 4.
#pragma once

#include <cstdint>
#include <vector>

#include "lb/packet_fifo.h"
#include "net/ids.h"
#include "net/packet.h"
#include "switch/dataplane/queues/queue_row.h"
#include "switch/dataplane/state/packet_lane.h"
#include "switch/dataplane/state/shard_context.h"

namespace eddy {

class PacketLanes {
 public:
  explicit PacketLanes(ShardContext& context);

  // One that its shard is to rewrite.
  void put(ShardId shard, Packet* packet);
  // Those that are ready for the line of the row's port, at least one; `ect`: some may be
  // ECN-capable. The row goes on with none.
  void put_ready(QueueRow& row, bool ect);
  void send() {
    if (!shards_.empty()) [[unlikely]]
      publish();
  }

  // At the start of a poll: what was kept goes to other shards as far as there is room. True:
  // nothing is left.
  bool send_kept() { return kept_count_ == 0 || send_kept_on(); }
  // Another shard's lane has had no room for some.
  bool keeps() const { return kept_count_ != 0; }
  uint64_t held() const { return kept_count_; }

 private:
  struct To {
    PacketLane* lane = nullptr;  // null: to this shard
    PacketFifo kept;             // that came before; kPacketReady says which are ready
  };

  bool takes(To& to) const {
    return to.kept.empty() && !context_.fires(FaultSite::packet_lane_full) && to.lane->has_room();
  }
  void publish();
  void keep(To& to, Packet* packet);
  void keep_ready(To& to, const LaneRow& row, Packet* first);
  static void send_one(PacketLane& lane, Packet* packet);
  bool send_kept_on();

  ShardContext& context_;
  std::vector<To> shards_;   // that own egress ports; none: this is the only one
  uint64_t kept_count_ = 0;  // by all of them
};

}  // namespace eddy
