#include "host/sender.h"

#include <algorithm>

#include "net/assert.h"

namespace eddy::host {

Senders::Senders(const NicOptions& options, const Framer& framer, Ledger& ledger)
    : config_(options.config),
      speed_(options.speed),
      framer_(framer),
      ledger_(ledger),
      queue_pairs_(options.senders),
      outcomes_(options.senders),
      timeouts_(options.senders) {}

uint32_t Senders::open(const SendSpec& spec) {
  ASSERT(opened_ < queue_pairs_.size() && spec.size.count() > 0);
  const int64_t packets = spec.size.rounded_up(config_.mtu).count() / config_.mtu;
  QueuePair& qp = queue_pairs_[opened_];
  qp.header = framer_.data_template(spec);
  qp.first = qp.unacked = qp.next = qp.sent_end = spec.first_psn & kPsnMask;
  qp.end = qp.first + static_cast<uint64_t>(packets);
  qp.rto = std::max(config_.rto, spec.base_rtt * 2);
  qp.flow = spec.flow;
  qp.last_payload = static_cast<uint32_t>(spec.size.count() - (packets - 1) * config_.mtu);
  const Bytes bdp = config_.bdp.count() != 0 ? config_.bdp : bytes_in(spec.base_rtt, speed_);
  const auto full = static_cast<uint32_t>(std::clamp<int64_t>(bdp.count() / config_.mtu, 1, kNoWindow));
  qp.window = config_.window ? full : kNoWindow;
  return static_cast<uint32_t>(opened_++);
}

void Senders::start(uint32_t qpn, Instant /*now*/) {
  ASSERT(qpn < opened_ && queue_pairs_[qpn].place == Place::closed);
  queue_pairs_[qpn].place = Place::idle;
  wake(qpn, queue_pairs_[qpn]);
}

const SendOutcome& Senders::outcome(uint32_t qpn) const {
  ASSERT(qpn < opened_);
  return outcomes_[qpn];
}

BitRate Senders::rate(uint32_t qpn, Instant /*now*/) const {
  ASSERT(qpn < opened_);
  return speed_;
}

// The QP that a reply is for; counts a reply that is for none.
Senders::QueuePair* Senders::find(const Received& received) {
  const bool known =
      received.qpn < opened_ && framer_.from_peer(queue_pairs_[received.qpn].header, received);
  if (known) return &queue_pairs_[received.qpn];
  ledger_.count(NicCounter::not_for_us_packets);
  return nullptr;
}

void Senders::on_acknowledge(const Received& received, Instant now) {
  QueuePair* qp = find(received);
  if (qp == nullptr) return;
  const bool nak = received.syndrome == kAethNakSequence;
  ledger_.count(nak ? NicCounter::rx_nak_packets : NicCounter::rx_ack_packets);
  // A NAK names the packet that it wants, an ACK the last that it has.
  const int64_t wanted =
      static_cast<int64_t>(qp->unacked) + psn_distance(received.psn, qp->unacked) + (nak ? 0 : 1);
  if (wanted > static_cast<int64_t>(nak ? qp->sent_end - 1 : qp->sent_end) ||
      qp->sent_end == qp->first)
    return ledger_.count(NicCounter::invalid_ack_packets);
  if (wanted < static_cast<int64_t>(qp->unacked)) return;  // late
  const auto to = static_cast<uint64_t>(wanted);
  if (nak) {
    ++outcomes_[received.qpn].naks;
    qp->progress = now;
    qp->next = std::min(qp->next, to);
  }
  if (!advance(received.qpn, *qp, to, now)) wake(received.qpn, *qp);
}

void Senders::on_cnp(const Received& received, Instant /*now*/) {
  if (find(received) == nullptr) return;
  ledger_.count(NicCounter::rx_cnp_packets);
  ++outcomes_[received.qpn].cnps;
}

// Everything below `to` has arrived. True when that was the last.
bool Senders::advance(uint32_t qpn, QueuePair& qp, uint64_t to, Instant now) {
  if (to == qp.unacked) return false;
  qp.unacked = to;
  qp.next = std::max(qp.next, to);
  qp.progress = now;
  if (to != qp.end) return false;
  timeouts_.cancel(qpn);
  ledger_.completions.push_back({Completion::End::sender, qp.flow, now});
  return true;
}

void Senders::on_timers(Instant now) {
  while (const auto id = timeouts_.pop_due(now)) {
    QueuePair& qp = queue_pairs_[*id];
    qp.armed = Instant::never();
    if (qp.next == qp.unacked) continue;  // nothing in flight: the next packet arms it
    if (qp.progress + qp.rto <= now)
      on_timeout(*id, qp, now);
    else
      arm(*id, qp);
  }
}

void Senders::on_timeout(uint32_t qpn, QueuePair& qp, Instant now) {
  ledger_.count(NicCounter::timeouts);
  ++outcomes_[qpn].timeouts;
  qp.progress = now;
  qp.next = qp.unacked;
  wake(qpn, qp);
}

// The timer may go off earlier than needed, never later.
void Senders::arm(uint32_t qpn, QueuePair& qp) {
  const Instant due = qp.progress + qp.rto;
  if (qp.armed <= due) return;
  qp.armed = due;
  timeouts_.set(qpn, due);
}

bool Senders::transmit(Packet& out, Instant now) {
  while (has_ready()) {
    const uint32_t qpn = pop_ready();
    QueuePair& qp = queue_pairs_[qpn];
    if (!can_send(qp)) continue;  // an ACK overtook its turn
    send(qpn, qp, out, now);
    wake(qpn, qp);
    return true;
  }
  return false;
}

void Senders::send(uint32_t qpn, QueuePair& qp, Packet& out, Instant now) {
  const uint64_t sequence = qp.next++;
  if (sequence == qp.unacked) qp.progress = now;
  const bool last = sequence + 1 == qp.end;
  const bool first = sequence == qp.first;
  DataFields fields;
  fields.opcode = first ? (last ? RoceOpcode::write_only : RoceOpcode::write_first)
                        : (last ? RoceOpcode::write_last : RoceOpcode::write_middle);
  fields.psn = static_cast<uint32_t>(sequence) & kPsnMask;
  fields.payload_len = last ? qp.last_payload : static_cast<uint32_t>(config_.mtu);
  fields.ack_request = !can_send(qp);  // the last one, or the one that fills the window
  framer_.write_data(qp.header, fields, out);

  const bool again = sequence < qp.sent_end;
  qp.sent_end = std::max(qp.sent_end, qp.next);
  count_sent(qpn, again, fields.payload_len);
  arm(qpn, qp);
}

void Senders::count_sent(uint32_t qpn, bool again, uint32_t payload) {
  SendOutcome& outcome = outcomes_[qpn];
  ledger_.count(NicCounter::tx_data_packets);
  ++outcome.sent_packets;
  if (!again) return;
  ledger_.count(NicCounter::retransmitted_packets);
  ++outcome.retransmitted_packets;
  outcome.retransmitted_bytes += payload;
}

void Senders::wake(uint32_t qpn, QueuePair& qp) {
  if (qp.place == Place::idle && can_send(qp)) push_ready(qpn, qp);
}

void Senders::push_ready(uint32_t qpn, QueuePair& qp) {
  qp.place = Place::ready;
  qp.follower = kNone;
  (head_ == kNone ? head_ : queue_pairs_[tail_].follower) = qpn;
  tail_ = qpn;
}

uint32_t Senders::pop_ready() {
  const uint32_t qpn = head_;
  QueuePair& qp = queue_pairs_[qpn];
  head_ = qp.follower;
  qp.place = Place::idle;
  return qpn;
}

}  // namespace eddy::host
