// SendState and Ack: what laws of hosts see of a sending QP, and what a reply told it.
//
// Sequences are PSNs that do not wrap: the first is first_psn. Owner: a sending QP; laws may write
// where it is said. Bounds: none. Cost: plain values. Source: reference D.2, D.4.
#pragma once

#include <cstdint>

#include "net/units.h"

namespace eddy::host {

// What a recovery asks for, so that it is not called when it has nothing to do.
enum class Repair : uint8_t {
  none,     // its on_ack() need not be called
  listens,  // each ACK is to be told
  pending,  // that, and its next_send() names a packet to send before new ones
};

struct SendState {
  uint64_t unacked = 0;          // the lowest
  uint64_t next = 0;             // to send; a recovery goes back with it
  uint64_t sent_end = 0;         // one past the highest ever sent
  uint64_t end = 0;              // one past the last
  Instant progress;              // timeouts count from here; a recovery may write it
  uint32_t window = 0;           // packets in flight at most; the rate control writes it
  Repair repair = Repair::none;  // the recovery writes it
  uint16_t beyond = 0;           // packets that have arrived behind a gap; a recovery writes it

  uint64_t in_flight() const { return next - unacked - beyond; }
};

// A round of a sending QP: from one moment until all that was in flight then is acknowledged.
struct Round {
  uint64_t end = 0;     // over when SendState::unacked gets there
  uint64_t acked = 0;   // packets acknowledged in it
  uint64_t marked = 0;  // of those, by ACKs that echoed a mark
};

// An ACK or NAK, told after the QP has moved on to what it acknowledges.
struct Ack {
  uint64_t packets = 0;  // that were acknowledged with it, in order: they end at SendState::unacked
  uint64_t arrived = 0;  // the packet answered, of replies that name it (RecoveryInfo)
  uint64_t bits_base = 0;  // of a selective ACK: the packet that bit 0 stands for
  uint64_t bits = 0;       // bit i: bits_base + i has arrived
  Duration rtt;            // of the last packet acknowledged, or of the one answered; 0: not known
  Instant now;
  uint8_t hops = 0;      // that it has come over, by its TTL; with Hears::rtt
  uint16_t entropy = 0;  // the source port of the packet answered; 0: not echoed
  bool nak = false;      // SendState::unacked is missed by the receiver
  bool marked = false;   // a packet since the last ACK carried CE (echo of marks)
};

}  // namespace eddy::host
