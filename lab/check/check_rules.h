// CheckRules: which invariants hold in an experiment and are checked, and why the others are not.
//
// Conservation, buffer accounts and the end of all flows are always checked. Lossless groups lose
// nothing as long as headroom is by formula and every pause frame arrives and is read in time; the
// source lists the keys and faults that break this, and late_pauses.h knows what is read too late.
// A flow's packets stay in order under a scheme that keeps a flow's path for good, as long as the
// links, the configuration and the port that the host sends it from stay as they are; one that
// remembers flows forgets them where a path's line gets another rate. Schemes that
// move flows in gaps promise order for each entry of their table only, which nobody outside can
// see, so it is not checked. RLB's loop keeps to its caps as long as RLB is not reconfigured.
// Owner: the caller. Source: reference C.4, C.6; architecture, sections 4 and 5.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "config/experiment.h"
#include "net/units.h"

namespace eddy::lab {

struct Topology;

struct CheckRules {
  bool lossless = true;  // no packet of a lossless group is ever dropped
  // A switch reads a pause frame this soon, unless more was unread before it than a poll reads;
  // then headroom does not hold what its peer sends meanwhile. None: a poll reads all.
  std::optional<Duration> pause_in_time;
  bool in_order = true;  // data packets of a queue pair arrive in the order they were first sent
  // A lossless queue that holds packets, is paused and sends none is a storm `detection` and `late`
  // after it sent its last, if pause frames go on arriving: none comes `detection` after the one
  // before. Without them the pause is over when its quanta are, and `late`. None: not promised.
  struct Watchdog {
    Duration detection;
    Duration late;  // what looking takes, and the poll
  };
  std::optional<Watchdog> watchdog;
  // Of RLB's loop, in each switch; nothing is in it without RLB.
  struct Loop {
    int64_t octets = 0;  // held in all; 0: as the switch reckons, from its buffer and lines
    int64_t port_octets = 0;
    int64_t rounds = 0;  // of a packet
  };
  std::optional<Loop> loop = Loop{};  // none: not promised
  // Lossless queues that wait for each other in a circle, and none of them sends for so long, are a
  // deadlock. None: the routes allow that.
  std::optional<Duration> deadlock = Duration::microseconds(500);
  std::vector<std::string> exempt;  // "lossless: faults.0 is pfc_loss", for the report

  static CheckRules of(const config::Experiment& experiment);
  // The same for a fabric of the experiment.
  static CheckRules of(const config::Experiment& experiment, const Topology& topology);
};

}  // namespace eddy::lab
