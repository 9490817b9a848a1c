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

size_t slots_of(const WarningTablePlan& plan) {
  return static_cast<size_t>(std::popcount(plan.queues));
}

size_t voices_of(const WarningTablePlan& plan) {
  return plan.pauses_apart ? 2 : 1;
}

size_t entries_for(std::span<const PathSet> sets, size_t ports, const WarningTablePlan& plan) {
  return (ports * voices_of(plan) + members_of(sets)) * slots_of(plan);
}

bool is_newer(uint32_t a, uint32_t b) {
  return static_cast<int32_t>(a - b) > 0;
}

bool changes(MarkEffect effect) {
  return effect != MarkEffect::ignored && effect != MarkEffect::stale;
}

// What the selector reads is no longer right.
bool turns(MarkEffect effect) {
  return effect == MarkEffect::begun || effect == MarkEffect::cleared;
}

}  // namespace

WarningTable::WarningTable(std::span<const PathSet> sets, size_t ports,
                           const WarningTablePlan& plan)
    : plan_(plan),
      slots_(slots_of(plan)),
      voices_(voices_of(plan)),
      members_from_(ports * slots_ * voices_),
      places_(ports),
      entries_(entries_for(sets, ports, plan)),
      culprits_(plan.culprits ? entries_.size() : 0),
      masks_(sets.size() * kPriorities),
      expiries_(entries_for(sets, ports, plan)) {
  slot_of_.fill(kNoSlot);
  for (size_t queue = 0; queue < kPriorities; ++queue) {
    if ((plan.queues >> queue & 1) == 0) continue;
    slot_of_[queue] = static_cast<uint8_t>(queue_of_.size());
    queue_of_.push_back(QueueId(queue));
  }
  for (size_t set = 0; set < sets.size(); ++set) {
    first_.push_back(place_of_.size());
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
  const size_t slot = slot_of_[mark.queue.index()];
  if (slot == kNoSlot) return MarkEffect::ignored;
  return mark.leaf.is_none() ? mark_port(mark, slot) : mark_members(mark, slot);
}

MarkEffect WarningTable::mark_port(const WarningMark& mark, size_t slot) {
  const size_t entry = entry_of_port(mark.port, slot) + (mark.is_pause ? voices_ - 1 : 0);
  const MarkEffect effect = mark_entry(entry, mark);
  if (turns(effect)) follow_port(mark.port, slot);
  return effect;
}

MarkEffect WarningTable::mark_members(const WarningMark& mark, size_t slot) {
  MarkEffect effect = MarkEffect::ignored;
  for (const Place& place : places_[mark.port.index()]) {
    if (leaf_of_[place.set] != mark.leaf) continue;
    const MarkEffect one = mark_entry(entry_of_member(member_of(place), slot), mark);
    if (turns(one)) follow(place, slot);
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
    if (!entry.warns()) return MarkEffect::ignored;
    end(index, mark.expiry);
    return MarkEffect::cleared;
  }
  const bool begins = !entry.warns();
  if (!begins && !same && mark.severity < entry.severity) return MarkEffect::ignored;
  entry = {mark.sequence, mark.source, mark.origin, mark.severity, mark.expiry};
  keep_culprits(index, mark.culprits);
  active_ += begins ? 1 : 0;
  expiries_.set(static_cast<Deadlines::Id>(index), mark.expiry);
  return begins ? MarkEffect::begun : MarkEffect::refreshed;
}

// Sequence and source stay for a while, so that what was sent before the end is still known to be
// old; not for ever, so that a source that starts anew is heard.
void WarningTable::end(size_t index, Instant at) {
  keep_culprits(index, {});
  entries_[index].severity = 0;
  entries_[index].until = std::min(entries_[index].until, at);
  expiries_.set(static_cast<Deadlines::Id>(index), at == Instant::never() ? at : at + kRemember);
  --active_;
}

void WarningTable::keep_culprits(size_t index, const CulpritList& culprits) {
  if (culprits_.empty()) return;
  CulpritList& kept = culprits_[index];
  named_ -= count_of(kept) != 0 ? 1 : 0;
  kept = culprits;
  named_ += count_of(kept) != 0 ? 1 : 0;
}

std::optional<WarningTable::Ended> WarningTable::expire_one(Instant now) {
  auto index = expiries_.pop_due(now);
  for (; index && !entries_[*index].warns(); index = expiries_.pop_due(now))
    entries_[*index] = {.until = entries_[*index].until};
  if (!index) return std::nullopt;
  end(*index, now);
  if (*index < members_from_) {
    const size_t port_and_slot = *index / voices_;
    const PortId port(port_and_slot / slots_);
    follow_port(port, port_and_slot % slots_);
    return Ended{port, plan_.pauses_apart && *index % voices_ == voices_ - 1};
  }
  const size_t member = (*index - members_from_) / slots_;
  follow(place_of_[member], (*index - members_from_) % slots_);
  return Ended{port_of_[member]};
}

void WarningTable::rebase(const Rebase& rebase) {
  expiries_.rebase(rebase);
  for (Entry& entry : entries_) rebase.shift(entry.until);
}

void WarningTable::follow_port(PortId port, size_t slot) {
  for (const Place& place : places_[port.index()]) follow(place, slot);
}

void WarningTable::follow(const Place& place, size_t slot) {
  const QueueId queue = queue_of_[slot];
  MemberMask& mask = masks_[place.set * kPriorities + queue.index()];
  const bool warned = worst(place.set, place.member, queue) != nullptr;
  mask = warned ? mask | bit_of(place.member) : mask & ~bit_of(place.member);
}

const WarningTable::Entry* WarningTable::worst(size_t set, MemberIndex member,
                                               QueueId queue) const {
  const size_t slot = slot_of_[queue.index()];
  if (slot == kNoSlot) return nullptr;
  const size_t own = first_[set] + member;
  const Entry* worst = &entries_[entry_of_member(own, slot)];
  const Entry* of_port = &entries_[entry_of_port(port_of_[own], slot)];
  for (size_t voice = 0; voice < voices_; ++voice)
    if (of_port[voice].severity > worst->severity) worst = &of_port[voice];
  return worst->warns() ? worst : nullptr;
}

uint8_t WarningTable::severity(size_t set, MemberIndex member, QueueId queue) const {
  const Entry* entry = worst(set, member, queue);
  return entry == nullptr ? 0 : entry->severity;
}

// Own pauses name nobody.
bool WarningTable::names_one(size_t set, MemberIndex member, QueueId queue, uint32_t tag) const {
  const size_t slot = slot_of_[queue.index()];
  if (slot == kNoSlot || tag == 0) return false;
  const auto is_named = [tag](const Culprit& culprit) { return culprit.tag == tag; };
  const size_t own = first_[set] + member;
  return std::ranges::any_of(culprits_[entry_of_member(own, slot)], is_named) ||
         std::ranges::any_of(culprits_[entry_of_port(port_of_[own], slot)], is_named);
}

CulpritList WarningTable::culprits(PortId port, QueueId queue) const {
  const size_t slot = slot_of_[queue.index()];
  return named_ == 0 || slot == kNoSlot ? CulpritList{} : culprits_[entry_of_port(port, slot)];
}

Instant WarningTable::warned_until(size_t set, MemberIndex member) const {
  const size_t own = first_[set] + member;
  const Entry* of_member = &entries_[entry_of_member(own, 0)];
  const Entry* of_port = &entries_[entry_of_port(port_of_[own], 0)];
  Instant until = Instant::long_past();
  for (size_t i = 0; i < slots_; ++i) until = std::max(until, of_member[i].until);
  for (size_t i = 0; i < slots_ * voices_; ++i) until = std::max(until, of_port[i].until);
  return until;
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
