#include "switch/dataplane/object/explainer.h"

#include <algorithm>

#include "lb/members.h"
#include "net/congestion/destination_tag.h"
#include "net/ip.h"
#include "switch/dataplane/paths/path_rows.h"
#include "switch/dataplane/pipeline/acceptance.h"
#include "switch/dataplane/pipeline/ingress.h"
#include "switch/dataplane/pipeline/route_lookup.h"
#include "switch/dataplane/state/shim_layout.h"

namespace eddy {
namespace {

// RLB's loop as the packet finds it, without what asking it writes.
class LoopAsSeen final : public lb::WaitingRoom {
 public:
  explicit LoopAsSeen(const Recirculation& loop) : loop_(loop) {
    shortest_round_ = loop.shortest_round();
    occupants_ = loop.occupied() ? 1 : 0;
  }
  Duration round(Instant now) const override { return loop_.round(now); }
  uint32_t rounds_left(const Packet& packet, Instant now) override {
    return loop_.rounds_foreseen(packet, now);
  }
  bool lets_drain(const Packet& packet) const override { return loop_.lets_drain(packet); }
  void enter(Packet*, const lb::Trip&) override {}
  Company join(Packet*) override { return {}; }

 private:
  const Recirculation& loop_;
};

}  // namespace

bool Explainer::drop(DropReason reason) {
  out_.reason = reason;
  return end(Fate::dropped);
}

bool Explainer::end(Fate fate) {
  out_.fate = fate;
  return false;
}

void Explainer::run() {
  out_.generation = context_.snapshot->generation;
  out_.at = context_.now;
  packet_.ingress_port = out_.port;
  packet_.charged_bytes = 0;
  packet_.pg = PriorityGroupId::none();
  if (!context_.settings(out_.port).admin_up) {
    drop(DropReason::port_disabled);
    return;
  }
  if (parse() && serve() && classify() && accept() && lead() && admit() && stage() && choose() &&
      keep_channel() && depart() && resolve())
    enqueue();
}

void Explainer::read_addresses() {
  const ConstOctets network{packet_.data() + out_.frame.l2_len,
                            packet_.data_len() - out_.frame.l2_len};
  if (Ipv4Header v4;
      out_.frame.kind == FrameKind::ipv4 && decode(network, v4) == CodecVerdict::ok) {
    out_.source = v4.source;
    out_.destination = v4.destination;
  }
  if (Ipv6Header v6;
      out_.frame.kind == FrameKind::ipv6 && decode(network, v6) == CodecVerdict::ok) {
    out_.source = v6.source;
    out_.destination = v6.destination;
  }
}

bool Explainer::parse() {
  at(Step::parse);
  out_.wire_len = packet_.wire_len;
  out_.verdict = parse_packet(packet_, out_.frame);
  if (out_.verdict != ParseVerdict::ok) return drop(drop_reason_of(out_.verdict));
  if (out_.frame.kind == FrameKind::ipv4 || out_.frame.kind == FrameKind::ipv6) read_addresses();
  at(Step::vlan);
  return serves_vlan(out_.frame, context_.settings(out_.port)) || drop(DropReason::vlan_not_served);
}

// What is not forwarded: some part of the switch reads it, or nobody.
bool Explainer::serve() {
  at(Step::serve);
  const bool host = context_.settings(out_.port).role == config::PortRole::host;
  switch (out_.frame.kind) {
    case FrameKind::ipv4:
    case FrameKind::ipv6:
      return true;
    case FrameKind::arp:
    case FrameKind::mac_control:
      return end(Fate::consumed);
    case FrameKind::lldp:
      return host ? drop(DropReason::link_local) : end(Fate::consumed);
    case FrameKind::cnm:
    case FrameKind::cim:
    case FrameKind::shim_control:
      return host ? drop(DropReason::control_on_host_port) : end(Fate::consumed);
    case FrameKind::link_local:
      return drop(DropReason::link_local);
    case FrameKind::other:
      return drop(DropReason::unknown_ethertype);
  }
  return end(Fate::consumed);
}

bool Explainer::classify() {
  at(Step::classify);
  const PortSettings& settings = context_.settings(out_.port);
  const PortClasses& classes = *settings.classes;
  const bool by_pcp = (out_.frame.flags & kPacketTagged) != 0 && settings.pcp_trusted;
  out_.class_by = by_pcp ? ClassBy::pcp : ClassBy::dscp;
  Ingress::fill(&packet_, out_.frame,
                by_pcp ? classes.by_pcp[out_.frame.pcp] : classes.by_dscp[out_.frame.dscp]);
  out_.traffic_class = packet_.traffic_class;
  out_.pg = packet_.pg;
  if (!packet_.has(kPacketShim)) return true;
  if (settings.role == config::PortRole::host) return drop(DropReason::control_on_host_port);
  const uint8_t channel = shim_at::channel_of(packet_.data() + out_.frame.shim_offset);
  const ClassOf* const own = classes.in_channel(packet_.traffic_class, channel);
  if (own == nullptr) return drop(DropReason::no_channel);
  out_.pg = packet_.pg = own->pg;
  packet_.queue = own->queue;
  return true;
}

bool Explainer::accept() {
  at(Step::accept);
  if (is_neighbor_discovery(packet_, out_.frame)) return end(Fate::consumed);
  if ((parts_.buffer.discarding(out_.port) >> packet_.pg.index() & 1) != 0)
    return drop(DropReason::watchdog);
  return is_to(packet_.data(), context_.settings(out_.port).mac) || drop(DropReason::not_for_us);
}

bool Explainer::lead() {
  at(Step::route);
  Packet* const alone[] = {&packet_};
  look_up(*context_.routes, alone);
  const NextHop next_hop = out_.next_hop = context_.next_hops[packet_.next_hop];
  at(Step::lead);
  if (next_hop.kind == NextHop::Kind::local) return end(Fate::consumed);
  if (next_hop.kind == NextHop::Kind::none) return drop(DropReason::no_route);
  if (packet_.has(kPacketLastHop)) return drop(DropReason::ttl_expired);
  if (next_hop.kind == NextHop::Kind::path_set && context_.live[next_hop.set] == 0)
    return drop(DropReason::no_live_path);
  at(Step::isolate);
  const pfc::ClassPair& classes = context_.snapshot->isolation.classes;
  out_.isolation = parts_.isolation.foresee(packet_);
  if (out_.isolation == IsolationStep::begins) packet_.queue = classes.isolated.queue;
  if (out_.isolation == IsolationStep::ends) packet_.queue = classes.normal.queue;
  return true;
}

bool Explainer::admit() {
  at(Step::admit);
  const bool to_set = out_.next_hop.kind == NextHop::Kind::path_set;
  const pfc::PgBuffer& group = context_.pg(out_.port, packet_.pg);
  const pfc::PgLimits& limits = *group.limits;
  const pfc::BufferPool& pool = parts_.buffer.pool();
  AdmissionOutlook& outlook = out_.admission;
  outlook.charge =
      parts_.buffer.cell().charge_of(packet_.wire_len + (to_set ? context_.shim_reserve : 0));
  outlook.unread = parts_.buffer.unread_on(out_.port);
  outlook.verdict = pool.foresee(group, limits, outlook.charge, outlook.unread);
  outlook.used = pfc::PgBuffer::get(group.used);
  outlook.threshold = pool.threshold(limits);
  outlook.headroom_used = pfc::PgBuffer::get(group.headroom_used);
  outlook.headroom = limits.headroom;
  outlook.shared_free = outlook.verdict.free_shared;
  outlook.lossless = limits.lossless;
  outlook.pausing = group.pausing();
  switch (outlook.verdict.verdict) {
    case pfc::AdmitVerdict::accepted:
      return true;
    case pfc::AdmitVerdict::shared_full:
      return drop(DropReason::pg_shared_full);
    case pfc::AdmitVerdict::headroom_full:
      return drop(DropReason::headroom_full);
  }
  return true;
}

bool Explainer::stage() {
  if (!parts_.stages.at(lb::StagePlace::from_hosts) ||
      context_.settings(out_.port).role != config::PortRole::host)
    return true;
  at(Step::stage);
  out_.staged = true;
  return true;
}

PathOption Explainer::option_of(uint16_t set, lb::MemberIndex member) const {
  const lb::PathMember& of = context_.path_sets[set].members[member];
  const lb::PortSignals& signals = context_.signals(of.port);
  const size_t queue = packet_.queue.index();
  PathOption option{.row = path_row(context_, set, member),
                    .port = of.port,
                    .path = of.path,
                    .weight = of.weight,
                    .hops = of.hops,
                    .detour = of.detour};
  option.chosen_from = lb::contains(context_.live[set], member);
  option.paused = signals.paused(packet_.queue);
  option.queued = signals.queued_bytes[queue].load(std::memory_order_relaxed);
  option.backlog = signals.backlog_from(packet_.queue);
  const BitRate speed = context_.snapshot->config.ports[of.port.index()].speed;
  option.utilisation =
      context_.dre->utilisation(signals, context_.dre->capacity(speed), context_.now);
  if (context_.warnings == nullptr) return option;
  option.warned = lb::contains(context_.warnings->warned(set, packet_.queue), member);
  option.severity = context_.warnings->severity(set, member, packet_.queue);
  option.named = option.warned && context_.warnings->names_any() &&
                 context_.warnings->names(set, member, packet_.queue, destination_tag_of(packet_));
  return option;
}

bool Explainer::choose() {
  if (out_.next_hop.kind == NextHop::Kind::port) {
    out_.egress = packet_.egress_port = out_.next_hop.port;
    return true;
  }
  at(Step::choose);
  const uint16_t set = out_.next_hop.set;
  const lb::PathSet& to = context_.path_sets[set];
  out_.chooses = true;
  out_.leaf = to.leaf;
  out_.options = to.count;
  for (lb::MemberIndex i = 0; i < to.count; ++i) out_.paths[i] = option_of(set, i);
  const lb::MemberIndex steered =
      packet_.has(kPacketShim) ? parts_.shims.steered(packet_, set) : lb::kWait;
  out_.pinned = steered != lb::kWait;
  out_.member = steered;
  if (!out_.pinned) {
    LoopAsSeen loop(parts_.loop);
    lb::PathAids aids = context_.aids;
    if (aids.loop != nullptr) aids.loop = &loop;
    out_.joins = aids.loop != nullptr && parts_.loop.holds_flow_of(packet_);
    const lb::PathView view(context_.now, context_.path_sets, context_.live,
                            &context_.signals(PortId(0)), aids);
    out_.choice = context_.selector->preview(view, packet_, set);
    out_.member = out_.choice.member;
  }
  if (out_.member == lb::kWait)
    return end(out_.choice.hold == lb::Hold::drains ? Fate::drains : Fate::loops);
  lb::assign(packet_, to, out_.member);
  out_.egress = packet_.egress_port;
  return true;
}

// As Forwarder::keep_channel().
bool Explainer::keep_channel() {
  const PortSettings& in = context_.settings(out_.port);
  const PortSettings& out = context_.settings(out_.egress);
  const Channels& channels = out.classes->channels[packet_.traffic_class.index()];
  if (!context_.snapshot->has_channels || channels.count == 1 || in.role == config::PortRole::host)
    return true;
  at(Step::channel);
  if (out.role == config::PortRole::host) {
    packet_.queue = channels.classes[0].queue;
    return true;
  }
  const bool shimmed = packet_.has(kPacketShim);
  size_t channel = shimmed ? shim_at::channel_of(packet_.data() + packet_.l2_len - kShimHeader) : 0;
  if (config::rises(in.reach, out.reach) && (!shimmed || ++channel >= channels.count))
    return drop(DropReason::no_channel);
  packet_.queue = channels.classes[channel].queue;
  return true;
}

bool Explainer::depart() {
  at(Step::depart);
  const PortSettings& out = context_.settings(out_.egress);
  out_.mtu = out.max_l3_len;
  if (out_.egress == out_.port && out.role != config::PortRole::host)
    return drop(DropReason::same_port);
  return packet_.network_len() <= out.max_l3_len || drop(DropReason::mtu_exceeded);
}

bool Explainer::resolve() {
  at(Step::resolve);
  if (!context_.owns(out_.egress)) {
    out_.next_mac = NextMac::other_shard;
    return true;
  }
  if (context_.settings(out_.egress).role == config::PortRole::fabric) {
    const bool known = parts_.peers.known(out_.egress);
    out_.next_mac = known ? NextMac::peer : NextMac::unknown;
    out_.mac = parts_.peers.mac(out_.egress);
    return known || drop(DropReason::neighbor_unresolved);
  }
  const MacAddress* const mac = parts_.adjacency.known_mac(packet_);
  out_.next_mac = mac != nullptr ? NextMac::neighbor : NextMac::unknown;
  if (mac != nullptr) out_.mac = *mac;
  return mac != nullptr || end(Fate::held);
}

void Explainer::describe_queue() {
  const PortSettings& settings = context_.settings(out_.egress);
  const lb::PortSignals& signals = context_.signals(out_.egress);
  const size_t q = packet_.queue.index();
  const QueueSettings& own = settings.classes->queues[q];
  QueueOutlook& queue = out_.queue;
  queue.queue = packet_.queue;
  queue.queued = signals.queued_bytes[q].load(std::memory_order_relaxed);
  queue.backlog = signals.backlog_from(packet_.queue);
  queue.drain =
      context_.plans(out_.egress).line.time_of(Bytes(static_cast<int64_t>(queue.backlog)));
  queue.up = signals.up.load(std::memory_order_relaxed) != 0;
  queue.stopped = signals.paused(packet_.queue);
  queue.lossless = own.lossless;
  queue.late = own.ecn_late;
  queue.can_mark = (own.ecn || own.ecn_late) && packet_.has(kPacketEct);
  queue.was_marked = packet_.has(kPacketCe);
  queue.mark = queue.can_mark ? own.wred.probability(queue.queued) : 0;
  const int64_t leaves_with =
      packet_.network_len() + kEthernetHeader + (own.tag != 0 ? int64_t{kVlanTag} : 0);
  queue.fits = own.lossless ||
               parts_.buffer.pool().admit_queue(queue.queued, leaves_with, own.lossy_limit) ||
               queue.queued + leaves_with <= own.reserved;
  queue.known = context_.owns(out_.egress);
  if (!queue.known) return;
  const Egress::QueueStops& stops = parts_.egress.stops(out_.egress);
  queue.discarding = (stops.discarding >> q & 1) != 0;
  queue.stopped = (stops.stopped >> q & 1) != 0 || !parts_.egress.tx_enabled(out_.egress);
}

void Explainer::enqueue() {
  at(Step::enqueue);
  describe_queue();
  const QueueOutlook& queue = out_.queue;
  if (!queue.up) {
    drop(DropReason::egress_down);
  } else if (queue.discarding) {
    drop(DropReason::watchdog);
  } else if (!queue.fits) {
    drop(DropReason::queue_full);
  } else {
    end(out_.staged ? Fate::staged : Fate::queued);
  }
}

}  // namespace eddy
