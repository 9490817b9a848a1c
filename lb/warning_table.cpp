#include "lb/warning_table.h"

#include <algorithm>
#include <bit>
#include <numeric>

namespace eddy::lb {
namespace {

size_t members_of(std::span<const PathSet> sets) {
  return std::accumulate(sets.begin(), sets.end(), size_t{0},
                         [](size_t sum, const PathSet& set) { return sum + set.count; });
}

bool is_newer(uint32_t a, uint32_t b) {
  return static_cast<int32_t>(a - b) > 0;
}

bool changes(MarkEffect effect) {
  return effect != MarkEffect::ignored && effect != MarkEffect::stale;
}

}  // namespace

WarningTable::WarningTable(std::span<const PathSet> sets, size_t ports)
    : places_(ports),
      entries_(ports + members_of(sets)),
      masks_(sets.size() * kPriorities),
      expiries_(ports + members_of(sets)) {
  for (size_t set = 0; set < sets.size(); ++set) {
    first_.push_back(ports + place_of_.size());
    leaf_of_.push_back(sets[set].leaf);
    for (MemberIndex member = 0; member < sets[set].count; ++member) {
      const Place place{static_cast<uint16_t>(set), member};
      place_of_.push_back(place);
      port_of_.push_back(sets[set].members[member].port);
      places_[sets[set].members[member].port.index()].push_back(place);
    }
  }
}

MarkEffect WarningTable::mark(const WarningMark& mark) {
  if (mark.leaf.is_none()) {
    const Entry& entry = entries_[entry_of(mark.port)];
    const uint8_t before = entry.warned_queues();
    const MarkEffect effect = mark_entry(entry_of(mark.port), mark);
    follow_port(mark.port, static_cast<uint8_t>(before ^ entry.warned_queues()));
    return effect;
  }
  MarkEffect effect = MarkEffect::ignored;
  for (const Place& place : places_[mark.port.index()]) {
    if (leaf_of_[place.set] != mark.leaf) continue;
    const Entry& entry = entries_[entry_of(place)];
    const uint8_t before = entry.warned_queues();
    const MarkEffect one = mark_entry(entry_of(place), mark);
    follow(place, static_cast<uint8_t>(before ^ entry.warned_queues()));
    if (changes(one) || !changes(effect)) effect = one;  // what changed something is told
  }
  return effect;
}

MarkEffect WarningTable::mark_entry(size_t index, const WarningMark& mark) {
  Entry& entry = entries_[index];
  const bool same = entry.source == mark.source;
  if (same && entry.sequence != 0 && !is_newer(mark.sequence, entry.sequence))
    return MarkEffect::stale;
  if (mark.severity == 0) {
    if (!same) return MarkEffect::ignored;
    entry.sequence = mark.sequence;
    entry.queues = static_cast<uint8_t>(entry.queues & ~mark.queues);
    if (entry.severity == 0) return MarkEffect::ignored;
    if (entry.queues == 0) end(index, mark.expiry);
    return MarkEffect::cleared;
  }
  const bool begins = entry.severity == 0;
  if (!begins && !same && mark.severity < entry.severity) return MarkEffect::ignored;
  entry.queues = static_cast<uint8_t>((same && !begins ? entry.queues : 0) | mark.queues);
  entry.sequence = mark.sequence;
  entry.source = mark.source;
  entry.origin = mark.origin;
  entry.severity = mark.severity;
  entry.until = mark.expiry;
  active_ += begins ? 1 : 0;
  expiries_.set(static_cast<Deadlines::Id>(index), mark.expiry);
  return begins ? MarkEffect::begun : MarkEffect::refreshed;
}

// Sequence and source stay for a while, so that what was sent before the end is still known to be
// old; not for ever, so that a source that starts anew is heard.
void WarningTable::end(size_t index, Instant at) {
  entries_[index].severity = 0;
  entries_[index].queues = 0;
  entries_[index].until = std::min(entries_[index].until, at);
  expiries_.set(static_cast<Deadlines::Id>(index), at == Instant::never() ? at : at + kRemember);
  --active_;
}

std::optional<PortId> WarningTable::expire_one(Instant now) {
  auto index = expiries_.pop_due(now);
  for (; index && entries_[*index].severity == 0; index = expiries_.pop_due(now))
    entries_[*index] = {.until = entries_[*index].until};
  if (!index) return std::nullopt;
  const uint8_t queues = entries_[*index].warned_queues();
  end(*index, now);
  if (*index < places_.size()) {
    follow_port(PortId(*index), queues);
    return PortId(*index);
  }
  const size_t member = *index - places_.size();
  follow(place_of_[member], queues);
  return port_of_[member];
}

void WarningTable::follow_port(PortId port, uint8_t queues) {
  if (queues == 0) return;
  for (const Place& place : places_[port.index()]) follow(place, queues);
}

void WarningTable::follow(const Place& place, uint8_t queues) {
  if (queues == 0) return;
  const Entry& own = entries_[entry_of(place)];
  const Entry& any = entries_[entry_of(port_of_[entry_of(place) - places_.size()])];
  const uint8_t warned = own.warned_queues() | any.warned_queues();
  for (unsigned left = queues; left != 0; left &= left - 1) {
    const auto queue = static_cast<size_t>(std::countr_zero(left));
    MemberMask& mask = masks_[place.set * kPriorities + queue];
    const bool is_warned = (warned >> queue & 1) != 0;
    mask = is_warned ? mask | bit_of(place.member) : mask & ~bit_of(place.member);
  }
}

const WarningTable::Entry* WarningTable::worst(size_t set, MemberIndex member,
                                               QueueId queue) const {
  const Entry& own = entries_[first_[set] + member];
  const Entry& any = entries_[entry_of(port_of_[first_[set] + member - places_.size()])];
  const Entry* worse = own.severity >= any.severity ? &own : &any;
  if (worse->holds(queue)) return worse;
  const Entry* other = worse == &own ? &any : &own;
  return other->holds(queue) ? other : nullptr;
}

uint8_t WarningTable::severity(size_t set, MemberIndex member, QueueId queue) const {
  const Entry* entry = worst(set, member, queue);
  return entry == nullptr ? 0 : entry->severity;
}

Instant WarningTable::warned_until(size_t set, MemberIndex member) const {
  const size_t own = first_[set] + member;
  return std::max(entries_[own].until, entries_[entry_of(port_of_[own - places_.size()])].until);
}

bool WarningTable::is_last_hop(size_t set, QueueId queue, MemberIndex member,
                               MemberMask live) const {
  const MemberMask mask = warned(set, queue) & live;
  if (2 * count_of(mask) <= count_of(live)) return false;
  const Entry* entry = worst(set, member, queue);
  if (entry == nullptr) return false;
  uint32_t alike = 0;
  for (MemberMask left = mask; left != 0; left &= left - 1) {
    const Entry* other = worst(set, first_of(left), queue);
    alike += other != nullptr && other->origin == entry->origin ? 1 : 0;
  }
  return 2 * alike > count_of(live);
}

}  // namespace eddy::lb
