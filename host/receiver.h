// Receivers: the receiving QPs of a NIC, and the ACK, NAK and CNP that they have to send.
//
// What becomes of a packet ahead of the expected one is the recovery's (recovery.h). A packet
// behind is acknowledged again; so are late packets of a finished flow. An ACK goes out every
// ack_every packets, when one asks for it, and with the last. ACK: PSN is the last in order, MSN
// the number of messages done. Where the rate control or the entropy wants marks, the BECN bit of
// an ACK says that a packet since the last ACK carried CE; where the entropy wants ports, replies
// leave from the port of the packet that they answer. Owner: one Nic. Bounds: the QPs and the
// backlog given at construction. Cost: a record of three cache lines a packet. Source: reference
// D.2, D.3, D.6, I-17; decision 0027.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "host/flow.h"
#include "host/frames.h"
#include "host/ledger.h"
#include "host/nic_options.h"
#include "host/registry.h"
#include "net/memory/reserved.h"
#include "net/units.h"

namespace eddy::host {

class Receivers {
 public:
  Receivers(const NicOptions& options, const Laws& laws, const Framer& framer, Ledger& ledger);

  uint32_t expect(const ReceiveSpec& spec);
  // A WRITE packet.
  void on_data(const Received& received, Instant now);

  void on_timers(Instant now);
  Instant next_timer() const { return recovery_->timers().next(); }

  bool has_control() const { return backlog_ != 0; }
  // The oldest ACK, NAK or CNP; only if there is one.
  void transmit_control(Packet& out);

  // As Nic::ask_for_queue_pairs().
  void ask_for_queue_pairs() const;

  const ReceiveOutcome& outcome(uint32_t qpn) const;
  std::span<const uint64_t> ood_histogram() const { return ood_histogram_; }

 private:
  // Sequences are PSNs that do not wrap: the first is first_psn.
  struct alignas(64) QueuePair {
    HeaderTemplate header{};  // an ACK
    ReceiveState state;
    uint64_t first = 0;
    uint64_t end = 0;
    Bytes size{0};
    uint32_t flow = 0;
    uint32_t last_payload = 0;
    int32_t unacked = 0;  // accepted packets since the last ACK
    bool marked = false;  // CE since the last ACK
  };
  static_assert(sizeof(QueuePair) == 192);

  struct Control {
    enum class Kind : uint8_t { ack, nak, cnp };
    uint32_t qpn = 0;
    uint32_t psn = 0;
    uint32_t msn = 0;
    Kind kind{};
    bool becn = false;
    uint16_t port = 0;  // to leave from; 0: as the one before
  };
  static_assert(sizeof(Control) == 16);

  bool well_formed(const QueuePair& qp, uint64_t sequence, const Received& received) const;
  void accept(uint32_t qpn, QueuePair& qp, const Received& received, Instant now);
  bool take_held(uint32_t qpn, QueuePair& qp, Instant now);
  void on_ahead(uint32_t qpn, QueuePair& qp, uint64_t ahead, const Received& received, Instant now);
  void acknowledge(uint32_t qpn, QueuePair& qp, const Received& received);
  void acknowledge_in_detail(uint32_t qpn, QueuePair& qp, const Received& received);
  void push_ack(uint32_t qpn, QueuePair& qp, uint16_t port);
  void push_nak(uint32_t qpn, QueuePair& qp, uint32_t msn, uint16_t port);
  void add_bits(uint32_t qpn, const QueuePair& qp, const Received& received);
  uint16_t port_of(const Received& received) const {
    return echoes_port_ ? received.source_port() : uint16_t{0};
  }
  Control pop();
  void write(const Control& control, const ArrivedBits* arrived, Packet& out);
  void transmit_in_detail(Packet& out);
  void on_mark(uint32_t qpn, QueuePair& qp, Instant now);
  void push(const Control& control);

  const config::HostConfig config_;
  const std::unique_ptr<ReceiveRecovery> recovery_;
  const std::unique_ptr<Notifier> notifier_;  // null: marks call for no CNP
  const bool naks_name_;
  const bool bitmaps_;
  const bool echoes_port_;
  const bool detailed_;  // replies say more than where the QP stands
  const bool echoes_marks_;
  const Framer& framer_;
  Ledger& ledger_;
  size_t opened_ = 0;
  std::vector<QueuePair> queue_pairs_;
  std::vector<ReceiveOutcome> outcomes_;
  const size_t most_waiting_;
  Reserved<Control> ring_;  // most_waiting_ rounded up to a power of two
  const size_t ring_mask_;
  Reserved<ArrivedBits> bits_;  // of each reply in the ring, where the recovery has bitmaps
  size_t oldest_ = 0;
  size_t backlog_ = 0;
  std::vector<uint64_t> ood_histogram_;
};

}  // namespace eddy::host
