#include "switch/dataplane/paths/control_frames.h"

#include "lb/members.h"
#include "net/ethernet.h"
#include "net/pause_frame.h"
#include "switch/dataplane/queues/own_frame.h"
#include "switch/dataplane/state/shim_layout.h"

namespace eddy {

bool ControlFrames::read(Packet* packet, ShimControl& message) {
  const ConstOctets payload{packet->data() + packet->l2_len, packet->data_len() - packet->l2_len};
  if (packet->wire_len <= kLongest && !packet->has(kPacketTagged) &&
      decode(payload, message) == CodecVerdict::ok)
    return true;
  services_.buffer.drop(packet, DropReason::control_malformed);
  return false;
}

bool ControlFrames::make_ready(Packet* packet, const Shim& shim) {
  const PathPlan& plan = context_.snapshot->path_plan;
  const bool known = plan.set_of(shim.destination_leaf) != PathPlan::kNoSet;
  if (!known || shim.hop_count >= kMostHops) {
    services_.buffer.drop(packet, known ? DropReason::ttl_expired : DropReason::no_route);
    return false;
  }
  const PortClasses& classes = *context_.settings(packet->ingress_port).classes;
  const bool waits = shim.kind == ShimKind::probe || shim.kind == ShimKind::sweep;
  const bool measured = waits && shim.traffic_class.index() < kPriorities;
  const TrafficClass tc = measured ? shim.traffic_class : kTrafficClass;
  const ClassOf* class_of = classes.in_channel(tc, shim.virtual_channel);
  if (class_of == nullptr) {
    services_.buffer.drop(packet, DropReason::no_channel);
    return false;
  }
  if (shim.kind == ShimKind::sweep && !sweeps(tc)) {
    uint8_t& flags = packet->data()[kEthernetHeader + shim_at::kFlags];
    flags = static_cast<uint8_t>(flags & ~kShimPinned);
  }
  const uint64_t way = uint64_t{shim.source_leaf.index()} << 32 | shim.path.index();
  packet->flags = kPacketShim | kPacketShimControl | kPacketRoceControl;
  packet->l2_len = kEthernetHeader + kShimHeader;
  packet->l3_len = 0;
  packet->payload_len = 0;
  packet->order_hash = lb::mix64(way);
  packet->balance_hash = static_cast<uint32_t>(packet->order_hash);
  packet->traffic_class = tc;
  packet->pg = class_of->pg;
  packet->queue = class_of->queue;
  return true;
}

// Here what waits isolated is behind what came before it.
bool ControlFrames::sweeps(TrafficClass tc) const {
  const IsolationPlan& isolation = context_.snapshot->isolation;
  return isolation.known && isolation.classes.isolated.traffic_class == tc;
}

void ControlFrames::consume(Packet* packet) {
  context_.count(packet->ingress_port, PortCounter::consumed_packets);
  context_.free(packet);
}

// To a host it goes as PFC does, to the address that no switch passes on.
Packet* ControlFrames::make(PortId port, const ShimControl& message) {
  const bool own = context_.owns(port);
  const bool to_host = context_.settings(port).role == config::PortRole::host;
  if (own && (!services_.egress.up(port) || !(to_host || services_.peers.known(port))))
    return nullptr;
  Packet* packet = new_frame(context_);
  if (packet == nullptr) {
    context_.count(port, PortCounter::no_control_buffer);
    return nullptr;
  }
  const MacAddress& peer = own ? services_.peers.mac(port) : kPauseDestination;
  const EthernetHeader header{to_host ? kPauseDestination : peer, context_.settings(port).mac,
                              kEtherTypeShim};
  const Octets space = frame_space(*packet);
  size_t length = encode(header, space);
  length += encode(message, space.subspan(length));
  set_frame_length(*packet, pad_frame(space, length));
  packet->egress_port = port;
  return packet;
}

bool ControlFrames::send(PortId port, const ShimControl& message) {
  Packet* packet = make(port, message);
  if (packet == nullptr) return false;
  if (context_.owns(port)) {
    services_.egress.originate(port, packet);
    return true;
  }
  return mail_to_owner(context_, packet);
}

bool ControlFrames::send_behind(PortId port, const ShimControl& message,
                                const MeasuredClass& measured) {
  Packet* packet = make(port, message);
  if (packet == nullptr) return false;
  packet->traffic_class = measured.traffic_class;
  packet->pg = measured.pg;
  packet->queue = measured.queue;
  services_.egress.originate_behind(port, packet);
  return true;
}

}  // namespace eddy
