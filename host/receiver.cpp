#include "host/receiver.h"

#include <algorithm>

#include "net/assert.h"

namespace eddy::host {
namespace {

size_t if_used(bool used, size_t count) {
  return used ? count : 0;
}

}  // namespace

Receivers::Receivers(const NicOptions& options, const Framer& framer, Ledger& ledger)
    : config_(options.config),
      selective_(config_.recovery == config::Recovery::irn),
      reorders_(config_.reorder_buffer && !selective_),
      framer_(framer),
      ledger_(ledger),
      queue_pairs_(options.receivers),
      outcomes_(options.receivers),
      held_(if_used(selective_ || reorders_, options.receivers), options.reorder_packets),
      gap_timers_(if_used(reorders_, options.receivers)),
      ring_(options.control_backlog),
      ood_histogram_(kOodBuckets) {}

uint32_t Receivers::expect(const ReceiveSpec& spec) {
  ASSERT(opened_ < queue_pairs_.size() && spec.size.count() > 0);
  const int64_t packets = spec.size.rounded_up(config_.mtu).count() / config_.mtu;
  QueuePair& qp = queue_pairs_[opened_];
  qp.header = framer_.reply_template(spec);
  qp.first = qp.expected = spec.first_psn & kPsnMask;
  qp.end = qp.first + static_cast<uint64_t>(packets);
  qp.size = spec.size;
  qp.flow = spec.flow;
  qp.last_payload = static_cast<uint32_t>(spec.size.count() - (packets - 1) * config_.mtu);
  return static_cast<uint32_t>(opened_++);
}

const ReceiveOutcome& Receivers::outcome(uint32_t qpn) const {
  ASSERT(qpn < opened_);
  return outcomes_[qpn];
}

inline void Receivers::push(const Control& control) {
  if (backlog_ == ring_.size()) return ledger_.count(NicCounter::control_backlog_drops);
  const size_t slot = oldest_ + backlog_++;
  ring_[slot < ring_.size() ? slot : slot - ring_.size()] = control;
}

inline void Receivers::acknowledge(uint32_t qpn, QueuePair& qp) {
  const auto psn = static_cast<uint32_t>(qp.expected - 1) & kPsnMask;
  const uint32_t messages = qp.expected == qp.end ? 1 : 0;
  push({qpn, psn, messages, Control::Kind::ack, qp.marked});
  qp.unacked = 0;
  qp.marked = false;
}

inline void Receivers::accept(uint32_t qpn, QueuePair& qp, const Received& received, Instant now) {
  outcomes_[qpn].delivered_bytes += received.payload_len;
  ++qp.expected;
  ++qp.unacked;
  qp.gap_named = false;
  const bool filled = qp.held != 0 && take_held(qpn, qp, now);
  const bool done = qp.expected == qp.end;
  if (done) ledger_.completions.push_back({Completion::End::receiver, qp.flow, now});
  const bool due = received.ack_request() || qp.unacked >= config_.ack_every;
  if (done || filled || due) acknowledge(qpn, qp);
}

void Receivers::on_data(const Received& received, Instant now) {
  const uint32_t qpn = received.qpn();
  if (qpn >= opened_ || !framer_.from_peer(queue_pairs_[qpn].header, received))
    return ledger_.count(NicCounter::not_for_us_packets);
  QueuePair& qp = queue_pairs_[qpn];
  const int64_t distance = psn_distance(received.psn(), qp.expected);
  if (distance >= 0 && !well_formed(qp, qp.expected + static_cast<uint64_t>(distance), received))
    return ledger_.count(NicCounter::malformed_packets);

  ReceiveOutcome& outcome = outcomes_[qpn];
  ledger_.count(NicCounter::rx_data_packets);
  ++outcome.received_packets;
  if (framer_.marked(received)) on_mark(qpn, qp, now);
  const auto ood = static_cast<uint64_t>(std::max<int64_t>(distance, 0));
  ++ood_histogram_[std::min(ood, kOodBuckets - 1)];
  if (distance == 0) return accept(qpn, qp, received, now);
  if (distance < 0) {
    ++outcome.duplicate_packets;
    return acknowledge(qpn, qp);
  }
  ++outcome.out_of_order_packets;
  outcome.max_ood = std::max(outcome.max_ood, static_cast<uint32_t>(ood));
  const bool fits = ood < held_.size();
  if (fits && (selective_ || reorders_)) keep(qpn, qp, qp.expected + ood, received);
  if (selective_) {
    if (fits) push_nak(qpn, qp, received.psn());
    return;
  }
  if (!reorders_ || !fits) return name_gap(qpn, qp, now);
  if (!gap_timers_.pending(qpn)) watch_gap(qpn, qp, now);
}

// What stands at `sequence` of the message: one packet too many is none of it.
bool Receivers::well_formed(const QueuePair& qp, uint64_t sequence,
                            const Received& received) const {
  if (sequence >= qp.end) return false;
  const bool last = sequence + 1 == qp.end;
  const uint32_t payload = last ? qp.last_payload : static_cast<uint32_t>(config_.mtu);
  if (received.payload_len != payload) return false;
  if (sequence != qp.first)
    return received.opcode() == (last ? RoceOpcode::write_last : RoceOpcode::write_middle);
  return received.opcode() == (last ? RoceOpcode::write_only : RoceOpcode::write_first) &&
         received.dma_length() == static_cast<uint32_t>(qp.size.count());
}

// Moves on over the packets that wait behind the one just accepted; true when there were any.
bool Receivers::take_held(uint32_t qpn, QueuePair& qp, Instant now) {
  const uint64_t before = qp.expected;
  while (qp.held != 0 && held_.remove(qpn, qp.expected)) {
    ++qp.expected;
    --qp.held;
  }
  if (reorders_) watch_gap(qpn, qp, now);
  return qp.expected != before;
}

void Receivers::keep(uint32_t qpn, QueuePair& qp, uint64_t sequence, const Received& received) {
  ReceiveOutcome& outcome = outcomes_[qpn];
  if (!held_.add(qpn, sequence)) {
    ++outcome.duplicate_packets;
    return;
  }
  ++qp.held;
  outcome.delivered_bytes += received.payload_len;
}

// The gap before the packets kept, if there is one, is new.
void Receivers::watch_gap(uint32_t qpn, const QueuePair& qp, Instant now) {
  const bool timed = qp.held != 0 && config_.reorder_timeout > Duration{};
  gap_timers_.set(qpn, timed ? now + config_.reorder_timeout : Instant::never());
}

void Receivers::on_timers(Instant now) {
  while (const auto qpn = gap_timers_.pop_due(now)) {
    push_nak(*qpn, queue_pairs_[*qpn], 0);
    watch_gap(*qpn, queue_pairs_[*qpn], now);
  }
}

void Receivers::name_gap(uint32_t qpn, QueuePair& qp, Instant now) {
  const bool again = config_.nak_timer > Duration{} && now >= qp.next_nak;
  if (qp.gap_named && !again) return;
  qp.gap_named = true;
  qp.next_nak = now + config_.nak_timer;
  push_nak(qpn, qp, 0);
}

void Receivers::push_nak(uint32_t qpn, QueuePair& qp, uint32_t msn) {
  qp.unacked = 0;
  push({qpn, static_cast<uint32_t>(qp.expected) & kPsnMask, msn, Control::Kind::nak, false});
}

void Receivers::on_mark(uint32_t qpn, QueuePair& qp, Instant now) {
  ++outcomes_[qpn].ecn_marked_packets;
  if (config_.congestion_control == config::CongestionControl::dctcp) qp.marked = true;
  if (config_.congestion_control != config::CongestionControl::dcqcn || now < qp.next_cnp) return;
  qp.next_cnp = now + config_.dcqcn.cnp_interval;
  push({qpn, 0, 0, Control::Kind::cnp, false});
}

void Receivers::transmit_control(Packet& out) {
  ASSERT(has_control());
  const Control control = ring_[oldest_];
  if (++oldest_ == ring_.size()) oldest_ = 0;
  --backlog_;
  const HeaderTemplate& header = queue_pairs_[control.qpn].header;
  switch (control.kind) {
    case Control::Kind::ack:
      ledger_.count(NicCounter::tx_ack_packets);
      return framer_.write_ack(header, control.psn, {kAethAckUnlimited, control.msn}, control.becn,
                               out);
    case Control::Kind::nak:
      ledger_.count(NicCounter::tx_nak_packets);
      return framer_.write_ack(header, control.psn, {kAethNakSequence, control.msn}, control.becn,
                               out);
    case Control::Kind::cnp:
      ledger_.count(NicCounter::tx_cnp_packets);
      return framer_.write_cnp(header, out);
  }
}

}  // namespace eddy::host
