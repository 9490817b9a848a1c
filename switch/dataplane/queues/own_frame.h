// Frames that the switch makes itself (PFC, CNM, ARP, ICMP, ...): an empty packet from the pool
// that the world keeps back for them, and its octets.
//
// Owner: the shard. A frame gets its length, then goes to Egress::originate or
// Forwarder::originate.
#pragma once

#include "net/codec.h"
#include "net/packet.h"
#include "switch/dataplane/state/shard_context.h"

namespace eddy {

// Null when the reserved pool is empty.
inline Packet* new_frame(ShardContext& context) {
  if (context.fires(FaultSite::pool_empty)) return nullptr;
  Packet* packet = context.io->allocate();
  if (packet == nullptr) return nullptr;
  packet->flags = kPacketOriginated;
  packet->charged_bytes = 0;
  packet->pg = PriorityGroupId::none();
  return packet;
}

// Where the frame is written, from its first octet.
inline Octets frame_space(Packet& packet) {
  return {packet.data(), static_cast<size_t>(packet.mbuf()->buf_len - packet.data_off)};
}

inline void set_frame_length(Packet& packet, size_t length) {
  packet.set_length(length, length);
}

// To the shard of its egress port, which is another; false: there was no room, and it is counted
// and gone.
[[nodiscard]] inline bool mail_to_owner(ShardContext& context, Packet* packet) {
  const PortId port = packet->egress_port;
  if (context.tell(context.settings(port).owner, {.kind = Message::Kind::frame, .frame = packet}))
    return true;
  context.count(port, PortCounter::no_control_buffer);
  context.free(packet);
  return false;
}

}  // namespace eddy
