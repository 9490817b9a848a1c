#include "switch/dataplane/queues/packet_lanes.h"

#include <algorithm>

#include "net/assert.h"

namespace eddy {

void PacketLanes::send_rows() {
  for (size_t shard = 0; shard < rows_.size(); ++shard) {
    Row& row = rows_[shard];
    if (row.count == 0) continue;
    send_to(ShardId(shard), {row.packets.data(), row.count});
    row.count = 0;
  }
}

void PacketLanes::send_to(ShardId shard, std::span<Packet* const> packets) {
  PacketFifo& kept = rows_[shard.index()].kept;
  size_t sent = 0;
  if (kept.empty()) [[likely]] {
    const bool full = context_.fires(FaultSite::packet_lane_full);
    const auto given = full ? packets.first(packets.size() / 2) : packets;
    sent = context_.common.lane(context_.id, shard).send(given);
  }
  for (Packet* packet : packets.subspan(sent)) kept.push(packet);
  kept_count_ += packets.size() - sent;
}

bool PacketLanes::send_kept_on() {
  for (size_t shard = 0; shard < rows_.size(); ++shard) {
    PacketFifo& kept = rows_[shard].kept;
    if (kept.empty()) continue;
    PacketLane& lane = context_.common.lane(context_.id, ShardId(shard));
    for (size_t room = lane.room(); room != 0 && !kept.empty();) {
      std::array<Packet*, kBurst> burst;
      size_t count = 0;
      while (count < std::min(room, burst.size()) && !kept.empty()) burst[count++] = kept.pop();
      const size_t sent = lane.send({burst.data(), count});
      ASSERT(sent == count);  // nobody else sends by this lane
      kept_count_ -= count;
      room -= count;
    }
  }
  return kept_count_ == 0;
}

}  // namespace eddy
