// FlowOrders: for each flow that ends at a host here, the packet sequence number that is due, and
// the packets that wait for it.
//
// Bounded; a flow is looked for in four neighbouring places. One that nothing waits for and that
// was silent for `age` makes room for another; else the newcomer gets no place. Sequence numbers
// have 24 bits and wrap. Owner: one shard. Bounds: 64 octets a flow, taken at construction. Cost:
// usually one line. Source: InfiniBand 9.2 (PSN); docs/adr/0012.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "lb/members.h"
#include "net/fault_sites.h"
#include "net/packet.h"
#include "net/rebase.h"
#include "net/units.h"

namespace eddy::lb {

struct alignas(64) FlowOrder {
  static constexpr uint32_t kNone = UINT32_MAX;

  uint64_t key = 0;        // 0: the place is free
  Packet* head = nullptr;  // that wait, by sequence number
  Packet* tail = nullptr;
  Instant last;   // packet seen
  Instant since;  // when something began to wait for `expected`
  uint32_t expected = 0;
  uint32_t missed = kNone;  // was given up; if it comes yet the sender has gone back to it
  uint32_t next = kNone;    // of the flows that wait, as places
  uint32_t previous = kNone;
  uint16_t held = 0;   // packets
  bool known = false;  // `expected` is
  bool skips = false;  // what is due may be any number from `expected` on
};
static_assert(sizeof(FlowOrder) == 64);

class FlowOrders {
 public:
  static constexpr size_t kProbes = 4;

  explicit FlowOrders(size_t flows, FaultProbe sites = {})
      : places_(flows + kProbes - 1), sites_(sites) {}

  FlowOrder& at(uint32_t place) { return places_[place]; }
  uint32_t place_of(const FlowOrder& flow) const {
    return static_cast<uint32_t>(&flow - places_.data());
  }
  // Null: neither there nor room for it.
  FlowOrder* find_or_place(uint64_t key, Instant now, Duration age) {
    FlowOrder* home = &places_[home_of(key)];
    for (size_t i = 0; i < kProbes; ++i)
      if (home[i].key == (key | kInUse)) [[likely]]
        return &home[i];
    if (sites_.fires(FaultSite::order_table_full)) return nullptr;
    for (size_t i = 0; i < kProbes; ++i) {
      const bool over = home[i].held == 0 && now - home[i].last > age;
      if (home[i].key != 0 && !over) continue;
      home[i] = FlowOrder{.key = key | kInUse, .last = now};
      return &home[i];
    }
    return nullptr;
  }

  void rebase(const Rebase& rebase) {
    for (FlowOrder& flow : places_) {
      if (flow.key == 0) continue;
      rebase.shift(flow.last);
      rebase.shift(flow.since);
    }
  }

 private:
  static constexpr uint64_t kInUse = 1;
  size_t home_of(uint64_t key) const {
    return scaled_to(static_cast<uint32_t>(key >> 32),
                     static_cast<uint32_t>(places_.size() - kProbes + 1));
  }

  std::vector<FlowOrder> places_;
  [[no_unique_address]] FaultProbe sites_;
};

}  // namespace eddy::lb
