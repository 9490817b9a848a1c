// HotPorts: host ports whose queue holds more than a threshold, and who fills them.
//
// The queue says so of each packet that finds it, or leaves it, above the threshold; whoever tells
// others looks when a port is due: at once when somebody is new, then as it sets the time. Up to
// kFlows flows to a host are named one by one, so that others to it stay where they are; more are
// an incast, and the host is named in their place. Behind a port may be several hosts, and a few
// are told apart. Owner: the shard of the port. Bounds: kPlaces a port; memory where a port was
// hot. Cost: nothing below the threshold; above, a look at kPlaces tags for each packet. Source:
// docs/adr/0039, 0041.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "net/deadlines.h"
#include "net/ids.h"
#include "net/memory/reserved.h"
#include "net/rebase.h"
#include "net/units.h"

namespace eddy {

class HotPorts {
 public:
  static constexpr size_t kPlaces = 8;
  static constexpr size_t kFlows = 4;  // of a host; beyond, the host itself
  struct Culprit {
    uint32_t tag = 0;   // of the flow or of the host; 0: nobody
    uint32_t host = 0;  // its tag
    bool told = false;  // others have heard of it
    Instant since;      // its packet found the queue above the threshold
    Instant seen;       // the last that did
    bool operator==(const Culprit&) const = default;
  };
  using Culprits = std::array<Culprit, kPlaces>;

  HotPorts(size_t ports, DeadlinePlace due) : timers_(ports, due) {}

  // A packet of the flow to the host found the port's queue above its threshold, or left it so.
  void note(PortId port, uint32_t host, uint32_t flow, Instant now) {
    Culprits& culprits = culprits_[port.index()];
    Culprit* place = nullptr;
    size_t flows = 0;
    for (Culprit& culprit : culprits) {
      if (culprit.tag == host || culprit.tag == flow) {
        culprit.seen = now;
        return;
      }
      flows += culprit.host == host ? 1 : 0;
      if (culprit.tag == 0 && place == nullptr) place = &culprit;
    }
    const bool whole = flows == kFlows;
    if (whole) place = forget_flows(culprits, host);
    if (place == nullptr) return;  // its packets are with those of others that are told of
    *place = {.tag = whole ? host : flow, .host = host, .told = false, .since = now, .seen = now};
    timers_.set(static_cast<Deadlines::Id>(port.index()), now);
  }
  bool has_due(Instant now) const { return timers_.has_due(now); }
  std::optional<PortId> pop_due(Instant now) {
    const auto id = timers_.pop_due(now);
    if (!id) return std::nullopt;
    return PortId(*id);
  }
  void look_again(PortId port, Instant at) {
    timers_.set(static_cast<Deadlines::Id>(port.index()), at);
  }
  void forget(PortId port) {
    timers_.cancel(static_cast<Deadlines::Id>(port.index()));
    Culprits& culprits = culprits_[port.index()];
    if (culprits != Culprits{}) culprits = {};
  }
  Culprits& of(PortId port) { return culprits_[port.index()]; }
  const Culprits& of(PortId port) const { return culprits_[port.index()]; }
  void rebase(const Rebase& rebase) {
    for (Culprits& culprits : culprits_)
      for (Culprit& culprit : culprits) {
        if (culprit.tag == 0) continue;
        rebase.shift(culprit.since);
        rebase.shift(culprit.seen);
      }
    timers_.rebase(rebase);
  }

 private:
  // What others were told of them ends by itself. Returns a free place.
  static Culprit* forget_flows(Culprits& culprits, uint32_t host) {
    Culprit* place = nullptr;
    for (Culprit& culprit : culprits) {
      if (culprit.host != host) continue;
      culprit = {};
      place = &culprit;
    }
    return place;
  }

  Reserved<Culprits> culprits_{kMaxPorts};  // by port; of all: less than a page is on the heap
  Deadlines timers_;                        // by port: when to look
};

}  // namespace eddy
