// FlowWaits: which flows may begin, now that others have arrived or left, or an item has ended.
//
// A flow waits for what happens at its own source, so whoever runs a host knows at once what begins
// there. An item's end is known when all of its flows have arrived, wherever that is, and word of
// it takes some time to the hosts of the items that wait for it: no less than any line's delay,
// which is as long as a window may be (decision 0035). Who runs a host writes what is its flows'
// and its own; several threads may do so, each for its hosts. What items amount to is heard between
// two windows. Owner: FlowBook. Bounds: fixed by the waits. Cost: nothing for flows that nobody
// waits for but a look at an arrival; else a step a wait.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "lab/traffic/flow.h"
#include "lab/traffic/waits.h"
#include "net/units.h"

namespace eddy::lab {

// Flows of one item that have arrived.
struct ItemEnds {
  uint16_t item = 0;
  uint32_t flows = 0;
  Instant last;
  bool operator==(const ItemEnds&) const = default;
};

// Of the items that others wait for, what has arrived since it was last told.
struct ItemNews {
  std::vector<ItemEnds> ends;  // one an item
  bool item_ended = false;     // the last flow of one of them has arrived
  void add(const ItemEnds& more);
};

// A flow of an item that another has made wait, and when it begins.
struct Release {
  Instant at;
  uint32_t flow = 0;
  auto operator<=>(const Release&) const = default;
};

class FlowWaits {
 public:
  // `word`: how long word of an item's end takes. A flow has so many queue pairs at most.
  FlowWaits(std::span<const Flow> flows, const Waits& waits, size_t queue_pairs, Duration word);

  bool any() const { return !needs_.empty(); }
  bool any_for_items() const { return !awaited_.empty(); }
  // One of the flow's receiving ends has all of its data: adds flows that may begin to `ready`, and
  // to the news what others want to hear of its item.
  void arrive(uint32_t flow, Instant now, std::vector<uint32_t>& ready, ItemNews& news);
  // The last packet of the flow has left for the first time.
  void depart(uint32_t flow, std::vector<uint32_t>& ready) {
    for (const uint32_t follower : departures_.of(flow)) count_down(follower, ready);
  }
  bool departure_matters(uint32_t flow) const { return any() && !departures_.of(flow).empty(); }
  // Every flow that has arrived is told once. Returns what begins now that an item has ended.
  // False: such ends cannot be.
  bool may_hear(std::span<const ItemEnds> ends) const;
  std::vector<Release> hear(std::span<const ItemEnds> ends);

 private:
  static constexpr uint16_t kNoItem = UINT16_MAX;

  // Lists by flow, in one stretch of memory.
  struct Lists {
    std::vector<uint32_t> begin;
    std::vector<uint32_t> all;
    std::span<const uint32_t> of(uint32_t flow) const {
      return std::span(all).subspan(begin[flow], begin[flow + 1] - begin[flow]);
    }
  };
  struct Held {  // an item, until another has ended
    Duration pause;
    std::vector<uint32_t> flows;
  };
  struct Awaited {        // an item
    uint32_t left = 0;    // flows of which nobody has told
    uint32_t unseen = 0;  // the same, but for those that were seen here
    Instant last;
    std::vector<Held> held;
  };

  static Lists lists_of(std::span<const FlowWait> waits, FlowWait::For what, size_t flows);
  void hold_items(std::span<const Flow> flows, std::span<const ItemWait> waits);
  void count_down(uint32_t follower, std::vector<uint32_t>& ready) {
    if (--needs_[follower] == 0) ready.push_back(follower);
  }

  const Duration word_;
  std::vector<uint32_t> needs_;      // by flow; empty: nothing waits
  std::vector<uint16_t> ends_left_;  // by flow: receiving ends
  std::vector<uint16_t> item_of_;    // by flow: of awaited_
  Lists arrivals_;                   // by flow: those that wait for it
  Lists departures_;
  std::vector<Awaited> awaited_;
  std::vector<uint16_t> awaited_of_item_;
};

}  // namespace eddy::lab
