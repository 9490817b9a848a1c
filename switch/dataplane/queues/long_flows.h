// LongFlows: which flows fill a fabric port, where a long queue is that nobody has stopped.
//
// Of each packet that finds the port crowded its flow's octets are counted. A flow that has had
// `enough` of them is long until it has found no crowd for `life`, and so is put apart from the
// short ones that would wait behind it. kPlaces flows a port are counted; what a flow without a
// place sends is taken from those of flows that are not long yet, and one that has nothing left
// makes room (Misra and Gries, 1982), so that a few long flows are found among any number of
// others. Owner: the shard of the port. Bounds: kPlaces a port; memory where a port was crowded.
// Cost: a look at kPlaces tags for each packet that finds a crowd. Source: docs/adr/0050.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "net/ids.h"
#include "net/memory/reserved.h"
#include "net/rebase.h"
#include "net/units.h"

namespace eddy {

class LongFlows {
 public:
  static constexpr size_t kPlaces = 8;
  struct Flow {
    uint32_t tag = 0;  // flow_tag(); 0: nobody
    bool is_long = false;
    int64_t octets = 0;  // that found a crowd, less what made room for others
    Instant seen;        // the last of them
  };
  using Flows = std::array<Flow, kPlaces>;
  struct Rule {
    int64_t enough;
    Duration life;
  };

  // A packet of the flow found the port crowded. Whether the flow is long from now on.
  bool note(PortId port, uint32_t tag, int64_t octets, const Rule& rule, Instant now) {
    Flows& flows = flows_[port.index()];
    Flow* place = nullptr;
    for (Flow& flow : flows) {
      if (flow.tag == tag) return count(flow, octets, rule, now);
      if (flow.tag == 0) place = &flow;
    }
    if (place == nullptr) {
      make_room(flows, octets);
      return false;
    }
    *place = {.tag = tag, .seen = now};
    return count(*place, octets, rule, now);
  }
  void forget(PortId port) {
    for (Flow& flow : flows_[port.index()])
      if (flow.tag != 0) flow = {};
  }
  Flows& of(PortId port) { return flows_[port.index()]; }
  const Flows& of(PortId port) const { return flows_[port.index()]; }
  void rebase(const Rebase& rebase) {
    for (Flows& flows : flows_)
      for (Flow& flow : flows)
        if (flow.tag != 0) rebase.shift(flow.seen);
  }

 private:
  static bool count(Flow& flow, int64_t octets, const Rule& rule, Instant now) {
    if (!flow.is_long && now - flow.seen > rule.life) flow.octets = 0;
    flow.seen = now;
    flow.octets += octets;
    if (flow.is_long || flow.octets < rule.enough) return false;
    flow.is_long = true;
    return true;
  }
  static void make_room(Flows& flows, int64_t octets) {
    for (Flow& flow : flows) {
      if (flow.is_long) continue;
      flow.octets -= octets;
      if (flow.octets <= 0) flow = {};
    }
  }

  Reserved<Flows> flows_{kMaxPorts};  // by port; of all: less than a page is on the heap
};

}  // namespace eddy
