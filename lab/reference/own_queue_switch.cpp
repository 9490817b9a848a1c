#include "lab/reference/own_queue_switch.h"

#include <algorithm>
#include <array>

#include "lb/members.h"
#include "net/assert.h"
#include "net/ethernet.h"
#include "net/ip.h"
#include "net/pause_frame.h"
#include "switch/dataplane/state/snapshot.h"

namespace eddy::lab {
namespace {

constexpr uint32_t kMarkingPurpose = 0x6f776e71;
constexpr uint16_t kNoSet = UINT16_MAX;
constexpr int kFramesOnTheWay = 3;  // one that is leaving at each end, and the first that goes on

pfc::WredCurve curve_of(const config::SwitchConfig& config, const config::QueueConfig& queue) {
  return queue.wred ? pfc::WredCurve::of(config.buffer.wred.at(*queue.wred)) : pfc::WredCurve();
}

std::vector<uint16_t> sets_by_leaf(std::span<const lb::PathSet> sets) {
  std::vector<uint16_t> by_leaf;
  for (size_t i = 0; i < sets.size(); ++i) {
    const size_t leaf = sets[i].leaf.index();
    if (leaf >= by_leaf.size()) by_leaf.resize(leaf + 1, kNoSet);
    by_leaf[leaf] = static_cast<uint16_t>(i);
  }
  return by_leaf;
}

}  // namespace

OwnQueueSwitch::OwnQueueSwitch(const Setup& setup)
    : config_(setup.config),
      shard_(setup.object.shard(ShardId(0))),
      sets_(setup.object.path_sets()),
      routes_(setup.routes),
      priority_(setup.priority),
      marking_(setup.marking),
      ecmp_(sets_, {.buckets = lb::kEcmpBuckets,
                    .share = lb::BucketShare::equal,
                    .seed = lb::seed_of(config_.seed, config_.id)}),
      marks_(config_.seed, static_cast<uint32_t>(config_.id.index()), kMarkingPurpose),
      set_of_leaf_(sets_by_leaf(sets_)),
      ports_(config_.ports.size()) {
  ASSERT(setup.lines.size() == ports_.size());
  for (size_t i = 0; i < ports_.size(); ++i) {
    const config::PortConfig& from = config_.ports[i];
    Port& port = ports_[i];
    port.rate = LineRate(from.speed);
    port.line_overhead = from.line_overhead;
    port.mac = port_mac(config_, i);
    port.host = setup.lines[i].host;
    port.curve = curve_of(config_, from.queues[priority_.index()]);
    const int64_t frame = from.mtu + static_cast<int64_t>(kEthernetHeader) + from.line_overhead;
    port.threshold =
        bytes_in(setup.lines[i].delay * 2, from.speed).count() + kFramesOnTheWay * frame;
  }
}

PollStats OwnQueueSwitch::poll(Io& io, Instant now) {
  io_ = &io;
  now_ = now;
  sent_ = 0;
  const News& news = io.news();
  read_news(news);
  PollStats stats;
  std::array<Packet*, kBurst> packets;
  while (news.packets) {
    const Received received = io.receive(packets);
    for (size_t i = 0; i < received.count; ++i) take(packets[i], received.port);
    stats.received += received.count;
    if (received.count == 0 || received.last) break;
  }
  serve_all();
  stats.transmitted = sent_;
  return stats;
}

// Of a line that is free its port knows by the clock.
void OwnQueueSwitch::read_news(const News& news) {
  for (const LinkChange& change : news.link_changes) ports_[change.port.index()].up = change.up;
}

Instant OwnQueueSwitch::next_deadline() const {
  Instant next = Instant::never();
  for (const Port& port : ports_)
    if (port.paused_until > now_) next = std::min(next, port.paused_until);
  return next;
}

void OwnQueueSwitch::take(Packet* packet, PortId from) {
  Port& port = ports_[from.index()];
  ParsedFrame frame;
  const ParseVerdict verdict =
      parse_frame(packet->data(), packet->data_len(), packet->wire_len, frame);
  if (verdict != ParseVerdict::ok) return drop(packet, from, drop_reason_of(verdict));
  if (frame.kind == FrameKind::mac_control) {
    obey(*packet, port, from);
    return use_up(packet, from);
  }
  const PortTally tally = counters()[from];
  tally.port[PortCounter::rx_packets].add(1);
  tally.port[PortCounter::rx_bytes].add(packet->wire_len);
  if (frame.kind == FrameKind::link_local && frame.ethertype == kEtherTypeShim) {
    hear(*packet, frame, port, from);
    return use_up(packet, from);
  }
  packet->l2_len = frame.l2_len;
  forward(packet, frame, from);
}

// PFC of a host.
void OwnQueueSwitch::obey(const Packet& packet, Port& port, PortId id) {
  PauseFrame pause;
  const PortTally tally = counters()[id];
  tally.port[PortCounter::pfc_rx_packets].add(1);
  const bool sound = decode({packet.data(), packet.data_len()}, pause) == CodecVerdict::ok;
  if (!sound || (pause.enabled >> priority_.index() & 1) == 0) return;
  const uint16_t quanta = pause.quanta[priority_.index()];
  port.paused_until = now_ + port.rate.time_of_quanta(quanta);
  const PfcCounter which = quanta == 0 ? PfcCounter::pfc_rx_xon : PfcCounter::pfc_rx_xoff;
  tally.pfc[priority_.index()][which].add(1);
}

// The next hop stops a flow or lets it go on.
void OwnQueueSwitch::hear(const Packet& packet, const ParsedFrame& frame, Port& port, PortId id) {
  ShimControl control;
  const ConstOctets octets(packet.data(), packet.data_len());
  if (decode(octets.subspan(frame.l2_len), control) != CodecVerdict::ok)
    return counters()[id].drops[DropReason::control_malformed].add(1);
  if (control.shim.kind == ShimKind::flow_xoff)
    port.flows.stop(control.order_hash);
  else if (control.shim.kind == ShimKind::flow_xon)
    port.flows.go_on(control.order_hash);
}

void OwnQueueSwitch::forward(Packet* packet, const ParsedFrame& frame, PortId from) {
  DropReason why_not = DropReason::no_route;
  if (frame.kind != FrameKind::ipv4) return drop(packet, from, DropReason::unknown_ethertype);
  const PortId to = way_of(frame, why_not);
  if (to.is_none()) return drop(packet, from, why_not);
  const Port& port = ports_[to.index()];
  if (port.host != MacAddress{}) rewrite_macs(packet->data(), port.host, port.mac);
  if ((frame.flags & kPacketRoceControl) != 0)
    ports_[to.index()].control.push(packet);
  else
    enqueue(packet, frame, from, to);
}

PortId OwnQueueSwitch::way_of(const ParsedFrame& frame, DropReason& why_not) {
  uint16_t index = RouteTable::kNoRoute;
  routes_.lookup({&frame.ipv4_destination, 1}, &index);
  if (index == RouteTable::kNoRoute) return PortId::none();
  const RouteTarget& target = routes_.target(index);
  if (!config_.leaf.is_none() && target.leaf == config_.leaf) return target.port;
  const LeafId towards = target.via.is_none() ? target.leaf : target.via;
  const bool known = !towards.is_none() && towards.index() < set_of_leaf_.size();
  const uint16_t set = known ? set_of_leaf_[towards.index()] : kNoSet;
  if (set == kNoSet) return PortId::none();
  const lb::MemberMask live_members = live(sets_[set]);
  why_not = DropReason::no_live_path;
  if (live_members == 0) return PortId::none();
  return sets_[set].members[ecmp_.pick(set, frame.balance_hash, live_members)].port;
}

lb::MemberMask OwnQueueSwitch::live(const lb::PathSet& set) const {
  lb::MemberMask members = 0;
  for (lb::MemberIndex i = 0; i < set.count; ++i)
    if (ports_[set.members[i].port.index()].up) members |= lb::bit_of(i);
  return members;
}

void OwnQueueSwitch::enqueue(Packet* packet, const ParsedFrame& frame, PortId from, PortId to) {
  FlowQueues& flows = ports_[to.index()].flows;
  const int64_t octets = packet->wire_len;
  const int64_t at_port = flows.octets();
  FlowQueues::Flow& flow = flows.push(frame.order_hash, from, packet);
  const bool by_flow = marking_ == config::FlowQueues::marked_by_flow;
  mark(*packet, frame, by_flow ? flow.octets - octets : at_port, to);
  octets_ += octets;
  use_.most_octets = std::max(use_.most_octets, octets_);
  use_.most_of_flow = std::max(use_.most_of_flow, flow.octets);
  use_.most_flows = std::max(use_.most_flows, flows.flows());
  if (flow.stops_sender || flow.octets <= threshold(from)) return;
  flow.stops_sender = true;
  ++use_.stops;
  tell(flow, ShimKind::flow_xoff);
}

// `found`: what the packet found there.
void OwnQueueSwitch::mark(Packet& packet, const ParsedFrame& frame, int64_t found, PortId to) {
  const bool capable = (frame.flags & kPacketEct) != 0;
  const pfc::WredCurve& curve = ports_[to.index()].curve;
  if (!capable || !curve.marks(found, [this] { return marks_.next(); })) return;
  mark_ce(packet.data() + frame.l2_len);
  counters()[to].queue[priority_.index()][QueueCounter::ecn_marked_packets].add(1);
}

// A packet that leaves may let its flow go on, at another port that has been served before.
void OwnQueueSwitch::serve_all() {
  do {
    told_ = 0;
    for (size_t i = 0; i < ports_.size(); ++i) {
      Port& port = ports_[i];
      if (!port.up || port.free_at > now_) continue;
      if (Packet* packet = next_of(port); packet != nullptr) send(packet, PortId(i));
    }
  } while (told_ != 0);
}

Packet* OwnQueueSwitch::next_of(Port& port) {
  if (!port.stops.empty()) return port.stops.pop();
  if (!port.control.empty()) return port.control.pop();
  if (port.paused_until > now_) return nullptr;
  const auto [flow, packet] = port.flows.pop();
  if (flow == nullptr) return nullptr;
  octets_ -= packet->wire_len;
  if (flow->stops_sender && flow->octets <= threshold(flow->from)) {
    flow->stops_sender = false;
    tell(*flow, ShimKind::flow_xon);
  }
  port.flows.settle(*flow);
  return packet;
}

void OwnQueueSwitch::send(Packet* packet, PortId id) {
  Port& port = ports_[id.index()];
  const PortTally tally = counters()[id];
  tally.port[PortCounter::tx_packets].add(1);
  tally.port[PortCounter::tx_bytes].add(packet->wire_len);
  packet->sent_at = now_ + port.rate.time_of(Bytes(packet->wire_len + port.line_overhead));
  port.free_at = packet->sent_at;
  ++sent_;
  const uint16_t taken = io_->transmit(id, {&packet, 1}, packet->sent_at);
  ASSERT(taken == 1);  // worlds in virtual time take all
}

// To the hop before: a switch or a host, which read the same.
void OwnQueueSwitch::tell(const FlowQueues::Flow& flow, ShimKind what) {
  Port& port = ports_[flow.from.index()];
  Packet* packet = io_->allocate();
  ASSERT(packet != nullptr);  // the world's pool has one for all that can be anywhere
  ShimControl control;
  control.shim.kind = what;
  control.order_hash = flow.key;
  const Octets space{packet->data(),
                     static_cast<size_t>(packet->mbuf()->buf_len - packet->data_off)};
  size_t length = encode(EthernetHeader{kPauseDestination, port.mac, kEtherTypeShim}, space);
  length += encode(control, space.subspan(length));
  length = pad_frame(space, length);
  packet->set_length(length, length);
  counters()[flow.from].port[PortCounter::originated_packets].add(1);
  ++told_;
  port.stops.push(packet);
}

void OwnQueueSwitch::use_up(Packet* packet, PortId port) {
  counters()[port].port[PortCounter::consumed_packets].add(1);
  io_->free({&packet, 1});
}

void OwnQueueSwitch::drop(Packet* packet, PortId port, DropReason reason) {
  counters()[port].drops[reason].add(1);
  io_->free({&packet, 1});
}

}  // namespace eddy::lab
