#include "host/sender.h"

#include <algorithm>
#include <limits>

#include "net/assert.h"
#include "net/memory/lines.h"

namespace eddy::host {
namespace {

size_t if_used(bool used, size_t count) {
  return used ? count : 0;
}

// The paces of all QPs, where the rate control or the pacing needs them.
std::span<Pace> paces_of(RateControl& rate, const PacingInfo& pacing, const NicOptions& options) {
  if (pacing.always && rate.paces().empty()) rate.pace_all(options.senders, options.speed);
  return rate.paces();
}

}  // namespace

Senders::Senders(const NicOptions& options, const Laws& laws, const Framer& framer, Ledger& ledger)
    : config_(options.config),
      speed_(options.speed),
      line_overhead_(options.line_overhead),
      rate_(laws.rate_control.law->make({options, laws.rate_control.parameters})),
      recovery_(laws.recovery.law->make_sender({options, laws.recovery.parameters})),
      entropy_(laws.entropy.law->make({options, laws.entropy.parameters})),
      pacer_(laws.pacing.law->make({options, laws.pacing.parameters})),
      own_timeouts_(recovery_->timeouts()),
      naks_name_(laws.recovery.law->naks_name),
      bitmaps_(laws.recovery.law->bitmaps),
      rate_hears_(laws.rate_control.law->hears),
      entropy_hears_(laws.entropy.law->hears),
      told_(rate_hears_.acks || entropy_hears_.acks),
      counts_rounds_(rate_hears_.rounds || entropy_hears_.rounds),
      hears_rtt_(rate_hears_.rtt || entropy_hears_.rtt),
      drains_(laws.entropy.law->drains),
      each_packet_(laws.entropy.law->each_packet),
      watched_(hears_rtt_ || each_packet_),
      pacer_always_(laws.pacing.law->always),
      two_timeouts_(own_timeouts_.short_rto < own_timeouts_.rto),
      attentive_(told_ || counts_rounds_ || two_timeouts_),
      paces_(paces_of(*rate_, *laws.pacing.law, options)),
      paced_(!paces_.empty()),
      scales_window_(config_.variable_window && !rate_hears_.acks && !rate_hears_.rounds),
      paced_below_(pacer_always_ ? std::numeric_limits<int64_t>::max() : speed_.bps()),
      framer_(framer),
      ledger_(ledger),
      queue_pairs_(options.senders),
      outcomes_(options.senders),
      rounds_(if_used(counts_rounds_, options.senders)),
      times_(if_used(hears_rtt_, options.senders), options.reorder_packets),
      timeouts_(options.senders),
      pacing_(if_used(paced_, options.senders)),
      stopped_(options.senders),
      order_hashes_(options.senders) {}

uint32_t Senders::open(const SendSpec& spec) {
  ASSERT(opened_ < queue_pairs_.size() && spec.size.count() > 0);
  const auto qpn = static_cast<uint32_t>(opened_++);
  const int64_t packets = spec.size.rounded_up(config_.mtu).count() / config_.mtu;
  QueuePair& qp = queue_pairs_[qpn];
  SendState& state = qp.state;
  qp.header = framer_.data_template(spec);
  qp.first = spec.first_psn & kPsnMask;
  state.unacked = state.next = state.sent_end = qp.first;
  state.end = qp.first + static_cast<uint64_t>(packets);
  const Duration shortest = spec.base_rtt * 2;
  qp.rto = std::max(own_timeouts_.rto, shortest);
  qp.short_rto = std::max(own_timeouts_.short_rto, shortest);
  qp.flow = spec.flow;
  qp.last_payload = static_cast<uint16_t>(spec.size.count() - (packets - 1) * config_.mtu);

  const Bytes bdp = config_.bdp.count() != 0 ? config_.bdp : bytes_in(spec.base_rtt, speed_);
  qp.full_window = state.window =
      recovery_->full_window(config_.window ? packets_of(bdp) : kNoWindow, packets_of(bdp));
  recovery_->open(qpn, state);
  rate_->open(qpn, {bdp, spec.base_rtt, qp.full_window}, state);
  use_port(qp, entropy_->open(qpn, {spec.source_port, packets_of(bdp)}, state));
  if (counts_rounds_) {
    const bool bounded = state.window < kNoWindow;
    rounds_[qpn].end = state.next + (bounded ? state.window : packets_of(bdp));
  }
  return qpn;
}

uint32_t Senders::packets_of(Bytes bdp) const {
  const int64_t whole = std::max<int64_t>(bdp.count() / config_.mtu, 1);
  return static_cast<uint32_t>(std::min<int64_t>(whole, kNoWindow));
}

void Senders::start(uint32_t qpn, Instant now) {
  ASSERT(qpn < opened_ && queue_pairs_[qpn].place == Place::closed);
  queue_pairs_[qpn].place = Place::idle;
  wake(qpn, queue_pairs_[qpn], now);
}

void Senders::ask_for_queue_pairs() const {
  if (opened_ > kFewQueuePairs) return;
  ask_for(queue_pairs_.data(), opened_ * sizeof(QueuePair));
  ask_for(outcomes_.data(), opened_ * sizeof(SendOutcome));
  if (paced_) ask_for(paces_.data(), opened_ * sizeof(Pace));
}

SendStage Senders::stage(uint32_t qpn) const {
  ASSERT(qpn < opened_);
  const SendState& state = queue_pairs_[qpn].state;
  if (state.unacked == state.end) return SendStage::acknowledged;
  return state.next < state.end ? SendStage::sending : SendStage::awaits_acks;
}
const SendOutcome& Senders::outcome(uint32_t qpn) const {
  ASSERT(qpn < opened_);
  return outcomes_[qpn];
}

BitRate Senders::rate(uint32_t qpn, Instant now) const {
  ASSERT(qpn < opened_);
  return rate_->rate(qpn, now);
}

inline void Senders::push_ready(uint32_t qpn, QueuePair& qp) {
  qp.place = Place::ready;
  qp.follower = kNone;
  (head_ == kNone ? head_ : queue_pairs_[tail_].follower) = qpn;
  tail_ = qpn;
}

inline uint32_t Senders::pop_ready() {
  const uint32_t qpn = head_;
  QueuePair& qp = queue_pairs_[qpn];
  head_ = qp.follower;
  qp.place = Place::idle;
  return qpn;
}

// Says whether the QP could send another.
inline bool Senders::send(uint32_t qpn, QueuePair& qp, Packet& out, Instant now) {
  SendState& state = qp.state;
  const uint64_t sequence = state.repair == Repair::pending ? repeat(qpn) : state.next++;
  if (sequence == state.unacked) state.progress = now;
  if (watched_) watch(qpn, sequence, now);
  const bool more = can_send(qp);
  const bool last = sequence + 1 == state.end;
  DataFields fields;
  fields.opcode = sequence == qp.first ? (last ? RoceOpcode::write_only : RoceOpcode::write_first)
                                       : (last ? RoceOpcode::write_last : RoceOpcode::write_middle);
  fields.psn = static_cast<uint32_t>(sequence) & kPsnMask;
  fields.payload_len = last ? qp.last_payload : static_cast<uint32_t>(config_.mtu);
  fields.ack_request = !more;  // the last one, or the one that fills the window
  framer_.write_data(qp.header, fields, out);

  ledger_.count(NicCounter::tx_data_packets);
  ++outcomes_[qpn].sent_packets;
  if (sequence < state.sent_end)
    count_repeat(qpn, fields.payload_len);
  else
    state.sent_end = sequence + 1;
  arm(qpn, qp);
  if (paced_) note_sent(qpn, qp, out.wire_len, now);
  return more;
}

[[gnu::noinline]] uint64_t Senders::repeat(uint32_t qpn) {
  return recovery_->next_send(qpn, queue_pairs_[qpn].state);
}

// A packet that leaves now, before it is written.
[[gnu::noinline]] void Senders::watch(uint32_t qpn, uint64_t sequence, Instant now) {
  QueuePair& qp = queue_pairs_[qpn];
  if (each_packet_) use_port(qp, entropy_->next_send(qpn, qp.state, now));
  if (!hears_rtt_) return;
  if (sequence < qp.state.sent_end)
    times_.note_again(qpn, sequence);
  else
    times_.note(qpn, sequence, now);
}

// Apart, so that what calls transmit() keeps less across calls.
[[gnu::noinline]] bool Senders::wake_and_send(Packet& out, Instant now) {
  wake_paced(now);
  return send_next(out, now);
}

bool Senders::send_next(Packet& out, Instant now) {
  while (has_ready()) {
    const uint32_t qpn = pop_ready();
    QueuePair& qp = queue_pairs_[qpn];
    // An ACK, or a CNP, may have overtaken its turn.
    if (!can_send(qp) || (paced_ && wait_for_pace(qpn, qp, now))) continue;
    const bool more = send(qpn, qp, out, now);
    if (more && !(paced_ && wait_for_pace(qpn, qp, now))) push_ready(qpn, qp);
    return true;
  }
  return false;
}

void Senders::count_repeat(uint32_t qpn, uint32_t payload) {
  SendOutcome& outcome = outcomes_[qpn];
  ledger_.count(NicCounter::retransmitted_packets);
  ++outcome.retransmitted_packets;
  outcome.retransmitted_bytes += payload;
}

void Senders::on_timers(Instant now) {
  while (const auto id = timeouts_.pop_due(now)) {
    QueuePair& qp = queue_pairs_[*id];
    qp.armed = Instant::never();
    if (qp.state.in_flight() == 0) continue;  // the next packet arms it
    if (waits_to_repeat(qp))
      qp.state.progress = now;  // nobody can answer what has not left
    else if (timeout_of(qp) <= now)
      on_timeout(*id, qp, now);
    arm(*id, qp);
  }
  wake_paced(now);
  while (const auto id = stopped_.pop_due(now)) go_on(*id, now);
}

// What is lost is not sent again yet, as its pace does not allow it. A time-out now would tell of
// no packet, and in a row they would take a slow pace to the slowest.
bool Senders::waits_to_repeat(const QueuePair& qp) {
  return qp.place == Place::paced && qp.state.repair == Repair::pending;
}

void Senders::on_timeout(uint32_t qpn, QueuePair& qp, Instant now) {
  ledger_.count(NicCounter::timeouts);
  ++outcomes_[qpn].timeouts;
  qp.state.progress = now;
  recovery_->on_timeout(qpn, qp.state, now);
  if (rate_->on_timeout(qpn, qp.state, now)) pace_anew(qpn, qp, now);
  obey(qpn, qp, entropy_->on_timeout(qpn, qp.state, now), now);
  wake(qpn, qp, now);
}

Instant Senders::timeout_of(const QueuePair& qp) const {
  const auto in_flight = static_cast<int64_t>(qp.state.in_flight());
  return qp.state.progress + (in_flight <= own_timeouts_.few ? qp.short_rto : qp.rto);
}

// The timer may go off earlier than needed, never later.
void Senders::set_timer(uint32_t qpn, QueuePair& qp) {
  if (qp.state.in_flight() == 0) return;
  const Instant due = timeout_of(qp);
  if (qp.armed <= due) return;
  qp.armed = due;
  timeouts_.set(qpn, due);
}

void Senders::wake(uint32_t qpn, QueuePair& qp, Instant now) {
  if (qp.place != Place::idle || !can_send(qp)) return;
  if (!paced_ || !wait_for_pace(qpn, qp, now)) push_ready(qpn, qp);
}

}  // namespace eddy::host
