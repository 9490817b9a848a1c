// PacketLanes: packets on their way to the shards that own their egress ports.
//
// put() gathers those of a burst by shard, send() gives each shard its row at once. What a lane has
// no room for is kept, in order and charged to its ingress PG, and goes with later polls: no packet
// is lost between shards, and the buffer bounds what is kept. Owner: the sending shard. Bounds:
// kBurst packets a shard between two calls of send(). Cost: put() two stores. Source: architecture,
// section 4.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "lb/packet_fifo.h"
#include "net/ids.h"
#include "net/packet.h"
#include "switch/dataplane/state/shard_context.h"

namespace eddy {

class PacketLanes {
 public:
  explicit PacketLanes(ShardContext& context)
      : context_(context), rows_(context.sole ? 0 : context.common.shards) {}

  void put(ShardId shard, Packet* packet) {
    Row& row = rows_[shard.index()];
    row.packets[row.count++] = packet;
  }
  void send() {
    if (!rows_.empty()) send_rows();
  }

  // At the start of a poll: what was kept goes to other shards as far as there is room. True:
  // nothing is left.
  bool send_kept() { return kept_count_ == 0 || send_kept_on(); }
  // Another shard's lane has had no room for some.
  bool keeps() const { return kept_count_ != 0; }
  uint64_t held() const { return kept_count_; }

 private:
  struct Row {
    std::array<Packet*, kBurst> packets;
    size_t count = 0;
    PacketFifo kept;  // that came before
  };

  void send_rows();
  void send_to(ShardId shard, std::span<Packet* const> packets);
  bool send_kept_on();

  ShardContext& context_;
  std::vector<Row> rows_;    // by shard that owns the egress port
  uint64_t kept_count_ = 0;  // by all of them
};

}  // namespace eddy
