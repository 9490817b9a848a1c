#include "switch/dataplane/pipeline/ingress.h"

#include <rte_prefetch.h>

#include <algorithm>
#include <utility>

#include "net/byte_order.h"
#include "net/protocols.h"
#include "switch/dataplane/pipeline/route_lookup.h"
#include "switch/dataplane/queues/rewrite.h"

namespace eddy {
namespace {

constexpr size_t kPrefetchAhead = 4;
constexpr uint8_t kFirstNdType = 133;  // ICMPv6: router solicitation
constexpr uint8_t kLastNdType = 137;   // redirect

void prefetch(Packet* packet) {
  rte_prefetch0(packet->data());
  rte_prefetch0(packet);
}

bool is_to(const uint8_t* frame, const MacAddress& mac) {
  const uint8_t* octets = mac.octets.data();
  return load_raw<uint32_t>(frame) == load_raw<uint32_t>(octets) &&
         load_raw<uint16_t>(frame + 4) == load_raw<uint16_t>(octets + 4);
}

// Of two tags the outer one counts. Frames of the link itself have none on any port.
bool serves_vlan(const ParsedFrame& frame, const PortSettings& settings) {
  if (frame.vlan_id != 0) return frame.vlan_id == settings.vlan;
  return settings.takes_untagged || frame.kind == FrameKind::mac_control ||
         frame.kind == FrameKind::lldp || frame.kind == FrameKind::link_local;
}

void gather(const Packet& packet, PlainBurst& burst) {
  burst.octets += packet.wire_len;
  burst.flags = static_cast<uint16_t>(burst.flags | packet.flags);
  burst.pgs = static_cast<uint8_t>(burst.pgs | 1u << packet.pg.index());
  burst.queues = static_cast<uint8_t>(burst.queues | 1u << packet.queue.index());
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
    if (received.last) return;
  }
}

// Called from one place; left to itself the compiler keeps it apart.
[[gnu::always_inline]] inline void Ingress::process(const Received& received,
                                                    std::span<Packet* const> packets) {
  const Source source{context_.settings(received.port), buffer_.discarding(received.port)};
  const int64_t backlog = buffer_.note_backlog(received);
  for (size_t i = 0; i < std::min(kPrefetchAhead, packets.size()); ++i) prefetch(packets[i]);
  std::array<Packet*, kBurst> accepted;
  PlainBurst burst{.backlog = backlog};
  size_t count = 0;
  uint64_t bytes = 0;
  for (size_t i = 0; i < packets.size(); ++i) {
    if (i + kPrefetchAhead < packets.size()) prefetch(packets[i + kPrefetchAhead]);
    Packet* packet = packets[i];
    packet->ingress_port = received.port;
    packet->charged_bytes = 0;
    packet->pg = PriorityGroupId::none();
    bytes += packet->wire_len;
    accepted[count] = packet;
    if (accept(packet, source)) {
      ++count;
      gather(*packet, burst);
    }
    if (relay_.packet != nullptr) [[unlikely]] {
      relay({accepted.data(), count}, burst);
      count = 0;
      burst = {.backlog = backlog};
    }
  }
  const MacControl apart = std::exchange(mac_control_, {});
  context_.count(received.port, PortCounter::rx_packets, packets.size() - apart.packets);
  context_.count(received.port, PortCounter::rx_bytes, bytes - apart.bytes);
  services_.agents.tell();
  context_.stats.received += static_cast<uint32_t>(packets.size());
  if (count != 0) forward({accepted.data(), count}, burst);
}

inline void Ingress::forward(std::span<Packet* const> packets, const PlainBurst& burst) {
  if ((burst.flags & kPacketLastHop) != 0) [[unlikely]]
    return services_.forwarder.forward(packets, burst.backlog);
  look_up(*context_.routes, packets);
  services_.forwarder.forward_plain(packets, burst);
}

inline bool Ingress::accept(Packet* packet, const Source& source) {
  ParsedFrame frame;
  if (parse_plain_udp(packet->data(), packet->data_len(), packet->wire_len, frame) &&
      source.settings.takes_untagged) [[likely]]
    return accept_ip(packet, frame, source);
  return accept_slowly(packet, source);
}

// Behind those of its port that came before, as its echo proves that they are on their way.
void Ingress::relay(std::span<Packet* const> before, const PlainBurst& burst) {
  services_.agents.tell();
  if (!before.empty()) forward(before, burst);
  services_.forwarder.relay(std::exchange(relay_.packet, nullptr), relay_.set);
}

bool Ingress::accept_slowly(Packet* packet, const Source& source) {
  if (!source.settings.admin_up) return refuse(packet, DropReason::port_disabled);
  ParsedFrame frame;
  const ParseVerdict verdict = parse_packet(*packet, frame);
  if (verdict != ParseVerdict::ok) return refuse(packet, drop_reason_of(verdict));
  if (!serves_vlan(frame, source.settings)) return refuse(packet, DropReason::vlan_not_served);
  if (frame.kind == FrameKind::ipv4 || frame.kind == FrameKind::ipv6)
    return accept_ip(packet, frame, source);
  serve(packet, frame, source.settings);
  return false;
}

bool Ingress::refuse(Packet* packet, DropReason reason) {
  buffer_.drop(packet, reason);
  return false;
}

inline bool Ingress::accept_ip(Packet* packet, const ParsedFrame& frame, const Source& source) {
  const PortSettings& settings = source.settings;
  const PortClasses& classes = *settings.classes;
  const bool by_pcp = (frame.flags & kPacketTagged) != 0 && settings.pcp_trusted;
  fill(packet, frame, by_pcp ? classes.by_pcp[frame.pcp] : classes.by_dscp[frame.dscp]);
  constexpr uint16_t kUnusual = kPacketTagged | kPacketShim | kPacketIpv6;
  if ((frame.flags & kUnusual) != 0 && !accept_unusual(packet, frame, settings)) [[unlikely]]
    return false;
  if ((source.discarded_pgs >> packet->pg.index() & 1) != 0) [[unlikely]] {
    services_.pause.count_discarded(*packet);
    return refuse(packet, DropReason::watchdog);
  }
  if (!is_to(packet->data(), settings.mac)) [[unlikely]]
    return refuse(packet, DropReason::not_for_us);
  return true;
}

// What only tagged, shimmed or IPv6 packets can be.
bool Ingress::accept_unusual(Packet* packet, const ParsedFrame& frame,
                             const PortSettings& settings) {
  if (packet->has(kPacketShim)) {
    if (settings.role == config::PortRole::host)
      return refuse(packet, DropReason::control_on_host_port);
    services_.agents.arrived(*packet, frame.shim_offset);
  }
  if (!is_neighbor_discovery(*packet, frame)) return true;
  services_.adjacency.neighbor_discovery(packet);
  return false;
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
      return mac_control(packet);
    case FrameKind::cnm:
      if (host) return buffer_.drop(packet, DropReason::control_on_host_port);
      return services_.warnings.cnm(packet);
    case FrameKind::shim_control:
      if (host) return buffer_.drop(packet, DropReason::control_on_host_port);
      if (frame.vlan_id != 0) take_vlan_off(*packet);
      if (const auto set = services_.agents.control(packet)) relay_ = {packet, *set};
      return;
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

void Ingress::mac_control(Packet* packet) {
  const uint32_t bytes = packet->wire_len;
  if (!services_.pause.mac_control(packet)) return;
  ++mac_control_.packets;
  mac_control_.bytes += bytes;
}

}  // namespace eddy
