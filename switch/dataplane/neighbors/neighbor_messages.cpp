#include "switch/dataplane/neighbors/neighbor_messages.h"

#include "net/ethernet.h"
#include "net/protocols.h"
#include "switch/dataplane/queues/own_frame.h"

namespace eddy {
namespace {

constexpr Ipv6Address kAllNodes = {{0xff, 0x02, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}};

}  // namespace

void NeighborMessages::ask(PortId port, const IpAddress& address, const MacAddress& mac) {
  const OwnAddress* own = context_.snapshot->own_address_on(port, address.is_v4());
  if (own == nullptr) return;
  if (address.is_v4()) {
    ask_by_arp(port, address.v4(), mac, own->prefix.address.v4());
  } else {
    ask_by_nd(port, address.v6(), mac, own->prefix.address.v6());
  }
}

void NeighborMessages::ask_by_arp(PortId port, Ipv4Address target, const MacAddress& mac,
                                  Ipv4Address own) {
  send(port, mac.is_zero() ? MacAddress::broadcast() : mac,
       {ArpOperation::request, context_.settings(port).mac, own, {}, target});
}

void NeighborMessages::ask_by_nd(PortId port, const Ipv6Address& target, const MacAddress& mac,
                                 const Ipv6Address& own) {
  const Ipv6Address to = mac.is_zero() ? solicited_node_address(target) : target;
  send(port, mac.is_zero() ? multicast_mac(to) : mac,
       {.kind = NdKind::solicitation,
        .source = own,
        .destination = to,
        .target = target,
        .has_link_address = true,
        .link_address = context_.settings(port).mac});
}

void NeighborMessages::answer(PortId port, const ArpMessage& question) {
  send(port, question.sender_mac,
       {ArpOperation::reply, context_.settings(port).mac, question.target_ip, question.sender_mac,
        question.sender_ip});
}

void NeighborMessages::answer(PortId port, const NdMessage& question) {
  const bool probe =
      question.source == Ipv6Address{};  // duplicate address detection: tell everybody
  const Ipv6Address to = probe ? kAllNodes : question.source;
  send(port, probe ? multicast_mac(kAllNodes) : question.link_address,
       {.kind = NdKind::advertisement,
        .source = question.target,
        .destination = to,
        .target = question.target,
        .router = true,
        .solicited = !probe,
        .override_cached = true,
        .has_link_address = true,
        .link_address = context_.settings(port).mac});
}

void NeighborMessages::send(PortId port, const MacAddress& to, const ArpMessage& message) {
  send_as(kEtherTypeArp, port, to, message);
}
void NeighborMessages::send(PortId port, const MacAddress& to, const NdMessage& message) {
  send_as(kEtherTypeIpv6, port, to, message);
}

template <class Message>
void NeighborMessages::send_as(uint16_t ethertype, PortId port, const MacAddress& to,
                               const Message& message) {
  Packet* frame = new_frame(context_);
  if (frame == nullptr) return context_.count(port, PortCounter::no_control_buffer);
  const EthernetHeader ethernet{to, context_.settings(port).mac, ethertype};
  const size_t header = encode(ethernet, frame_space(*frame));
  set_frame_length(*frame, header + encode(message, frame_space(*frame).subspan(header)));
  egress_.originate(port, frame);
}

}  // namespace eddy
