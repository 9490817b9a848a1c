#include "switch/dataplane/neighbors/adjacency.h"

#include <cstring>
#include <utility>

#include "net/icmp.h"
#include "net/protocols.h"
#include "switch/dataplane/neighbors/icmp_responder.h"

namespace eddy {
namespace {

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

Adjacency::Adjacency(ShardContext& context, IngressBuffer& buffer, const Services& services,
                     size_t ports)
    : context_(context),
      buffer_(buffer),
      egress_(services.egress),
      icmp_(services.icmp),
      peers_(services.peers),
      shims_(services.shims),
      stages_(services.stages),
      messages_(context, services.egress),
      neighbors_(kNeighbors, ports),
      heard_(ports),
      inserted_(ports),
      neighbor_timers_(kNeighbors, context.due_of(Timers::neighbors)) {}

// Packets to hosts in a burst, and none overtakes another.
void Adjacency::deliver_by_stages(Packet* packet) {
  const bool to_host = context_.settings(packet->egress_port).role == config::PortRole::host;
  if (!to_host || packet->has(kPacketOriginated)) {
    end_burst();
    return deliver_now(packet);
  }
  gathered_[gathered_count_++] = packet;
  if (gathered_count_ == gathered_.size()) give_to_stages();
}

void Adjacency::give_to_stages() {
  stages_.take(lb::StagePlace::to_hosts, {gathered_.data(), std::exchange(gathered_count_, 0)});
  deliver_passed();
}

IpAddress Adjacency::destination_of(const Packet& packet) {
  const uint8_t* network = packet.data() + packet.l2_len;
  if (!packet.has(kPacketIpv6)) return Ipv4Address{load_be32(network + 16)};
  Ipv6Address address;
  std::memcpy(address.octets.data(), network + 24, address.octets.size());
  return address;
}

void Adjacency::resolve(Packet* packet) {
  const PortId port = packet->egress_port;
  const IpAddress next = destination_of(*packet);
  Neighbor* neighbor = neighbors_.find(port, next);
  if (!egress_.up(port)) return buffer_.drop(packet, DropReason::egress_down);
  if (neighbor == nullptr) {
    neighbor = insert_learned(port, next, NeighborState::lost);
    if (neighbor == nullptr) return buffer_.drop(packet, DropReason::neighbor_table_full);
    turn(*neighbor, NeighborState::incomplete);
  }
  neighbor->wanted = true;
  if (neighbor->state == NeighborState::incomplete) return hold(packet, *neighbor);
  icmp_.error(*packet, IcmpErrorReason::host_unreachable);
  buffer_.drop(packet, DropReason::neighbor_unresolved);
}

// From here on the packet counts in the budget of what waits, and in no priority group.
void Adjacency::hold(Packet* packet, Neighbor& neighbor) {
  const int64_t octets = context_.snapshot->cell.charge_of(packet->wire_len);
  const int64_t budget = context_.snapshot->config.control.neighbor_queue.count();
  if (neighbor.waiting.count() >= NeighborTable::kWaiting || neighbor.held + octets > budget / 4 ||
      held_octets_ + octets > budget)
    return buffer_.drop(packet, DropReason::neighbor_queue_full);
  buffer_.release(Charge::of(*packet));
  packet->charged_bytes = 0;
  neighbor.held += octets;
  held_octets_ += octets;
  neighbor.waiting.push(packet);
  ++waiting_;
}

Packet* Adjacency::take_held(Neighbor& neighbor) {
  Packet* packet = neighbor.waiting.pop();
  const int64_t octets = context_.snapshot->cell.charge_of(packet->wire_len);
  neighbor.held -= octets;
  held_octets_ -= octets;
  --waiting_;
  return packet;
}

void Adjacency::refuse_held(Neighbor& neighbor, DropReason reason) {
  while (!neighbor.waiting.empty()) {
    Packet* packet = take_held(neighbor);
    icmp_.error(*packet, IcmpErrorReason::host_unreachable);
    buffer_.drop(packet, reason);
  }
}

Neighbor* Adjacency::insert_learned(PortId port, const IpAddress& address, NeighborState worth) {
  if (context_.fires(FaultSite::neighbor_table_full)) return nullptr;
  const config::ControlConfig& control = context_.snapshot->config.control;
  const int64_t rate = control.neighbor_messages_per_second;
  if (!inserted_[port.index()].take(context_.now, rate, rate)) return nullptr;
  const auto quota = static_cast<size_t>(control.neighbors_per_port);
  if (neighbors_.learned(port) >= quota && !make_room(port, worth)) return nullptr;
  if (neighbors_.full() && !make_room(neighbors_.most_learned(), worth)) return nullptr;
  return neighbors_.insert(port, address);
}

bool Adjacency::make_room(PortId port, NeighborState worth) {
  Neighbor* least = neighbors_.least_missed(port, worth);
  if (least == nullptr) return false;
  forget(*least, DropReason::neighbor_table_full);
  return true;
}

void Adjacency::consume(Packet* packet) {
  context_.count(packet->ingress_port, PortCounter::consumed_packets);
  context_.free(packet);
}

bool Adjacency::may_hear(PortId port) {
  const int64_t rate = context_.snapshot->config.control.neighbor_messages_per_second;
  return heard_[port.index()].take(context_.now, rate, rate);
}

void Adjacency::arp(Packet* packet) {
  const PortId port = packet->ingress_port;
  if (!may_hear(port)) return buffer_.drop(packet, DropReason::control_policed);
  ArpMessage message;
  const ConstOctets payload{packet->data() + packet->l2_len, packet->data_len() - packet->l2_len};
  if (decode(payload, message) != CodecVerdict::ok)
    return buffer_.drop(packet, DropReason::control_malformed);
  const OwnAddress* own = asked_address(*context_.snapshot, port, message.target_ip);
  const bool announces = message.sender_ip == message.target_ip;  // RFC 5227
  learn(port, message.sender_ip, message.sender_mac, own != nullptr || announces);
  if (own != nullptr && message.operation == ArpOperation::request) messages_.answer(port, message);
  consume(packet);
}

void Adjacency::neighbor_discovery(Packet* packet) {
  const PortId port = packet->ingress_port;
  if (!may_hear(port)) return buffer_.drop(packet, DropReason::control_policed);
  NdMessage message;
  const ConstOctets network{packet->data() + packet->l2_len, packet->data_len() - packet->l2_len};
  const CodecVerdict verdict = decode(network, message);
  if (verdict == CodecVerdict::wrong_type) return consume(packet);  // router discovery: not ours
  if (verdict != CodecVerdict::ok) return buffer_.drop(packet, DropReason::control_malformed);
  const bool advertised = message.kind == NdKind::advertisement;
  const IpAddress who = advertised ? message.target : message.source;
  const OwnAddress* own = asked_address(*context_.snapshot, port, message.target);
  const bool announces = advertised && !message.solicited;  // RFC 4861, 7.2.6
  if (message.has_link_address) learn(port, who, message.link_address, own != nullptr || announces);
  if (!message.has_link_address) message.link_address = load_mac(packet->data() + 6);
  if (!advertised && own != nullptr) messages_.answer(port, message);
  consume(packet);
}

// `may_insert`: the sender asked for us or announces itself, so we will need its address; others
// only confirm what is known.
void Adjacency::learn(PortId port, const IpAddress& address, const MacAddress& mac,
                      bool may_insert) {
  if (mac.is_multicast() || mac.is_zero() || !on_subnet(*context_.snapshot, port, address)) return;
  if (context_.snapshot->owns(address)) return;
  Neighbor* neighbor = neighbors_.find(port, address);
  if (neighbor == nullptr && may_insert)
    neighbor = insert_learned(port, address, NeighborState::reachable);
  if (neighbor == nullptr || neighbor->state == NeighborState::fixed) return;
  confirm(*neighbor, mac);
}

void Adjacency::confirm(Neighbor& neighbor, const MacAddress& mac) {
  ++context_.way_changes;
  const bool answered = neighbor.state > NeighborState::lost;
  if (!answered) context_.event(EventKind::neighbor_learned, neighbor.port);
  neighbor.mac = mac;
  neighbor.state = NeighborState::reachable;
  neighbor.wanted = false;
  neighbor.changed_at = context_.now;
  set_timer(neighbor, context_.now + context_.snapshot->config.control.neighbor_age);
  while (!neighbor.waiting.empty()) send(take_held(neighbor), mac);
}

// Into a state in which it is asked.
void Adjacency::turn(Neighbor& neighbor, NeighborState state) {
  ++context_.way_changes;
  neighbor.state = state;
  neighbor.requests = 0;
  if (state != NeighborState::probing) neighbor.changed_at = context_.now;
  ask(neighbor);
}

// Whoever answered of late is asked alone.
void Adjacency::ask(Neighbor& neighbor) {
  const bool answers = neighbor.state > NeighborState::lost;
  messages_.ask(neighbor.port, neighbor.address, answers ? neighbor.mac : MacAddress{});
  ++neighbor.requests;
  const bool silent =
      neighbor.state == NeighborState::failed || neighbor.state == NeighborState::lost;
  set_timer(neighbor, context_.now + (silent ? kRetryInterval : kRequestInterval));
}

// A neighbor's timer is due: ask again, or take the lack of an answer for one.
void Adjacency::advance(Neighbor& neighbor) {
  const bool asked_enough = neighbor.requests >= kRequests;
  switch (neighbor.state) {
    case NeighborState::reachable:
      return turn(neighbor, NeighborState::probing);
    case NeighborState::probing:
      if (!asked_enough) return ask(neighbor);
      context_.event(EventKind::neighbor_lost, neighbor.port);
      return turn(neighbor, NeighborState::lost);
    case NeighborState::incomplete:
      if (!asked_enough) return ask(neighbor);
      return fail(neighbor);
    case NeighborState::lost: {
      const Duration age = context_.snapshot->config.control.neighbor_age;
      const bool used = neighbor.kept || context_.now - neighbor.changed_at < age;
      return used ? ask(neighbor) : forget(neighbor, DropReason::neighbor_unresolved);
    }
    case NeighborState::failed:
      if (!neighbor.kept && !std::exchange(neighbor.wanted, false))
        return forget(neighbor, DropReason::neighbor_unresolved);
      return ask(neighbor);
    case NeighborState::free:
    case NeighborState::fixed:
      break;  // no timers
  }
}

// What waits for it is refused now, and what comes at once, until it answers.
void Adjacency::fail(Neighbor& neighbor) {
  neighbor.state = NeighborState::failed;
  neighbor.wanted = false;
  set_timer(neighbor, context_.now + kRetryInterval);
  refuse_held(neighbor, DropReason::neighbor_unresolved);
}

void Adjacency::forget(Neighbor& neighbor, DropReason reason) {
  ++context_.way_changes;
  refuse_held(neighbor, reason);
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

void Adjacency::rebase(const Rebase& rebase) {
  for (Neighbor& neighbor : neighbors_.entries()) rebase.shift(neighbor.changed_at);
  for (RateLimit& heard : heard_) heard.rebase(rebase);
  for (RateLimit& inserted : inserted_) inserted.rebase(rebase);
  neighbor_timers_.rebase(rebase);
}

void Adjacency::link_changed(PortId port, bool up) {
  for (Neighbor& neighbor : neighbors_.entries()) {
    if (neighbor.port != port || neighbor.state == NeighborState::free) continue;
    if (neighbor.state == NeighborState::fixed) continue;
    if (neighbor.kept && up) {
      turn(neighbor, NeighborState::incomplete);
    } else if (neighbor.kept) {
      await_link(neighbor);
    } else if (!up) {
      forget(neighbor, DropReason::egress_down);
    }
  }
}

void Adjacency::forget(PortId port) {
  for (Neighbor& neighbor : neighbors_.entries())
    if (neighbor.port == port && neighbor.state != NeighborState::free)
      forget(neighbor, DropReason::egress_down);
}

// A kept neighbor, until its port is up.
void Adjacency::await_link(Neighbor& neighbor) {
  ++context_.way_changes;
  neighbor.state = NeighborState::incomplete;
  set_timer(neighbor, Instant::never());
  refuse_held(neighbor, DropReason::egress_down);
}

// Those that are no longer configured are forgotten, or from now on as if learned.
void Adjacency::adopt(const Snapshot& now) {
  for (const ConfiguredNeighbor& configured : now.neighbors)
    if (context_.owns(configured.port)) adopt(configured, now.generation);
  for (Neighbor& neighbor : neighbors_.entries()) {
    const bool is_named = neighbor.configured_by == now.generation;
    if (neighbor.state == NeighborState::free || !neighbor.kept || is_named) continue;
    const bool answered =
        neighbor.state == NeighborState::reachable || neighbor.state == NeighborState::probing;
    if (answered) {
      neighbors_.keep(neighbor, false);
    } else {
      forget(neighbor, DropReason::neighbor_unresolved);
    }
  }
}

void Adjacency::adopt(const ConfiguredNeighbor& configured, uint64_t generation) {
  Neighbor* neighbor = neighbors_.find(configured.port, configured.address);
  if (neighbor == nullptr) neighbor = insert_configured(configured.port, configured.address);
  neighbors_.keep(*neighbor, true);
  neighbor->configured_by = generation;
  if (!configured.mac.is_zero()) return fix(*neighbor, configured.mac);
  if (neighbor->state == NeighborState::fixed) {
    turn(*neighbor, NeighborState::probing);
  } else if (neighbor->state == NeighborState::free && egress_.up(configured.port)) {
    turn(*neighbor, NeighborState::incomplete);
  } else if (neighbor->state == NeighborState::free) {
    await_link(*neighbor);
  }
}

void Adjacency::fix(Neighbor& neighbor, const MacAddress& mac) {
  if (neighbor.state == NeighborState::fixed && neighbor.mac == mac) return;
  const bool moved = neighbor.state > NeighborState::lost && neighbor.mac != mac;
  if (moved) context_.event(EventKind::neighbor_learned, neighbor.port);
  confirm(neighbor, mac);
  neighbor.state = NeighborState::fixed;
  set_timer(neighbor, Instant::never());
}

// Makes room where learned neighbors have filled the table; those of two snapshots fit.
Neighbor* Adjacency::insert_configured(PortId port, const IpAddress& address) {
  if (neighbors_.full()) make_room(neighbors_.most_learned(), NeighborState::reachable);
  Neighbor* neighbor = neighbors_.insert(port, address);
  ASSERT(neighbor != nullptr);
  return neighbor;
}

size_t Adjacency::dump(std::span<NeighborRow> rows) const {
  size_t count = 0;
  for (const Neighbor& neighbor : neighbors_.entries()) {
    if (!has_mac(neighbor.state) || count == rows.size()) continue;
    const bool fixed = neighbor.state == NeighborState::fixed;
    rows[count++] = {.address = neighbor.address,
                     .mac = neighbor.mac,
                     .port = neighbor.port,
                     .age = fixed ? Duration{} : context_.now - neighbor.changed_at,
                     .is_static = fixed,
                     .lost = neighbor.state == NeighborState::lost};
  }
  return count;
}

}  // namespace eddy
