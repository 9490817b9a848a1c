// Senders: the sending QPs of a NIC: what each may send next, and whose turn it is.
//
// A QP is in one of four states: it is in the FIFO of those that are ready, or it waits for its
// pacing time, or it is idle until an ACK opens its window, or its switch or its entropy has
// stopped it. Ready QPs take turns, one packet each (round robin). How fast a QP goes, what it
// sends again, which port a packet takes and when it may start is decided by the NIC's laws
// (rate_control.h, recovery.h, entropy.h, pacing.h); they are called when something happens that
// they hear, and packets look at plain fields that the laws have written. At line rate the line
// itself paces. The window counts payload in whole packets, at least one. Timers are armed lazily:
// an ACK only notes the time, and the timer looks again when it goes off. Owner: one Nic. Bounds:
// the QPs given at construction. Cost: a record of three cache lines for each packet; timers a heap
// operation once in an RTO, pacing one for each paced packet. Source: reference D.2, D.4; decision
// 0027.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "host/flow.h"
#include "host/frames.h"
#include "host/ledger.h"
#include "host/nic_options.h"
#include "host/registry.h"
#include "host/send_times.h"
#include "net/deadlines.h"
#include "net/memory/reserved.h"
#include "net/units.h"

namespace eddy::host {

class Senders {
 public:
  Senders(const NicOptions& options, const Laws& laws, const Framer& framer, Ledger& ledger);

  uint32_t open(const SendSpec& spec);
  void start(uint32_t qpn, Instant now);
  // ACK and NAK.
  void on_acknowledge(const Received& received, Instant now);
  void on_selective_ack(const Received& received, Instant now);
  void on_cnp(const Received& received, Instant now);
  // The switch stops a flow of ours, for a time, or lets it go on.
  void on_flow_stop(const ShimControl& control, Instant now);
  void on_timers(Instant now);

  // Someone may be able to send, as far as on_timers() and transmit() know.
  bool has_ready() const { return head_ != kNone; }
  // The next data packet; false when nobody can send one.
  [[nodiscard]] bool transmit(Packet& out, Instant now) {
    if (pacing_.has_due(now)) [[unlikely]]
      return wake_and_send(out, now);
    return has_ready() && send_next(out, now);
  }
  Instant next_timer() const {
    return std::min({timeouts_.next(), pacing_.next(), stopped_.next()});
  }

  // As Nic::ask_for_queue_pairs().
  void ask_for_queue_pairs() const;

  SendStage stage(uint32_t qpn) const;
  const SendOutcome& outcome(uint32_t qpn) const;
  BitRate rate(uint32_t qpn, Instant now) const;

 private:
  static constexpr uint32_t kNone = UINT32_MAX;
  // Far from 2^23, where PSNs are no longer comparable.
  static constexpr uint32_t kNoWindow = 1U << 22;

  enum class Place : uint8_t { closed, idle, ready, paced, stopped };

  struct alignas(64) QueuePair {
    HeaderTemplate header{};  // a full WRITE middle
    Duration rto;
    Duration short_rto;  // with few packets in flight; where the recovery has none, as rto
    uint32_t first = 0;
    uint32_t flow = 0;
    uint32_t full_window = 0;  // packets, at line rate
    uint16_t last_payload = 0;
    Place place = Place::closed;

    SendState state;
    Instant armed = Instant::never();  // when the timer goes off
    uint32_t follower = kNone;         // in the ready FIFO
  };
  static_assert(sizeof(QueuePair) == 192);

  // What an ACK or NAK says in sequences: all below `to` arrived and, where NAKs name it,
  // `arrived`.
  struct Acknowledged {
    bool nak = false;
    uint64_t to = 0;
    uint64_t arrived = 0;
  };
  enum class Judgement : uint8_t { news, late, invalid };

  uint32_t packets_of(Bytes bdp) const;
  QueuePair* find(const Received& received);
  Judgement judge(const SendState& state, const Received& received, Acknowledged& says) const;
  void count_round(uint32_t qpn, QueuePair& qp, uint64_t packets, bool marked);
  void tell(QueuePair& qp, const Received& received, const Acknowledged& says, uint64_t packets,
            Instant now);
  Duration round_trip(uint32_t qpn, const Ack& ack) const;
  // What a selective ACK says beside; false when it cannot be true.
  static bool read_bits(const SendState& state, const Received& received, uint64_t to, Ack& out);
  void tell_late(QueuePair& qp, const Received& received, Instant now);
  void tell_nak(uint32_t qpn, QueuePair& qp, const Ack& ack);
  void complete(uint32_t qpn, QueuePair& qp, Instant now);
  void use_port(QueuePair& qp, uint16_t port) {
    if (port != kSamePort) framer_.set_source_port(qp.header, port);
  }

