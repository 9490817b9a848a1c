// QueueRow: what the bursts of a poll put into one queue by the short way. What one packet after
// another would ask of the queue is asked when a burst opens the row; its octets are counted when
// each burst ends, and the packets are appended when the row is closed.
//
// What it knows of the queue's port stays from poll to poll, until something of it changes
// (ShardContext::way_changes). The first line is all that a packet asks for which comes alone, the
// second what bursts need besides. Zero octets are a row that knows nothing. Owner: the shard.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "lb/packet_fifo.h"
#include "net/ids.h"

namespace eddy {

struct EgressQueue;

struct alignas(64) QueueRow {
  enum class To : uint8_t {
    peer,    // at the other end of a fabric link
    host,    // one of several, each with its MAC
    shard,   // that owns the port
    nobody,  // packets to it go one by one
  };
  // What a packet that comes alone asks for, too. What a frame begins with: both MACs, a host's
  // left out where none has been looked up, and the tag if it gets one.
  alignas(16) std::array<uint8_t, 16> head{};
  uint64_t known_at = 0;  // ShardContext::way_changes
  EgressQueue* state = nullptr;
  std::atomic<uint32_t>* queued = nullptr;  // octets in the queue
  Packet* stub = nullptr;                   // as PacketFifo::Row; null: not open
  int64_t unasked = 0;                      // up to so many octets it takes whatever comes
  uint32_t alone_len = 0;  // of the port's frames, as `longest`, where one may go alone; else 0
  PortId port;
  QueueId queue;
  To to{};

  // Of the bursts in hand.
  alignas(64) PacketFifo::Row packets;
  uint32_t longest = 0;  // in octets, behind a bare Ethernet header; 0: not open
  uint32_t simply = 0;   // the same of those that need nothing but the MACs in `head`
  uint32_t octets = 0;   // of the frames that it has taken, and not yet counted
  uint32_t host = 0;     // whose MAC is in `head`: IPv4 address, as on the wire; 0: nobody's
  bool asked = false;    // by the burst whether it may be opened
  bool handed = false;   // to the shard that owns the port: some packets were, since it was opened
  bool passed_over = false;  // got no packet in the last poll that closed it
  uint16_t shims = 0;        // of the frames that it has given one, and that are not yet counted
  // Of the port.
  uint32_t max_len = 0;     // of its frames, as `longest`
  uint32_t simply_len = 0;  // the same; 0: frames need more than the MACs in `head`
  ShardId owner;
  bool fabric = false;
  bool tagged = false;
};
static_assert(sizeof(QueueRow) == 128 && offsetof(QueueRow, packets) == 64);

}  // namespace eddy
