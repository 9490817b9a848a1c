// HostPauses: the priority groups of hosts that a scheme has stopped by PFC, for how many flows,
// and until when at the latest.
//
// PFC stops all that a host sends of a group, and a group is stopped while one flow wants it, or
// until a time that the last such flow named: then it goes on, whatever the flows say later. Owner:
// one shard's agent. Bounds: a place for each group of each port, taken at construction, and only
// where it is used. Cost: a heap operation a stop. Source: reference A.12.
#pragma once

#include <vector>

#include "lb/agent.h"
#include "net/deadlines.h"
#include "net/ids.h"
#include "net/rebase.h"
#include "net/units.h"

namespace eddy::lb {

class HostPauses {
 public:
  explicit HostPauses(bool used)
      : flows_(used ? kMaxPorts * kPriorities : 0), until_(flows_.size()) {}

  // One more flow wants it; `again`: one that has said so before.
  void stop(Voice& voice, PortId port, PriorityGroupId pg, Instant until, bool again) {
    const uint32_t place = place_of(port, pg);
    if (flows_[place] == 0 && !voice.pause_host(port, pg, true)) return;
    if (flows_[place] == 0 || !again) ++flows_[place];
    until_.set(place, until);
  }
  void go_on(Voice& voice, PortId port, PriorityGroupId pg) {
    const uint32_t place = place_of(port, pg);
    if (flows_[place] == 0 || --flows_[place] != 0) return;
    until_.cancel(place);
    (void)voice.pause_host(port, pg, false);
  }

  Instant next_deadline() const { return until_.next(); }
  void on_timers(Voice& voice) {
    while (const auto place = until_.pop_due(voice.view().now())) {
      flows_[*place] = 0;
      (void)voice.pause_host(PortId(*place / kPriorities), PriorityGroupId(*place % kPriorities),
                             false);
    }
  }
  void rebase(const Rebase& rebase) { until_.rebase(rebase); }

 private:
  static uint32_t place_of(PortId port, PriorityGroupId pg) {
    return static_cast<uint32_t>(port.index() * kPriorities + pg.index());
  }

  std::vector<uint32_t> flows_;  // by port and group
  Deadlines until_;              // likewise
};

}  // namespace eddy::lb
