// Ingress: reads bursts, sends control frames to whom they concern, parses and classifies the rest.
//
// What is not IP to forward ends here: consumed by a service of the switch, or dropped and counted
// by its verdict. Owner: the shard. Cost: the parser and two table look-ups a packet. Source:
// architecture, section 4; reference C.8.
#pragma once

#include <array>
#include <cstdint>

#include "net/packet.h"
#include "net/parse.h"
#include "switch/dataplane/adjacency.h"
#include "switch/dataplane/fabric_peers.h"
#include "switch/dataplane/forwarder.h"
#include "switch/dataplane/ingress_buffer.h"
#include "switch/dataplane/pause_control.h"
#include "switch/dataplane/shard_context.h"

namespace eddy {

class Ingress {
 public:
  struct Services {
    PauseControl& pause;
    Adjacency& adjacency;
    FabricPeers& peers;
    Forwarder& forwarder;
  };
  Ingress(ShardContext& context, IngressBuffer& buffer, const Services& services)
      : context_(context), buffer_(buffer), services_(services) {}

  // Everything that the world has.
  void run();

 private:
  struct Source {  // of the burst in hand
    const PortSettings& settings;
    uint8_t discarded_pgs;
  };
  void process(const Received& received, std::span<Packet* const> packets);
  // True: an IP packet to forward, its Packet line filled in.
  bool accept(Packet* packet, const Source& source);
  bool accept_ip(Packet* packet, const ParsedFrame& frame, const Source& source);
  bool accept_slowly(Packet* packet, const Source& source);
  bool accept_unusual(Packet* packet, const ParsedFrame& frame, const PortSettings& settings);
  void serve(Packet* packet, const ParsedFrame& frame, const PortSettings& settings);
  bool refuse(Packet* packet, DropReason reason);

  ShardContext& context_;
  IngressBuffer& buffer_;
  Services services_;
};

}  // namespace eddy
