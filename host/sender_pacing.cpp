// DCQCN's rate of a sending QP, and when that lets it send.
#include <algorithm>

#include "host/sender.h"

namespace eddy::host {
namespace {

Duration time_at(int64_t line_octets, int64_t rate_bps) {
  constexpr int64_t kBitPicoseconds = 8'000'000'000'000;  // of an octet at 1 b/s
  return Duration::picoseconds(line_octets * kBitPicoseconds / rate_bps);
}

}  // namespace

void Senders::on_cnp(const Received& received, Instant now) {
  QueuePair* qp = find(received);
  if (qp == nullptr) return;
  ledger_.count(NicCounter::rx_cnp_packets);
  ++outcomes_[received.qpn()].cnps;
  if (paced_) cut_rate(received.qpn(), *qp, now);
}

void Senders::cut_rate(uint32_t qpn, QueuePair& qp, Instant now) {
  paces_[qpn].point.on_cnp(config_.dcqcn, speed_, now);
  refresh_rate(qpn, qp, now);
  if (qp.place != Place::paced) return;
  pacing_.cancel(qpn);
  qp.place = Place::idle;
  wake(qpn, qp, now);
}

// Applies the timers that have gone off.
void Senders::refresh_rate(uint32_t qpn, QueuePair& qp, Instant now) {
  ReactionPoint& point = paces_[qpn].point;
  point.catch_up(config_.dcqcn, speed_, now);
  if (!config_.variable_window) return;
  const auto scaled =
      static_cast<uint32_t>(__int128{qp.full_window} * point.rate_bps() / speed_.bps());
  qp.window = std::max(scaled, 1U);
}

bool Senders::wait_below_line_rate(uint32_t qpn, QueuePair& qp, Instant now) {
  const Pace& pace = paces_[qpn];
  const Instant start = pace.last_start + time_at(pace.last_line_octets, pace.point.rate_bps());
  if (start <= now) return false;
  qp.place = Place::paced;
  pacing_.set(qpn, std::min(start, pace.point.next_increase()));
  return true;
}

void Senders::wake_paced(Instant now) {
  while (const auto id = pacing_.pop_due(now)) {
    queue_pairs_[*id].place = Place::idle;
    wake(*id, queue_pairs_[*id], now);
  }
}

}  // namespace eddy::host
