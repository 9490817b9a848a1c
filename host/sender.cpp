#include "host/sender.h"

#include <algorithm>

#include "net/assert.h"

namespace eddy::host {
namespace {

using config::CongestionControl;
using config::Recovery;

size_t if_used(bool used, size_t count) {
  return used ? count : 0;
}

config::HostConfig with_increases(const NicOptions& options) {
  config::HostConfig config = options.config;
  config.dcqcn = config::for_line(config.dcqcn, options.speed);
  return config;
}

}  // namespace

Senders::Senders(const NicOptions& options, const Framer& framer, Ledger& ledger)
    : config_(with_increases(options)),
      speed_(options.speed),
      line_overhead_(options.line_overhead),
      selective_(config_.recovery == Recovery::irn),
      paced_(config_.congestion_control == CongestionControl::dcqcn),
      framer_(framer),
      ledger_(ledger),
      queue_pairs_(options.senders),
      outcomes_(options.senders),
      paces_(if_used(paced_, options.senders)),
      windows_(if_used(config_.congestion_control == CongestionControl::dctcp, options.senders)),
      repeats_(if_used(selective_, options.senders), options.reorder_packets),
      timeouts_(options.senders),
      pacing_(if_used(paced_, options.senders)) {}

uint32_t Senders::open(const SendSpec& spec) {
  ASSERT(opened_ < queue_pairs_.size() && spec.size.count() > 0);
  const auto qpn = static_cast<uint32_t>(opened_++);
  const int64_t packets = spec.size.rounded_up(config_.mtu).count() / config_.mtu;
  QueuePair& qp = queue_pairs_[qpn];
  qp.header = framer_.data_template(spec);
  qp.first = spec.first_psn & kPsnMask;
  qp.unacked = qp.next = qp.sent_end = qp.first;
  qp.end = qp.first + static_cast<uint64_t>(packets);
  const Duration shortest = spec.base_rtt * 2;
  qp.rto = std::max(selective_ ? config_.irn.rto_high : config_.rto, shortest);
  qp.rto_low = selective_ ? std::max(config_.irn.rto_low, shortest) : qp.rto;
  qp.flow = spec.flow;
  qp.last_payload = static_cast<uint16_t>(spec.size.count() - (packets - 1) * config_.mtu);

  const Bytes bdp = config_.bdp.count() != 0 ? config_.bdp : bytes_in(spec.base_rtt, speed_);
  const int64_t bdp_packets = std::max<int64_t>(bdp.count() / config_.mtu, 1);
  int64_t full = config_.window || selective_ ? bdp_packets : kNoWindow;
  if (selective_) full = std::min(full, static_cast<int64_t>(repeats_.window()));
  qp.full_window = qp.window = static_cast<uint32_t>(std::min<int64_t>(full, kNoWindow));
  if (paced_) paces_[qpn].point.start(speed_);
  if (!windows_.empty()) {
    const Bytes initial = config_.dctcp.initial_window;
    const int64_t octets =
        std::max<int64_t>(initial.count() != 0 ? initial.count() : bdp.count(), config_.mtu);
    const int64_t whole = std::min<int64_t>(octets / config_.mtu, qp.full_window);
    qp.window = static_cast<uint32_t>(whole);
    windows_[qpn].start(octets, qp.first + static_cast<uint64_t>(whole));
  }
  return qpn;
}

void Senders::start(uint32_t qpn, Instant now) {
  ASSERT(qpn < opened_ && queue_pairs_[qpn].place == Place::closed);
  queue_pairs_[qpn].place = Place::idle;
  wake(qpn, queue_pairs_[qpn], now);
}

SendStage Senders::stage(uint32_t qpn) const {
  ASSERT(qpn < opened_);
  const QueuePair& qp = queue_pairs_[qpn];
  if (qp.unacked == qp.end) return SendStage::acknowledged;
  return qp.next < qp.end ? SendStage::sending : SendStage::awaits_acks;
}
const SendOutcome& Senders::outcome(uint32_t qpn) const {
  ASSERT(qpn < opened_);
  return outcomes_[qpn];
}

BitRate Senders::rate(uint32_t qpn, Instant now) const {
  ASSERT(qpn < opened_);
  if (!paced_) return speed_;
  ReactionPoint point = paces_[qpn].point;
  point.catch_up(config_.dcqcn, speed_, now);
  return BitRate::bits_per_second(point.rate_bps());
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
  const bool lost = selective_ && repeats_.has_lost(qpn);
  const uint64_t sequence = lost ? repeats_.take_lost(qpn) : qp.next++;
  if (sequence == qp.unacked) qp.progress = now;
  const bool more = can_send(qpn, qp);
  const bool last = sequence + 1 == qp.end;
  DataFields fields;
  fields.opcode = sequence == qp.first ? (last ? RoceOpcode::write_only : RoceOpcode::write_first)
                                       : (last ? RoceOpcode::write_last : RoceOpcode::write_middle);
  fields.psn = static_cast<uint32_t>(sequence) & kPsnMask;
  fields.payload_len = last ? qp.last_payload : static_cast<uint32_t>(config_.mtu);
  fields.ack_request = !more;  // the last one, or the one that fills the window
  framer_.write_data(qp.header, fields, out);

  ledger_.count(NicCounter::tx_data_packets);
  ++outcomes_[qpn].sent_packets;
  if (sequence < qp.sent_end)
    count_repeat(qpn, fields.payload_len);
  else
    qp.sent_end = sequence + 1;
  arm(qpn, qp);
  if (paced_) note_sent(qpn, out.wire_len, now);
  return more;
}

bool Senders::transmit(Packet& out, Instant now) {
  if (pacing_.has_due(now)) wake_paced(now);
  while (has_ready()) {
    const uint32_t qpn = pop_ready();
    QueuePair& qp = queue_pairs_[qpn];
    // An ACK, or a CNP, may have overtaken its turn.
    if (!can_send(qpn, qp) || (paced_ && wait_for_pace(qpn, qp, now))) continue;
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
    if (qp.next == qp.unacked) continue;  // nothing in flight: the next packet arms it
    if (timeout_of(qp) <= now) on_timeout(*id, qp, now);
    arm(*id, qp);
  }
  wake_paced(now);
}

void Senders::on_timeout(uint32_t qpn, QueuePair& qp, Instant now) {
  ledger_.count(NicCounter::timeouts);
  ++outcomes_[qpn].timeouts;
  qp.progress = now;
  if (selective_)
    repeats_.on_timeout(qpn, qp.unacked, qp.next);
  else
    qp.next = qp.unacked;
  wake(qpn, qp, now);
}

Instant Senders::timeout_of(const QueuePair& qp) const {
  const auto in_flight = static_cast<int64_t>(qp.next - qp.unacked);
  return qp.progress + (in_flight <= config_.irn.rto_low_packets ? qp.rto_low : qp.rto);
}

// The timer may go off earlier than needed, never later.
void Senders::set_timer(uint32_t qpn, QueuePair& qp) {
  if (qp.next == qp.unacked) return;
  const Instant due = timeout_of(qp);
  if (qp.armed <= due) return;
  qp.armed = due;
  timeouts_.set(qpn, due);
}

void Senders::wake(uint32_t qpn, QueuePair& qp, Instant now) {
  if (qp.place != Place::idle || !can_send(qpn, qp)) return;
  if (!paced_ || !wait_for_pace(qpn, qp, now)) push_ready(qpn, qp);
}

}  // namespace eddy::host
