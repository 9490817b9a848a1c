// Partition: its nodes come from another partition or go over to one, and other threads run it.
#include <algorithm>

#include "lab/world/partition.h"

namespace eddy::lab {

// Of a frame that goes the whole way, what is left of it as others know it: it leaves, or arrives.
template <class Queue>
Event Partition<Queue>::divided(const Event& whole_way, Instant now) {
  Event event = whole_way;
  event.kind = has_left(whole_way, now) ? kArrival : kSent;
  if (event.kind == kArrival)
    ++counts_.events;
  else
    event.at = whole_way.at - nodes_.lines[whole_way.target].delay;
  return event;
}

template <class Queue>
uint64_t Partition<Queue>::half_counted(Instant now) const {
  uint64_t events = 0;
  if constexpr (!kWhole) {
    const auto count = [&](const Event& event) {
      events += event.kind == kWholeWay && has_left(event, now) ? 1 : 0;
    };
    queue_.for_each(count);
    post_->for_each(number_, count);
  }
  return events;
}

template <class Queue>
void Partition<Queue>::take_over(Instant now) {
  now_ = now;
  if constexpr (kWhole) {
    for (const Instant at : agenda_->instants()) plan_action(at);
  } else {
    next_flow_ = static_cast<size_t>(
        std::lower_bound(flows_.begin(), flows_.end(), book_.timed_started()) - flows_.begin());
    releases_.clear();
  }
  plan_start();
  for (const uint32_t node : members_) wakes_.set(place_of(node), nodes_.wake_at(node));
  connect_switches();
}

template <class Queue>
void Partition<Queue>::connect_switches() {
  for (const uint32_t node : members_)
    if (nodes_.is_switch(node) && nodes_.is_here(node))
      nodes_.switches[node].io->connect(*this, *pool_, goes_by_clock());
}

template <class Queue>
void Partition<Queue>::go_to(const Tools& tools) {
  if constexpr (!kWhole) {
    if (desk_ == tools.desk) return;
    pool_ = tools.pool;
    desk_ = tools.desk;
    queue_.use(*tools.events);
    connect_switches();
  }
}

template <class Queue>
Instant Partition<Queue>::settle_lines(Instant until) {
  Instant last = Instant::long_past();
  for (const uint32_t index : members_) {
    if (!nodes_.is_switch(index) || !nodes_.is_here(index)) continue;
    const SwitchNode& node = nodes_.switches[index];
    const Instant settled =
        node.shard->settle_lines(until == Instant::never() ? until : of_switch(node, until));
    if (settled != Instant::long_past()) last = std::max(last, of_world(node, settled));
  }
  return last;
}

// The whole one polls switches for every line that becomes free: it wants to be asked for those
// that are not by now.
template <class Queue>
void Partition<Queue>::report_lines(Instant now) {
  settle_lines(now);
  for (const uint32_t index : members_) {
    if (!nodes_.is_switch(index) || !nodes_.is_here(index)) continue;
    SwitchNode& node = nodes_.switches[index];
    node.shard->report_lines(*node.io);
  }
}

template Event Partition<EventQueue>::divided(const Event&, Instant);
template uint64_t Partition<EventQueue>::half_counted(Instant) const;
template void Partition<EventQueue>::take_over(Instant);
template void Partition<EventQueue>::connect_switches();
template void Partition<EventQueue>::go_to(const Tools&);
template Instant Partition<EventQueue>::settle_lines(Instant);
template void Partition<EventQueue>::report_lines(Instant);

template Event Partition<Wheel>::divided(const Event&, Instant);
template uint64_t Partition<Wheel>::half_counted(Instant) const;
template void Partition<Wheel>::take_over(Instant);
template void Partition<Wheel>::connect_switches();
template void Partition<Wheel>::go_to(const Tools&);
template Instant Partition<Wheel>::settle_lines(Instant);
template void Partition<Wheel>::report_lines(Instant);

}  // namespace eddy::lab
