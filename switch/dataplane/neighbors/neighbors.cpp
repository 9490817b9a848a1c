#include "switch/dataplane/neighbors/neighbors.h"

#include <algorithm>
#include <bit>
#include <tuple>
#include <utility>

#include "net/assert.h"

namespace eddy {

NeighborTable::NeighborTable(size_t capacity, size_t ports)
    : entries_(capacity), slots_(std::bit_ceil(capacity * 2)), learned_(ports) {
  ASSERT(capacity > 0 && capacity < kNone);
}

Neighbor* NeighborTable::insert(PortId port, const IpAddress& address) {
  if (full()) return nullptr;
  const size_t slot = slot_of(port, address);
  ASSERT(slots_[slot] == kEmpty);
  const auto index = free_ != kNone ? free_ : static_cast<uint16_t>(used_++);
  Neighbor& entry = entries_[index];
  if (index == free_) free_ = entry.next_free;
  slots_[slot] = static_cast<uint16_t>(index + 1);
  entry = Neighbor{};
  entry.address = address;
  entry.port = port;
  ++learned_[port.index()];
  return &entry;
}

void NeighborTable::keep(Neighbor& neighbor, bool kept) {
  if (neighbor.kept == kept) return;
  neighbor.kept = kept;
  learned_[neighbor.port.index()] += kept ? -1 : 1;
}

PortId NeighborTable::most_learned() const {
  return PortId(std::max_element(learned_.begin(), learned_.end()) - learned_.begin());
}

Neighbor* NeighborTable::least_missed(PortId port, NeighborState limit) {
  const auto missed = [](const Neighbor& n) { return std::tuple(n.state, n.wanted, n.changed_at); };
  Neighbor* least = nullptr;
  for (Neighbor& each : entries()) {
    if (each.state == NeighborState::free || each.port != port) continue;
    if (each.kept || each.state > limit) continue;
    if (least == nullptr || missed(each) < missed(*least)) least = &each;
  }
  return least;
}

// Open addressing without tombstones: what follows in the run moves up into the gap.
void NeighborTable::erase(Neighbor* neighbor) {
  ASSERT(neighbor->waiting.empty());
  const size_t mask = slots_.size() - 1;
  size_t gap = slot_of(neighbor->port, neighbor->address);
  neighbor->next_free = std::exchange(free_, static_cast<uint16_t>(slots_[gap] - 1));
  if (!neighbor->kept) --learned_[neighbor->port.index()];
  neighbor->state = NeighborState::free;
  slots_[gap] = kEmpty;
  for (size_t next = (gap + 1) & mask; slots_[next] != kEmpty; next = (next + 1) & mask) {
    const Neighbor& moved = entries_[slots_[next] - 1u];
    const size_t home = home_of(moved.port, words_of(moved.address));
    if (((next - home) & mask) < ((next - gap) & mask)) continue;
    slots_[gap] = slots_[next];
    slots_[next] = kEmpty;
    gap = next;
  }
}

size_t NeighborTable::slot_of(PortId port, const IpAddress& address) const {
  size_t slot = home_of(port, words_of(address));
  while (slots_[slot] != kEmpty) {
    const Neighbor& there = entries_[slots_[slot] - 1u];
    if (there.address == address && there.port == port) break;
    slot = (slot + 1) & (slots_.size() - 1);
  }
  return slot;
}

}  // namespace eddy
