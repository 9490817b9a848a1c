#include "lb/rlb/order_guard.h"

#include <algorithm>

namespace eddy::lb {
namespace {

using config::GuardMode;
using config::GuardScope;

// A path that other paths' ends and returns leave alone.
MemberIndex by_hash(const Packet& packet, const PathSet& paths, MemberMask live) {
  const uint64_t hash = mix64(packet.order_hash);
  const auto member =
      static_cast<MemberIndex>(scaled_to(static_cast<uint32_t>(hash >> 32), paths.count));
  return contains(live, member) ? member : random_of(live, static_cast<uint32_t>(hash));
}

}  // namespace

OrderGuard::OrderGuard(const config::GuardConfig& config, config::Granularity granularity)
    : config_(config), keeps_units_(granularity == config::Granularity::unit) {
  const bool pins = config.mode == GuardMode::paced || config.mode == GuardMode::strict;
  const GuardScope scope =
      config.scope.value_or(config.mode == GuardMode::strict ? GuardScope::all : GuardScope::moves);
  watches_ = pins || keeps_units_;
  always_ = pins && scope == GuardScope::all;
  memory_ = config.mode == GuardMode::strict ? config.age : config.pause;
}

// A flow that is not known may have sent until the watch began, or while it had no place.
FlowTrace OrderGuard::unknown(const PathView& view, const Packet& packet, uint16_t set,
                              MemberIndex base, FlowPath* entry) const {
  const auto over = [&](const FlowPath& path) { return is_over(view, path); };
  FlowPath* const room = entry == nullptr ? view.flows()->room(packet.order_hash, over) : nullptr;
  const bool placeless = entry == nullptr && room == nullptr;
  const bool hashed = always_ && (placeless || placeless_till_ != Instant{});
  const MemberIndex member = hashed ? by_hash(packet, view.set(set), view.live(set)) : base;
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
  const Instant arrived = view.paths()->arrived_before(set, trace.member, packet.queue);
  if (trace.known) return is_proven(*trace.entry, arrived);
  return arrived != Instant{} && arrived > trace.last;
}

void OrderGuard::rebase(const Rebase& rebase) {
  rebase.shift(awake_until_);
  rebase.shift(awake_since_);
  rebase.shift_if_any(placeless_till_);
}

// What it says no longer matters: nothing of the flow can be on the way.
bool OrderGuard::is_over(const PathView& view, const FlowPath& path) const {
  if (path.idle(view.now()) > memory_) return true;
  if (!always_ && path.ends_before(awake_since_)) return true;
  const bool one_set_a_tag = view.set_count() <= FlowPath::kSetTags;
  if (view.paths() == nullptr || !path.measured() || !one_set_a_tag) return false;
  return is_proven(path, view.paths()->arrived_before(path.set(), path.member()));
}

void OrderGuard::note(const PathView& view, const Packet& packet, uint16_t set,
                      const FlowTrace& trace, MemberIndex base, MemberIndex member) {
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
  *entry = FlowPath(set, member, base, view.now(), is_measured(view, packet.queue));
  if (member != base) awake_until_ = std::max(awake_until_, view.now() + config_.linger);
}

}  // namespace eddy::lb
