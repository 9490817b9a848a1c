#include "switch/dataplane/object/flow_scan.h"

#include <algorithm>

#include "lb/rlb/order_guard.h"

namespace eddy {
namespace {

FlowRow row_of(const ShardContext& context, uint64_t key, const lb::FlowPath& path) {
  const bool known = context.path_sets.size() <= lb::FlowPath::kSetTags;
  return {.flow = key & ~uint64_t{1},
          .leaf = known ? context.path_sets[path.set()].leaf : LeafId::none(),
          .set = path.set(),
          .member = path.member(),
          .wanted = path.base(),
          .guarded = path.measured(),
          .idle = path.idle(context.now)};
}

FlowRow row_of(const ShardContext& context, uint64_t hash, lb::FlowSlot slot) {
  const bool known = context.path_sets.size() <= lb::FlowSlot::kSetTags && !slot.has_many_sets();
  return {.flow = hash,
          .leaf = known ? context.path_sets[slot.set()].leaf : LeafId::none(),
          .set = slot.set(),
          .member = slot.member(),
          .guarded = !slot.mixed(),
          .slot = true,
          .shared = slot.has_many_sets(),
          .idle = slot.idle(lb::FlowSlot::time_of(context.now))};
}

size_t guard_places(const ShardContext& context) {
  if (context.aids.flows != nullptr) return context.aids.flows->capacity();
  const bool guards = lb::OrderGuard::guards_slots(context.snapshot->config.rlb);
  return guards && context.aids.slots != nullptr ? context.aids.slots->count() : 0;
}

// Flows of `count` places of the guard's table from scan.next on. Of slots those are shown that may
// have packets on the way; the rest are free.
void scan_guard(const ShardContext& context, size_t count, FlowScan& scan) {
  if (const lb::FlowPaths* flows = context.aids.flows; flows != nullptr) {
    scan.watched = scan.next == 0 ? flows->flows() : 0;
    flows->for_each(scan.next, count, [&](uint64_t key, const lb::FlowPath& path) {
      scan.rows[scan.row_count++] = row_of(context, key, path);
    });
    return;
  }
  const lb::FlowSlots& slots = *context.aids.slots;
  const Duration age = context.snapshot->config.rlb.guard.age;
  for (size_t index = scan.next; index < scan.next + count; ++index) {
    const lb::FlowSlot slot = slots[index];
    if (slot.used() && slot.idle(lb::FlowSlot::time_of(context.now)) <= age)
      scan.rows[scan.row_count++] = row_of(context, slots.first_hash(index), slot);
  }
  scan.watched = scan.row_count;
}

}  // namespace

void scan_flows(const ShardContext& context, FlowScan& scan) {
  static_assert(FlowScan::kPlaces % lb::FlowPaths::kWays == 0);
  scan.row_count = 0;
  scan.places = guard_places(context);
  scan.watched = 0;
  size_t left = FlowScan::kPlaces;
  if (scan.next < scan.places) {
    const size_t count = std::min(left, scan.places - scan.next);
    scan_guard(context, count, scan);
    scan.next += count;
    left -= count;
  }
  const size_t from = scan.next - scan.places;
  const lb::FlowTableUse use = context.selector->flow_table(context.now, from, left);
  scan.scheme_places = use.places;
  scan.scheme_flows = use.used;
  scan.phased = use.phased;
  scan.asking = use.asking;
  scan.moved = use.moved;
  scan.next += std::min(left, use.places - std::min(from, use.places));
  scan.more = scan.next < scan.places + use.places;
}

}  // namespace eddy
