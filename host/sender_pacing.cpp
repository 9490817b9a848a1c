// The pace of a sending QP, and when that lets it send.
#include <algorithm>

#include "host/sender.h"

namespace eddy::host {

void Senders::on_cnp(const Received& received, Instant now) {
  QueuePair* qp = find(received);
  if (qp == nullptr) return;
  const uint32_t qpn = received.qpn();
  ledger_.count(NicCounter::rx_cnp_packets);
  ++outcomes_[qpn].cnps;
  use_port(*qp, entropy_->on_cnp(qpn, qp->state, now));
  if (rate_->on_cnp(qpn, qp->state, now)) pace_anew(qpn, *qp, now);
}

void Senders::pace_anew(uint32_t qpn, QueuePair& qp, Instant now) {
  if (!paced_) return;
  scale_window(qpn, qp);
  if (qp.place != Place::paced) return;
  pacing_.cancel(qpn);
  qp.place = Place::idle;
  wake(qpn, qp, now);
}

// Applies what has become due.
void Senders::refresh_pace(uint32_t qpn, QueuePair& qp, Instant now) {
  rate_->on_due(qpn, qp.state, now);
  scale_window(qpn, qp);
}

void Senders::scale_window(uint32_t qpn, QueuePair& qp) {
  if (!scales_window_) return;
  const auto scaled =
      static_cast<uint32_t>(__int128{qp.full_window} * paces_[qpn].rate_bps / speed_.bps());
  qp.state.window = std::max(scaled, 1U);
}

bool Senders::wait_below_line_rate(uint32_t qpn, QueuePair& qp, Instant now) {
  const Pace& pace = paces_[qpn];
  const Instant start = pacer_->next_send(qpn, pace, qp.state, now);
  if (start <= now) return false;
  qp.place = Place::paced;
  pacing_.set(qpn, std::min(start, pace.grows));
  return true;
}

void Senders::wake_paced(Instant now) {
  while (const auto id = pacing_.pop_due(now)) {
    queue_pairs_[*id].place = Place::idle;
    wake(*id, queue_pairs_[*id], now);
  }
}

}  // namespace eddy::host
