#include "switch/dataplane/object/flow_scan.h"

#include <algorithm>

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

}  // namespace

void scan_flows(const ShardContext& context, FlowScan& scan) {
  static_assert(FlowScan::kPlaces % lb::FlowPaths::kWays == 0);
  const lb::FlowPaths* flows = context.aids.flows;
  scan.row_count = 0;
  scan.places = flows == nullptr ? 0 : flows->capacity();
  scan.watched = flows == nullptr ? 0 : flows->flows();
  size_t left = FlowScan::kPlaces;
  if (scan.next < scan.places) {
    const auto add = [&](uint64_t key, const lb::FlowPath& path) {
      scan.rows[scan.row_count++] = row_of(context, key, path);
    };
    const size_t count = std::min(left, scan.places - scan.next);
    flows->for_each(scan.next, count, add);
    scan.next += count;
    left -= count;
  }
  const size_t from = scan.next - scan.places;
  const lb::FlowTableUse use = context.selector->flow_table(context.now, from, left);
  scan.scheme_places = use.places;
  scan.scheme_flows = use.used;
  scan.next += std::min(left, use.places - std::min(from, use.places));
  scan.more = scan.next < scan.places + use.places;
}

}  // namespace eddy
