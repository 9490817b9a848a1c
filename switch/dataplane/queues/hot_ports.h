// HotPorts: host ports whose queue holds more than a threshold, and for which hosts.
//
// The queue says so of each packet that finds it, or leaves it, above the threshold; whoever tells
// others looks when a port is due: at once when a host is new, then as it sets the time. Behind a
// port may be several hosts, and a few are told apart. Owner: the shard of the port. Bounds:
// kHosts a port; memory where a port was hot. Cost: nothing below the threshold; above, a look at
// kHosts tags for each packet. Source: docs/adr/0039.
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
  static constexpr size_t kHosts = 4;
  struct Host {
    uint32_t tag = 0;   // 0: nobody
    bool told = false;  // others have heard of it
    Instant since;      // its packet found the queue above the threshold
    Instant seen;       // the last that did
  };
  using Hosts = std::array<Host, kHosts>;

  HotPorts(size_t ports, DeadlinePlace due) : timers_(ports, due) {}

  // A packet to the host found the port's queue above its threshold, or left it so.
  void note(PortId port, uint32_t tag, Instant now) {
    Host* place = nullptr;
    for (Host& host : hosts_[port.index()]) {
      if (host.tag == tag) {
        host.seen = now;
        return;
      }
      if (host.tag == 0 && place == nullptr) place = &host;
    }
    if (place == nullptr) return;  // its packets are with those of hosts that are told of
    *place = {.tag = tag, .told = false, .since = now, .seen = now};
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
  Hosts& of(PortId port) { return hosts_[port.index()]; }
  void rebase(const Rebase& rebase) {
    for (Hosts& hosts : hosts_)
      for (Host& host : hosts) {
        if (host.tag == 0) continue;
        rebase.shift(host.since);
        rebase.shift(host.seen);
      }
    timers_.rebase(rebase);
  }

 private:
  Reserved<Hosts> hosts_{kMaxPorts};  // by port; of all, for less than a page is on the heap
  Deadlines timers_;                  // by port: when to look
};

}  // namespace eddy
