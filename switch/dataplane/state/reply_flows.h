// ReplyFlows: which flow a RoCE reply answers. A reply names the queue pair of the sender, its data
// names that of the receiver, and no packet names both. What they have in common are the two
// addresses and the UDP source port, where a connection has one for both directions.
//
// A place for each of them holds the flow that last used it. A second flow of the same two hosts
// and source port makes the place ambiguous, until it has been silent for a turn: then replies are
// nobody's. Owner: one shard; made by control. Bounds: 16 octets a place, taken at construction.
// Cost: a load and a store for a packet of data. Source: reference 1.5; docs/adr/0025.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace eddy {

class ReplyFlows {
 public:
  static constexpr size_t kPlaces = 16'384;

  ReplyFlows() : places_(std::make_unique<Place[]>(kPlaces)) {}

  // Data of the flow, by the hash of its addresses and ports.
  void note(uint32_t balance_hash, uint64_t order_hash) {
    Place& place = places_[balance_hash % kPlaces];
    if (place.balance_hash != balance_hash || place.flow == 0) {
      place = {.flow = order_hash, .balance_hash = balance_hash};
    } else if (place.flow != order_hash) {
      place.flow = order_hash;
      place.others = kTurn;
    } else if (place.others != 0) {
      --place.others;
    }
  }
  // 0: not known, or one of several.
  uint64_t find(uint32_t balance_hash) const {
    const Place& place = places_[balance_hash % kPlaces];
    return place.balance_hash == balance_hash && place.others == 0 ? place.flow : 0;
  }

 private:
  static constexpr uint32_t kTurn = 1'024;  // packets of one flow, after another's
  struct Place {
    uint64_t flow = 0;  // order hash; 0: none
    uint32_t balance_hash = 0;
    uint32_t others = 0;  // packets until it is one flow's again
  };
  static_assert(sizeof(Place) == 16);

  std::unique_ptr<Place[]> places_;
};

}  // namespace eddy
