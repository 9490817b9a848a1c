#include "switch/dataplane/pipeline/ingress.h"

#include <algorithm>
#include <utility>

#include "switch/dataplane/pipeline/acceptance.h"
#include "switch/dataplane/pipeline/route_lookup.h"
#include "switch/dataplane/queues/rewrite.h"
#include "switch/dataplane/state/shim_layout.h"

namespace eddy {

void Ingress::run() {
  Burst burst;
  for (;;) {
    const Received received = context_.io->receive(burst);
    if (received.count == 0) return;
    const int64_t backlog = buffer_.note_backlog(received);
    if (received.count == 1)
      process_alone(received.port, burst[0], backlog, received.sums_good);
    else
      process({burst.data(), received.count},
              source_of(received.port, backlog, received.sums_good));
    if (received.last) return;
  }
}

void Ingress::run_alone(PortId port, Packet* packet) {
  process_alone(port, packet, buffer_.note_backlog({.port = port}), /*sums_good=*/false);
}

inline Ingress::Source Ingress::source_of(PortId port, int64_t backlog, bool sums_good) const {
  return {port, context_.settings(port), buffer_.discarding(port), backlog, sums_good};
}

// Most polls in virtual time have one frame, and most frames are of one kind: what process() would
// do with it, without a burst's arrays. Another kind goes that way.
void Ingress::process_alone(PortId port, Packet* packet, int64_t backlog, bool sums_good) {
  if (!goes_short(port)) [[unlikely]]
    return process_burst_of_one(port, packet, backlog, sums_good);
  const ShortWay way(port, context_.settings(port), *context_.routes, sums_good);
  if (!way.take_alone(packet)) [[unlikely]]
    return process_other_alone(port, packet, backlog, sums_good);
  count_alone(port, *packet);
  services_.departures.settle();
  services_.agents.tell();
  services_.forwarder.forward_alone(packet, backlog);
}

inline bool Ingress::goes_short(PortId port) const {
  return context_.settings(port).takes_untagged && buffer_.discarding(port) == 0 &&
         !context_.routes->uses_fib4() && !context_.fires(FaultSite::long_way) &&
         !context_.fires(FaultSite::burst_apart);
}

inline void Ingress::count_alone(PortId port, const Packet& packet) {
  const PortTally counters = context_.counters[port];
  counters.port[PortCounter::rx_packets].add(1);
  counters.port[PortCounter::rx_bytes].add(packet.wire_len);
  ++context_.stats.received;
}

[[gnu::noinline]] void Ingress::process_burst_of_one(PortId port, Packet* packet, int64_t backlog,
                                                     bool sums_good) {
  Burst burst;
  burst[0] = packet;
  process({burst.data(), 1}, source_of(port, backlog, sums_good));
}

// It may be feedback of paths.
[[gnu::noinline]] void Ingress::process_other_alone(PortId port, Packet* packet, int64_t backlog,
                                                    bool sums_good) {
  const Source source = source_of(port, backlog, sums_good);
  if (!short_way(source).is_feedback(*packet) || !services_.agents.is_for_paths(*packet))
    return process_burst_of_one(port, packet, backlog, sums_good);
  count_alone(port, *packet);
  services_.agents.feedback(packet, port);
  tell_agents();
}

// Agents may look at queues; a poll that brings feedback mostly has nothing for any of them.
inline void Ingress::tell_agents() {
  if (!services_.agents.has_news()) [[likely]]
    return;
  services_.departures.settle();
  services_.agents.tell();
}

void Ingress::process(std::span<Packet*> packets, const Source& source) {
  const bool long_way = context_.fires(FaultSite::long_way);
  if (source.settings.takes_untagged && source.discarded_pgs == 0 && !long_way) [[likely]]
    process_by<Way::untagged_first>(packets, source);
  else
    process_apart(packets, source, long_way);
}

// Of a port that is down or wants a VLAN's tag, or one with a storm.
[[gnu::noinline]] void Ingress::process_apart(std::span<Packet*> packets, const Source& source,
                                              bool long_way) {
  if (source.settings.admin_up && source.discarded_pgs == 0 && !long_way)
    process_by<Way::other_kinds>(packets, source);
  else
    process_by<Way::long_way>(packets, source);
}

// Frames are accepted in their order, those by the long way among the others, and what is accepted
// goes on together: it is as if all had gone the long way. What is not leaves the burst.
template <Ingress::Way kWay>
[[gnu::always_inline]] inline void Ingress::process_by(std::span<Packet*> packets,
                                                       const Source& source) {
  const ShortWay way = short_way(source);
  Gathered gathered;
  uint64_t octets_apart = 0;  // received, and not in `gathered`
  Packet** first = packets.data();
  Packet** end = first + packets.size();
  for (Packet** at = first; at != end;) {
    if (kWay == Way::untagged_first) {
      const size_t taken = way.take_untagged({at, end}, gathered);
      at += taken;
      if (at == end) break;
      if (way.is_feedback(**at)) {
        const size_t heard = hear_feedback({at, end}, way, source.port, octets_apart);
        end = std::copy(at + heard, end, at);
        if (heard != 0) continue;
      }
      if (taken != 0) continue;  // the next one may be over the other protocol
    }
    services_.departures.settle();  // who is asked from here on may look at queues
    if (kWay != Way::long_way) at += take_others({at, end}, way, gathered);
    if (at == end) break;
    const uint32_t wire_len = (*at)->wire_len;
    if (accept(*at, source)) {
      gathered.add(**at++);
      continue;
    }
    octets_apart += wire_len;
    if (relay_.packet != nullptr) {
      relay({first, at}, gathered, source);
      octets_apart += gathered.octets();
      gathered = {};
      first = at;
    }
    end = std::copy(at + 1, end, at);
  }
  count_received(source.port, packets.size(), gathered.octets() + octets_apart);
  tell_agents();
  if (first != end) forward({first, end}, gathered, source);
}

inline ShortWay Ingress::short_way(const Source& source) const {
  return {source.port, source.settings, *context_.routes, source.sums_good,
          services_.forwarder.lines_to_ask_for()};
}

// As many of the first as are feedback of paths, and nothing more: they end here.
[[gnu::noinline]] size_t Ingress::hear_feedback(std::span<Packet* const> packets,
                                                const ShortWay& way, PortId port,
                                                uint64_t& octets) {
  size_t count = 0;
  for (Packet* packet : packets) {
    if (!way.is_feedback(*packet) || !services_.agents.is_for_paths(*packet)) break;
    octets += packet->wire_len;
    services_.agents.feedback(packet, port);
    ++count;
  }
  return count;
}

// As many of the first as are UDP, tagged or with a shim.
[[gnu::noinline]] size_t Ingress::take_others(std::span<Packet* const> packets, const ShortWay& way,
                                              Gathered& gathered) {
  size_t count = 0;
  for (Packet* packet : packets) {
    if (!way.take_other(packet, gathered)) break;
    if (packet->has(kPacketShim)) services_.agents.arrived(*packet, kEthernetHeader);
    ++count;
  }
  return count;
}

void Ingress::count_received(PortId port, uint64_t packets, uint64_t octets) {
  const MacControl apart = std::exchange(mac_control_, {});
  context_.count(port, PortCounter::rx_packets, packets - apart.packets);
  context_.count(port, PortCounter::rx_bytes, octets - apart.bytes);
  context_.stats.received += static_cast<uint32_t>(packets);
}

inline void Ingress::forward(std::span<Packet* const> packets, const Gathered& gathered,
                             const Source& source) {
  services_.departures.settle();
  const PlainBurst burst = gathered.over(packets, source.backlog);
  if ((burst.flags & kPacketLastHop) != 0) [[unlikely]]
    return services_.forwarder.forward(packets, burst.backlog);
  if (context_.routes->uses_fib4()) [[unlikely]]
    look_up(*context_.routes, packets);
  services_.forwarder.forward_plain(packets, burst);
}

// Behind those of its port that came before, as its echo proves that they are on their way.
void Ingress::relay(std::span<Packet* const> before, const Gathered& gathered,
                    const Source& source) {
  services_.agents.tell();
  if (!before.empty()) forward(before, gathered, source);
  services_.departures.settle();
  services_.forwarder.relay(std::exchange(relay_.packet, nullptr), relay_.set);
}

// The long way.
[[gnu::noinline]] bool Ingress::accept(Packet* packet, const Source& source) {
  packet->ingress_port = source.port;
  packet->charged_bytes = 0;
  packet->pg = PriorityGroupId::none();
  if (!source.settings.admin_up) return refuse(packet, DropReason::port_disabled);
  ParsedFrame frame;
  const ParseVerdict verdict = parse_packet(*packet, frame);
  if (verdict != ParseVerdict::ok) return refuse(packet, drop_reason_of(verdict));
  if (!serves_vlan(frame, source.settings)) return refuse(packet, DropReason::vlan_not_served);
  if (frame.kind != FrameKind::ipv4 && frame.kind != FrameKind::ipv6) {
    serve(packet, frame, source.settings);
    return false;
  }
  if (!accept_ip(packet, frame, source)) return false;
  look_up(*context_.routes, {&packet, 1});
  return true;
}

bool Ingress::refuse(Packet* packet, DropReason reason) {
  buffer_.drop(packet, reason);
  return false;
}

bool Ingress::accept_ip(Packet* packet, const ParsedFrame& frame, const Source& source) {
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
    const uint8_t channel = shim_at::channel_of(packet->data() + frame.shim_offset);
    const ClassOf* class_of = settings.classes->in_channel(packet->traffic_class, channel);
    if (class_of == nullptr) return refuse(packet, DropReason::no_channel);
    packet->pg = class_of->pg;
    packet->queue = class_of->queue;
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
    case FrameKind::cim:
      if (host) return buffer_.drop(packet, DropReason::control_on_host_port);
      return services_.news.cim(packet);
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
