// ControlFrames: frames that carry a shim and no packet, as leaves and path agents send them.
//
// It reads those of others, makes ours, and makes ready what goes on to another leaf. A frame of
// ours goes ahead of every queue, or behind what waits in a queue that is measured. Owner: the
// shard; a frame for another shard's port goes there by mail. Bounds: one frame a call; a frame of
// others is passed on by kMostHops switches. Source: reference 1.8.
#pragma once

#include <cstdint>

#include "net/ids.h"
#include "net/packet.h"
#include "net/shim.h"
#include "switch/dataplane/paths/fabric_peers.h"
#include "switch/dataplane/queues/egress.h"
#include "switch/dataplane/queues/ingress_buffer.h"
#include "switch/dataplane/state/path_plan.h"
#include "switch/dataplane/state/shard_context.h"

namespace eddy {

class ControlFrames {
 public:
  static constexpr TrafficClass kTrafficClass{7};  // never paused
  static constexpr uint8_t kMostHops = 8;
  static constexpr uint32_t kLongest = 128;  // octets

  struct Services {
    IngressBuffer& buffer;
    Egress& egress;
    const FabricPeers& peers;
  };
  ControlFrames(ShardContext& context, const Services& services)
      : context_(context), services_(services) {}

  // Of a frame from a fabric port. False: it is not sound, dropped and counted.
  bool read(Packet* packet, ShimControl& message);
  // So that it can go on to its leaf. False: dropped and counted.
  bool make_ready(Packet* packet, const Shim& shim);
  void consume(Packet* packet);
  // A frame of ours, ahead of every queue of the port, whoever owns that. False: the port is down,
  // its peer unknown, or there is no room, which is counted.
  bool send(PortId port, const ShimControl& message);
  // Behind what waits in the queue, so that its echo proves what was ahead of it there. The port is
  // ours.
  bool send_behind(PortId port, const ShimControl& message, const MeasuredClass& measured);

 private:
  Packet* make(PortId port, const ShimControl& message);
  // A sweep that waits here in the class proves something.
  bool sweeps(TrafficClass tc) const;

  ShardContext& context_;
  Services services_;
};

}  // namespace eddy
