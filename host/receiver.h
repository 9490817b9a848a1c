// Receivers: the receiving QPs of a NIC, and the ACK, NAK and CNP that they have to send.
//
// Go-back-N: a packet ahead of the expected one is dropped, with one NAK a gap (another only for a
// packet that comes nak_timer after the last NAK). A packet behind is acknowledged again; so are
// late packets of a finished flow. An ACK goes out every ack_every packets, when one asks for it,
// and with the last. ACK: PSN is the last in order, MSN the number of messages done. With DCTCP the
// BECN bit of an ACK says that a packet since the last ACK carried CE. Owner: one Nic. Bounds: the
// QPs and the backlog given at construction. Cost: a record of three cache lines a packet. Source:
// reference D.2, D.3, D.6, I-17.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "host/flow.h"
#include "host/frames.h"
#include "host/ledger.h"
#include "host/nic_options.h"
#include "host/sequence_sets.h"
#include "net/deadlines.h"
#include "net/units.h"

namespace eddy::host {

class Receivers {
 public:
  Receivers(const NicOptions& options, const Framer& framer, Ledger& ledger);

  uint32_t expect(const ReceiveSpec& spec);
  // A WRITE packet.
  void on_data(const Received& received, Instant now);

  void on_timers(Instant now);
  Instant next_timer() const { return gap_timers_.next(); }

  bool has_control() const { return backlog_ != 0; }
  // The oldest ACK, NAK or CNP; only if there is one.
  void transmit_control(Packet& out);

  const ReceiveOutcome& outcome(uint32_t qpn) const;
  std::span<const uint64_t> ood_histogram() const { return ood_histogram_; }

 private:
  // Sequences are PSNs that do not wrap: the first is first_psn.
  struct alignas(64) QueuePair {
    HeaderTemplate header{};  // an ACK
    uint64_t expected = 0;
    uint64_t first = 0;
    uint64_t end = 0;
    Bytes size{0};
    Instant next_cnp;
    Instant next_nak;
    uint32_t flow = 0;
    uint32_t last_payload = 0;
    uint32_t held = 0;       // packets kept behind a gap
    int32_t unacked = 0;     // accepted packets since the last ACK
    bool gap_named = false;  // a NAK for `expected` was sent
    bool marked = false;     // CE since the last ACK
  };
  static_assert(sizeof(QueuePair) == 192);

  struct Control {
    enum class Kind : uint8_t { ack, nak, cnp };
    uint32_t qpn = 0;
    uint32_t psn = 0;
    uint32_t msn = 0;
    Kind kind{};
    bool becn = false;
  };

  bool well_formed(const QueuePair& qp, uint64_t sequence, const Received& received) const;
  void accept(uint32_t qpn, QueuePair& qp, const Received& received, Instant now);
  bool take_held(uint32_t qpn, QueuePair& qp, Instant now);
  void keep(uint32_t qpn, QueuePair& qp, uint64_t sequence, const Received& received);
  void watch_gap(uint32_t qpn, const QueuePair& qp, Instant now);
  void acknowledge(uint32_t qpn, QueuePair& qp);
  void name_gap(uint32_t qpn, QueuePair& qp, Instant now);
  void push_nak(uint32_t qpn, QueuePair& qp, uint32_t msn);
  void on_mark(uint32_t qpn, QueuePair& qp, Instant now);
  void push(const Control& control);

  const config::HostConfig config_;
  const bool selective_;  // IRN
  const bool reorders_;   // go-back-N with a reorder buffer
  const Framer& framer_;
  Ledger& ledger_;
  size_t opened_ = 0;
  std::vector<QueuePair> queue_pairs_;
  std::vector<ReceiveOutcome> outcomes_;
  SequenceSets held_;     // IRN, reorder buffer
  Deadlines gap_timers_;  // reorder buffer
  std::vector<Control> ring_;
  size_t oldest_ = 0;
  size_t backlog_ = 0;
  std::vector<uint64_t> ood_histogram_;
};

}  // namespace eddy::host
