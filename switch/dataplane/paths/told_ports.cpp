#include "switch/dataplane/paths/told_ports.h"

#include <algorithm>
#include <bit>

#include "net/hash.h"

namespace eddy {

ToldPorts::ToldPorts(size_t ports) : buckets_(std::bit_ceil(std::max<size_t>(ports, 1))) {}

ToldPorts::Ports& ToldPorts::hear(const ToldWarning& warning, Instant now) {
  const uint64_t hash = hash_pair(warning.source, warning.priority.index());
  Place& place = place_of(buckets_[hash & (buckets_.size() - 1)], warning);
  const bool same = place.source == warning.source && place.priority == warning.priority;
  const bool goes_on = same && now < place.until && (warning.clears || !place.over);
  if (!goes_on) place.ports.reset();
  place.source = warning.source;
  place.priority = warning.priority;
  place.over = warning.clears;
  place.until = warning.until;
  return place.ports;
}

void ToldPorts::rebase(const Rebase& rebase) {
  for (Bucket& bucket : buckets_)
    for (Place& place : bucket) rebase.shift(place.until);
}

// Its own, or the one whose warning ended first.
ToldPorts::Place& ToldPorts::place_of(Bucket& bucket, const ToldWarning& warning) {
  const auto own = std::ranges::find_if(bucket, [&warning](const Place& place) {
    return place.source == warning.source && place.priority == warning.priority;
  });
  return own != bucket.end() ? *own : *std::ranges::min_element(bucket, {}, &Place::until);
}

}  // namespace eddy
