// What ACKs and NAKs do to a sending QP.
#include <algorithm>
#include <bit>

#include "host/sender.h"

namespace eddy::host {
namespace {

constexpr uint8_t kAethKind = 0xe0;  // of a syndrome: 0 is an ACK

}  // namespace

// The QP that a reply is for; counts a reply that is for none.
Senders::QueuePair* Senders::find(const Received& received) {
  const bool known =
      received.qpn() < opened_ && framer_.from_peer(queue_pairs_[received.qpn()].header, received);
  if (known) return &queue_pairs_[received.qpn()];
  ledger_.count(NicCounter::not_for_us_packets);
  return nullptr;
}

// An ACK names the last packet in order, a NAK the one that is missing, and perhaps one behind it.
inline Senders::Judgement Senders::judge(const SendState& state, const Received& received,
                                         Acknowledged& says) const {
  const bool ack = (received.syndrome() & kAethKind) == 0;
  if (!ack && !says.nak) return Judgement::invalid;  // no other NAK is ours to answer
  const auto unacked = static_cast<int64_t>(state.unacked);
  const auto sent_end = static_cast<int64_t>(state.sent_end);
  const int64_t to = unacked + psn_distance(received.psn(), state.unacked) + (says.nak ? 0 : 1);
  if (to > sent_end || (says.nak && to == sent_end)) return Judgement::invalid;
  if (to < unacked) return Judgement::late;
  says.to = static_cast<uint64_t>(to);
  if (!says.nak || !naks_name_) return Judgement::news;
  says.arrived = says.to + static_cast<uint64_t>(psn_distance(received.msn(), says.to));
  const bool behind = says.arrived > says.to && says.arrived < state.sent_end;
  return behind ? Judgement::news : Judgement::invalid;
}

// The bits are of packets that were sent, and bit 0 is not of one that the receiver would have
// moved over.
bool Senders::read_bits(const SendState& state, const Received& received, uint64_t to, Ack& out) {
  const auto first = static_cast<int64_t>(to);
  const auto sent_end = static_cast<int64_t>(state.sent_end);
  const int64_t base = first + psn_distance(received.arrived_psn(), to);
  const int64_t answered = first + psn_distance(received.msn(), to);
  out.bits = received.arrived_bits();
  const bool contradicts = base == first && (out.bits & 1) != 0;
  if (base < first || base + static_cast<int64_t>(std::bit_width(out.bits)) > sent_end ||
      answered >= sent_end || contradicts)
    return false;
  out.bits_base = static_cast<uint64_t>(base);
  out.arrived = static_cast<uint64_t>(std::max<int64_t>(answered, 0));
  return true;
}

// As an ACK or NAK; a late one tells of packets behind a gap all the same.
void Senders::on_selective_ack(const Received& received, Instant now) {
  QueuePair* qp = find(received);
  if (qp == nullptr) return;
  SendState& state = qp->state;
  const int64_t ahead = psn_distance(received.psn(), state.unacked);
  const int64_t to = static_cast<int64_t>(state.unacked) + ahead +
                     (received.syndrome() == kAethNakSequence ? 0 : 1);
  if (!bitmaps_ || !read_bits(state, received, static_cast<uint64_t>(to), selective_))
    return ledger_.count(NicCounter::invalid_ack_packets);
  if (to < static_cast<int64_t>(state.unacked) && state.unacked != state.end) {
    selective_.now = now;
    recovery_->on_ack(received.qpn(), selective_, state);
    wake(received.qpn(), *qp, now);
  }
  on_acknowledge(received, now);
  selective_ = {};
}

void Senders::on_acknowledge(const Received& received, Instant now) {
  QueuePair* qp = find(received);
  if (qp == nullptr) return;
  const uint32_t qpn = received.qpn();
  SendState& state = qp->state;
  Acknowledged says;
  says.nak = received.syndrome() == kAethNakSequence;
  ledger_.count(says.nak ? NicCounter::rx_nak_packets : NicCounter::rx_ack_packets);
  switch (judge(state, received, says)) {
    case Judgement::invalid:
      return ledger_.count(NicCounter::invalid_ack_packets);
    case Judgement::late:
      if (entropy_hears_.acks) tell_late(*qp, received, now);
      return;
    case Judgement::news:
      break;
  }
  const uint64_t packets = says.to - state.unacked;
  if (packets != 0) {  // everything below has arrived
    state.unacked = says.to;
    state.next = std::max(state.next, says.to);
    state.progress = now;
  }
  if (says.to == state.end) {
    if (packets != 0) complete(qpn, *qp, now);
    return;
  }
  const bool repairs = says.nak || state.repair != Repair::none;
  if (attentive_) {
    if (counts_rounds_) count_round(qpn, *qp, packets, received.becn());
    if (told_ || repairs) tell(*qp, received, says, packets, now);
    if (two_timeouts_) arm(qpn, *qp);  // fewer in flight: the timer may have become shorter
  } else if (repairs) {
    tell(*qp, received, says, packets, now);
  }
  wake(qpn, *qp, now);
}

inline void Senders::count_round(uint32_t qpn, QueuePair& qp, uint64_t packets, bool marked) {
  Round& round = rounds_[qpn];
  round.acked += packets;
  if (marked) round.marked += packets;
  if (qp.state.unacked < round.end || packets == 0) return;
  if (rate_hears_.rounds) rate_->on_round(qpn, round, qp.state);
  if (entropy_hears_.rounds) use_port(qp, entropy_->on_round(qpn, round, qp.state));
  round = {.end = qp.state.next};
}

// The laws, in their order.
void Senders::tell(QueuePair& qp, const Received& received, const Acknowledged& says,
                   uint64_t packets, Instant now) {
  const uint32_t qpn = received.qpn();
  Ack ack = {.packets = packets,
             .arrived = bitmaps_ ? selective_.arrived : says.arrived,
             .bits_base = selective_.bits_base,
             .bits = selective_.bits,
             .now = now,
             .entropy = received.source_port(),
             .nak = says.nak,
             .marked = received.becn()};
  if (hears_rtt_) {
    ack.rtt = round_trip(qpn, ack);
    ack.hops = received.hops();
  }
  if (qp.state.repair != Repair::none) recovery_->on_ack(qpn, ack, qp.state);
  if (rate_hears_.acks && rate_->on_ack(qpn, ack, qp.state)) pace_anew(qpn, qp, now);
  if (entropy_hears_.acks) obey(qpn, qp, entropy_->on_ack(qpn, ack, qp.state), now);
  if (ack.nak) tell_nak(qpn, qp, ack);
}

// Of the packet that the reply answers, as far as that is known: the last one acknowledged, or the
// one that a NAK names.
Duration Senders::round_trip(uint32_t qpn, const Ack& ack) const {
  if (bitmaps_) return times_.since(qpn, ack.arrived, ack.now);
  if (ack.nak) return naks_name_ ? times_.since(qpn, ack.arrived, ack.now) : Duration{};
  // One that filled a gap acknowledges packets that had come long before.
  if (ack.packets == 0 || ack.packets > static_cast<uint64_t>(config_.ack_every)) return {};
  return times_.since(qpn, queue_pairs_[qpn].state.unacked - 1, ack.now);
}

// A late reply acknowledges nothing, but it tells of a path.
void Senders::tell_late(QueuePair& qp, const Received& received, Instant now) {
  const Ack ack = {.arrived = bitmaps_ ? selective_.arrived : 0,
                   .now = now,
                   .entropy = received.source_port(),
                   .marked = received.becn()};
  use_port(qp, entropy_->on_ack(received.qpn(), ack, qp.state));
}

void Senders::tell_nak(uint32_t qpn, QueuePair& qp, const Ack& ack) {
  ++outcomes_[qpn].naks;
  recovery_->on_nak(qpn, ack, qp.state);
  if (rate_->on_nak(qpn, ack, qp.state)) pace_anew(qpn, qp, ack.now);
  obey(qpn, qp, entropy_->on_nak(qpn, ack, qp.state), ack.now);
}

void Senders::complete(uint32_t qpn, QueuePair& qp, Instant now) {
  timeouts_.cancel(qpn);
  qp.armed = Instant::never();
  qp.state.repair = Repair::none;
  qp.state.beyond = 0;
  if (qp.place == Place::paced) {
    pacing_.cancel(qpn);
    qp.place = Place::idle;
  }
  ledger_.completions.push_back({Completion::End::sender, qp.flow, now});
}

}  // namespace eddy::host
