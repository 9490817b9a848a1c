#include "switch/dataplane/neighbors/adjacency.h"

#include <cstring>

#include "net/arp.h"
#include "net/ethernet.h"
#include "net/icmp.h"
#include "net/nd.h"
#include "net/protocols.h"
#include "switch/dataplane/neighbors/icmp_responder.h"
#include "switch/dataplane/queues/own_frame.h"
#include "switch/dataplane/queues/rewrite.h"

namespace eddy {
namespace {

constexpr Ipv6Address kAllNodes = {{0xff, 0x02, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}};

bool is_usable(NeighborState state) {
  return state == NeighborState::reachable || state == NeighborState::probing ||
         state == NeighborState::fixed;
}

IpAddress destination_of(const Packet& packet) {
  const uint8_t* network = packet.data() + packet.l2_len;
  if (!packet.has(kPacketIpv6)) return Ipv4Address{load_be32(network + 16)};
  Ipv6Address address;
  std::memcpy(address.octets.data(), network + 24, address.octets.size());
  return address;
}

// Our address on the port that a question names, if it is one.
const OwnAddress* asked_address(const Snapshot& snapshot, PortId port, const IpAddress& target) {
  for (const OwnAddress& own : snapshot.own_addresses)
    if (own.port == port && own.prefix.address == target) return &own;
  return nullptr;
}

bool on_subnet(const Snapshot& snapshot, PortId port, const IpAddress& address) {
  for (const OwnAddress& own : snapshot.own_addresses)
    if (own.port == port && own.prefix.contains(address)) return true;
  return false;
}

}  // namespace

Adjacency::Adjacency(ShardContext& context, IngressBuffer& buffer, const Services& services)
    : context_(context),
      buffer_(buffer),
      egress_(services.egress),
      icmp_(services.icmp),
      peers_(services.peers),
      paths_(services.paths),
      resequencer_(services.resequencer),
      neighbors_(kNeighbors),
      neighbor_timers_(kNeighbors, context.due_of(Timers::neighbors)) {}

void Adjacency::deliver_to_host(Packet* packet) {
  const IpAddress next = destination_of(*packet);
  Neighbor* neighbor = neighbors_.find(packet->egress_port, next);
  if (neighbor != nullptr && is_usable(neighbor->state)) [[likely]]
    return send(packet, neighbor->mac);
  resolve(packet, neighbor, next);
}

void Adjacency::resolve(Packet* packet, Neighbor* neighbor, const IpAddress& next) {
  if (!egress_.up(packet->egress_port)) return buffer_.drop(packet, DropReason::egress_down);
  if (neighbor == nullptr) {
    neighbor = insert_learned(packet->egress_port, next);
    if (neighbor == nullptr) return buffer_.drop(packet, DropReason::neighbor_queue_full);
    neighbor->state = NeighborState::incomplete;
    ask(*neighbor);
  }
  if (neighbor->waiting.count() >= NeighborTable::kWaiting)
    return buffer_.drop(packet, DropReason::neighbor_queue_full);
  neighbor->waiting.push(packet);
  ++waiting_;
}

Neighbor* Adjacency::insert_learned(PortId port, const IpAddress& address) {
  if (context_.fires(FaultSite::neighbor_table_full)) return nullptr;
  return neighbors_.insert(port, address);
}

void Adjacency::consume(Packet* packet) {
  context_.count(packet->ingress_port, PortCounter::consumed_packets);
  context_.free(packet);
}

void Adjacency::arp(Packet* packet) {
  const PortId port = packet->ingress_port;
  ArpMessage message;
  const ConstOctets payload{packet->data() + packet->l2_len, packet->data_len() - packet->l2_len};
  if (decode(payload, message) != CodecVerdict::ok)
    return buffer_.drop(packet, DropReason::control_malformed);
  const OwnAddress* own = asked_address(*context_.snapshot, port, message.target_ip);
  learn(port, message.sender_ip, message.sender_mac, own != nullptr);
  if (own != nullptr && message.operation == ArpOperation::request) answer_request(port, message);
  consume(packet);
}

void Adjacency::answer_request(PortId port, const ArpMessage& question) {
  send_arp(port, question.sender_mac,
           {ArpOperation::reply, context_.settings(port).mac, question.target_ip,
            question.sender_mac, question.sender_ip});
}

void Adjacency::send_arp(PortId port, const MacAddress& to, const ArpMessage& message) {
  Packet* frame = new_frame(context_);
  if (frame == nullptr) return context_.count(port, PortCounter::no_control_buffer);
  const EthernetHeader ethernet{to, context_.settings(port).mac, kEtherTypeArp};
  const size_t header = encode(ethernet, frame_space(*frame));
  set_frame_length(*frame, header + encode(message, frame_space(*frame).subspan(header)));
  egress_.originate(port, frame);
}

void Adjacency::neighbor_discovery(Packet* packet) {
  const PortId port = packet->ingress_port;
  NdMessage message;
  const ConstOctets network{packet->data() + packet->l2_len, packet->data_len() - packet->l2_len};
  const CodecVerdict verdict = decode(network, message);
  if (verdict == CodecVerdict::wrong_type) return consume(packet);  // router discovery: not ours
  if (verdict != CodecVerdict::ok) return buffer_.drop(packet, DropReason::control_malformed);
  const bool advertised = message.kind == NdKind::advertisement;
  const IpAddress who = advertised ? message.target : message.source;
  const OwnAddress* own = asked_address(*context_.snapshot, port, message.target);
  if (message.has_link_address) learn(port, who, message.link_address, own != nullptr);
  if (!message.has_link_address) message.link_address = load_mac(packet->data() + 6);
  if (!advertised && own != nullptr) answer_solicitation(port, message);
  consume(packet);
}

void Adjacency::answer_solicitation(PortId port, const NdMessage& question) {
  const bool probe =
      question.source == Ipv6Address{};  // duplicate address detection: tell everybody
  const Ipv6Address to = probe ? kAllNodes : question.source;
  const MacAddress to_mac = probe ? multicast_mac(kAllNodes) : question.link_address;
  NdMessage answer{.kind = NdKind::advertisement,
                   .source = question.target,
                   .destination = to,
                   .target = question.target,
                   .router = true,
                   .solicited = !probe,
                   .override_cached = true,
                   .has_link_address = true,
                   .link_address = context_.settings(port).mac};
  send_nd(port, to_mac, answer);
}

void Adjacency::send_nd(PortId port, const MacAddress& to, const NdMessage& message) {
  Packet* frame = new_frame(context_);
  if (frame == nullptr) return context_.count(port, PortCounter::no_control_buffer);
  const EthernetHeader ethernet{to, context_.settings(port).mac, kEtherTypeIpv6};
  const size_t header = encode(ethernet, frame_space(*frame));
  set_frame_length(*frame, header + encode(message, frame_space(*frame).subspan(header)));
  egress_.originate(port, frame);
}

// `may_insert`: the sender asked for us, so we will need its address; others only confirm what is
// known.
void Adjacency::learn(PortId port, const IpAddress& address, const MacAddress& mac,
                      bool may_insert) {
  if (mac.is_multicast() || mac.is_zero() || !on_subnet(*context_.snapshot, port, address)) return;
  if (context_.snapshot->owns(address)) return;
  Neighbor* neighbor = neighbors_.find(port, address);
  if (neighbor == nullptr && may_insert) neighbor = insert_learned(port, address);
  if (neighbor == nullptr || neighbor->state == NeighborState::fixed) return;
  confirm(*neighbor, mac);
}

void Adjacency::confirm(Neighbor& neighbor, const MacAddress& mac) {
  if (!is_usable(neighbor.state)) context_.event(EventKind::neighbor_learned, neighbor.port);
  neighbor.mac = mac;
  neighbor.state = NeighborState::reachable;
  neighbor.requests = 0;
  neighbor.confirmed_at = context_.now;
  set_timer(neighbor, context_.now + context_.snapshot->config.control.neighbor_age);
  waiting_ -= neighbor.waiting.count();
  while (!neighbor.waiting.empty()) send(neighbor.waiting.pop(), mac);
}

void Adjacency::ask(Neighbor& neighbor) {
  neighbor.requests = static_cast<uint8_t>(neighbor.requests + 1);
  set_timer(neighbor, context_.now + kRequestInterval);
  const OwnAddress* own =
      context_.snapshot->own_address_on(neighbor.port, neighbor.address.is_v4());
  if (own == nullptr) return;  // nothing to ask with; the neighbor stays unresolved and times out
  if (neighbor.address.is_v4()) {
    ask_by_arp(neighbor, own->prefix.address.v4());
  } else {
    ask_by_nd(neighbor, own->prefix.address.v6());
  }
}

void Adjacency::ask_by_arp(const Neighbor& neighbor, Ipv4Address own) {
  const MacAddress to = is_usable(neighbor.state) ? neighbor.mac : MacAddress::broadcast();
  send_arp(neighbor.port, to,
           {ArpOperation::request,
            context_.settings(neighbor.port).mac,
            own,
            {},
            neighbor.address.v4()});
}

void Adjacency::ask_by_nd(const Neighbor& neighbor, const Ipv6Address& own) {
  const Ipv6Address target = neighbor.address.v6();
  const bool known = is_usable(neighbor.state);
  const Ipv6Address to = known ? target : solicited_node_address(target);
  send_nd(neighbor.port, known ? neighbor.mac : multicast_mac(to),
          {.kind = NdKind::solicitation,
           .source = own,
           .destination = to,
           .target = target,
           .has_link_address = true,
           .link_address = context_.settings(neighbor.port).mac});
}

// A neighbor's timer is due: ask again, or take the lack of an answer for one.
void Adjacency::advance(Neighbor& neighbor) {
  if (neighbor.state == NeighborState::reachable) {
    neighbor.state = NeighborState::probing;
    neighbor.requests = 0;
  }
  if (neighbor.requests < kRequests) return ask(neighbor);
  if (neighbor.state == NeighborState::probing)
    context_.event(EventKind::neighbor_lost, neighbor.port);
  give_up(neighbor, DropReason::neighbor_unresolved);
}

void Adjacency::give_up(Neighbor& neighbor, DropReason reason) {
  waiting_ -= neighbor.waiting.count();
  while (!neighbor.waiting.empty()) {
    Packet* packet = neighbor.waiting.pop();
    icmp_.error(*packet, IcmpErrorReason::host_unreachable);
    buffer_.drop(packet, reason);
  }
  set_timer(neighbor, Instant::never());
  neighbors_.erase(&neighbor);
}

void Adjacency::set_timer(const Neighbor& neighbor, Instant at) {
  const auto index = static_cast<Deadlines::Id>(&neighbor - neighbors_.entries().data());
  neighbor_timers_.set(index, at);
}

void Adjacency::on_timers() {
  while (const auto index = neighbor_timers_.pop_due(context_.now))
    advance(neighbors_.entries()[*index]);
}

void Adjacency::link_down(PortId port) {
  for (Neighbor& neighbor : neighbors_.entries()) {
    if (neighbor.port != port || neighbor.state == NeighborState::fixed) continue;
    if (neighbor.state != NeighborState::free) give_up(neighbor, DropReason::egress_down);
  }
}

// Configured neighbors replace learned ones; those no longer configured are forgotten.
void Adjacency::adopt(const Snapshot& now) {
  for (const FixedNeighbor& fixed : now.neighbors) {
    if (!context_.owns(fixed.port)) continue;
    Neighbor* neighbor = neighbors_.find(fixed.port, fixed.address);
    if (neighbor == nullptr) neighbor = insert_fixed(fixed.port, fixed.address);
    fix(*neighbor, fixed.mac);
    neighbor->configured_by = now.generation;
  }
  for (Neighbor& neighbor : neighbors_.entries())
    if (neighbor.state == NeighborState::fixed && neighbor.configured_by != now.generation)
      give_up(neighbor, DropReason::neighbor_unresolved);
}

void Adjacency::fix(Neighbor& neighbor, const MacAddress& mac) {
  const bool known = is_usable(neighbor.state);
  if (known && neighbor.mac != mac) context_.event(EventKind::neighbor_learned, neighbor.port);
  if (neighbor.state == NeighborState::fixed && neighbor.mac == mac) return;
  confirm(neighbor, mac);
  neighbor.state = NeighborState::fixed;
  set_timer(neighbor, Instant::never());
}

// Makes room where learned neighbors have filled the table; the fixed ones of two snapshots fit.
Neighbor* Adjacency::insert_fixed(PortId port, const IpAddress& address) {
  if (Neighbor* neighbor = neighbors_.insert(port, address)) return neighbor;
  for (Neighbor& learned : neighbors_.entries()) {
    if (learned.state == NeighborState::fixed) continue;
    give_up(learned, DropReason::neighbor_unresolved);
    break;
  }
  Neighbor* neighbor = neighbors_.insert(port, address);
  ASSERT(neighbor != nullptr);
  return neighbor;
}

size_t Adjacency::dump(std::span<NeighborRow> rows) const {
  size_t count = 0;
  for (const Neighbor& neighbor : neighbors_.entries()) {
    if (!is_usable(neighbor.state) || count == rows.size()) continue;
    const bool fixed = neighbor.state == NeighborState::fixed;
    rows[count++] = {neighbor.address, neighbor.mac, neighbor.port,
                     fixed ? Duration{} : context_.now - neighbor.confirmed_at, fixed};
  }
  return count;
}

}  // namespace eddy
