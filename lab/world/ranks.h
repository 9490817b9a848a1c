// Ranks: a world's part in a run that several processes share.
//
// Every rank makes the same world of the same file, but has the switches and NICs of its own
// partitions alone. All go through the same windows of time, no longer than the shortest line
// between two ranks. At the end of a window each sends every other one message: how far it is, and
// the frames that have left for it. What all have told is then known to all, so nobody leads.
// Owner: the world. Bounds: messages grow with the frames of a window. Cost: one message a pair of
// ranks and window. Source: decision 0034.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <vector>

#include "lab/world/division.h"
#include "lab/world/event_queue.h"
#include "lab/world/exchange.h"
#include "lab/world/nodes.h"
#include "lab/world/window_message.h"
#include "net/units.h"

namespace eddy::lab {

// What a rank has sent, and how long it waited.
struct RankTraffic {
  uint64_t windows = 0;   // meetings of all ranks
  uint64_t messages = 0;  // sent
  uint64_t frames = 0;    // in them
  uint64_t octets = 0;
  uint64_t largest = 0;      // octets of a message
  double trade_seconds = 0;  // of wall time, from a message's sending to the last one's arrival
};

class Ranks {
 public:
  Ranks(Exchange& exchange, Nodes& nodes, const Division& division);

  size_t rank() const { return exchange_.rank(); }
  size_t count() const { return exchange_.ranks(); }
  bool is_here(uint32_t node) const { return rank_of_[node] == exchange_.rank(); }
  Duration window() const { return window_; }
  Exchange& exchange() { return exchange_; }
  const RankTraffic& traffic() const { return traffic_; }

  // Of all ranks, when they last met: the least instants, the last event, sums of the rest.
  const Told& all() const { return all_; }
  // Something that follows from what all have told happens then.
  void bring_forward(Instant at) { all_.next = std::min(all_.next, at); }
  // A frame for the rank of the line's receiver. The packet is no longer needed.
  void pack(Instant at, uint32_t line, const Packet& packet);
  // Tells and hears. take(packet, frame) gets what has come, in the order of ranks.
  template <class Take>
  void meet(const Told& mine, Take take) {
    for (const auto& [frame, from] : trade(mine)) take(packet_of(frame, from), frame);
  }

 private:
  struct Arrived {
    FrameView frame;
    uint16_t from = 0;  // rank
  };
  const std::vector<Arrived>& trade(const Told& mine);
  void hear(size_t from);
  Packet* packet_of(const FrameView& frame, uint16_t from);

  Exchange& exchange_;
  Nodes& nodes_;
  std::vector<uint16_t> rank_of_;  // by node
  const Duration window_;
  std::vector<Message> to_each_;
  std::vector<uint32_t> frames_;  // packed, by rank
  std::vector<Message> from_each_;
  std::vector<FrameView> views_;
  std::vector<Arrived> arrived_;
  uint64_t number_ = 0;  // of meetings
  Told all_;
  RankTraffic traffic_;
};

}  // namespace eddy::lab
