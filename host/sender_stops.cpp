// One flow of ours is stopped, by a switch or by its entropy, and goes on.
#include "host/sender.h"

namespace eddy::host {
namespace {

// Of a stop that names no time: who stopped it may be gone.
constexpr Duration kLongestStop = Duration::milliseconds(64);

}  // namespace

void Senders::on_flow_stop(const ShimControl& control, Instant now) {
  const uint32_t qpn = find_flow(control.order_hash);
  if (qpn == kNone) return ledger_.count(NicCounter::not_for_us_packets);
  if (control.shim.kind == ShimKind::flow_xon) {
    stopped_.cancel(qpn);
    return go_on(qpn, now);
  }
  QueuePair& qp = queue_pairs_[qpn];
  if (qp.place == Place::closed) return;
  if (qp.place != Place::stopped) count_stopped(now, +1);
  stop(qpn, qp);
  const Duration hold = Duration::microseconds(control.hold_us);
  stopped_.set(qpn, now + (hold == Duration{} ? kLongestStop : hold));
}

// A QP that a switch has stopped, too, goes on when that is over.
void Senders::drain_or_go_on(uint32_t qpn, QueuePair& qp, uint16_t port, Instant now) {
  if (port == kStopSending) {
    ledger_.count(NicCounter::flow_drains);
    if (qp.place == Place::closed || qp.place == Place::stopped) return;
    count_stopped(now, +1);
    return stop(qpn, qp);
  }
  framer_.set_source_port(qp.header, port);
  if (!stopped_.pending(qpn)) go_on(qpn, now);
}

uint32_t Senders::find_flow(uint64_t order_hash) {
  for (; hashed_ < opened_; ++hashed_)
    order_hashes_[hashed_] = framer_.order_hash(queue_pairs_[hashed_].header);
  for (size_t i = 0; i < hashed_; ++i)
    if (order_hashes_[i] == order_hash) return static_cast<uint32_t>(i);
  return kNone;
}

void Senders::stop(uint32_t qpn, QueuePair& qp) {
  if (qp.place == Place::ready) take_out_of_ready(qpn);
  if (qp.place == Place::paced) pacing_.cancel(qpn);
  qp.place = Place::stopped;
}

void Senders::go_on(uint32_t qpn, Instant now) {
  QueuePair& qp = queue_pairs_[qpn];
  if (qp.place != Place::stopped) return;
  count_stopped(now, -1);
  qp.place = Place::idle;
  wake(qpn, qp, now);
}

void Senders::count_stopped(Instant now, int64_t change) {
  const auto flows = static_cast<uint64_t>(stopped_flows_);
  const auto ns = static_cast<uint64_t>((now - stopped_changed_).ns());
  ledger_.count(NicCounter::flow_stopped_ns, flows * ns);
  stopped_flows_ += change;
  stopped_changed_ = now;
}

void Senders::take_out_of_ready(uint32_t qpn) {
  uint32_t before = kNone;
  for (uint32_t at = head_; at != qpn; at = queue_pairs_[at].follower) before = at;
  const uint32_t after = queue_pairs_[qpn].follower;
  (before == kNone ? head_ : queue_pairs_[before].follower) = after;
  if (tail_ == qpn) tail_ = before;
}

}  // namespace eddy::host
