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

bool is_measured(const PathView& view, QueueId queue) {
  const PathTable* paths = view.paths();
  return paths != nullptr && (paths->parameters().measured_queues >> queue.index() & 1) != 0;
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

void OrderGuard::stay_awake(const PathView& view, bool warned) {
  if (!awake_) awake_since_ = view.now();
  awake_ = true;
  if (warned) awake_until_ = std::max(awake_until_, view.now() + config_.linger);
}

FlowTrace OrderGuard::trace(const PathView& view, const Packet& packet, uint16_t set,
                            MemberIndex base) const {
  FlowPath* entry = view.flows()->find(packet.order_hash);
  const bool tells = entry != nullptr && (always_ || !entry->ends_before(awake_since_));
  if (!tells) {
    FlowTrace trace = unknown(view, packet, set, base);
    if (entry != nullptr) trace.placeless = false;
    trace.entry = entry;
    return trace;
  }
  if (!entry->of(set)) return {.entry = entry, .member = base, .base = base};  // rerouted
  const MemberIndex member = entry->member();
  return {.entry = entry,
          .known = true,
          .dead = !contains(view.live(set), member),
          .member = member,
          .base = entry->base()};
}

// A flow that is not known may have sent until the watch began, or while it had no place.
FlowTrace OrderGuard::unknown(const PathView& view, const Packet& packet, uint16_t set,
                              MemberIndex base) const {
  const auto over = [&](const FlowPath& path) { return is_over(view, path); };
  const bool placeless = !view.flows()->has_room(packet.order_hash, over);
  const bool hashed = always_ && (placeless || placeless_till_ != Instant{});
  const MemberIndex member = hashed ? by_hash(packet, view.set(set), view.live(set)) : base;
  return {.placeless = placeless,
          .member = member,
          .base = member,
          .last = always_ ? placeless_till_ : std::max(awake_since_, placeless_till_)};
}

bool OrderGuard::holds(const PathView& view, const Packet& packet, uint16_t set,
                       const FlowTrace& trace, MemberIndex base) const {
  if (trace.placeless) return true;
  if (config_.mode != GuardMode::strict || is_free(trace, base)) return false;
  return !has_arrived(view, packet, set, trace);
}

bool OrderGuard::allows(const PathView& view, uint16_t set, const FlowTrace& trace,
                        MemberIndex base, MemberIndex member) const {
  if (member == trace.member || config_.mode != GuardMode::paced || is_free(trace, base))
    return true;
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
  return trace.known ? trace.entry->ends_before(arrived) : arrived > trace.last;
}

// What it says no longer matters: nothing of the flow can be on the way.
bool OrderGuard::is_over(const PathView& view, const FlowPath& path) const {
  if (path.idle(view.now()) > memory_) return true;
  if (!always_ && path.ends_before(awake_since_)) return true;
  const bool one_set_a_tag = view.set_count() <= FlowPath::kSetTags;
  if (view.paths() == nullptr || !path.measured() || !one_set_a_tag) return false;
  return path.ends_before(view.paths()->at(path.set(), path.member()).arrived_before());
}

void OrderGuard::note(const PathView& view, const Packet& packet, uint16_t set,
                      const FlowTrace& trace, MemberIndex base, MemberIndex member) {
  FlowPaths& flows = *view.flows();
  FlowPath* entry = trace.entry;
  const uint64_t replaced = flows.replaced();
  if (entry == nullptr && !trace.placeless)
    entry =
        flows.place(packet.order_hash, [&](const FlowPath& path) { return is_over(view, path); });
  if (entry == nullptr) {
    placeless_till_ = view.now();
    return view.report(GuardEvent::placeless);
  }
  if (flows.replaced() != replaced) view.report(GuardEvent::replaced);
  if (trace.known && member != trace.member) {
    const bool forced = trace.dead && !has_arrived(view, packet, set, trace);
    view.report(forced ? GuardEvent::forced : GuardEvent::moved);
  }
  *entry = FlowPath(set, member, base, view.now(), is_measured(view, packet.queue));
  if (member != base) awake_until_ = std::max(awake_until_, view.now() + config_.linger);
}

}  // namespace eddy::lb
