#include "switch/dataplane/paths/peer_messages.h"

namespace eddy {
namespace {

constexpr uint8_t kPcp = 7;  // never paused

}  // namespace

// Null: the port's peer cannot be reached, or there is no frame, which is counted.
Packet* PeerMessages::make(PortId port) {
  if (context_.owns(port) && (!egress_.up(port) || !peers_.known(port))) return nullptr;
  Packet* packet = new_frame(context_);
  if (packet == nullptr) {
    context_.count(port, PortCounter::no_control_buffer);
    return nullptr;
  }
  packet->egress_port = port;
  return packet;
}

// The destination is filled in where it is known.
EthernetHeader PeerMessages::header_of(PortId port, uint16_t ethertype) const {
  return {.source = context_.settings(port).mac,
          .ethertype = ethertype,
          .tag_count = 1,
          .tags = {VlanTag{.pcp = kPcp}}};
}

bool PeerMessages::dispatch(Packet* packet) {
  if (!context_.owns(packet->egress_port)) return mail_to_owner(context_, packet);
  place(packet);
  return true;
}

void PeerMessages::place(Packet* packet) {
  const PortId port = packet->egress_port;
  if (context_.settings(port).role == config::PortRole::fabric)
    store_mac(packet->data(), peers_.mac(port));
  egress_.originate(port, packet);
}

}  // namespace eddy
