// PeerMessages: a message to the switch behind a fabric port, as a frame of our own that goes ahead
// of every queue and is never paused.
//
// Every shard makes such frames for every port. The shard of the port knows the peer, fills in the
// destination and sends them; another's frame comes to it by mail. Owner: the shard. Bounds: a
// frame of the reserved pool; one that finds no pool or no room in the mailbox is counted and gone.
#pragma once

#include <cstddef>
#include <cstdint>

#include "net/ethernet.h"
#include "net/ids.h"
#include "net/packet.h"
#include "switch/dataplane/paths/fabric_peers.h"
#include "switch/dataplane/queues/egress.h"
#include "switch/dataplane/queues/own_frame.h"
#include "switch/dataplane/state/shard_context.h"

namespace eddy {

class PeerMessages {
 public:
  PeerMessages(ShardContext& context, Egress& egress, const FabricPeers& peers)
      : context_(context), egress_(egress), peers_(peers) {}

  // False: not sent, and counted where that is a lack.
  template <class Message>
  bool send(PortId port, uint16_t ethertype, const Message& message) {
    Packet* const packet = make(port);
    if (packet == nullptr) return false;
    const Octets space = frame_space(*packet);
    size_t length = encode(header_of(port, ethertype), space);
    length += encode(message, space.subspan(length));
    set_frame_length(*packet, pad_frame(space, length));
    return dispatch(packet);
  }
  // A frame that this or another shard made for its egress_port. Takes it.
  void place(Packet* packet);

 private:
  Packet* make(PortId port);
  EthernetHeader header_of(PortId port, uint16_t ethertype) const;
  bool dispatch(Packet* packet);

  ShardContext& context_;
  Egress& egress_;
  const FabricPeers& peers_;
};

}  // namespace eddy