  static bool can_send(const QueuePair& qp) {
    const SendState& state = qp.state;
    return (state.next < state.end && state.in_flight() < state.window) ||
           state.repair == Repair::pending;
  }
  bool send(uint32_t qpn, QueuePair& qp, Packet& out, Instant now);
  // Not inlined: what packets seldom need is to cost no registers.
  uint64_t repeat(uint32_t qpn);
  void watch(uint32_t qpn, uint64_t sequence, Instant now);
  void count_repeat(uint32_t qpn, uint32_t payload);
  static bool waits_to_repeat(const QueuePair& qp);
  void on_timeout(uint32_t qpn, QueuePair& qp, Instant now);
  Instant timeout_of(const QueuePair& qp) const;
  // Whichever timeout counts, the timer need not go off before the shorter one.
  void arm(uint32_t qpn, QueuePair& qp) {
    if (qp.armed > qp.state.progress + qp.short_rto) set_timer(qpn, qp);
  }
  void set_timer(uint32_t qpn, QueuePair& qp);

  void note_sent(uint32_t qpn, QueuePair& qp, uint32_t wire_len, Instant now) {
    Pace& pace = paces_[qpn];
    pace.last_start = now;
    pace.last_line_octets = int64_t{wire_len} + line_overhead_;
    if (pace.octets_left > 0) {
      pace.octets_left -= wire_len;
      if (pace.octets_left <= 0) rate_->on_due(qpn, qp.state, now);
    }
    if (pacer_always_) count_paced(pacer_->on_sent(qpn, pace, qp.state));
  }
  void count_paced(const PacedPacket& packet) {
    if (packet.held) ledger_.count(NicCounter::held_packets);
    if (packet.flowlet) ledger_.count(NicCounter::flowlets);
  }
  void refresh_pace(uint32_t qpn, QueuePair& qp, Instant now);
  void scale_window(uint32_t qpn, QueuePair& qp);
  // The pace has changed.
  void pace_anew(uint32_t qpn, QueuePair& qp, Instant now);
  // True when the QP, which is in no list and has a pace, has to wait and is in the heap now. There
  // it looks again when its rate may grow.
  bool wait_for_pace(uint32_t qpn, QueuePair& qp, Instant now) {
    const Pace& pace = paces_[qpn];
    if (pace.due <= now) refresh_pace(qpn, qp, now);
    return pace.rate_bps < paced_below_ && wait_below_line_rate(qpn, qp, now);
  }
  bool wait_below_line_rate(uint32_t qpn, QueuePair& qp, Instant now);
  void wake_paced(Instant now);
  bool wake_and_send(Packet& out, Instant now);
  bool send_next(Packet& out, Instant now);
  void wake(uint32_t qpn, QueuePair& qp, Instant now);
  // What the entropy says after a reply or a timeout: a port, or to stop until it names one.
  void obey(uint32_t qpn, QueuePair& qp, uint16_t port, Instant now) {
    if (port == kSamePort) return;
    if (drains_) return drain_or_go_on(qpn, qp, port, now);
    framer_.set_source_port(qp.header, port);
  }
  void drain_or_go_on(uint32_t qpn, QueuePair& qp, uint16_t port, Instant now);
  // The QP whose packets have the order hash, or kNone.
  uint32_t find_flow(uint64_t order_hash);
  void stop(uint32_t qpn, QueuePair& qp);
  void go_on(uint32_t qpn, Instant now);
  void count_stopped(Instant now, int64_t change);  // how many are from now on
  void take_out_of_ready(uint32_t qpn);
  void push_ready(uint32_t qpn, QueuePair& qp);
  uint32_t pop_ready();

  const config::HostConfig config_;
  const BitRate speed_;
  const int line_overhead_;
  const std::unique_ptr<RateControl> rate_;
  const std::unique_ptr<SendRecovery> recovery_;
  const std::unique_ptr<Entropy> entropy_;
  const std::unique_ptr<Pacing> pacer_;
  const Timeouts own_timeouts_;
  const bool naks_name_;
  const bool bitmaps_;
  const Hears rate_hears_;
  const Hears entropy_hears_;
  const bool told_;  // one of them hears ACKs
  const bool counts_rounds_;
  const bool hears_rtt_;
  const bool drains_;        // the entropy may stop a QP
  const bool each_packet_;   // the entropy chooses for each
  const bool watched_;       // watch() is called for each packet
  const bool pacer_always_;  // the pacing holds packets at line rate, too
  const bool two_timeouts_;
  const bool attentive_;   // an ACK needs more than a move of the window
  std::span<Pace> paces_;  // the rate control's, if it paces
  const bool paced_;
  const bool scales_window_;   // with the rate; a rate control that hears ACKs sets its own
  const int64_t paced_below_;  // bits a second: at such a rate the pacing is asked
  const Framer& framer_;
  Ledger& ledger_;
  size_t opened_ = 0;
  std::vector<QueuePair> queue_pairs_;
  std::vector<SendOutcome> outcomes_;
  Ack selective_;  // what the selective ACK that is being told says of packets, or nothing
  std::vector<Round> rounds_;  // where a law hears them
  SendTimes times_;
  Deadlines timeouts_;
  Deadlines pacing_;
  Deadlines stopped_;          // until when
  int64_t stopped_flows_ = 0;  // so many since stopped_changed_
  Instant stopped_changed_;
  Reserved<uint64_t> order_hashes_;  // of the first hashed_ QPs, once a switch has stopped one
  size_t hashed_ = 0;
  uint32_t head_ = kNone;  // of the ready FIFO
  uint32_t tail_ = kNone;
};

}  // namespace eddy::host
