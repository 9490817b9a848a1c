#include "switch/dataplane/neighbors/icmp_responder.h"

#include <algorithm>

#include "net/ethernet.h"
#include "net/protocols.h"
#include "switch/dataplane/queues/own_frame.h"

namespace eddy {
namespace {

// The IP packet as its header has it: short frames come padded, virtual ones are cut.
Octets ip_packet(Packet& packet) {
  uint8_t* ip = packet.data() + packet.l2_len;
  const size_t readable = packet.data_len() - packet.l2_len;
  const size_t length =
      packet.has(kPacketIpv6) ? kIpv6Header + size_t{load_be16(ip + 4)} : load_be16(ip + 2);
  return {ip, std::min(length, readable)};
}

}  // namespace

void IcmpResponder::local(Packet* packet) {
  const int64_t rate = context_.snapshot->config.control.local_packets_per_second;
  if (!requests_[packet->ingress_port.index()].take(context_.now, rate, rate))
    return buffer_.drop(packet, DropReason::control_policed);
  if (turn_into_echo_reply(ip_packet(*packet))) {
    context_.count(packet->ingress_port, PortCounter::consumed_packets);
    context_.count(packet->ingress_port, PortCounter::originated_packets);
    constexpr uint16_t kOfTheRequest = kPacketShim | kPacketTagged | kPacketLastHop;
    packet->flags = static_cast<uint16_t>(packet->flags & ~kOfTheRequest);
    return route(packet, packet->ingress_port);
  }
  error(*packet, IcmpErrorReason::port_unreachable);
  buffer_.drop(packet, DropReason::local_unserved);
}

void IcmpResponder::error(const Packet& about, IcmpErrorReason reason, uint32_t mtu) {
  if (about.has(kPacketOriginated)) return;
  const bool v4 = !about.has(kPacketIpv6);
  const OwnAddress* own = context_.snapshot->own_address_on(about.ingress_port, v4);
  const ConstOctets offender{about.data() + about.l2_len, about.data_len() - about.l2_len};
  if (own == nullptr || !may_answer_with_error(offender)) return;
  const int64_t rate = context_.snapshot->config.control.icmp_errors_per_second;
  if (!errors_.take(context_.now, rate, kBurstErrors))
    return context_.count(about.ingress_port, PortCounter::icmp_policed_packets);
  Packet* answer = new_frame(context_);
  if (answer == nullptr) return context_.count(about.ingress_port, PortCounter::no_control_buffer);
  const IcmpError what{reason, static_cast<uint16_t>(mtu), own->prefix.address};
  const size_t length =
      encode_icmp_error(what, offender, frame_space(*answer).subspan(kEthernetHeader));
  if (length == 0) return context_.free(answer);
  store_be16(answer->data() + 12, v4 ? kEtherTypeIpv4 : kEtherTypeIpv6);
  set_frame_length(*answer, kEthernetHeader + length);
  answer->l2_len = kEthernetHeader;
  answer->order_hash = about.order_hash;  // spread like the packets that it is about
  answer->balance_hash = about.balance_hash;
  answer->flags = static_cast<uint16_t>(kPacketIp | (v4 ? 0 : kPacketIpv6));
  context_.count(about.ingress_port, PortCounter::originated_packets);
  route(answer, about.ingress_port);
}

// From here on the packet is ours: uncharged, of the class that its DSCP (0) has on the port it
// answers to.
void IcmpResponder::route(Packet* packet, PortId port) {
  const ClassOf& best_effort = context_.settings(port).classes->by_dscp[0];
  packet->set(kPacketOriginated);
  packet->ingress_port = port;
  packet->charged_bytes = 0;
  packet->traffic_class = best_effort.traffic_class;
  packet->pg = best_effort.pg;
  packet->queue = best_effort.queue;
  originator_->originate(packet);
}

}  // namespace eddy
