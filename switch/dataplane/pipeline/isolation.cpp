#include "switch/dataplane/pipeline/isolation.h"

#include <algorithm>

#include "net/congestion/destination_tag.h"
#include "net/ip.h"
#include "net/shim.h"
#include "switch/dataplane/state/shim_layout.h"

namespace eddy {
namespace {

uint8_t dscp_of(const uint8_t* network, bool v4) {
  return v4 ? network[1] >> 2 : static_cast<uint8_t>(load_be16(network) >> 6 & 0x3f);
}

uint32_t tag_of(const Packet& packet) {
  return destination_tag_of(packet.data() + packet.l2_len, !packet.has(kPacketIpv6));
}

IpAddress destination_of(const uint8_t* network, bool v4) {
  constexpr size_t kDestination4 = 16;
  constexpr size_t kDestination6 = 24;
  if (v4) return Ipv4Address{load_be32(network + kDestination4)};
  Ipv6Address address;
  std::copy_n(network + kDestination6, address.octets.size(), address.octets.begin());
  return address;
}

}  // namespace

void Isolation::look_at(Packet& packet) {
  const NextHop next_hop = context_.next_hops[packet.next_hop];
  sort(packet, next_hop);
  if (packet.has(kPacketShim) && next_hop.kind == NextHop::Kind::path_set)
    doubt_stamp(packet, next_hop.set);
}

// Of many shards one does not see what others have isolated and not put into the queue yet.
void Isolation::doubt_stamp(Packet& packet, uint16_t set) const {
  const IsolationPlan& plan = context_.snapshot->isolation;
  if (packet.queue != plan.classes.normal.queue ||
      (context_.isolating >> plan.classes.normal.pg.index() & 1) == 0)
    return;
  uint8_t* const flags = packet.data() + packet.l2_len - kShimHeader + shim_at::kFlags;
  if ((*flags & kShimRttRequest) == 0) return;
  if (context_.sole && context_.now - isolated_at_ > plan.settles && !waits_by(set)) return;
  *flags = static_cast<uint8_t>(*flags & ~kShimPinned);
}

Isolation::Standing Isolation::standing_of(const Packet& packet, const NextHop& next_hop) const {
  const pfc::ClassPair& classes = context_.snapshot->isolation.classes;
  const bool from_host = context_.settings(packet.ingress_port).role == config::PortRole::host;
  const uint8_t dscp = dscp_of(packet.data() + packet.l2_len, !packet.has(kPacketIpv6));
  const bool marked =
      packet.traffic_class == classes.isolated.traffic_class && dscp == classes.isolated.dscp;
  const bool normal =
      packet.traffic_class == classes.normal.traffic_class && dscp == classes.normal.dscp;
  const bool to_set = next_hop.kind == NextHop::Kind::path_set;
  return {.claims = marked && from_host,
          .isolated = marked && !from_host,
          .to_set = to_set,
          .may_begin = to_set && (normal || (marked && from_host))};
}

void Isolation::sort(Packet& packet, const NextHop& next_hop) {
  const Standing standing = standing_of(packet, next_hop);
  if (standing.isolated) {
    if (standing.to_set) return keep(packet, next_hop.set);
    return end(packet, PortCounter::isolation_ended_packets);
  }
  if (standing.claims) end(packet, PortCounter::isolation_untrusted_packets);
  if (!standing.may_begin) return;
  if (IsolatedHost* const culprit = culprit_of(packet, next_hop.set))
    begin(packet, *culprit, next_hop.set);
}

IsolationStep Isolation::foresee(const Packet& packet) const {
  if (!concerns(packet)) return IsolationStep::none;
  const NextHop next_hop = context_.next_hops[packet.next_hop];
  const Standing standing = standing_of(packet, next_hop);
  if (standing.isolated) {
    const bool stays =
        standing.to_set && (would_isolate(packet, next_hop.set) || news_.speaks(next_hop.set));
    return stays ? IsolationStep::keeps : IsolationStep::ends;
  }
  if (standing.may_begin && would_isolate(packet, next_hop.set)) return IsolationStep::begins;
  return standing.claims ? IsolationStep::ends : IsolationStep::none;
}

// As culprit_of(), which forgets that packets of a host that is no longer hot were isolated.
bool Isolation::would_isolate(const Packet& packet, uint16_t set) const {
  for (const uint32_t tag : {tag_of(packet), flow_tag(packet.order_hash)}) {
    const IsolatedHost* const culprit = context_.isolated->find(tag);
    if (culprit == nullptr) continue;
    if (culprit->hot(context_.now) && news_.speaks(set)) return true;
    if (culprit->isolated_at != Instant::long_past() && waits_isolated(*culprit, set)) return true;
  }
  return false;
}

// Its host, or else its flow, if packets of that stay isolated.
IsolatedHost* Isolation::culprit_of(const Packet& packet, uint16_t set) const {
  for (const uint32_t tag : {tag_of(packet), flow_tag(packet.order_hash)}) {
    IsolatedHost* const culprit = context_.isolated->find(tag);
    if (culprit != nullptr && stays_isolated(*culprit, set)) return culprit;
  }
  return nullptr;
}

// The host is congested; or it is not, and a packet in the normal class might overtake others.
inline bool Isolation::stays_isolated(IsolatedHost& host, uint16_t set) const {
  if (host.hot(context_.now) && news_.speaks(set)) return true;
  if (host.isolated_at == Instant::long_past()) return false;
  if (waits_isolated(host, set)) return true;
  host.isolated_at = Instant::long_past();
  return false;
}

// What is not in its queue yet is seen there when it has settled.
bool Isolation::waits_isolated(const IsolatedHost& host, uint16_t set) const {
  const IsolationPlan& plan = context_.snapshot->isolation;
  return context_.now - host.isolated_at < plan.settles || waits_by(set);
}

bool Isolation::waits_by(uint16_t set) const {
  const size_t queue = context_.snapshot->isolation.classes.isolated.queue.index();
  const lb::PathSet& members = context_.path_sets[set];
  for (size_t i = 0; i < members.count; ++i) {
    const lb::PortSignals& signals = context_.signals(members.members[i].port);
    if (signals.queued_bytes[queue].load(std::memory_order_relaxed) != 0) return true;
  }
  return false;
}

void Isolation::put(Packet& packet, const pfc::ClassPair::Class& into) const {
  set_dscp(packet.data() + packet.l2_len, into.dscp);
  packet.queue = into.queue;
}

void Isolation::begin(Packet& packet, IsolatedHost& host, uint16_t set) {
  put(packet, context_.snapshot->isolation.classes.isolated);
  note(packet, host, set);
  context_.count(packet.ingress_port, PortCounter::isolation_begun_packets);
  if (!host.noticed) notice(packet, host);
}

void Isolation::note(const Packet& packet, IsolatedHost& host, uint16_t set) {
  isolated_at_ = context_.now;
  host.isolated_at = context_.now;
  host.set = set;
  ++host.packets;
  host.flows |= IsolatedHost::flow_bit(packet.order_hash);
  if (!host.described) [[unlikely]]
    describe(packet, host, set);
  if (host.whole) context_.host_isolated_at = context_.now;
}

// What is at first known of a tag alone.
[[gnu::noinline]] void Isolation::describe(const Packet& packet, IsolatedHost& host,
                                           uint16_t set) const {
  HostDescription& description = context_.isolated->describe(host);
  description.destination = destination_of(packet.data() + packet.l2_len, !packet.has(kPacketIpv6));
  host.whole = &host == context_.isolated->find(tag_of(packet));
  if (description.leaf.is_none()) description.leaf = context_.path_sets[set].leaf;
  host.described = true;
}

// What comes behind it in its own class must know of it.
void Isolation::keep(Packet& packet, uint16_t set) {
  IsolatedHosts& table = *context_.isolated;
  IsolatedHost* culprit = culprit_of(packet, set);
  const bool known = culprit != nullptr;
  if (!known && news_.speaks(set)) culprit = table.insert(flow_tag(packet.order_hash));
  if (culprit == nullptr) return end(packet, PortCounter::isolation_placeless_packets);
  note(packet, *culprit, set);
  context_.count(packet.ingress_port, PortCounter::isolation_kept_packets);
  if (!known) news_.follow_table();
}

void Isolation::end(Packet& packet, PortCounter counter) const {
  put(packet, context_.snapshot->isolation.classes.normal);
  context_.count(packet.ingress_port, counter);
}

void Isolation::notice(const Packet& packet, IsolatedHost& host) {
  if (context_.settings(packet.ingress_port).role != config::PortRole::host) return;
  host.noticed = true;
  if (!context_.snapshot->config.path_service.common_clock) return;
  const auto now = static_cast<uint32_t>(context_.now.since_zero().ns());
  news_.note_isolated(Duration::nanoseconds(now - host.crossed_ns));
}

}  // namespace eddy
