// RateControl: how fast a sending QP may go; Notifier: what its peer makes of marks.
//
// A law is host/rate_control/<name>.cpp, a line in host/rate_control.txt and
// tests/unit/host/rate_control/<name>_test.cpp. It limits a QP by its window (SendState::window),
// by its rate (Pace), or by both. Calls come in this order: on_round(), on_ack(), on_nak() of a
// NAK; on_cnp(), on_timeout() and on_due() each alone. A NIC asks for nothing between them: it
// reads the fields. Owner: one Nic. Bounds: NicOptions' QPs. Cost: a virtual call for what the law
// declared to hear. Source: reference D.3, D.4.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "host/law.h"
#include "host/send_state.h"
#include "net/units.h"

namespace eddy::host {

// A sending QP's rate: what the law last decided and when it wants to be asked again.
struct Pace {
  int64_t rate_bps = 0;              // at most the line's
  Instant due = Instant::never();    // on_due() is called before the QP sends at or after this
  Instant grows = Instant::never();  // the rate may be higher then: a waiting QP looks again
  int64_t octets_left = 0;           // of frames, until on_due() is called; 0: no such counter
  Instant last_start;                // the NIC's: of the last packet
  int64_t last_line_octets = 0;      // the NIC's: what that took of the line
};

// What a QP begins with.
struct RateOpening {
  Bytes bdp;  // of its path
  Duration base_rtt;
  uint32_t full_window = 0;  // packets; the NIC's own bound, which no window may exceed
};

class RateControl {
 public:
  RateControl() = default;
  virtual ~RateControl() = default;
  RateControl(const RateControl&) = delete;
  RateControl& operator=(const RateControl&) = delete;

  // `state.window` is the full one.
  virtual void open(uint32_t qpn, const RateOpening& opening, SendState& state);
  // A round is over; the next ends when all that is in flight now is acknowledged.
  virtual void on_round(uint32_t qpn, const Round& round, SendState& state);
  // True, of these four, when the pace has changed: a QP that waits for it looks again.
  virtual bool on_ack(uint32_t qpn, const Ack& ack, SendState& state);
  virtual bool on_nak(uint32_t qpn, const Ack& ack, SendState& state);
  virtual bool on_cnp(uint32_t qpn, SendState& state, Instant now);
  virtual bool on_timeout(uint32_t qpn, SendState& state, Instant now);
  // Pace::due has come, or Pace::octets_left has run out.
  virtual void on_due(uint32_t qpn, SendState& state, Instant now);
  // In force at `now`, for reports.
  virtual BitRate rate(uint32_t qpn, Instant now) const = 0;

  // Every QP has a pace, at line rate. Laws that set rates call it when they are made.
  void pace_all(size_t queue_pairs, BitRate line);
  // By QP; empty when every QP goes at line rate.
  std::span<Pace> paces() { return paces_; }

 protected:
  Pace& pace(uint32_t qpn) { return paces_[qpn]; }
  const Pace& pace(uint32_t qpn) const { return paces_[qpn]; }

 private:
  std::vector<Pace> paces_;
};

class Notifier {
 public:
  virtual ~Notifier() = default;
  // A data packet of a receiving QP carried CE; true: a CNP is to be sent.
  virtual bool on_mark(uint32_t qpn, Instant now) = 0;
};

struct RateControlInfo : LawInfo {
  Hears hears;
  bool echoes_marks = false;  // ACKs say that a packet since the last one carried CE
  std::unique_ptr<RateControl> (*make)(const LawInit& init) = nullptr;
  std::unique_ptr<Notifier> (*make_notifier)(const LawInit& init) = nullptr;  // null: no CNPs
};

}  // namespace eddy::host
