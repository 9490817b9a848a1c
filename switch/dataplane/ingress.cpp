#include "switch/dataplane/ingress.h"

#include <rte_prefetch.h>

#include <algorithm>
#include <cstring>

#include "net/protocols.h"

namespace eddy {
namespace {

constexpr size_t kPrefetchAhead = 4;
constexpr uint8_t kFirstNdType = 133;  // ICMPv6: router solicitation
constexpr uint8_t kLastNdType = 137;   // redirect

void prefetch(Packet* packet) {
  rte_prefetch0(packet->data());
  rte_prefetch0(packet);
}

void fill(Packet* packet, const ParsedFrame& frame, const ClassOf& class_of) {
  packet->order_hash = frame.order_hash;
  packet->balance_hash = frame.balance_hash;
  packet->flags = frame.flags;
  packet->payload_len = frame.payload_len;
  packet->l2_len = frame.l2_len;
  packet->l3_len = frame.l3_len;
  packet->traffic_class = class_of.traffic_class;
  packet->pg = class_of.pg;
  packet->queue = class_of.queue;
}

bool is_neighbor_discovery(const Packet& packet, const ParsedFrame& frame) {
  const uint32_t type_at = frame.l2_len + frame.l3_len;
  if (frame.kind != FrameKind::ipv6 || frame.l4_protocol != kProtocolIcmpv6) return false;
  if (packet.data_len() <= type_at) return false;
  const uint8_t type = packet.data()[type_at];
  return type >= kFirstNdType && type <= kLastNdType;
}

}  // namespace

void Ingress::run() {
  std::array<Packet*, kBurst> burst;
  for (;;) {
    const Received received = context_.io->receive(burst);
    if (received.count == 0) return;
    process(received, {burst.data(), received.count});
  }
}

void Ingress::process(const Received& received, std::span<Packet* const> packets) {
  const PortSettings& settings = context_.settings(received.port);
  for (size_t i = 0; i < std::min(kPrefetchAhead, packets.size()); ++i) prefetch(packets[i]);
  std::array<Packet*, kBurst> accepted;
  size_t count = 0;
  uint64_t bytes = 0;
  for (size_t i = 0; i < packets.size(); ++i) {
    if (i + kPrefetchAhead < packets.size()) prefetch(packets[i + kPrefetchAhead]);
    Packet* packet = packets[i];
    packet->ingress_port = received.port;
    packet->arrived_at = context_.now;
    packet->charged_bytes = 0;
    bytes += packet->wire_len;
    if (accept(packet, settings)) accepted[count++] = packet;
  }
  context_.count(received.port, PortCounter::rx_packets, packets.size());
  context_.count(received.port, PortCounter::rx_bytes, bytes);
  context_.stats.received += static_cast<uint32_t>(packets.size());
  buffer_.note_backlog(received.port, received.backlog);
  if (count != 0) services_.forwarder.forward({accepted.data(), count}, received.backlog.count());
}

bool Ingress::accept(Packet* packet, const PortSettings& settings) {
  if (!settings.admin_up) [[unlikely]] {
    buffer_.drop(packet, DropReason::port_disabled);
    return false;
  }
  ParsedFrame frame;
  const ParseVerdict verdict =
      parse_frame(packet->data(), packet->data_len(), packet->wire_len, frame);
  if (verdict != ParseVerdict::ok) [[unlikely]] {
    buffer_.drop(packet, drop_reason_of(verdict));
    return false;
  }
  if (frame.vlan_id != 0) [[unlikely]] {
    buffer_.drop(packet, DropReason::vlan_not_served);
    return false;
  }
  if (frame.kind == FrameKind::ipv4 || frame.kind == FrameKind::ipv6) [[likely]]
    return accept_ip(packet, frame, settings);
  serve(packet, frame, settings);
  return false;
}

bool Ingress::accept_ip(Packet* packet, const ParsedFrame& frame, const PortSettings& settings) {
  const bool tagged = (frame.flags & kPacketTagged) != 0;
  fill(packet, frame,
       tagged && settings.pcp_trusted ? settings.by_pcp[frame.pcp] : settings.by_dscp[frame.dscp]);
  if (packet->has(kPacketShim) && settings.role == config::PortRole::host) [[unlikely]] {
    buffer_.drop(packet, DropReason::control_on_host_port);
    return false;
  }
  if ((services_.pause.discarding_pgs(packet->ingress_port) >> packet->pg.index() & 1) != 0)
      [[unlikely]] {
    const size_t priority = settings.pg_to_pfc[packet->pg.index()].index();
    context_.counters[packet->ingress_port].pfc[priority][PfcCounter::pfcwd_dropped_packets].add(1);
    buffer_.drop(packet, DropReason::watchdog);
    return false;
  }
  if (is_neighbor_discovery(*packet, frame)) [[unlikely]] {
    services_.adjacency.neighbor_discovery(packet);
    return false;
  }
  if (!is_for_us(*packet, settings)) [[unlikely]] {
    buffer_.drop(packet, DropReason::not_for_us);
    return false;
  }
  return true;
}

bool Ingress::is_for_us(const Packet& packet, const PortSettings& settings) const {
  return std::memcmp(packet.data(), settings.mac.octets.data(), settings.mac.octets.size()) == 0;
}

// Frames that are not forwarded: for a service of ours, or not for anybody.
void Ingress::serve(Packet* packet, const ParsedFrame& frame, const PortSettings& settings) {
  packet->flags = frame.flags;
  packet->l2_len = frame.l2_len;
  const bool host = settings.role == config::PortRole::host;
  switch (frame.kind) {
    case FrameKind::arp:
      return services_.adjacency.arp(packet);
    case FrameKind::lldp:
      return host ? buffer_.drop(packet, DropReason::link_local) : services_.peers.lldp(packet);
    case FrameKind::mac_control:
      return services_.pause.mac_control(packet);
    case FrameKind::cnm:
    case FrameKind::shim_control:
      if (host) return buffer_.drop(packet, DropReason::control_on_host_port);
      return services_.pause.fabric_control(packet);
    case FrameKind::link_local:
      return buffer_.drop(packet, DropReason::link_local);
    case FrameKind::other:
      return buffer_.drop(packet, DropReason::unknown_ethertype);
    case FrameKind::ipv4:
    case FrameKind::ipv6:
      break;  // forwarded, never served
  }
  ASSERT(false);
}

}  // namespace eddy
