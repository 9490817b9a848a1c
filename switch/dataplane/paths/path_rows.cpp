#include "switch/dataplane/paths/path_rows.h"

#include <algorithm>

#include "lb/members.h"

namespace eddy {

PathRow path_row(ShardContext& context, size_t set, lb::MemberIndex member) {
  const lb::PathSet& to = context.path_sets[set];
  const bool up = context.signals(to.members[member].port).up.load() != 0;
  PathRow row{.leaf = to.leaf, .member = member, .live = up};
  row.told = context.selector->knowledge(context.now, static_cast<uint16_t>(set), member);
  row.paused = context.signals(to.members[member].port).paused_queues;
  for (size_t queue = 0; context.warnings != nullptr && queue < kPriorities; ++queue) {
    const uint8_t severity = context.warnings->severity(set, member, QueueId(queue));
    if (severity != 0) row.warned = static_cast<uint8_t>(row.warned | 1u << queue);
    row.severity = std::max(row.severity, severity);
  }
  if (context.paths == nullptr) return row;
  const lb::PathTable& paths = *context.paths;
  const lb::PathRecord& record = paths.at(set, member);
  const auto delay = paths.delay(set, member, context.now);
  row.measured = delay.has_value();
  row.failed = lb::contains(paths.failed(set), member);
  row.failure = paths.use(set, member).failure;
  row.last = row.failed && lb::contains(context.live[set], member);
  row.delay = delay.value_or(Duration{});
  if (record.least_delay_ns != lb::PathRecord::kUnknown)
    row.least_delay = Duration::nanoseconds(record.least_delay_ns);
  row.age = record.known() ? record.age(paths.record_time(context.now)) : Duration{};
  row.marked = record.marked;
  row.congestion = record.congestion;
  row.unanswered = record.suspicion;
  return row;
}

size_t dump_paths(ShardContext& context, std::span<PathRow> rows) {
  size_t count = 0;
  for (size_t set = 0; set < context.path_sets.size(); ++set)
    for (lb::MemberIndex i = 0; i < context.path_sets[set].count && count < rows.size(); ++i)
      rows[count++] = path_row(context, set, i);
  return count;
}

}  // namespace eddy
