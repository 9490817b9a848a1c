#include "lab/world/flow_waits.h"

#include <algorithm>
#include <atomic>

#include "net/assert.h"

namespace eddy::lab {

void ItemNews::add(const ItemEnds& more) {
  const auto same = std::ranges::find(ends, more.item, &ItemEnds::item);
  if (same == ends.end()) return ends.push_back(more);
  same->flows += more.flows;
  same->last = std::max(same->last, more.last);
}

FlowWaits::FlowWaits(std::span<const Flow> flows, const Waits& waits, size_t queue_pairs,
                     Duration word)
    : word_(word) {
  if (waits.empty()) return;
  needs_.resize(flows.size());
  for (const FlowWait& wait : waits.flows) {
    const bool there = wait.what == FlowWait::For::arrival
                           ? flows[wait.on].destination == flows[wait.flow].source
                           : flows[wait.on].source == flows[wait.flow].source;
    ASSERT(there && wait.on < wait.flow);
    ++needs_[wait.flow];
  }
  for (const Flow& flow : flows)
    ends_left_.push_back(
        static_cast<uint16_t>(std::min(static_cast<int64_t>(queue_pairs), flow.size.count())));
  arrivals_ = lists_of(waits.flows, FlowWait::For::arrival, flows.size());
  departures_ = lists_of(waits.flows, FlowWait::For::departure, flows.size());
  hold_items(flows, waits.items);
}

FlowWaits::Lists FlowWaits::lists_of(std::span<const FlowWait> waits, FlowWait::For what,
                                     size_t flows) {
  Lists lists;
  lists.begin.resize(flows + 1);
  for (const FlowWait& wait : waits)
    if (wait.what == what) ++lists.begin[wait.on + 1];
  for (size_t i = 0; i < flows; ++i) lists.begin[i + 1] += lists.begin[i];
  lists.all.resize(lists.begin.back());
  std::vector<uint32_t> next(lists.begin.begin(), lists.begin.end() - 1);
  for (const FlowWait& wait : waits)
    if (wait.what == what) lists.all[next[wait.on]++] = wait.flow;
  return lists;
}

// Flows that wait for flows follow those of their item that do not.
void FlowWaits::hold_items(std::span<const Flow> flows, std::span<const ItemWait> waits) {
  size_t items = 0;
  for (const ItemWait& wait : waits)
    items = std::max<size_t>(items, std::max(wait.item, wait.after) + 1);
  for (const Flow& flow : flows) items = std::max<size_t>(items, flow.traffic + 1);
  awaited_of_item_.assign(items, kNoItem);
  for (const ItemWait& wait : waits) {
    uint16_t& number = awaited_of_item_[wait.after];
    if (number == kNoItem) {
      number = static_cast<uint16_t>(awaited_.size());
      awaited_.emplace_back();
    }
    Held held{.pause = wait.pause, .flows = {}};
    for (uint32_t i = 0; i < flows.size(); ++i)
      if (flows[i].traffic == wait.item && needs_[i] == 0) held.flows.push_back(i);
    awaited_[number].held.push_back(std::move(held));
  }
  for (const Flow& flow : flows) {
    item_of_.push_back(awaited_of_item_[flow.traffic]);
    if (item_of_.back() == kNoItem) continue;
    ++awaited_[item_of_.back()].left;
    ++awaited_[item_of_.back()].unseen;
  }
}

void FlowWaits::arrive(uint32_t flow, Instant now, std::vector<uint32_t>& ready, ItemNews& news) {
  if (--ends_left_[flow] != 0) return;
  for (const uint32_t follower : arrivals_.of(flow)) count_down(follower, ready);
  if (item_of_[flow] == kNoItem) return;
  Awaited& awaited = awaited_[item_of_[flow]];
  news.add({.item = item_of_[flow], .flows = 1, .last = now});
  // Flows of one item arrive on several threads.
  if (std::atomic_ref(awaited.unseen).fetch_sub(1, std::memory_order_relaxed) == 1)
    news.item_ended = true;
}

bool FlowWaits::may_hear(std::span<const ItemEnds> ends) const {
  std::vector<uint64_t> told(awaited_.size());
  return std::ranges::all_of(ends, [&](const ItemEnds& each) {
    return each.item < told.size() && (told[each.item] += each.flows) <= awaited_[each.item].left;
  });
}

std::vector<Release> FlowWaits::hear(std::span<const ItemEnds> ends) {
  std::vector<Release> releases;
  for (const ItemEnds& told : ends) {
    Awaited& awaited = awaited_[told.item];
    ASSERT(told.flows <= awaited.left);
    awaited.left -= told.flows;
    awaited.last = std::max(awaited.last, told.last);
  }
  for (Awaited& awaited : awaited_) {
    if (awaited.left != 0) continue;
    for (const Held& held : awaited.held)
      for (const uint32_t flow : held.flows)
        releases.push_back({awaited.last + word_ + held.pause, flow});
    awaited.held.clear();
  }
  return releases;
}

}  // namespace eddy::lab
