#include "switch/dataplane/object/isolated_scan.h"

#include <algorithm>

#include "net/congestion/destination_tag.h"

namespace eddy {
namespace {

IsolatedRow row_of(ShardContext& context, PortId port, const HotPorts::Culprit& culprit) {
  const size_t queue = context.snapshot->isolation.classes.normal.queue.index();
  const auto& queued = context.signals(port).queued_bytes[queue];
  return {
      .tag = culprit.tag,
      .host = culprit.host,
      .leaf = context.snapshot->config.leaf,
      .port = port,
      .origin = context.snapshot->config.id,
      .named = culprit.tag == culprit.host ? IsolatedRow::Named::host : IsolatedRow::Named::flow,
      .state = culprit.told ? IsolatedRow::State::hot : IsolatedRow::State::crowded,
      .was_hot = true,
      .hot_for = context.now - culprit.since,
      .queue_bytes = queued.load(std::memory_order_relaxed)};
}

IsolatedRow row_of(const ShardContext& context, uint32_t tag, const IsolatedHost& host,
                   const HostDescription& description) {
  IsolatedRow row{
      .tag = tag,
      .host = tag,
      .leaf = description.leaf,
      .port = PortId::none(),
      .origin = host.origin,
      .state = host.hot(context.now) ? IsolatedRow::State::hot : IsolatedRow::State::cold,
      .was_hot = description.hot_since != Instant::long_past(),
      .queue_bytes = description.queue_bytes,
      .packets = host.packets,
      .flows = host.flows};
  if (row.was_hot) row.hot_for = context.now - description.hot_since;
  if (!host.described) return row;
  row.destination = description.destination;
  row.host = destination_tag(description.destination);
  row.named = host.whole ? IsolatedRow::Named::host : IsolatedRow::Named::flow;
  return row;
}

}  // namespace

void scan_isolated(ShardContext& context, const HotPorts& ports, IsolatedScan& scan) {
  constexpr size_t kOfPorts = kMaxPorts * HotPorts::kPlaces;
  const size_t places = kOfPorts + (context.isolated == nullptr ? 0 : context.isolated->places());
  const size_t end = std::min(scan.next + IsolatedScan::kPlaces, places);
  scan.row_count = 0;
  for (; scan.next < std::min(end, kOfPorts); ++scan.next) {
    const PortId port(scan.next / HotPorts::kPlaces);
    const HotPorts::Culprit& culprit = ports.of(port)[scan.next % HotPorts::kPlaces];
    if (culprit.tag != 0) scan.rows[scan.row_count++] = row_of(context, port, culprit);
  }
  if (scan.next < end)
    context.isolated->for_each(scan.next - kOfPorts, end - scan.next,
                               [&](uint32_t tag, const auto& host, const auto& description) {
                                 scan.rows[scan.row_count++] =
                                     row_of(context, tag, host, description);
                               });
  scan.next = end;
  scan.more = end < places;
}

}  // namespace eddy
