// What ACKs and NAKs do to a sending QP.
#include <algorithm>

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

// Everything below `to` has arrived.
inline void Senders::advance(uint32_t qpn, QueuePair& qp, uint64_t to, Instant now) {
  if (selective_) repeats_.on_advance(qpn, qp.unacked, to);
  qp.unacked = to;
  qp.next = std::max(qp.next, to);
  qp.progress = now;
}

// An ACK names the last packet in order, a NAK the one that is missing; IRN's also one behind it.
inline Senders::Judgement Senders::judge(const QueuePair& qp, const Received& received,
                                         Acknowledged& says) const {
  const bool ack = (received.syndrome() & kAethKind) == 0;
  if (!ack && !says.nak) return Judgement::invalid;  // no other NAK is ours to answer
  const auto unacked = static_cast<int64_t>(qp.unacked);
  const auto sent_end = static_cast<int64_t>(qp.sent_end);
  const int64_t to = unacked + psn_distance(received.psn(), qp.unacked) + (says.nak ? 0 : 1);
  if (to > sent_end || (says.nak && to == sent_end)) return Judgement::invalid;
  if (to < unacked) return Judgement::late;
  says.to = static_cast<uint64_t>(to);
  if (!says.nak || !selective_) return Judgement::news;
  says.arrived = says.to + static_cast<uint64_t>(psn_distance(received.msn(), says.to));
  const bool behind = says.arrived > says.to && says.arrived < qp.sent_end;
  return behind ? Judgement::news : Judgement::invalid;
}

void Senders::on_acknowledge(const Received& received, Instant now) {
  QueuePair* qp = find(received);
  if (qp == nullptr) return;
  const uint32_t qpn = received.qpn();
  Acknowledged says;
  says.nak = received.syndrome() == kAethNakSequence;
  ledger_.count(says.nak ? NicCounter::rx_nak_packets : NicCounter::rx_ack_packets);
  switch (judge(*qp, received, says)) {
    case Judgement::invalid:
      return ledger_.count(NicCounter::invalid_ack_packets);
    case Judgement::late:
      return;
    case Judgement::news:
      break;
  }
  const uint64_t packets = says.to - qp->unacked;
  if (packets != 0) advance(qpn, *qp, says.to, now);
  if (says.to == qp->end) {
    if (packets != 0) complete(qpn, *qp, now);
    return;
  }
  if (!windows_.empty()) count_marks(qpn, *qp, packets, received.becn());
  if (says.nak) on_nak(qpn, *qp, says, now);
  if (selective_) arm(qpn, *qp);  // fewer in flight: the timer may have become shorter
  wake(qpn, *qp, now);
}

void Senders::on_nak(uint32_t qpn, QueuePair& qp, const Acknowledged& says, Instant now) {
  ++outcomes_[qpn].naks;
  if (selective_) {
    if (repeats_.on_arrived(qpn, qp.unacked, qp.next, says.arrived)) qp.progress = now;
  } else {
    qp.progress = now;
    qp.next = says.to;
  }
  if (config_.nak_cuts_rate && paced_) cut_rate(qpn, qp, now);
}

void Senders::complete(uint32_t qpn, QueuePair& qp, Instant now) {
  timeouts_.cancel(qpn);
  qp.armed = Instant::never();
  if (qp.place == Place::paced) {
    pacing_.cancel(qpn);
    qp.place = Place::idle;
  }
  ledger_.completions.push_back({Completion::End::sender, qp.flow, now});
}

void Senders::count_marks(uint32_t qpn, QueuePair& qp, uint64_t packets, bool marked) {
  MarkedWindow& window = windows_[qpn];
  const MarkedWindow::Limits limits = {config_.dctcp.g_shift, config_.mtu,
                                       smallest_window() * config_.mtu,
                                       int64_t{qp.full_window} * config_.mtu};
  if (packets == 0 || !window.on_ack(limits, packets, marked, qp.unacked, qp.next)) return;
  qp.window = static_cast<uint32_t>(window.octets() / config_.mtu);
}

}  // namespace eddy::host
