#include "switch/dataplane/paths/path_service.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "lb/members.h"
#include "net/byte_order.h"
#include "net/ethernet.h"
#include "switch/dataplane/queues/own_frame.h"

namespace eddy {
namespace {

constexpr TrafficClass kControlClass{7};  // never paused

// Of the 32 octets.
constexpr size_t kFlagsAt = 1;
constexpr size_t kPathAt = 6;
constexpr size_t kCongestionAt = 10;
constexpr size_t kHopsAt = 12;
constexpr uint8_t kOneHop = 0x10;
constexpr uint8_t kHopMask = 0xf0;
constexpr uint8_t kHopByHop = 0xff;

uint32_t wire_ns(Instant at) {
  return static_cast<uint32_t>(at.ps() / 1'000);
}
uint32_t wire_ns(Duration time) {
  return static_cast<uint32_t>(std::min<int64_t>(time.ns(), INT32_MAX));
}
// The instant that was so many nanoseconds before, to the nanosecond.
Instant ns_before(Instant now, uint32_t ago_ns) {
  return Instant::at(Duration::nanoseconds(now.ps() / 1'000 - ago_ns));
}

uint8_t add_saturating(uint8_t value) {
  return value == UINT8_MAX ? value : static_cast<uint8_t>(value + 1);
}

bool goes_on(ShimKind kind) {
  return kind == ShimKind::feedback || kind == ShimKind::probe || kind == ShimKind::probe_reply ||
         kind == ShimKind::notify || kind == ShimKind::clear || kind == ShimKind::flowcut_ack;
}

}  // namespace

void PathService::adopt(const Snapshot& now) {
  plan_ = &now.path_plan;
  echoes_ = now.schemes[context_.id.index()].echoes.get();
  next_hop_count_ = now.next_hops.size();
  every_ = plan_->need == lb::ShimNeed::every;
  always_ = every_ || plan_->pins;
  sample_ns_ = wire_ns(plan_->sample);
  measured_queue_ = plan_->measured.queue;
  due_every_ns_ = 0;
  note_time(/*all_given=*/false);  // begin_poll() knows
  plan_stamps();
  if (measured_ != now.paths.get()) start_measuring();
  measured_ = now.paths.get();
  if (next_set_ >= now.path_sets.size()) next_set_ = 0;
  follow_timers();
}

// Nothing was asked of the paths yet, and nothing is missing. Leaves that start together begin with
// different sets, so that their probes do not meet at one leaf.
void PathService::start_measuring() {
  next_set_ = context_.snapshot->leaf.index() % std::max<size_t>(context_.path_sets.size(), 1);
  next_look_ = context_.now;
  if (context_.paths == nullptr) return;
  for (size_t set = 0; set < context_.path_sets.size(); ++set)
    for (lb::MemberIndex i = 0; i < context_.path_sets[set].count; ++i) {
      if (!context_.owns(context_.path_sets[set].members[i].port)) continue;
      lb::PathRecord& record = context_.paths->at(set, i);
      record.requested_ns.store(now_ns_ - sample_ns_ / 2, std::memory_order_relaxed);
      record.take_echo(context_.now, /*proves=*/false);
    }
}

// What other shards selected in polls before their last one is in their lanes, which this poll
// reads next.
void PathService::note_time(bool all_given) {
  now_ns_ = wire_ns(context_.now);
  if (due_every_ns_ != 0 && now_ns_ - due_since_ns_ >= due_every_ns_) make_due();
  given_before_ = context_.now;
  if (context_.sole) return;
  asked_ = false;
  std::vector<GivenTo>& given = context_.common.given;
  if (all_given)
    given[context_.id.index()].at_ps.store(context_.now.ps(), std::memory_order_release);
  for (const GivenTo& shard : given)
    given_before_ =
        std::min(given_before_,
                 Instant::at(Duration::picoseconds(shard.at_ps.load(std::memory_order_acquire))));
}

// What was due may be due, whatever the last plan said: a path's record knows when it was stamped.
void PathService::plan_stamps() {
  next_due_set_ = 0;
  due_since_ns_ = now_ns_;
  if (echoes_ == nullptr || echoes_->sets() == 0) return;
  for (size_t set = 0; set < echoes_->sets(); ++set) echoes_->set_stamps_due(set);
  if (sample_ns_ == 0) return;
  due_every_ns_ = std::max(sample_ns_ / static_cast<uint32_t>(echoes_->sets()), uint32_t{1});
}

// One set after the other, each once a sample time: stamps of all would come in one burst.
void PathService::make_due() {
  const uint32_t turns = (now_ns_ - due_since_ns_) / due_every_ns_;
  due_since_ns_ += turns * due_every_ns_;
  for (size_t i = std::min<size_t>(turns, echoes_->sets()); i != 0; --i) {
    echoes_->set_stamps_due(next_due_set_);
    if (++next_due_set_ == echoes_->sets()) next_due_set_ = 0;
  }
}

// A stamp may prove something: nothing that was selected long before it is still between shards.
bool PathService::keeps_up() const {
  return context_.sole || context_.now - given_before_ <= plan_->proof_lag;
}

// Shards that rest say where they are when they are polled.
void PathService::wake_others() {
  if (std::exchange(asked_, true)) return;
  CommonState& common = context_.common;
  for (size_t to = 0; to < common.shards; ++to)
    if (to != context_.id.index()) (void)context_.tell(ShardId(to), {.kind = Message::Kind::wake});
}

// Whether to stamp now; a stamp that proves nothing is put off for as long as one is good for.
bool PathService::may_stamp(const lb::PathRecord& record) {
  if (keeps_up()) return true;
  wake_others();
  return now_ns_ - record.requested_ns.load(std::memory_order_relaxed) >= 2 * sample_ns_;
}

// By the path's record, which all shards write to: another may have been faster.
bool PathService::is_due(const Packet& packet, size_t set) {
  if (context_.paths == nullptr || !may_be_due(packet, set)) return false;
  const auto& asked = context_.paths->at(set, packet.member).requested_ns;
  if (now_ns_ - asked.load(std::memory_order_relaxed) >= sample_ns_ / 2) return true;
  echoes_->stamped(set, packet.member);
  return false;
}

// A packet that a stamp may be due for, an echo waits for, or that gets a shim anyway.
void PathService::consider(Packet& packet, uint16_t set) {
  const lb::PathSet& to = context_.path_sets[set];
  if (packet.member >= to.count || to.members[packet.member].port != packet.egress_port) return;
  bool due = is_due(packet, set);
  if (due) due = may_stamp(context_.paths->at(set, packet.member));
  const bool carries = echoes_ != nullptr && echoes_->waiting(set) != 0;
  if (due || carries || every_ || plan_->pinned[set] != 0) add_shim(packet, set, due);
}

void PathService::add_shim(Packet& packet, uint16_t set, bool due) {
  rte_mbuf* mbuf = packet.mbuf();
  const bool from_host = context_.settings(packet.ingress_port).role == config::PortRole::host &&
                         !packet.has(kPacketOriginated);
  if (!from_host || mbuf->data_off < kShimHeader) return;
  uint8_t flags = keeps_up() ? kShimPinned : 0;
  if (due) {
    flags |= kShimRttRequest | kShimSampled;
    if (sample_ns_ != 0) echoes_->stamped(set, packet.member);
    request(packet.egress_port, context_.paths->at(set, packet.member));
  }
  const Telling told = echoes_ == nullptr ? Telling{} : tell(set);
  const Shim shim{.flags = static_cast<uint8_t>(flags | told.flags),
                  .source_leaf = context_.snapshot->leaf,
                  .destination_leaf = plan_->leaf_of_set[set],
                  .path = packet.path,
                  .feedback_path = told.path,
                  .feedback_congestion = told.congestion,
                  .traffic_class = packet.traffic_class,
                  .sent_ns = now_ns_,
                  .echoed_ns = told.echoed_ns,
                  .hold_ns = told.hold_ns,
                  .feedback_packets = told.packets,
                  .feedback_marked = told.marked,
                  .inner_ethertype = load_be16(packet.data() + kEthernetHeader - 2)};
  mbuf->data_off = static_cast<uint16_t>(mbuf->data_off - kShimHeader);
  mbuf->data_len = static_cast<uint16_t>(mbuf->data_len + kShimHeader);
  mbuf->pkt_len += plan_->shim_octets;
  packet.wire_len += plan_->shim_octets;
  packet.l2_len = static_cast<uint8_t>(packet.l2_len + kShimHeader);
  packet.set(kPacketShim);
  if (plan_->shim_octets == 0) packet.set(kPacketFreeShim);
  uint8_t* frame = packet.data();  // the MACs are still to be written
  store_be16(frame + kEthernetHeader - 2, kEtherTypeShim);
  encode(shim, {frame + kEthernetHeader, kShimHeader});
  context_.count(packet.egress_port, PortCounter::shim_tx_packets);
}

void PathService::request(PortId port, lb::PathRecord& record) {
  const uint32_t last = record.requested_ns.load(std::memory_order_relaxed);
  const Instant asked = ns_before(context_.now, now_ns_ - last);
  const bool unanswered = asked > record.echoed();
  if (unanswered && context_.now - record.echoed() > plan_->base_rtt * PathPlan::kPatience) {
    record.suspect();
    context_.count(port, PortCounter::path_unanswered);
  }
  record.requested_ns.store(now_ns_, std::memory_order_relaxed);
  context_.count(port, PortCounter::path_requests);
}

// What the set's leaf is to know of its paths.
PathService::Telling PathService::tell(size_t set) {
  if (const uint64_t waiting = echoes_->waiting(set); waiting != 0) {
    const auto index = static_cast<uint8_t>(std::countr_zero(waiting));
    echoes_->done(set, index);
    if (echoes_->waiting(set) == 0) {
      echoes_->due().cancel(static_cast<Deadlines::Id>(set));
      follow_timers();
    }
    return tell_of(echoes_->at(set, index));
  }
  HeardPath* heard = every_ ? echoes_->next_report(set) : nullptr;
  if (heard == nullptr) return {};
  Telling told = tell_of(*heard);
  told.flags = kShimFeedback;
  return told;
}

PathService::Telling PathService::tell_of(HeardPath& heard) {
  const uint32_t held = std::min(now_ns_ - heard.arrived_ns, kDeviated - 1);
  return {.echoed_ns = heard.stamp_ns,
          .hold_ns = heard.kept_way ? held : held | kDeviated,
          .path = heard.path,
          .flags = kShimRttEcho | kShimFeedback,
          .congestion = heard.congestion,
          .packets = std::exchange(heard.packets, uint8_t{0}),
          .marked = std::exchange(heard.marked, uint8_t{0})};
}

// On its way through a switch that is neither end.
void PathService::pass(Packet& packet) {
  uint8_t* shim = packet.data() + kEthernetHeader;
  if ((shim[kHopsAt] & kHopMask) != kHopMask)
    shim[kHopsAt] = static_cast<uint8_t>(shim[kHopsAt] + kOneHop);
  const PortId port = packet.egress_port;
  const uint32_t utilisation = context_.dre->utilisation(
      context_.signals(port), plan_->capacities[port.index()], context_.now);
  shim[kCongestionAt] = static_cast<uint8_t>(
      std::max<uint32_t>(shim[kCongestionAt], std::min<uint32_t>(utilisation >> 8, UINT8_MAX)));
}

bool PathService::steer(Packet& packet, uint16_t set) {
  const lb::PathSet& to = context_.path_sets[set];
  uint8_t* shim = packet.data() + packet.l2_len - kShimHeader;
  const uint8_t second = shim[kPathAt + 1];
  if (to.count == 1) return false;
  if (second == kHopByHop || (shim[kHopsAt] & kHopMask) != 0) {
    shim[kFlagsAt] = static_cast<uint8_t>(shim[kFlagsAt] & ~kShimPinned);
    return false;
  }
  for (lb::MemberIndex i = 0; i < to.count; ++i) {
    if (to.members[i].path.index() >> 8 != second) continue;
    if (!lb::contains(context_.live[set], i)) break;
    packet.member = i;
    packet.egress_port = to.members[i].port;
    packet.path = to.members[i].path;
    return true;
  }
  context_.count(packet.ingress_port, PortCounter::path_deviated_packets);
  shim[kFlagsAt] = static_cast<uint8_t>(shim[kFlagsAt] & ~kShimPinned);
  return false;
}

void PathService::arrived(const Packet& packet, uint32_t shim_offset) {
  Shim shim;
  if (decode({packet.data() + shim_offset, kShimHeader}, shim) != CodecVerdict::ok) return;
  if (shim.destination_leaf != context_.snapshot->leaf || echoes_ == nullptr) return;
  note(packet.ingress_port, shim, packet.has(kPacketEct), packet.has(kPacketCe));
  hear(packet.ingress_port, shim);
}

// A packet of a path that ends here.
void PathService::note(PortId port, const Shim& shim, bool ect, bool ce) {
  const uint16_t set = plan_->set_of(shim.source_leaf);
  if (set == PathPlan::kNoSet) return context_.count(port, PortCounter::path_reports_unknown);
  const PathEchoes::Place place = echoes_->place(set, shim.path);
  if (place.evicted) context_.count(port, PortCounter::path_reports_evicted);
  HeardPath& heard = place.heard;
  heard.port = port;
  heard.congestion = shim.congestion;
  if (ect && heard.packets != UINT8_MAX) {
    heard.packets = add_saturating(heard.packets);
    if (ce) heard.marked = add_saturating(heard.marked);
  }
  if ((shim.flags & kShimRttRequest) == 0) return;
  const bool first = (echoes_->waiting(set) >> place.index & 1) == 0;
  heard.stamp_ns = shim.sent_ns;
  heard.arrived_ns = now_ns_;
  heard.kept_way = (shim.flags & kShimPinned) != 0;
  heard.probe = shim.kind == ShimKind::probe;
  if (!first) return;
  heard.since_ns = now_ns_;
  if (echoes_->waiting(set) == 0) {
    echoes_->due().set(set, context_.now + plan_->echo);
    follow_timers();
  }
  echoes_->wait(set, place.index);
}

// What the other end tells of a path of ours.
void PathService::hear(PortId port, const Shim& shim) {
  if ((shim.flags & (kShimRttEcho | kShimFeedback)) == 0) return;
  const PathReport report{.heard_at = context_.now,
                          .stamp_ns = shim.echoed_ns,
                          .hold_ns = shim.hold_ns,
                          .sent_ns = shim.sent_ns,
                          .leaf = shim.source_leaf,
                          .path = shim.feedback_path,
                          .flags = shim.flags,
                          .congestion = shim.feedback_congestion,
                          .packets = shim.feedback_packets,
                          .marked = shim.feedback_marked};
  const uint16_t set = plan_->set_of(report.leaf);
  const auto member = set == PathPlan::kNoSet ? std::nullopt : member_of(set, report.path);
  if (!member || context_.paths == nullptr)
    return context_.count(port, PortCounter::path_reports_unknown);
  const PortId out = context_.path_sets[set].members[*member].port;
  if (context_.owns(out)) return apply(context_.paths->at(set, *member), out, report);
  (void)context_.tell(context_.settings(out).owner, {.kind = Message::Kind::path, .path = report});
}

void PathService::take(const PathReport& report) {
  const uint16_t set = plan_->set_of(report.leaf);
  if (set == PathPlan::kNoSet || context_.paths == nullptr) return;
  const auto member = member_of(set, report.path);
  if (!member) return;
  const PortId port = context_.path_sets[set].members[*member].port;
  if (context_.owns(port)) apply(context_.paths->at(set, *member), port, report);
}

std::optional<lb::MemberIndex> PathService::member_of(size_t set, PathId path) const {
  const lb::PathSet& to = context_.path_sets[set];
  const size_t first = path.index() >> 8;
  if (first < to.count && to.members[first].path == path) return static_cast<uint8_t>(first);
  for (lb::MemberIndex i = 0; i < to.count; ++i)
    if (to.members[i].path == path) return i;
  return std::nullopt;
}

void PathService::apply(lb::PathRecord& record, PortId port, const PathReport& report) {
  if ((report.flags & kShimRttEcho) != 0 && !take_echo(record, port, report)) return;
  if ((report.flags & kShimFeedback) == 0) return;
  record.take_congestion(report.congestion, context_.paths->record_time(report.heard_at));
  record.take_marks(report.packets, report.marked, plan_->smoothing);
}

// False: not to be believed, and counted.
bool PathService::take_echo(lb::PathRecord& record, PortId port, const PathReport& report) {
  const uint32_t heard_ns = wire_ns(report.heard_at);
  const uint32_t age = heard_ns - report.stamp_ns;
  const uint32_t hold = report.hold_ns & ~kDeviated;
  const uint32_t one_way = report.sent_ns - hold - report.stamp_ns;
  const Instant stamp = ns_before(report.heard_at, age);
  const uint32_t asked_ago = heard_ns - record.requested_ns.load(std::memory_order_relaxed);
  const bool asked = age <= kLongestDelay && static_cast<int32_t>(age - asked_ago) >= 0;
  const bool stale = !asked || stamp <= record.echoed();
  if (stale || hold > age || (plan_->one_way && one_way > age - hold)) {
    context_.count(port,
                   stale ? PortCounter::path_reports_stale : PortCounter::path_reports_impossible);
    return false;
  }
  const uint32_t delay = plan_->one_way ? one_way : age - hold;
  record.take_delay(Duration::nanoseconds(delay), context_.paths->record_time(report.heard_at),
                    plan_->smoothing);
  context_.paths->use_of(record).measured();
  record.take_echo(stamp, (report.hold_ns & kDeviated) == 0);
  context_.count(port, PortCounter::path_samples);
  return true;
}

std::optional<uint16_t> PathService::control(Packet* packet) {
  ShimControl message;
  const ConstOctets payload{packet->data() + packet->l2_len, packet->data_len() - packet->l2_len};
  const bool sound = packet->wire_len <= kLongestControl && !packet->has(kPacketTagged) &&
                     decode(payload, message) == CodecVerdict::ok;
  if (!sound) {
    services_.buffer.drop(packet, DropReason::control_malformed);
    return std::nullopt;
  }
  const Shim& shim = message.shim;
  if (shim.destination_leaf != context_.snapshot->leaf && goes_on(shim.kind)) {
    if (!make_ready(packet, shim)) return std::nullopt;
    return plan_->set_of(shim.destination_leaf);
  }
  if (echoes_ != nullptr && shim.destination_leaf == context_.snapshot->leaf) {
    if (shim.kind == ShimKind::probe) note(packet->ingress_port, shim, false, false);
    if (shim.kind == ShimKind::feedback || shim.kind == ShimKind::probe_reply)
      hear(packet->ingress_port, shim);
  }
  context_.count(packet->ingress_port, PortCounter::consumed_packets);
  context_.free(packet);
  return std::nullopt;
}

// To go on to another leaf; false: dropped and counted.
bool PathService::make_ready(Packet* packet, const Shim& shim) {
  const bool known = plan_->set_of(shim.destination_leaf) != PathPlan::kNoSet;
  if (!known || shim.hop_count >= kMostHops) {
    services_.buffer.drop(packet, known ? DropReason::ttl_expired : DropReason::no_route);
    return false;
  }
  const config::QosMaps& maps = context_.snapshot->config.ports[packet->ingress_port.index()].maps;
  const bool measured = shim.kind == ShimKind::probe && shim.traffic_class.index() < kPriorities;
  const TrafficClass tc = measured ? shim.traffic_class : kControlClass;
  const uint64_t way = uint64_t{shim.source_leaf.index()} << 32 | shim.path.index();
  packet->flags = kPacketShim | kPacketShimControl | kPacketRoceControl;
  packet->l2_len = kEthernetHeader + kShimHeader;
  packet->l3_len = 0;
  packet->payload_len = 0;
  packet->order_hash = lb::mix64(way);
  packet->balance_hash = static_cast<uint32_t>(packet->order_hash);
  packet->traffic_class = tc;
  packet->pg = maps.tc_to_pg[tc.index()];
  packet->queue = maps.tc_to_queue[tc.index()];
  return true;
}

// A control frame of ours, or null and counted.
Packet* PathService::make_frame(PortId port, const Shim& shim) {
  if (!services_.egress.up(port) || !services_.peers.known(port)) return nullptr;
  Packet* packet = new_frame(context_);
  if (packet == nullptr) {
    context_.count(port, PortCounter::no_control_buffer);
    return nullptr;
  }
  const EthernetHeader header{services_.peers.mac(port), context_.settings(port).mac,
                              kEtherTypeShim};
  const Octets space = frame_space(*packet);
  size_t length = encode(header, space);
  length += encode(ShimControl{.shim = shim}, space.subspan(length));
  set_frame_length(*packet, pad_frame(space, length));
  return packet;
}

void PathService::on_timers() {
  if (echoes_ == nullptr) return;
  while (const auto set = echoes_->due().pop_due(context_.now)) flush(*set);
  if (next_look_ <= context_.now) look_around();
  follow_timers();
}

// At one set after the other, each once a probe time. Where other shards rest they are woken first.
void PathService::look_around() {
  const bool ready = keeps_up();
  if (!ready && !std::exchange(woke_, true)) {
    wake_others();
    next_look_ = context_.now + plan_->proof_lag / 2;
    return;
  }
  woke_ = false;
  const Duration round =
      plan_->probe > Duration{} ? plan_->probe : plan_->base_rtt * PathPlan::kPatience;
  const auto sets = static_cast<int64_t>(std::max<size_t>(context_.path_sets.size(), 1));
  if (next_set_ < context_.path_sets.size()) look_after(next_set_);
  if (++next_set_ >= context_.path_sets.size()) next_set_ = 0;
  next_look_ = context_.now + std::max(round / sets, Duration::nanoseconds(1));
}

void PathService::rebase(const Rebase& rebase) {
  rebase.shift(given_before_);
  rebase.shift(next_look_);
  if (echoes_ != nullptr) echoes_->due().rebase(rebase);
  follow_timers();
}

void PathService::follow_timers() {
  *context_.due_of(Timers::paths) =
      echoes_ == nullptr ? Instant::never() : std::min(echoes_->due().next(), next_look_);
}

// Echoes that have waited long enough go by themselves.
void PathService::flush(size_t set) {
  const uint32_t longest = wire_ns(plan_->echo);
  uint32_t oldest = 0;
  for (uint64_t left = echoes_->waiting(set); left != 0; left &= left - 1) {
    const auto index = static_cast<uint8_t>(std::countr_zero(left));
    HeardPath& heard = echoes_->at(set, index);
    const uint32_t waited = now_ns_ - heard.since_ns;
    if (waited + 1 < longest) {  // stamps are whole nanoseconds, deadlines are not
      oldest = std::max(oldest, waited);
      continue;
    }
    send_feedback(set, heard);
    echoes_->done(set, index);
  }
  if (echoes_->waiting(set) != 0)
    echoes_->due().set(static_cast<Deadlines::Id>(set),
                       context_.now + Duration::nanoseconds(longest - oldest));
}

void PathService::send_feedback(size_t set, HeardPath& heard) {
  const lb::PathSet& to = context_.path_sets[set];
  const lb::PathMember* by =
      std::find_if(to.members.begin(), to.members.begin() + to.count,
                   [&](const lb::PathMember& member) { return member.port == heard.port; });
  const Telling told = tell_of(heard);
  const Shim shim{.kind = heard.probe ? ShimKind::probe_reply : ShimKind::feedback,
                  .flags = told.flags,
                  .source_leaf = context_.snapshot->leaf,
                  .destination_leaf = plan_->leaf_of_set[set],
                  .path = by == to.members.begin() + to.count ? PathId::none() : by->path,
                  .feedback_path = told.path,
                  .feedback_congestion = told.congestion,
                  .traffic_class = kControlClass,
                  .sent_ns = now_ns_,
                  .echoed_ns = told.echoed_ns,
                  .hold_ns = told.hold_ns,
                  .feedback_packets = told.packets,
                  .feedback_marked = told.marked};
  Packet* packet = make_frame(heard.port, shim);
  if (packet == nullptr) return;
  services_.egress.originate(heard.port, packet);
  context_.count(heard.port, PortCounter::path_feedback_frames);
}

// Forgets what is out of date, has judged what is left, and probes what nobody uses.
void PathService::look_after(size_t set) {
  const lb::PathSet& to = context_.path_sets[set];
  if (plan_->set_of(to.leaf) != set) return;  // another set's paths
  for (lb::MemberIndex i = 0; i < to.count; ++i) {
    if (!context_.owns(to.members[i].port)) continue;
    lb::PathRecord& record = context_.paths->at(set, i);
    const Instant record_time = context_.paths->record_time(context_.now);
    const Duration age = record.age(record_time);
    if (record.known() && age > plan_->base_rtt * lb::PathTable::kStaleAfter) record.forget();
    record.forget_old_congestion(record_time);
    const uint32_t last = record.requested_ns.load(std::memory_order_relaxed);
    services_.failures.look(set, i);
    const bool probed = plan_->probe > Duration{} || services_.failures.wants_answer(set, i);
    if (probed && now_ns_ - last >= wire_ns(plan_->rest)) probe(set, i);
  }
}

// In the queue of what is measured, so that its echo proves what was ahead of it there.
void PathService::probe(size_t set, lb::MemberIndex member) {
  const lb::PathMember& path = context_.path_sets[set].members[member];
  Shim shim{.kind = ShimKind::probe,
            .source_leaf = context_.snapshot->leaf,
            .destination_leaf = plan_->leaf_of_set[set],
            .path = path.path,
            .traffic_class = plan_->measured.traffic_class,
            .sent_ns = now_ns_};
  shim.flags = keeps_up() ? kShimPinned | kShimRttRequest : kShimRttRequest;
  Packet* packet = make_frame(path.port, shim);
  if (packet == nullptr) return;
  packet->traffic_class = plan_->measured.traffic_class;
  packet->pg = plan_->measured.pg;
  packet->queue = plan_->measured.queue;
  request(path.port, context_.paths->at(set, member));
  services_.egress.originate_behind(path.port, packet);
  context_.count(path.port, PortCounter::path_probes);
}

size_t PathService::dump(std::span<PathRow> rows) const {
  size_t count = 0;
  for (size_t set = 0; set < context_.path_sets.size(); ++set)
    for (lb::MemberIndex i = 0; i < context_.path_sets[set].count && count < rows.size(); ++i)
      rows[count++] = row_of(set, i);
  return count;
}

PathRow PathService::row_of(size_t set, lb::MemberIndex member) const {
  const lb::PathSet& to = context_.path_sets[set];
  const bool up = context_.signals(to.members[member].port).up.load() != 0;
  PathRow row{.leaf = to.leaf, .member = member, .live = up};
  row.paused = context_.signals(to.members[member].port).paused_queues;
  for (size_t queue = 0; context_.warnings != nullptr && queue < kPriorities; ++queue) {
    const uint8_t severity = context_.warnings->severity(set, member, QueueId(queue));
    if (severity != 0) row.warned = static_cast<uint8_t>(row.warned | 1u << queue);
    row.severity = std::max(row.severity, severity);
  }
  if (context_.paths == nullptr) return row;
  const lb::PathTable& paths = *context_.paths;
  const lb::PathRecord& record = paths.at(set, member);
  const auto delay = paths.delay(set, member, context_.now);
  row.measured = delay.has_value();
  row.failed = lb::contains(paths.failed(set), member);
  row.failure = paths.use(set, member).failure;
  row.last = row.failed && lb::contains(context_.live[set], member);
  row.delay = delay.value_or(Duration{});
  if (record.least_delay_ns != lb::PathRecord::kUnknown)
    row.least_delay = Duration::nanoseconds(record.least_delay_ns);
  row.age = record.known() ? record.age(paths.record_time(context_.now)) : Duration{};
  row.marked = record.marked;
  row.congestion = record.congestion;
  row.unanswered = record.suspicion;
  return row;
}

}  // namespace eddy
