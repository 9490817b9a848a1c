// SendRecovery and ReceiveRecovery: what both ends of a QP do about packets that are missing.
//
// A law is host/recovery/<name>.cpp, a line in host/recovery.txt and
// tests/unit/host/recovery/<name>_test.cpp. The sender's half decides what is sent again and when a
// timer says so; the receiver's half what becomes of a packet that is ahead of the one expected,
// and which reply it gets. Packets in order, and those behind, are the NIC's own business. Owner:
// one Nic. Bounds: NicOptions' QPs and reorder_packets. Cost: a virtual call for a packet out of
// order, for a NAK or a timeout, and for each ACK while SendState::repair asks for it. Source:
// reference D.2.
#pragma once

#include <cstdint>
#include <memory>

#include "host/law.h"
#include "host/send_state.h"
#include "net/deadlines.h"
#include "net/units.h"

namespace eddy::host {

// Without progress for `rto` the QP times out; for `short_rto` when at most `few` packets are in
// flight.
struct Timeouts {
  Duration rto;
  Duration short_rto;
  int few = 0;
};

class SendRecovery {
 public:
  virtual ~SendRecovery() = default;

  // For any QP; the NIC stretches both to twice the base RTT of its path.
  virtual Timeouts timeouts() const = 0;
  // Packets; `wanted` is the configured window, `bdp` one bandwidth-delay product.
  virtual uint32_t full_window(uint32_t wanted, uint32_t bdp) const;
  virtual void open(uint32_t qpn, SendState& state);
  // While state.repair says so. All below state.unacked has arrived.
  virtual void on_ack(uint32_t qpn, const Ack& ack, SendState& state);
  // state.unacked is missed.
  virtual void on_nak(uint32_t qpn, const Ack& ack, SendState& state) = 0;
  virtual void on_timeout(uint32_t qpn, SendState& state, Instant now) = 0;
  // The sequence to send again; while state.repair is pending.
  virtual uint64_t next_send(uint32_t qpn, SendState& state);
};

// Where a receiving QP stands.
struct ReceiveState {
  uint64_t expected = 0;
  Instant next_nak;        // the law's
  uint32_t held = 0;       // packets kept behind a gap
  bool gap_named = false;  // the law's: a NAK for `expected` was sent; the NIC clears it
};

enum class Reply : uint8_t { none, ack, nak };

// What became of a packet ahead of the one expected.
struct Disposal {
  enum class Packet : uint8_t { dropped, kept, duplicate };
  Packet packet = Packet::dropped;
  Reply reply = Reply::none;
};

// Which packets have arrived: bit i stands for the packet base + i.
struct Bitmap {
  static constexpr uint64_t kPackets = 64;
  uint64_t base = 0;
  uint64_t bits = 0;
};

class ReceiveRecovery {
 public:
  // As many timers as receiving QPs, or none.
  explicit ReceiveRecovery(size_t timers = 0) : timers_(timers) {}
  virtual ~ReceiveRecovery() = default;
  ReceiveRecovery(const ReceiveRecovery&) = delete;
  ReceiveRecovery& operator=(const ReceiveRecovery&) = delete;

  // A whole packet of the message, `sequence` > state.expected.
  virtual Disposal on_ahead(uint32_t qpn, uint64_t sequence, ReceiveState& state, Instant now) = 0;
  // The packet expected has come while others were held; moves `expected` over those that follow.
  virtual void on_filled(uint32_t qpn, ReceiveState& state, Instant now);
  // What a reply to the packet `answered` says; where the law declared bitmaps.
  virtual Bitmap bitmap(uint32_t qpn, uint64_t answered, const ReceiveState& state) const;
  // The QP's timer has gone off.
  virtual Reply on_timer(uint32_t qpn, ReceiveState& state, Instant now);

  Deadlines& timers() { return timers_; }
  const Deadlines& timers() const { return timers_; }

 private:
  Deadlines timers_;
};

struct RecoveryInfo : LawInfo {
  // NAKs name, in the field of the MSN, the packet that they answer; one that names none ahead of
  // the packet it asks for is invalid.
  bool naks_name = false;
  // Replies are selective ACKs: all name what they answer, and each has a bitmap.
  bool bitmaps = false;
  // A packet ahead is dropped, so what overtakes is sent again.
  bool drops_ahead = false;
  std::unique_ptr<SendRecovery> (*make_sender)(const LawInit& init) = nullptr;
  std::unique_ptr<ReceiveRecovery> (*make_receiver)(const LawInit& init) = nullptr;
};

}  // namespace eddy::host
