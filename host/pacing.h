// Pacing: when the next packet of a sending QP may start, by the rate that its rate control gave.
//
// A law is host/pacing/<name>.cpp, a line in host/pacing.txt and
// tests/unit/host/pacing/<name>_test.cpp. A QP at line rate is paced by the line itself and is not
// asked about, unless the law declares that it holds packets of those, too. Only this QP waits.
// Owner: one Nic. Bounds: NicOptions' senders. Cost: a virtual call a packet below line rate.
// Source: reference D.4, A.14.
#pragma once

#include <cstdint>
#include <memory>

#include "host/law.h"
#include "host/rate_control.h"
#include "host/send_state.h"
#include "net/units.h"

namespace eddy::host {

// What became of a packet that started.
struct PacedPacket {
  bool held = false;     // it started later than its rate and window let it
  bool flowlet = false;  // the gap before it was long enough for switches to end a flowlet
};

class Pacing {
 public:
  virtual ~Pacing() = default;
  // The QP has a packet that its window lets go; at or before `now`: it may start at once. May be
  // asked several times for one packet.
  virtual Instant next_send(uint32_t qpn, const Pace& pace, const SendState& state,
                            Instant now) = 0;
  // A packet started; Pace has it. The NIC counts what it says.
  virtual PacedPacket on_sent(uint32_t qpn, const Pace& pace, const SendState& state);
};

struct PacingInfo : LawInfo {
  bool always = false;  // QPs at line rate are asked about, and on_sent() is called
  std::unique_ptr<Pacing> (*make)(const LawInit& init) = nullptr;
};

}  // namespace eddy::host
