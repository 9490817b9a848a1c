#include "switch/dataplane/paths/agent_host.h"

#include <algorithm>
#include <utility>

#include "net/assert.h"
#include "switch/dataplane/paths/roce_reply.h"

namespace eddy {
namespace {

bool goes_on(ShimKind kind) {
  return kind == ShimKind::feedback || kind == ShimKind::probe || kind == ShimKind::probe_reply ||
         kind == ShimKind::sweep || kind == ShimKind::swept || kind == ShimKind::notify ||
         kind == ShimKind::clear || kind == ShimKind::flowcut_ack;
}

constexpr int64_t kLongestFrame = kEthernetHeader + kShimControlLimit;
// Those whose content is the path service's alone.
constexpr uint16_t kOfService = lb::kind_bit(ShimKind::data) | lb::kind_bit(ShimKind::feedback) |
                                lb::kind_bit(ShimKind::probe_reply) |
                                lb::kind_bit(ShimKind::sweep) | lb::kind_bit(ShimKind::swept);

}  // namespace

void AgentHost::adopt(const Snapshot& now) {
  ShardScheme const& scheme = now.schemes[context_.id.index()];
  asks_ = {};
  agent_count_ = 0;
  dressers_ = 0;
  dresser_ = nullptr;
  reports_ = nullptr;
  for (const std::shared_ptr<lb::PathAgent>& agent : scheme.agents) add(agent.get());
  standing_ = agent_count_;
  scheme_sets_timers_ = false;
  if (lb::PathAgent* agent = scheme.selector->agent()) {
    add(agent);
    scheme_sets_timers_ = agent->speech().timers;
  }
  if (pauser_ != nullptr && std::ranges::find(agents(), pauser_) == agents().end()) {
    services_.buffer.forget_asked_pauses();
    pauser_ = nullptr;
  }
  flows_ = scheme.reply_flows.get();
  asks_.replies &= flows_ != nullptr;
  uint8_t feedback = 0;
  for (const lb::PathAgent* agent : agents())
    feedback = static_cast<uint8_t>(feedback | agent->speech().feedback);
  services_.paths.want(now.paths == nullptr ? 0 : feedback);
  hears_feedback_ =
      services_.paths.measures() && (asks_.hears & lb::kind_bit(ShimKind::feedback)) == 0;
  read_deadlines();
}

// Where the configuration gives fewer packets a shim than the agent declared it needs, it does not
// speak in them.
bool AgentHost::dresses(const lb::PathAgent& agent) const {
  const lb::Speech& speech = agent.speech();
  return speech.fields != 0 && context_.snapshot->path_plan.need >= speech.shim;
}

void AgentHost::add(lb::PathAgent* agent) {
  ASSERT(agent_count_ < kMostAgents);
  agents_[agent_count_++] = agent;
  const lb::Speech& speech = agent->speech();
  if (dresses(*agent)) {
    ++dressers_;
    dresser_ = agent;
    reports_ = agent->reports();
  }
  asks_.arrivals |= speech.arrivals;
  asks_.replies |= speech.replies;
  asks_.waits |= speech.waits;
  asks_.timers |= speech.timers;
  asks_.hears |= speech.hears;
  asks_.overhears |= speech.overhears;
}

void AgentHost::arrived(const Packet& packet, uint32_t shim_offset) {
  lb::Arrival& arrival = arrivals_[arrival_count_];
  const ConstOctets octets{packet.data() + shim_offset, kShimHeader};
  if (decode(octets, arrival.shim) != CodecVerdict::ok) return;
  if (arrival.shim.destination_leaf != context_.snapshot->leaf || !services_.paths.measures())
    return;
  services_.paths.hear(packet.ingress_port, octets.data());
  note(packet, arrival);
}

// The next of arrivals_, which has its shim.
void AgentHost::note(const Packet& packet, lb::Arrival& arrival) {
  const auto noted = services_.paths.note(packet.ingress_port, arrival.shim, packet.has(kPacketEct),
                                          packet.has(kPacketCe));
  something_came_ |= services_.paths.feedback_waits();
  if (noted && asks_.arrivals) {
    something_came_ = true;
    arrival.packet = &packet;
    arrival.set = noted->set;
    arrival.place = noted->place;
    arrival.fresh = noted->fresh;
    ++arrival_count_;
  }
  if (arrival_count_ == arrivals_.size() || services_.paths.feedback_is_full()) tell_agents();
}

std::optional<uint16_t> AgentHost::control(Packet* packet) {
  ShimControl message;
  if (!services_.frames.read(packet, message)) return std::nullopt;
  const Shim& shim = message.shim;
  const PortId port = packet->ingress_port;
  const bool for_us = shim.destination_leaf == context_.snapshot->leaf;
  if (!for_us && goes_on(shim.kind)) {
    if (hear(port, message, /*for_us=*/false)) {
      services_.frames.consume(packet);
      return std::nullopt;
    }
    if (!services_.frames.make_ready(packet, shim)) return std::nullopt;
    return context_.snapshot->path_plan.set_of(shim.destination_leaf);
  }
  if (for_us && services_.paths.measures()) {
    if (shim.kind == ShimKind::probe) {
      arrivals_[arrival_count_].shim = shim;
      note(*packet, arrivals_[arrival_count_]);
    }
    if (shim.kind == ShimKind::feedback || shim.kind == ShimKind::probe_reply)
      services_.paths.hear(port, packet->data() + packet->l2_len);
    if (shim.kind == ShimKind::sweep) services_.paths.answer(port, shim);
    if (shim.kind == ShimKind::swept) services_.paths.hear_swept(port, shim);
    something_came_ |= services_.paths.feedback_waits();
  }
  if (is_understood(shim.kind))
    (void)hear(port, message, /*for_us=*/true);
  else
    context_.count(port, PortCounter::agent_frames_unspoken);
  services_.frames.consume(packet);
  return std::nullopt;
}

void AgentHost::feedback(Packet* packet, PortId port) {
  services_.paths.hear(port, packet->data() + kEthernetHeader);
  something_came_ |= services_.paths.feedback_waits();
  packet->ingress_port = port;
  services_.frames.consume(packet);
}

// An agent hears it, or the path service does. What another scheme says to a switch that does not
// speak it ends there.
bool AgentHost::is_understood(ShimKind kind) const {
  constexpr uint16_t kMeasures = kOfService | lb::kind_bit(ShimKind::probe);
  const auto known = asks_.hears | (services_.paths.measures() ? kMeasures : 0);
  return (known & lb::kind_bit(kind)) != 0;
}

// Who is heard is another leaf that we know, or no leaf at all: there is no set to ourselves.
bool AgentHost::is_believable(PortId port, const Shim& shim) {
  const LeafId from = shim.source_leaf;
  if (from.is_none() || context_.snapshot->path_plan.set_of(from) != PathPlan::kNoSet) return true;
  context_.count(port, PortCounter::agent_frames_forged);
  return false;
}

// True: an agent wants it to go no further.
bool AgentHost::hear(PortId port, const ShimControl& message, bool for_us) {
  const uint16_t wanted = for_us ? asks_.hears : asks_.overhears;
  if ((wanted & lb::kind_bit(message.shim.kind)) == 0) return false;
  if (!is_believable(port, message.shim)) return false;
  if (std::exchange(heard_at_, context_.now) != context_.now) heard_now_ = 0;
  if (heard_now_ == kMostHeard) {
    context_.count(port, PortCounter::agent_frames_unheard);
    return false;
  }
  ++heard_now_;
  context_.count(port, PortCounter::agent_frames_heard);
  if (heard_count_ == heard_.size() || !for_us) tell_agents();
  something_came_ = true;
  heard_[heard_count_++] = {.message = message, .port = port, .here = true, .for_us = for_us};
  if (!context_.sole) tell_other_shards(heard_[heard_count_ - 1]);
  if (for_us) return false;
  tell_agents();
  return heard_[0].stops;
}

void AgentHost::tell_other_shards(const lb::HeardFrame& frame) {
  AgentMail mail{.port = frame.port, .for_us = frame.for_us};
  encode(frame.message, mail.octets);
  for (size_t to = 0; to < context_.common.shards; ++to)
    if (to != context_.id.index() &&
        !context_.tell(ShardId(to), {.kind = Message::Kind::agent, .what = mail}))
      context_.count(frame.port, PortCounter::agent_frames_unheard);
}

void AgentHost::take(const PathReport& report) {
  if (services_.paths.feedback_is_full()) tell_agents();
  services_.paths.take(report);
  something_came_ |= services_.paths.feedback_waits();
}

void AgentHost::take(const AgentMail& mail) {
  if (heard_count_ == heard_.size()) tell_agents();
  lb::HeardFrame& frame = heard_[heard_count_];
  if (decode(mail.octets, frame.message) != CodecVerdict::ok)
    return;  // which a shard does not send
  frame.port = mail.port;
  frame.here = false;
  frame.for_us = mail.for_us;
  frame.stops = false;
  something_came_ = true;
  ++heard_count_;
}

// Each agent hears what it declared, in the order of coming in, kind by kind.
void AgentHost::tell_agents() {
  const std::span<const lb::Arrival> arrivals(arrivals_.data(), arrival_count_);
  const std::span<const lb::Feedback> feedback = services_.paths.feedback();
  const std::span<lb::HeardFrame> heard(heard_.data(), heard_count_);
  for (lb::PathAgent* agent : agents()) {
    let_speak(agent);
    const lb::Speech& speech = agent->speech();
    if (speech.arrivals && !arrivals.empty()) agent->arrived(*this, arrivals);
    if (speech.feedback != 0 && !feedback.empty()) agent->on_feedback(*this, feedback);
    if ((speech.hears | speech.overhears) != 0 && !heard.empty()) agent->on_frames(*this, heard);
  }
  something_came_ = false;
  arrival_count_ = 0;
  heard_count_ = 0;
  services_.paths.clear_feedback();
}

// Of several agents none may write what only a later one has declared.
void AgentHost::dress(std::span<lb::Dressing> burst) {
  declared_ = 0;
  for (lb::PathAgent* agent : agents()) {
    if (!dresses(*agent)) continue;
    let_speak(agent);
    agent->dress(*this, burst);
    declared_ = static_cast<uint8_t>(declared_ | agent->speech().fields);
    if (dressers_ == 1) [[likely]]
      return;
    for (lb::Dressing& dressing : burst) take_out_undeclared(dressing);
  }
}

bool AgentHost::dress_briefly(std::span<Packet* const> burst, std::span<const uint16_t> sets,
                              std::span<uint32_t, kBurst> briefs) {
  std::ranges::fill(briefs, lb::kNothingBrief);
  if (dresser_ == nullptr) return true;
  let_speak(dresser_);
  if (!dresser_->dress_briefly(*this, burst, sets, briefs)) return false;
  uint32_t said = 0;
  for (const uint32_t brief : briefs) said |= brief ^ lb::kNothingBrief;
  // What it did not declare is taken out where it is asked in full.
  return (said & ~lb::brief_bits(dresser_->speech().fields)) == 0;
}

void AgentHost::take_out_undeclared(lb::Dressing& dressing) {
  const unsigned undeclared = dressing.fields.written & ~unsigned{declared_};
  if (undeclared == 0) [[likely]]
    return;
  dressing.fields.written = static_cast<uint8_t>(dressing.fields.written & ~undeclared);
  context_.count(dressing.packet->egress_port, PortCounter::agent_undeclared);
}

// By flow, so that replies can be told whose they are; and those to hosts of ours, on the shard
// that chooses for the flow.
void AgentHost::watch_replies(std::span<Packet* const> packets) {
  std::array<lb::Reply, kBurst> replies;
  size_t count = 0;
  for (const Packet* packet : packets) {
    if (!packet->has(kPacketRoce)) continue;
    const bool from_host = context_.settings(packet->ingress_port).role == config::PortRole::host;
    const PortId out = packet->egress_port;
    const bool to_host = context_.settings(out).role == config::PortRole::host;
    const bool control = packet->has(kPacketRoceControl);
    if (from_host && !to_host && !control) flows_->note(packet->balance_hash, packet->order_hash);
    if (from_host || !to_host || !control || !context_.owns(out)) continue;
    const auto read = read_reply(*packet);
    if (!read) continue;
    replies[count++] = {.packet = packet,
                        .flow = flows_->find(read->balance_hash),
                        .psn = read->psn,
                        .kind = static_cast<lb::Reply::Kind>(read->kind),
                        .ecn_echo = read->ecn_echo};
  }
  if (count == 0) return;
  for (lb::PathAgent* agent : agents()) {
    if (!agent->speech().replies) continue;
    let_speak(agent);
    agent->on_replies(*this, {replies.data(), count});
  }
}

// A timer that is due has the board looked at before this poll sends.
void AgentHost::wait(const lb::Waiting& waiting) {
  if (wait_count_ == waits_.size()) return;
  waits_[wait_count_++] = waiting;
  context_.due_of(Timers::agents).set(context_.now);
}

void AgentHost::tell_waits() {
  if (wait_count_ == 0) return;
  for (lb::PathAgent* agent : agents()) {
    if (!agent->speech().waits) continue;
    let_speak(agent);
    agent->on_waits(*this, {waits_.data(), wait_count_});
  }
  wait_count_ = 0;
  read_deadlines();
}

void AgentHost::on_timers() {
  for (lb::PathAgent* agent : agents()) {
    if (!agent->speech().timers || agent->next_deadline() > context_.now) continue;
    let_speak(agent);
    agent->on_timers(*this);
  }
  read_deadlines();
}

void AgentHost::read_deadlines() {
  Instant next = Instant::never();
  for (const lb::PathAgent* agent : agents())
    if (agent->speech().timers) next = std::min(next, agent->next_deadline());
  called_ = false;
  const DeadlinePlace due = context_.due_of(Timers::agents);
  if (due.at() != next) due.set(next);
}

void AgentHost::rebase(const Rebase& rebase) {
  for (Budget& budget : budgets_) rebase.shift(budget.due);
  for (size_t i = 0; i < standing_; ++i) agents_[i]->rebase(rebase);
  read_deadlines();
}

bool AgentHost::is_own_set(uint16_t set) const {
  return context_.snapshot->path_plan.set_of(context_.path_sets[set].leaf) == set;
}

bool AgentHost::owns(lb::PathKey path) const {
  return context_.owns(context_.path_sets[path.set].members[path.member].port);
}

bool AgentHost::wants_answer(lb::PathKey path) const {
  return services_.failures.wants_answer(path.set, path.member);
}

bool AgentHost::may_make(const lb::PathAgent& agent, const lb::Utterance& utterance) const {
  const uint16_t kind = lb::kind_bit(utterance.message.shim.kind);
  const bool is_probe = utterance.message.shim.kind == ShimKind::probe;
  return (agent.speech().makes & kind & ~kOfService) != 0 && (!is_probe || utterance.by_path);
}

bool AgentHost::pause_host(PortId port, PriorityGroupId pg, bool on) {
  if (port.index() >= context_.snapshot->ports.size() || pg.index() >= kPriorities) return false;
  if (context_.settings(port).role != config::PortRole::host || !context_.owns(port)) return false;
  if (!speaker_->speech().pauses) {
    context_.count(port, PortCounter::agent_undeclared);
    return false;
  }
  pauser_ = speaker_;
  return services_.buffer.ask_pause(port, pg, on);
}

bool AgentHost::send(const lb::Utterance& utterance) {
  const lb::PathSet* set = nullptr;
  PortId port = utterance.port;
  if (utterance.by_path) {
    if (utterance.path.set >= context_.path_sets.size()) return false;
    set = &context_.path_sets[utterance.path.set];
    if (utterance.path.member >= set->count) return false;
    port = set->members[utterance.path.member].port;
  } else if (port.index() >= context_.snapshot->ports.size()) {
    return false;
  }
  if (!may_make(*speaker_, utterance)) {
    context_.count(port, PortCounter::agent_undeclared);
    return false;
  }
  const bool is_probe = utterance.message.shim.kind == ShimKind::probe;
  if (is_probe && (!services_.paths.measures() || !owns(utterance.path))) return false;
  if (!take_budget(port, speaker_->speech().line_percent)) {
    context_.count(port, PortCounter::agent_over_budget);
    return false;
  }
  if (is_probe) return services_.paths.probe(utterance.path.set, utterance.path.member);
  ShimControl message = utterance.message;
  Shim& shim = message.shim;
  shim.source_leaf = context_.snapshot->leaf;
  shim.hop_count = 0;
  shim.traffic_class = ControlFrames::kTrafficClass;
  shim.sent_ns = lb::PathRecord::wire_time(context_.now);
  shim.inner_ethertype = 0;
  if (set != nullptr)
    shim.destination_leaf = context_.snapshot->path_plan.leaf_of_set[utterance.path.set];
  if (!services_.frames.send(port, message)) return false;
  context_.count(port, PortCounter::agent_frames);
  return true;
}

// Each is counted as one of the longest kind.
bool AgentHost::take_budget(PortId port, uint8_t line_percent) {
  const PortPlans& plans = context_.plans(port);
  const Duration frame = plans.line.time_of(Bytes(kLongestFrame + plans.line_overhead));
  const Duration share = frame * 100 / std::max<int64_t>(line_percent, 1);
  Budget& budget = budgets_[port.index()];
  if (budget.due > context_.now) return false;
  budget.due = std::max(budget.due, context_.now - share * (kSendBurst - 1)) + share;
  return true;
}

}  // namespace eddy
