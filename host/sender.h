// Senders: the sending QPs of a NIC: what each may send next, and whose turn it is.
//
// A QP that has something to send is in the ready FIFO, or waits for its pacing time, or is idle
// until an ACK opens its window. One packet a turn, round robin. Retransmission timers are armed
// lazily: an ACK only notes the time, and the timer looks again when it goes off. Owner: one Nic.
// Bounds: the QPs given at construction. Cost: a record of three cache lines a packet; timers a
// heap operation once an RTO. Source: reference D.2, D.4.
#pragma once

#include <cstdint>
#include <vector>

#include "host/flow.h"
#include "host/frames.h"
#include "host/ledger.h"
#include "host/nic.h"
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

  // Someone may be able to send. After on_timers(now) or a transmit(now).
  bool has_ready() const { return head_ != kNone; }
  // The next data packet; false when nobody can send one.
  [[nodiscard]] bool transmit(Packet& out, Instant now);
  Instant next_timer() const { return timeouts_.next(); }

  const SendOutcome& outcome(uint32_t qpn) const;
  BitRate rate(uint32_t qpn, Instant now) const;

 private:
  static constexpr uint32_t kNone = UINT32_MAX;
  // Far from 2^23, where PSNs are no longer comparable.
  static constexpr uint32_t kNoWindow = 1U << 22;

  enum class Place : uint8_t { closed, idle, ready };

  // Sequences are PSNs that do not wrap: the first is first_psn.
  struct alignas(64) QueuePair {
    HeaderTemplate header{};  // a full WRITE middle
    uint64_t first = 0;
    Duration rto;
    uint32_t flow = 0;
    uint32_t last_payload = 0;
    Place place = Place::closed;

    uint64_t unacked = 0;   // the lowest
    uint64_t next = 0;      // to send
    uint64_t sent_end = 0;  // one past the highest ever sent
    uint64_t end = 0;
    Instant progress;  // of the last ACK that told something, or of the first packet in flight
    Instant armed = Instant::never();  // when the timer goes off
    uint32_t window = 0;               // packets
    uint32_t follower = kNone;         // in the ready FIFO
  };
  static_assert(sizeof(QueuePair) == 192);

  QueuePair* find(const Received& received);
  static bool can_send(const QueuePair& qp) {
    return qp.next < qp.end && qp.next - qp.unacked < qp.window;
  }
  void send(uint32_t qpn, QueuePair& qp, Packet& out, Instant now);
  void count_sent(uint32_t qpn, bool again, uint32_t payload);
  bool advance(uint32_t qpn, QueuePair& qp, uint64_t to, Instant now);
  void on_timeout(uint32_t qpn, QueuePair& qp, Instant now);
  void arm(uint32_t qpn, QueuePair& qp);
  void wake(uint32_t qpn, QueuePair& qp);
  void push_ready(uint32_t qpn, QueuePair& qp);
  uint32_t pop_ready();

  const config::HostConfig config_;
  const BitRate speed_;
  const Framer& framer_;
  Ledger& ledger_;
  size_t opened_ = 0;
  std::vector<QueuePair> queue_pairs_;
  std::vector<SendOutcome> outcomes_;
  Deadlines timeouts_;
  uint32_t head_ = kNone;  // of the ready FIFO
  uint32_t tail_ = kNone;
};

}  // namespace eddy::host
