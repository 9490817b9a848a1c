// Waits: which flows begin when something else has happened, and not at a time of their own.
//
// A flow waits for others at its own source alone: for data that arrives there, or for a flow whose
// last packet leaves from there. What happens elsewhere it knows of only by an item: where an item
// waits for another, its flows that wait for no flow begin when word has come that the other's
// flows have all arrived. Values. Owner: whoever made the traffic. Source: decision 0035.
#pragma once

#include <cstdint>
#include <vector>

#include "net/units.h"

namespace eddy::lab {

struct FlowWait {
  enum class For : uint8_t {
    arrival,    // `on` ends at the flow's source: its last octet is there
    departure,  // `on` begins there, too: its last packet has left for the first time
  };
  uint32_t flow = 0;  // by their numbers in the trace
  uint32_t on = 0;    // lower
  For what{};
  bool operator==(const FlowWait&) const = default;
};

// Of Experiment::traffic.
struct ItemWait {
  uint16_t item = 0;
  uint16_t after = 0;
  Duration pause{};  // from when word of the end has come
  bool operator==(const ItemWait&) const = default;
};

struct Waits {
  std::vector<FlowWait> flows;
  std::vector<ItemWait> items;
  bool empty() const { return flows.empty() && items.empty(); }
};

}  // namespace eddy::lab
