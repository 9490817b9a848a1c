#include "switch/dataplane/paths/path_warnings.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "net/hash.h"
#include "net/protocols.h"

namespace eddy {
namespace {

uint32_t folded(uint64_t hash) {
  return static_cast<uint32_t>(hash ^ hash >> 32);
}

uint32_t source_of(const CongestionPointId& id) {
  uint64_t bridge = 0;
  for (const uint8_t octet : id.bridge.octets) bridge = bridge << 8 | octet;
  return folded(hash_pair(bridge, id.port));
}

uint32_t origin_of(const CongestionPointId& id) {
  return source_of({id.bridge, UINT16_MAX});
}

// Of our own ports' real pauses: no congestion point hashes to less than this but by accident.
uint32_t source_of_pause(PortId port) {
  return static_cast<uint32_t>(port.index()) + 1;
}

uint32_t saturated_ns(Duration time) {
  return static_cast<uint32_t>(std::clamp<int64_t>(time.ns(), 0, UINT32_MAX));
}

}  // namespace

PathWarnings::PathWarnings(ShardContext& context, const Services& services, size_t ports)
    : context_(context),
      services_(services),
      finder_(context),
      plans_(ports),
      paused_(ports),
      budget_used_to_(ports),
      told_(ports) {}

void PathWarnings::cnm(Packet* packet) {
  const PortId port = packet->ingress_port;
  if (!may_hear(port)) {
    context_.count(port, PortCounter::cnm_storm_packets);
    context_.count(port, PortCounter::consumed_packets);
    return context_.free(packet);
  }
  Cnm message;
  const ConstOctets payload{packet->data() + packet->l2_len, packet->data_len() - packet->l2_len};
  if (decode(payload, message) != CodecVerdict::ok)
    return services_.buffer.drop(packet, DropReason::control_malformed);
  context_.count(port, PortCounter::cnm_rx_packets);
  if (enabled_) hear(port, message);
  context_.count(port, PortCounter::consumed_packets);
  context_.free(packet);
}

// A burst has one port's frames.
bool PathWarnings::may_hear(PortId port) {
  if (reading_.at != context_.now || reading_.port != port) reading_ = {context_.now, port, 0};
  return reading_.count++ < kMostHeard;
}

void PathWarnings::hear(PortId port, const Cnm& message) {
  const CnmWarning& warning = message.warning;
  const config::SwitchConfig& self = context_.snapshot->config;
  if (!message.has_warning) return context_.count(port, PortCounter::cnm_foreign_packets);
  if (message.congestion_point.bridge == self.mac)
    return context_.count(port, PortCounter::cnm_forged_packets);
  const uint32_t source = source_of(message.congestion_point);
  const bool relayed = (warning.flags & kCnmRelayed) != 0;
  const QueueId queue = context_.plans(port).pause_rx.pfc_to_queue[message.priority.index()];
  const Duration life = std::min(Duration::nanoseconds(warning.expiry_ns), longest_life());
  const lb::WarningMark mark{.port = port,
                             .leaf = relayed ? warning.destination_leaf : LeafId::none(),
                             .queue = queue,
                             .severity = message.feedback,
                             .sequence = warning.sequence,
                             .source = source,
                             .origin = origin_of(message.congestion_point),
                             .expiry = context_.now + life,
                             .culprits = message.culprits};
  if (message.culprits_refused) context_.count(port, PortCounter::cnm_culprits_refused);
  if (!heeds(mark)) return;
  if (warning.hops_left != 0) relay(mark, message);
}

// False: the message is older than another one.
bool PathWarnings::heeds(const lb::WarningMark& mark) {
  lb::WarningMark heeded = mark;
  if (!counts(mark.severity)) {
    context_.count(mark.port, PortCounter::cnm_unheeded_packets);
    if (heed_ == config::Heed::local) return true;
    heeded.severity = kCnmClear;  // a pause that was told of before is over
  }
  const lb::MarkEffect effect = apply(heeded);
  if (effect == lb::MarkEffect::stale) {
    context_.count(mark.port, PortCounter::cnm_stale_packets);
    return false;
  }
  if (effect == lb::MarkEffect::ignored && heeded.severity == mark.severity)
    context_.count(mark.port, PortCounter::cnm_ignored_packets);
  tell_other_shards(heeded);
  return true;
}

bool PathWarnings::counts(uint8_t severity) const {
  switch (heed_) {
    case config::Heed::local:
      return false;
    case config::Heed::relayed:
      return severity == kCnmPfcSent || severity == kCnmClear;
    case config::Heed::predicted:
      break;
  }
  return true;
}

lb::MarkEffect PathWarnings::apply(const lb::WarningMark& mark) {
  if (context_.warnings == nullptr) return lb::MarkEffect::ignored;
  const lb::MarkEffect effect = context_.warnings->mark(mark);
  follow_table();
  if (!context_.owns(mark.port)) return effect;  // its shard counts
  const auto priority = Priority(mark.queue.index());
  if (effect == lb::MarkEffect::begun) {
    context_.count(mark.port, PortCounter::path_warnings_begun);
    context_.event(EventKind::path_warned, mark.port, mark.severity, priority);
  } else if (effect == lb::MarkEffect::cleared) {
    context_.count(mark.port, PortCounter::path_warnings_cleared);
    context_.event(EventKind::path_warned, mark.port, 0, priority);
  }
  return effect;
}

// A mark that finds a mailbox full is lost; the next refresh brings it again.
void PathWarnings::tell_other_shards(const lb::WarningMark& mark) {
  const CommonState& common = context_.common;
  for (size_t to = 0; to < common.shards; ++to)
    if (to != context_.id.index())
      (void)context_.tell(ShardId(to), {.kind = Message::Kind::warning, .what = mark});
}

void PathWarnings::relay(const lb::WarningMark& mark, const Cnm& message) {
  if (is_repeated(mark.source, message.warning.sequence)) return;
  Cnm onward = message;
  onward.warning.hops_left =
      static_cast<uint8_t>(std::min(message.warning.hops_left, kMostHops) - 1);
  onward.warning.flags |= kCnmRelayed;
  ToldPorts::Ports nobody;
  const bool clears = mark.severity == pfc::Predictor::kClear;
  pass_on(mark.port, onward,
          config_.until_cleared
              ? told_.hear({mark.source, message.priority, clears, mark.expiry}, context_.now)
              : nobody);
}

void PathWarnings::pass_on(PortId from, const Cnm& message, ToldPorts::Ports& told) {
  for (size_t i = 0; i < plans_.size(); ++i) {
    const PortId to(i);
    if (to == from || context_.settings(to).role == config::PortRole::host) continue;
    if (!told[i] && !fed(from, to)) continue;
    if (!take_budget(to)) {
      context_.count(to, PortCounter::cnm_over_budget);
    } else if (services_.messages.send(to, kEtherTypeCnm, message)) {
      context_.count(to, PortCounter::cnm_relayed_packets);
      told.set(i);
    }
  }
}

bool PathWarnings::is_repeated(uint32_t source, uint32_t sequence) {
  Heard& heard = heard_[source % kHeard];
  const bool known = heard.source == source && context_.now - heard.at < longest_life();
  if (known && static_cast<int32_t>(sequence - heard.sequence) <= 0) return true;
  heard = {source, sequence, context_.now};
  return false;
}

bool PathWarnings::fed(PortId egress, PortId ingress) const {
  const Duration ago = context_.common.feeds.since(egress, ingress, context_.now);
  return ago <= config_.contribution;
}

// A bucket that holds kRelayBurst messages and fills by one each kRelayGap.
bool PathWarnings::take_budget(PortId port) {
  Instant& used_to = budget_used_to_[port.index()];
  const Instant next = std::max(used_to, context_.now - kRelayGap * kRelayBurst) + kRelayGap;
  if (next > context_.now) return false;
  used_to = next;
  return true;
}

void PathWarnings::send_owed() {
  services_.predictor.flush([this](const pfc::PfcWarning& warning) {
    const PortId port = warning.port;
    if (warning.begins) {
      const Priority priority = context_.settings(port).classes->pg_to_pfc[warning.pg.index()];
      context_.count(port, PortCounter::pfc_predicted);
      context_.event(EventKind::pfc_predicted, port, warning.severity, priority);
    }
    if (warning.missed) context_.count(port, PortCounter::pfc_predictions_wrong);
    const pfc::PredictorPlan& plan = plans_[port.index()];
    const bool clears = warning.severity == pfc::Predictor::kClear;
    if (!plan.notifies || (clears && !plan.sends_clear)) return;
    const Cnm message = message_of(warning);
    if (!services_.messages.send(port, kEtherTypeCnm, message)) return;
    context_.count(port, PortCounter::cnm_tx_packets);
    if (const size_t named = count_of(message.culprits); named != 0)
      context_.count(port, PortCounter::cnm_culprits_named, named);
  });
}

Cnm PathWarnings::message_of(const pfc::PfcWarning& warning) const {
  const config::SwitchConfig& self = context_.snapshot->config;
  Cnm message;
  message.feedback = warning.severity;
  message.congestion_point = {self.mac, static_cast<uint16_t>(warning.port.index())};
  message.queue_offset = cnm_quantity(warning.level.xoff - warning.level.queue);
  message.queue_delta = cnm_quantity(warning.growth);
  message.priority = context_.settings(warning.port).classes->pg_to_pfc[warning.pg.index()];
  message.encapsulated_destination = services_.peers.mac(warning.port);
  message.warning = {.predicting_switch = self.id,
                     .destination_leaf = context_.snapshot->leaf,
                     .hops_left = static_cast<uint8_t>(config_.relays),
                     .sequence = warning.sequence,
                     .time_to_pfc_ns = saturated_ns(warning.time_to_xoff),
                     .expiry_ns = saturated_ns(config_.life),
                     .queue_bytes = static_cast<uint32_t>(warning.level.queue)};
  if (names_culprits_ && warning.severity != pfc::Predictor::kClear)
    message.culprits =
        finder_.find({warning.port, warning.pg, warning.level.queue, config_.contribution});
  return message;
}

void PathWarnings::paused(PortId port, uint8_t queues) {
  const uint8_t before = std::exchange(paused_[port.index()], queues);
  if (!enabled_) return;
  const Duration hold = context_.snapshot->config.ports[port.index()].cable_delay * 2;
  for (unsigned changed = before ^ queues; changed != 0; changed &= changed - 1) {
    const auto queue = static_cast<size_t>(std::countr_zero(changed));
    const bool stops = (queues >> queue & 1) != 0;
    lb::WarningMark mark =
        pause_mark(port, QueueId(queue), stops ? Instant::never() : context_.now + hold);
    mark.sequence = ++pause_sequence_;
    (void)apply(mark);
    tell_other_shards(mark);
  }
}

lb::WarningMark PathWarnings::pause_mark(PortId port, QueueId queue, Instant expiry) {
  const uint32_t source = source_of_pause(port);
  return {.port = port,
          .queue = queue,
          .severity = pfc::Predictor::kPfcSent,
          .is_pause = true,
          .source = source,
          .origin = source,
          .expiry = expiry};
}

// A table that came with a snapshot has not heard of them. Without a sequence, so that whatever the
// port's shard says next is newer.
void PathWarnings::mark_pauses_in_force() {
  for (size_t i = 0; i < plans_.size(); ++i) {
    unsigned left = context_.signals(PortId(i)).paused_queues.load(std::memory_order_relaxed);
    for (; left != 0; left &= left - 1) {
      const QueueId queue(static_cast<size_t>(std::countr_zero(left)));
      (void)apply(pause_mark(PortId(i), queue, Instant::never()));
    }
  }
}

void PathWarnings::pfc_sent(PortId port, uint8_t xoff, uint8_t xon) {
  const PortSettings& settings = context_.settings(port);
  for (size_t pg = 0; pg < kPriorities; ++pg) {
    if (!services_.predictor.watches(port, PriorityGroupId(pg))) continue;
    const size_t priority = settings.classes->pg_to_pfc[pg].index();
    if (((xoff | xon) >> priority & 1) != 0)
      count(port, services_.predictor.pfc_sent(port, PriorityGroupId(pg),
                                               (xoff >> priority & 1) != 0, context_.now));
  }
}

void PathWarnings::count(PortId port, const pfc::PauseForesight& pause) {
  if (!pause.begins) return;
  context_.count(port, pause.foreseen ? PortCounter::pfc_foreseen : PortCounter::pfc_unforeseen);
  if (!pause.first) return;
  context_.count(port, PortCounter::pfc_predictions_right);
  context_.counters[port].port[PortCounter::pfc_prediction_lead_ps].add(
      static_cast<uint64_t>(pause.lead.ps()));
}

void PathWarnings::on_timers() {
  services_.predictor.on_timers(context_.now, [this](PortId port, PriorityGroupId pg) {
    return services_.buffer.level(port, pg);
  });
  if (context_.warnings == nullptr) return;
  while (const auto ended = context_.warnings->expire_one(context_.now))
    if (context_.owns(ended->port))
      context_.count(ended->port, ended->was_pause ? PortCounter::path_warnings_cleared
                                                   : PortCounter::path_warnings_expired);
  follow_table();
}

void PathWarnings::rebase(const Rebase& rebase) {
  for (Instant& used_to : budget_used_to_) rebase.shift(used_to);
  for (Heard& heard : heard_) rebase.shift(heard.at);
  told_.rebase(rebase);
  rebase.shift(reading_.at);
  if (context_.warnings != nullptr) context_.warnings->rebase(rebase);
  follow_table();
}

void PathWarnings::follow_table() {
  context_.due_of(Timers::warnings)
      .set(context_.warnings == nullptr ? Instant::never() : context_.warnings->next_expiry());
}

void PathWarnings::adopt(const Snapshot& now) {
  enabled_ = now.config.rlb.enabled();
  config_ = now.config.rlb.warning;
  heed_ = now.config.rlb.heed;
  names_culprits_ = now.config.rlb.culprits;
  for (size_t i = 0; i < now.ports.size(); ++i) {
    if (!context_.owns(PortId(i)) || plans_[i] == now.plans[i].predictor) continue;
    plans_[i] = now.plans[i].predictor;
    services_.predictor.configure(PortId(i), plans_[i]);
  }
  if (std::exchange(table_, context_.warnings) != context_.warnings && enabled_)
    mark_pauses_in_force();
  follow_table();
}

}  // namespace eddy
