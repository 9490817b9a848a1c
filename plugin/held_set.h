// HeldSet: which packets a stage holds, and in which order it took them.
//
// A packet's own links are the stage's, so these stand apart: a table by address, twice as large as
// what may be in it. Owner: a GuardedStage. Bounds: those of its constructor; it allocates nothing
// later. Cost: a line of memory or two a packet.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include "lb/members.h"
#include "net/packet.h"

namespace eddy::plugin {

class HeldSet {
 public:
  struct Held {
    Packet* packet = nullptr;
    uint64_t turn = 0;
  };

  explicit HeldSet(size_t most)
      : most_(most), places_(std::bit_ceil(2 * most + 1)), mask_(places_.size() - 1) {}

  size_t size() const { return size_; }
  bool contains(const Packet* packet) const { return places_[find(packet)].packet != nullptr; }
  // False: there is no room.
  bool add(Packet* packet) {
    if (size_ == most_) return false;
    places_[find(packet)] = {packet, turn_++};
    ++size_;
    return true;
  }
  // False: it is not in there.
  bool remove(const Packet* packet) {
    size_t hole = find(packet);
    if (places_[hole].packet == nullptr) return false;
    for (size_t at = after(hole); places_[at].packet != nullptr; at = after(at)) {
      // What would not be found any more moves up.
      if (distance(home_of(places_[at].packet), at) < distance(hole, at)) continue;
      places_[hole] = places_[at];
      hole = at;
    }
    places_[hole] = {};
    --size_;
    return true;
  }
  // Each, the first that was taken first; none is in there then.
  template <class Visit>
  void take_all(Visit&& visit) {
    const auto none = std::partition(places_.begin(), places_.end(),
                                     [](const Held& held) { return held.packet != nullptr; });
    const std::span<Held> all(places_.begin(), none);
    std::ranges::sort(all, {}, &Held::turn);
    for (Held& held : all) {
      visit(*held.packet);
      held = {};
    }
    size_ = 0;
  }

 private:
  size_t after(size_t at) const { return (at + 1) & mask_; }
  size_t distance(size_t from, size_t to) const { return (to - from) & mask_; }
  size_t home_of(const Packet* packet) const {
    return lb::mix64(reinterpret_cast<uintptr_t>(packet)) & mask_;
  }
  // Its place, or the empty one where it would be.
  size_t find(const Packet* packet) const {
    size_t at = home_of(packet);
    while (places_[at].packet != nullptr && places_[at].packet != packet) at = after(at);
    return at;
  }

  const size_t most_;
  std::vector<Held> places_;
  const size_t mask_;
  size_t size_ = 0;
  uint64_t turn_ = 0;
};

}  // namespace eddy::plugin
