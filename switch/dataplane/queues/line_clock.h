// LineClock: frames on lines that no world reports, by the instant at which they leave.
//
// A list through places by port, in the order of time. A frame is put in from the end, since most
// of them leave last. Owner: Egress. Units: Instant of the shard's clock. Bounds: a frame a port,
// at most kMaxPorts. Cost: start() walks past the frames that leave later; the rest is a few
// instructions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "net/assert.h"
#include "net/ids.h"
#include "net/rebase.h"
#include "net/units.h"

namespace eddy {

class LineClock {
 public:
  explicit LineClock(size_t ports) : places_(ports + 1), end_(static_cast<uint16_t>(ports)) {
    places_[end_] = {Instant::long_past(), end_, end_};
  }

  // When the first frame leaves; never(): there is none.
  Instant next() const { return next_; }
  // The port's frame leaves at `at`. There is none yet.
  void start(PortId port, Instant at) {
    const auto place = static_cast<uint16_t>(port.index());
    ASSERT(places_[place].next == kNowhere);
    uint16_t before = places_[end_].before;
    while (places_[before].at > at) before = places_[before].before;
    const uint16_t next = places_[before].next;
    places_[place] = {at, next, before};
    places_[before].next = place;
    places_[next].before = place;
    if (before == end_) next_ = at;
  }
  // The port's frame is looked after in another way. There is one.
  void stop(PortId port) { take(static_cast<uint16_t>(port.index())); }
  // The port whose frame leaves first; there is one.
  PortId pop() {
    const uint16_t first = places_[end_].next;
    take(first);
    return PortId(first);
  }
  void rebase(const Rebase& rebase) {
    for (uint16_t place = places_[end_].next; place != end_; place = places_[place].next)
      rebase.shift(places_[place].at);
    follow();
  }

 private:
  static constexpr uint16_t kNowhere = UINT16_MAX;

  struct Place {
    Instant at;
    uint16_t next = kNowhere;
    uint16_t before = kNowhere;
  };

  void take(uint16_t place) {
    const Place taken = places_[place];
    ASSERT(taken.next != kNowhere);
    places_[taken.before].next = taken.next;
    places_[taken.next].before = taken.before;
    places_[place].next = kNowhere;
    if (taken.before == end_) follow();
  }
  void follow() {
    const uint16_t first = places_[end_].next;
    next_ = first == end_ ? Instant::never() : places_[first].at;
  }

  Instant next_ = Instant::never();
  std::vector<Place> places_;  // by port; the last one stands before the first and behind the last
  const uint16_t end_;
};

}  // namespace eddy
