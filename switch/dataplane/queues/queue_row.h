// QueueRow: what a burst puts into one queue by the short way. What one packet after another would
// ask of the queue is asked when the burst opens it, and what they would count is counted when the
// burst ends. Owner: the shard, for one burst.
#pragma once

#include <array>
#include <cstdint>

#include "lb/packet_fifo.h"
#include "net/ids.h"

namespace eddy {

struct alignas(64) QueueRow {
  enum class To : uint8_t {
    peer,   // at the other end of a fabric link
    host,   // one of several, each with its MAC
    shard,  // that owns the port
  };

  // What a frame begins with: both MACs, a host's left out, and the tag if it gets one.
  alignas(16) std::array<uint8_t, 16> head{};
  PacketFifo::Row packets;
  uint32_t longest = 0;  // from the network header on, in octets; 0: packet by packet
  uint32_t octets = 0;   // of the frames that it has taken
  PortId port;
  QueueId queue;
  ShardId owner;  // of the port
  To to{};
  bool tagged = false;
  bool simple = false;  // to a peer, without a tag
};
static_assert(sizeof(QueueRow) == 64);

}  // namespace eddy
