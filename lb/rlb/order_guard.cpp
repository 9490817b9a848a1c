#include "lb/rlb/order_guard.h"

#include <algorithm>

namespace eddy::lb {
namespace {

using config::GuardMode;

// A path that other paths' ends and returns leave alone.
MemberIndex by_hash_of_all(const Packet& packet, const PathSet& paths, MemberMask live) {
  const uint64_t hash = mix64(packet.order_hash);
  const auto member =
      static_cast<MemberIndex>(scaled_to(static_cast<uint32_t>(hash >> 32), paths.count));
  return contains(live, member) ? member : random_of(live, static_cast<uint32_t>(hash));
}

}  // namespace

OrderGuard::OrderGuard(const config::GuardConfig& config, config::Granularity granularity)
    : config_(config), keeps_units_(granularity == config::Granularity::unit) {
  const bool pins = config.mode == GuardMode::paced || config.mode == GuardMode::strict;
  watches_ = pins || keeps_units_;
  always_ = config.guards_all();
  by_slots_ = always_ && config.mode == GuardMode::strict && !keeps_units_;
  patient_ = config.is_patient();
  memory_ = config.mode == GuardMode::strict ? config.age : config.pause;
}

bool OrderGuard::guards_slots(const config::RlbConfig& rlb) {
  return rlb.enabled() && OrderGuard(rlb.guard, rlb.granularity).by_slots_;
}

// Once a burst.
void OrderGuard::look_at_slots(const PathView& view) {
  proofs_.now = FlowSlot::time_of(view.now());
  proofs_.step = PathArrivals::step_of(view.now());
  proofs_.age = static_cast<uint64_t>(memory_.ps() >> PathArrivals::kStepBits);
  const bool told_apart = view.paths() != nullptr && view.set_count() <= kMostSets;
  proofs_.measured = told_apart ? view.paths()->parameters().measured : MeasuredPackets{};
  if (told_apart) proofs_.arrivals = view.paths()->arrivals().reader();
  if (slots_->doubted()) [[unlikely]] {
    slots_->trust();
    doubtful_till_ = view.now() + memory_;
  }
  proofs_.doubtful = view.now() < doubtful_till_;
  proofs_.exact = told_apart && !proofs_.doubtful && view.set_count() <= FlowSlot::kManySets;
}

// Of a slot that is another set's, or many sets', nothing moves before its last packet is too old
// or, if it is the other's alone, proven to have arrived.
void OrderGuard::trace_slot(const PathView& view, const Packet& packet, uint16_t set,
                            MemberIndex base, FlowTrace& trace) const {
  FlowSlot& slot = slots_->of(packet);
  trace.member = base;
  trace.base = base;
  trace.slot = &slot;
  trace.was = slot;
  if (!slot.used()) return;
  const MemberMask live = view.live(set);
  const bool over = slot.idle(proofs_.now) > memory_;
  if (slot.drawn_by(set) && !slot.has_many_sets()) {
    trace.known = true;
    trace.member = slot.member();
    trace.dead = !contains(live, slot.member());
    return;
  }
  if (over || (!slot.mixed() && proofs_.measured.queues != 0 && proofs_.is_proven(slot))) return;
  trace.pinned = true;
  trace.member = contains(live, slot.member()) ? slot.member() : by_hash(packet, live);
}

void OrderGuard::note_slot(const PathView& view, const Packet& packet, uint16_t set,
                           const FlowTrace& trace, MemberIndex member) {
  if (trace.known && member != trace.member) {
    const bool forced = trace.dead && !has_arrived(view, packet, set, trace);
    view.report(forced ? GuardEvent::forced : GuardEvent::moved);
  }
  if (trace.pinned) {
    *trace.slot = trace.was.shared(proofs_.now);
    return;
  }
  const bool still_mixed =
      trace.known && trace.was.mixed() && trace.was.idle(proofs_.now) <= memory_;
  *trace.slot = FlowSlot(proofs_.now, set, member, still_mixed || !proves(packet));
}

// A flow that is not known may have sent until the watch began, or while it had no place.
FlowTrace OrderGuard::unknown(const PathView& view, const Packet& packet, uint16_t set,
                              MemberIndex base, FlowPath* entry) const {
  const auto over = [&](const FlowPath& path) { return is_over(view, path); };
  FlowPath* const room = entry == nullptr ? view.flows()->room(packet.order_hash, over) : nullptr;
  const bool placeless = entry == nullptr && room == nullptr;
  const bool hashed = always_ && (placeless || placeless_till_ != Instant{});
  const MemberIndex member = hashed ? by_hash_of_all(packet, view.set(set), view.live(set)) : base;
  return {.entry = entry,
          .room = room,
          .last = always_ ? placeless_till_ : std::max(awake_since_, placeless_till_),
          .member = member,
          .base = member};
}

// Than what went to the flow's path, for all that is known.
bool OrderGuard::arrives_later(const PathView& view, uint16_t set, const FlowTrace& trace,
                               MemberIndex member) const {
  const Duration idle = this->idle(trace, view.now());
  if (idle >= config_.pause) return true;
  if (view.paths() == nullptr) return false;
  const auto from = view.paths()->delay(set, trace.member, view.now());
  const auto to = view.paths()->delay(set, member, view.now());
  return from && to && idle + *to >= *from + config_.margin;
}

bool OrderGuard::has_arrived(const PathView& view, const Packet& packet, uint16_t set,
                             const FlowTrace& trace) const {
  if (!trace.known && trace.last == Instant{}) return true;
  if (idle(trace, view.now()) > memory_) return true;
  if (view.paths() == nullptr) return false;
  if (trace.slot != nullptr)
    return trace.known && !trace.was.mixed() && proves(packet) && proofs_.is_proven(trace.was);
  const Instant arrived = view.paths()->arrived_before(set, trace.member, packet.queue, packet.pg);
  if (trace.known) return is_proven(view, *trace.entry, arrived);
  return arrived != Instant{} && arrived > trace.last;
}

// By delays that were measured lately.
bool OrderGuard::leads(const PathView& view, uint16_t set, MemberIndex from, MemberIndex to) {
  const auto slow = view.paths()->delay(set, from, view.now());
  const auto quick = view.paths()->delay(set, to, view.now());
  return slow && quick && *slow - *quick > least_lead(*view.paths());
}

void OrderGuard::rebase(const Rebase& rebase) {
  rebase.shift(awake_until_);
  rebase.shift(awake_since_);
  rebase.shift_if_any(placeless_till_);
  rebase.shift(doubtful_till_);
}

void OrderGuard::put_back(const PathView& view, const Memory& memory) {
  awake_ = memory.awake;
  warned_ = memory.warned;
  slots_ = memory.slots;
  proofs_ = memory.proofs;
  doubtful_till_ = memory.doubtful_till;
  awake_until_ = memory.awake_until;
  awake_since_ = memory.awake_since;
  if (memory.doubted) view.slots()->doubt();
}

Hold OrderGuard::hold_of(const FlowTrace& trace, bool stays) const {
  const bool asked = watches_ && (trace.slot != nullptr || trace.entry != nullptr ||
                                  trace.room != nullptr || stays);
  if (!asked) return Hold::none;
  if (trace.pinned) return Hold::pinned;
  if (stays) return Hold::stays;
  if (trace.placeless()) return Hold::placeless;
  return trace.known ? Hold::free : Hold::first;
}

// What it says no longer matters: nothing of the flow can be on the way.
bool OrderGuard::is_over(const PathView& view, const FlowPath& path) const {
  if (path.idle(view.now()) > memory_) return true;
  if (!always_ && path.ends_before(awake_since_)) return true;
  const bool one_set_a_tag = view.set_count() <= FlowPath::kSetTags;
  if (view.paths() == nullptr || !path.measured() || !one_set_a_tag) return false;
  return is_proven(view, path, view.paths()->arrived_before(path.set(), path.member()));
}

void OrderGuard::note(const PathView& view, const Packet& packet, uint16_t set,
                      const FlowTrace& trace, MemberIndex base, MemberIndex member) {
  if (trace.slot != nullptr) return note_slot(view, packet, set, trace, member);
  if (trace.placeless()) {
    placeless_till_ = view.now();
    return view.report(GuardEvent::placeless);
  }
  FlowPath* const entry = trace.entry != nullptr ? trace.entry : trace.room;
  if (trace.entry == nullptr && view.flows()->settle(packet.order_hash, entry))
    view.report(GuardEvent::replaced);
  if (trace.known && member != trace.member) {
    const bool forced = trace.dead && !has_arrived(view, packet, set, trace);
    view.report(forced ? GuardEvent::forced : GuardEvent::moved);
  }
  *entry = FlowPath(set, member, base, view.now(), is_measured(view, packet));
  if (member != base) awake_until_ = std::max(awake_until_, view.now() + config_.linger);
}

}  // namespace eddy::lb
