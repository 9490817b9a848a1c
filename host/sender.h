// Senders: the sending QPs of a NIC: what each may send next, and whose turn it is.
//
// A QP is in one of three states: it is in the FIFO of those that are ready, or it waits for its
// pacing time, or it is idle until an ACK opens its window. Ready QPs take turns, one packet each
// (round robin). The next packet of a paced QP may start (wire_len + line_overhead) x 8 / rate
// after the start of its last; a rate that changes meanwhile counts for the whole gap. At line rate
// the line itself paces. The window counts payload in whole packets, at least one; a window that
// changes is at least ack_every packets. Timers are armed lazily: an ACK only notes the time, and
// the timer looks again when it goes off. Owner: one Nic. Bounds: the QPs given at construction.
// Cost: a record of three cache lines for each packet; timers a heap operation once in an RTO,
// pacing one for each paced packet. Source: reference D.2, D.4.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "host/dcqcn.h"
#include "host/dctcp.h"
#include "host/flow.h"
#include "host/frames.h"
#include "host/ledger.h"
#include "host/nic_options.h"
#include "host/selective_repeat.h"
#include "net/deadlines.h"
#include "net/units.h"

namespace eddy::host {

class Senders {
 public:
  Senders(const NicOptions& options, const Framer& framer, Ledger& ledger);

  uint32_t open(const SendSpec& spec);
  void start(uint32_t qpn, Instant now);
  // ACK and NAK.
  void on_acknowledge(const Received& received, Instant now);
  void on_cnp(const Received& received, Instant now);
  void on_timers(Instant now);

  // Someone may be able to send, as far as on_timers() and transmit() know.
  bool has_ready() const { return head_ != kNone; }
  // The next data packet; false when nobody can send one.
  [[nodiscard]] bool transmit(Packet& out, Instant now);
  Instant next_timer() const { return std::min(timeouts_.next(), pacing_.next()); }

  SendStage stage(uint32_t qpn) const;
  const SendOutcome& outcome(uint32_t qpn) const;
  BitRate rate(uint32_t qpn, Instant now) const;

 private:
  static constexpr uint32_t kNone = UINT32_MAX;
  // Far from 2^23, where PSNs are no longer comparable.
  static constexpr uint32_t kNoWindow = 1U << 22;

  enum class Place : uint8_t { closed, idle, ready, paced };

  // Sequences are PSNs that do not wrap: the first is first_psn.
  struct alignas(64) QueuePair {
    HeaderTemplate header{};  // a full WRITE middle
    Duration rto;
    Duration rto_low;  // IRN, with few packets in flight; else as rto
    uint32_t first = 0;
    uint32_t flow = 0;
    uint32_t full_window = 0;  // packets, at line rate
    uint16_t last_payload = 0;
    Place place = Place::closed;

    uint64_t unacked = 0;   // the lowest
    uint64_t next = 0;      // to send, of those not sent yet or gone back to
    uint64_t sent_end = 0;  // one past the highest ever sent
    uint64_t end = 0;
    Instant progress;  // of the last ACK that told something, or of the first packet in flight
    Instant armed = Instant::never();  // when the timer goes off
    uint32_t window = 0;               // packets, now
    uint32_t follower = kNone;         // in the ready FIFO
  };
  static_assert(sizeof(QueuePair) == 192);

  struct Pace {
    ReactionPoint point;
    Instant last_start;
    int64_t last_line_octets = 0;
  };

  // What an ACK or NAK says in sequences: all below `to` arrived and, from IRN's NAK, `arrived`.
  struct Acknowledged {
    bool nak = false;
    uint64_t to = 0;
    uint64_t arrived = 0;
  };
  enum class Judgement : uint8_t { news, late, invalid };

  QueuePair* find(const Received& received);
  Judgement judge(const QueuePair& qp, const Received& received, Acknowledged& says) const;
  void on_nak(uint32_t qpn, QueuePair& qp, const Acknowledged& says, Instant now);
  void advance(uint32_t qpn, QueuePair& qp, uint64_t to, Instant now);
  void complete(uint32_t qpn, QueuePair& qp, Instant now);
  void count_marks(uint32_t qpn, QueuePair& qp, uint64_t packets, bool marked);
  void cut_rate(uint32_t qpn, QueuePair& qp, Instant now);

  bool can_send(uint32_t qpn, const QueuePair& qp) {
    return (selective_ && repeats_.has_lost(qpn)) || can_send_next(qp);
  }
  static bool can_send_next(const QueuePair& qp) {
    return qp.next < qp.end && qp.next - qp.unacked < qp.window;
  }
  // Packets. A window that shrinks below ack_every would wait for an ACK that nobody owes it.
  int64_t smallest_window() const { return std::max(config_.ack_every, 1); }
  bool send(uint32_t qpn, QueuePair& qp, Packet& out, Instant now);
  void count_repeat(uint32_t qpn, uint32_t payload);
  void on_timeout(uint32_t qpn, QueuePair& qp, Instant now);
  Instant timeout_of(const QueuePair& qp) const;
  // Whichever timeout counts, the timer need not go off before the shorter one.
  void arm(uint32_t qpn, QueuePair& qp) {
    if (qp.armed > qp.progress + qp.rto_low) set_timer(qpn, qp);
  }
  void set_timer(uint32_t qpn, QueuePair& qp);

  void note_sent(uint32_t qpn, uint32_t wire_len, Instant now) {
    Pace& pace = paces_[qpn];
    pace.last_start = now;
    pace.last_line_octets = int64_t{wire_len} + line_overhead_;
    pace.point.on_sent(config_.dcqcn, speed_, wire_len);
  }
  void refresh_rate(uint32_t qpn, QueuePair& qp, Instant now);
  // True when the QP, which is in no list and has a rate, has to wait and is in the heap now. There
  // it looks again when its rate may grow.
  bool wait_for_pace(uint32_t qpn, QueuePair& qp, Instant now) {
    const ReactionPoint& point = paces_[qpn].point;
    if (point.next_event() <= now) refresh_rate(qpn, qp, now);
    return point.rate_bps() < speed_.bps() && wait_below_line_rate(qpn, qp, now);
  }
  bool wait_below_line_rate(uint32_t qpn, QueuePair& qp, Instant now);
  void wake_paced(Instant now);
  void wake(uint32_t qpn, QueuePair& qp, Instant now);
  void push_ready(uint32_t qpn, QueuePair& qp);
  uint32_t pop_ready();

  const config::HostConfig config_;
  const BitRate speed_;
  const int line_overhead_;
  const bool selective_;  // IRN
  const bool paced_;      // DCQCN
  const Framer& framer_;
  Ledger& ledger_;
  size_t opened_ = 0;
  std::vector<QueuePair> queue_pairs_;
  std::vector<SendOutcome> outcomes_;
  std::vector<Pace> paces_;            // DCQCN
  std::vector<MarkedWindow> windows_;  // DCTCP
  SelectiveRepeat repeats_;            // IRN
  Deadlines timeouts_;
  Deadlines pacing_;
  uint32_t head_ = kNone;  // of the ready FIFO
  uint32_t tail_ = kNone;
};

}  // namespace eddy::host
