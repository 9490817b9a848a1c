#include "switch/dataplane/queues/packet_lanes.h"

#include <utility>

namespace eddy {

PacketLanes::PacketLanes(ShardContext& context)
    : context_(context), shards_(context.sole ? 0 : context.common.shards) {
  for (size_t shard = 0; shard < shards_.size(); ++shard)
    if (shard != context.id.index())
      shards_[shard].lane = &context.common.lane(context.id, ShardId(shard));
}

[[gnu::noinline]] void PacketLanes::publish() {
  for (To& to : shards_)
    if (to.lane != nullptr) to.lane->publish();
}

void PacketLanes::put(ShardId shard, Packet* packet) {
  To& to = shards_[shard.index()];
  if (takes(to)) [[likely]]
    return to.lane->add(packet);
  keep(to, packet);
}

void PacketLanes::put_ready(QueueRow& row, bool ect) {
  row.packets.finish();
  const LaneRow of{.octets = std::exchange(row.octets, 0),
                   .port = row.port,
                   .queue = row.queue,
                   .count = static_cast<uint8_t>(row.packets.count()),
                   .ready = 1,
                   .ect = ect};
  To& to = shards_[row.owner.index()];
  if (takes(to)) [[likely]]
    to.lane->add_row(of, row.stub->next);
  else
    keep_ready(to, of, row.stub->next);
  row.packets.begin(PacketFifo{}, *row.stub);
}

[[gnu::noinline]] void PacketLanes::keep(To& to, Packet* packet) {
  to.kept.push(packet);
  ++kept_count_;
}

[[gnu::noinline]] void PacketLanes::keep_ready(To& to, const LaneRow& row, Packet* first) {
  for (unsigned left = row.count; left != 0; --left) {
    Packet* const packet = std::exchange(first, first->next);
    packet->set(kPacketReady);
    keep(to, packet);
  }
}

// A row of its own.
void PacketLanes::send_one(PacketLane& lane, Packet* packet) {
  if (!packet->has(kPacketReady)) return lane.add(packet);
  Packet stub{};
  PacketFifo::Row alone;
  alone.begin(PacketFifo{}, stub);
  alone.push(packet);
  alone.finish();
  lane.add_row({.octets = packet->wire_len,
                .port = packet->egress_port,
                .queue = packet->queue,
                .count = 1,
                .ready = 1,
                .ect = packet->has(kPacketEct)},
               packet);
}

bool PacketLanes::send_kept_on() {
  for (To& to : shards_) {
    for (; !to.kept.empty() && to.lane->has_room(); --kept_count_)
      send_one(*to.lane, to.kept.pop());
    if (to.lane != nullptr) to.lane->publish();
  }
  return kept_count_ == 0;
}

}  // namespace eddy
