#include "host/receiver.h"

#include <algorithm>
#include <bit>

#include "net/assert.h"
#include "net/memory/lines.h"

namespace eddy::host {
namespace {

std::unique_ptr<Notifier> notifier_of(const ChosenLaw<RateControlInfo>& chosen,
                                      const NicOptions& options) {
  if (chosen.law->make_notifier == nullptr) return nullptr;
  return chosen.law->make_notifier({options, chosen.parameters});
}

}  // namespace

Receivers::Receivers(const NicOptions& options, const Laws& laws, const Framer& framer,
                     Ledger& ledger)
    : config_(options.config),
      recovery_(laws.recovery.law->make_receiver({options, laws.recovery.parameters})),
      notifier_(notifier_of(laws.rate_control, options)),
      naks_name_(laws.recovery.law->naks_name),
      bitmaps_(laws.recovery.law->bitmaps),
      echoes_port_(laws.entropy.law->echoes_port),
      detailed_(bitmaps_ || echoes_port_),
      echoes_marks_(laws.rate_control.law->echoes_marks || laws.entropy.law->echoes_marks),
      framer_(framer),
      ledger_(ledger),
      queue_pairs_(options.receivers),
      outcomes_(options.receivers),
      most_waiting_(options.control_backlog),
      ring_(std::bit_ceil(most_waiting_)),
      ring_mask_(ring_.size() - 1),
      bits_(bitmaps_ ? ring_.size() : 0),
      ood_histogram_(kOodBuckets) {}

uint32_t Receivers::expect(const ReceiveSpec& spec) {
  ASSERT(opened_ < queue_pairs_.size() && spec.size.count() > 0);
  const int64_t packets = spec.size.rounded_up(config_.mtu).count() / config_.mtu;
  QueuePair& qp = queue_pairs_[opened_];
  qp.header = framer_.reply_template(spec);
  qp.first = qp.state.expected = spec.first_psn & kPsnMask;
  qp.end = qp.first + static_cast<uint64_t>(packets);
  qp.size = spec.size;
  qp.flow = spec.flow;
  qp.last_payload = static_cast<uint32_t>(spec.size.count() - (packets - 1) * config_.mtu);
  return static_cast<uint32_t>(opened_++);
}

void Receivers::ask_for_queue_pairs() const {
  if (opened_ > kFewQueuePairs) return;
  ask_for(queue_pairs_.data(), opened_ * sizeof(QueuePair));
  ask_for(outcomes_.data(), opened_ * sizeof(ReceiveOutcome));
}

const ReceiveOutcome& Receivers::outcome(uint32_t qpn) const {
  ASSERT(qpn < opened_);
  return outcomes_[qpn];
}

inline void Receivers::push(const Control& control) {
  if (backlog_ == most_waiting_) return ledger_.count(NicCounter::control_backlog_drops);
  ring_[(oldest_ + backlog_++) & ring_mask_] = control;
}

// `port`: for the reply to leave from; 0: the QP's.
inline void Receivers::push_ack(uint32_t qpn, QueuePair& qp, uint16_t port) {
  const auto psn = static_cast<uint32_t>(qp.state.expected - 1) & kPsnMask;
  const uint32_t messages = qp.state.expected == qp.end ? 1 : 0;
  push({qpn, psn, messages, Control::Kind::ack, qp.marked, port});
  qp.unacked = 0;
  qp.marked = false;
}

inline void Receivers::acknowledge(uint32_t qpn, QueuePair& qp, const Received& received) {
  if (detailed_) [[unlikely]]
    return acknowledge_in_detail(qpn, qp, received);
  push_ack(qpn, qp, 0);
}

void Receivers::acknowledge_in_detail(uint32_t qpn, QueuePair& qp, const Received& received) {
  const size_t before = backlog_;
  push_ack(qpn, qp, port_of(received));
  if (bitmaps_ && backlog_ != before) add_bits(qpn, qp, received);
}

// To the youngest reply of the ring, which answers the packet.
void Receivers::add_bits(uint32_t qpn, const QueuePair& qp, const Received& received) {
  const int64_t ahead = psn_distance(received.psn(), qp.state.expected);
  const auto answered = static_cast<uint64_t>(static_cast<int64_t>(qp.state.expected) + ahead);
  const Bitmap bitmap = recovery_->bitmap(qpn, answered, qp.state);
  const size_t slot = (oldest_ + backlog_ - 1) & ring_mask_;
  ring_[slot].msn = received.psn();
  bits_[slot] = {static_cast<uint32_t>(bitmap.base) & kPsnMask, bitmap.bits};
}

inline void Receivers::accept(uint32_t qpn, QueuePair& qp, const Received& received, Instant now) {
  outcomes_[qpn].delivered_bytes += received.payload_len;
  ++qp.state.expected;
  ++qp.unacked;
  qp.state.gap_named = false;
  const bool filled = qp.state.held != 0 && take_held(qpn, qp, now);
  const bool done = qp.state.expected == qp.end;
  if (done) ledger_.completions.push_back({Completion::End::receiver, qp.flow, now});
  const bool due = received.ack_request() || qp.unacked >= config_.ack_every;
  if (done || filled || due) acknowledge(qpn, qp, received);
}

void Receivers::on_data(const Received& received, Instant now) {
  const uint32_t qpn = received.qpn();
  if (qpn >= opened_ || !framer_.from_peer(queue_pairs_[qpn].header, received))
    return ledger_.count(NicCounter::not_for_us_packets);
  QueuePair& qp = queue_pairs_[qpn];
  const int64_t distance = psn_distance(received.psn(), qp.state.expected);
  const auto ood = static_cast<uint64_t>(std::max<int64_t>(distance, 0));
  if (distance >= 0 && !well_formed(qp, qp.state.expected + ood, received))
    return ledger_.count(NicCounter::malformed_packets);

  ReceiveOutcome& outcome = outcomes_[qpn];
  ledger_.count(NicCounter::rx_data_packets);
  ++outcome.received_packets;
  if (framer_.marked(received)) on_mark(qpn, qp, now);
  ++ood_histogram_[std::min(ood, kOodBuckets - 1)];
  if (distance == 0) return accept(qpn, qp, received, now);
  if (distance > 0) return on_ahead(qpn, qp, ood, received, now);
  ++outcome.duplicate_packets;
  acknowledge(qpn, qp, received);
}

void Receivers::on_ahead(uint32_t qpn, QueuePair& qp, uint64_t ahead, const Received& received,
                         Instant now) {
  ReceiveOutcome& outcome = outcomes_[qpn];
  ++outcome.out_of_order_packets;
  outcome.max_ood = std::max(outcome.max_ood, static_cast<uint32_t>(ahead));
  const Disposal disposal = recovery_->on_ahead(qpn, qp.state.expected + ahead, qp.state, now);
  if (disposal.packet == Disposal::Packet::kept) outcome.delivered_bytes += received.payload_len;
  if (disposal.packet == Disposal::Packet::duplicate) ++outcome.duplicate_packets;
  if (disposal.reply == Reply::ack) acknowledge(qpn, qp, received);
  if (disposal.reply != Reply::nak) return;
  const size_t before = backlog_;
  push_nak(qpn, qp, naks_name_ ? received.psn() : 0, port_of(received));
  if (bitmaps_ && backlog_ != before) add_bits(qpn, qp, received);
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
  const uint64_t before = qp.state.expected;
  recovery_->on_filled(qpn, qp.state, now);
  return qp.state.expected != before;
}

void Receivers::on_timers(Instant now) {
  while (const auto qpn = recovery_->timers().pop_due(now)) {
    QueuePair& qp = queue_pairs_[*qpn];
    const Reply reply = recovery_->on_timer(*qpn, qp.state, now);
    if (reply == Reply::ack) push_ack(*qpn, qp, 0);
    if (reply == Reply::nak) push_nak(*qpn, qp, 0, 0);
  }
}

void Receivers::push_nak(uint32_t qpn, QueuePair& qp, uint32_t msn, uint16_t port) {
  const auto psn = static_cast<uint32_t>(qp.state.expected) & kPsnMask;
  const bool marked = port != 0 && qp.marked;  // whoever wants to know of a path hears that, too
  push({qpn, psn, msn, Control::Kind::nak, marked, port});
  qp.marked = qp.marked && !marked;
  qp.unacked = 0;
}

void Receivers::on_mark(uint32_t qpn, QueuePair& qp, Instant now) {
  ++outcomes_[qpn].ecn_marked_packets;
  if (echoes_marks_) qp.marked = true;
  if (notifier_ == nullptr || !notifier_->on_mark(qpn, now)) return;
  push({.qpn = qpn, .kind = Control::Kind::cnp});
}

inline Receivers::Control Receivers::pop() {
  const Control control = ring_[oldest_];
  --backlog_;
  oldest_ = backlog_ == 0 ? 0 : (oldest_ + 1) & ring_mask_;  // where it was written before
  return control;
}

inline void Receivers::write(const Control& control, const ArrivedBits* arrived, Packet& out) {
  const HeaderTemplate& header = queue_pairs_[control.qpn].header;
  const auto write_reply = [&](uint8_t syndrome) {
    const Aeth aeth = {syndrome, control.msn};
    if (arrived == nullptr) return framer_.write_ack(header, control.psn, aeth, control.becn, out);
    framer_.write_selective_ack(header, control.psn, aeth, control.becn, *arrived, out);
  };
  switch (control.kind) {
    case Control::Kind::ack:
      ledger_.count(NicCounter::tx_ack_packets);
      return write_reply(kAethAckUnlimited);
    case Control::Kind::nak:
      ledger_.count(NicCounter::tx_nak_packets);
      return write_reply(kAethNakSequence);
    case Control::Kind::cnp:
      ledger_.count(NicCounter::tx_cnp_packets);
      return framer_.write_cnp(header, out);
  }
}

void Receivers::transmit_control(Packet& out) {
  ASSERT(has_control());
  if (detailed_) [[unlikely]]
    return transmit_in_detail(out);
  write(pop(), nullptr, out);
}

void Receivers::transmit_in_detail(Packet& out) {
  const size_t slot = oldest_;
  const Control control = pop();
  if (control.port != 0) framer_.set_source_port(queue_pairs_[control.qpn].header, control.port);
  write(control, bitmaps_ ? &bits_[slot] : nullptr, out);
}

}  // namespace eddy::host
