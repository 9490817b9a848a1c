#include "lab/world/partition.h"

#include <rte_prefetch.h>

#include <algorithm>
#include <atomic>
#include <utility>

#include "net/assert.h"

namespace eddy::lab {
namespace {

constexpr Duration kBlankRetry = Duration::microseconds(1);

}  // namespace

template <class Queue>
void Partition<Queue>::reserve_lanes(std::span<const Bytes> lengths) {
  if constexpr (kWhole) {
    for (const Line& line : nodes_.lines)
      if (line.up) queue_.reserve_lane(line.delay);
    for (size_t line = 0; line < nodes_.lines.size(); ++line) {
      if (!nodes_.lines[line].up) continue;
      for (const Bytes length : lengths) queue_.reserve_lane(nodes_.rates[line].time_of(length));
    }
  }
}

template <class Queue>
Instant Partition<Queue>::run_window(Instant start, Instant end) {
  if constexpr (!kWhole) {
    if (was_busy()) ask_for_lines();
    queue_.open(start, end, [](const Event& own) {
      if (own.packet != nullptr) PacketPool::prefetch(own.packet);
    });
  }
  take_post();
  for (;;) {
    const Instant event_at = queue_.next();
    const Instant wake_at = wakes_.next();
    const Instant at = std::min(event_at, wake_at);
    if (at >= end) {
      if constexpr (!kWhole) queue_.close();
      return at;
    }
    if (event_at < wake_at ? !advance_alone(at) : !wake_alone(at)) [[unlikely]]
      advance(at);
  }
}

// A window comes to nodes that other partitions have driven out of the cache since their last one.
// What its first events touch, one line behind the other, comes together, and while frames are
// taken from the post.
template <class Queue>
void Partition<Queue>::ask_for_lines() const {
  for (const uint32_t node : members_)
    nodes_.is_switch(node) ? nodes_.switches[node].shard->ask_for_lines()
                           : nodes_.host_at(node).nic->ask_for_lines();
  for (const uint32_t node : members_)
    if (!nodes_.is_switch(node)) nodes_.host_at(node).nic->ask_for_queue_pairs();
}

template <class Queue>
void Partition<Queue>::take_post() {
  if constexpr (!kWhole) {
    post_->take(*desk_, number_, [this](const Event& arrival) {
      PacketPool::prefetch(arrival.packet);
      queue_.push(arrival);
    });
  }
}

template <class Queue>
void Partition<Queue>::advance(Instant at) {
  ASSERT(at >= now_);
  now_ = at;
  constexpr int kRounds = 1'000;  // more means that a node asks for the present for ever
  int round = 0;
  do {
    ASSERT(round++ < kRounds);
    while (queue_.due(at)) {
      const uint32_t node = handle(queue_.pop([this](const Event& soon) { prefetch(soon); }));
      if (node != kNobody) take_part(node);
    }
    while (const auto place = wakes_.pop_due(at)) wake(members_[*place]);
    take_turns();
  } while (queue_.due(at) || wakes_.has_due(at));
  if constexpr (kWhole)
    if (nodes_.watcher != nullptr) [[unlikely]]
      nodes_.watcher->on_instant();
}

// What most instants of a part are: one event, and a turn of the node that it concerns; no timer.
// False: there is more, and the turn is yet to be taken.
template <class Queue>
inline bool Partition<Queue>::advance_alone(Instant at) {
  ASSERT(at >= now_);
  now_ = at;
  const Event event = queue_.pop([this](const Event& soon) { prefetch(soon); });
  const bool is_usual = event.kind == kWholeWay || event.kind == kFree;
  if (!kWhole && is_usual && !queue_.due(at)) [[likely]] {
    take_alone(event);
    return true;
  }
  const Event other = event;  // so that the usual one is in no memory
  const uint32_t node = handle(other);
  if (node != kNobody) take_part(node);
  return false;
}

// The event and the turn for it in one.
template <class Queue>
inline void Partition<Queue>::take_alone(const Event& event) {
  Line& line = nodes_.lines[event.target];
  uint32_t node = line.from;
  PortId port = line.from_port;
  if (event.kind != kFree) {  // whose packet is null
    counts_.events += 2;
    if (!reaches_end(line, event.target, event.packet)) [[unlikely]]
      return;
    node = line.to;
    port = line.to_port;
  }
  if (nodes_.is_switch(node)) [[likely]]
    return turn_alone(node, port, event.packet);
  if (event.packet != nullptr)
    bring_to_host(node, event.packet);
  else
    nodes_.host_at(node).line_busy = false;
  turn_host(node);
}

// The same of a timer.
template <class Queue>
inline bool Partition<Queue>::wake_alone(Instant at) {
  ASSERT(at >= now_);
  now_ = at;
  const uint32_t node = members_[*wakes_.pop_due(at)];
  if (wakes_.has_due(at) || queue_.due(at) || !touched_.empty()) [[unlikely]] {
    wake(node);
    return false;
  }
  note_due(node);
  take_turn(node);
  return true;
}

// The line and, where the frame will be read, its lines.
template <class Queue>
inline void Partition<Queue>::prefetch(const Event& event) const {
  rte_prefetch0(&nodes_.lines[event.target]);
  if (event.kind == kArrival || event.kind == kWholeWay) PacketPool::prefetch(event.packet);
}

// Returns the node that takes a turn for it.
template <class Queue>
inline uint32_t Partition<Queue>::handle(const Event& event) {
  if (event.kind == kFree) return end_frame(nodes_.lines[event.target]);
  if constexpr (kWhole) return handle_any(event);
  if (event.kind != kWholeWay) [[unlikely]]
    return handle_rare(event);
  counts_.events += 2;
  return arrive(event);
}

// Of a part: it comes from the whole, or it is no frame's. Apart, because of the registers that it
// takes.
template <class Queue>
uint32_t Partition<Queue>::handle_rare(const Event& event) {
  return handle_any(event);
}

template <class Queue>
inline uint32_t Partition<Queue>::handle_any(const Event& event) {
  if (event.kind == kFlowStart) [[unlikely]] {
    start_flows();
    return kNobody;
  }
  ++counts_.events;
  if (event.kind <= kSentLast) return leave(event);
  if constexpr (kWhole) {
    if (event.kind == kAction) [[unlikely]] {
      agenda_->run_next();
      return kNobody;
    }
  }
  return arrive(event);
}

// Who takes a turn now, since something concerns the node: with busy polling it does so later.
template <class Queue>
inline uint32_t Partition<Queue>::touched(uint32_t node) {
  return is_busy_polled(node) ? touched_later(node) : node;
}

template <class Queue>
uint32_t Partition<Queue>::touched_later(uint32_t node) {
  wake_at(node, nodes_.switches[node].wake_at, grid_from(node, now_ + Duration::picoseconds(1)));
  return kNobody;
}

// Wires: the shard or the NIC has put a frame on its line.
template <class Queue>
uint16_t Partition<Queue>::send(uint32_t index, Packet* packet, bool last) {
  Line& line = nodes_.lines[index];
  ++nodes_.ends[index].entered;
  tell(index, Watcher::Step::entered, *packet);
  const Instant sent_at = nodes_.is_switch(line.from)
                              ? of_world(nodes_.switches[line.from], packet->sent_at)
                              : packet->sent_at;
  const Instant at = std::max(sent_at, now_);
  if constexpr (!kWhole) {
    if (line.up) [[likely]] {
      if (last) queue_.push({at, nullptr, index, kFree});
      fly(line, {at + line.delay, packet, index, kWholeWay});
      return 1;
    }
  }
  queue_.push({at, packet, index, last ? kSentLast : kSent}, at - now_);
  return 1;
}

template <class Queue>
void Partition<Queue>::await(uint32_t index, Instant at) {
  const Instant free_at = of_world(nodes_.switches[nodes_.lines[index].from], at);
  queue_.push_odd({std::max(free_at, now_), nullptr, index, kFree});
}

// The last bit has left: the frame flies, the sender may go on.
template <class Queue>
inline uint32_t Partition<Queue>::leave(const Event& event) {
  Line& line = nodes_.lines[event.target];
  if (line.up && !line.filtered) [[likely]]
    fly(line, {now_ + line.delay, event.packet, event.target, kArrival});
  else
    leave_odd(line, event);
  return event.kind == kSentLast ? end_frame(line) : kNobody;
}

// The line is free.
template <class Queue>
inline uint32_t Partition<Queue>::end_frame(const Line& line) {
  if (!nodes_.is_switch(line.from)) {
    nodes_.host_at(line.from).line_busy = false;
    return line.from;
  }
  nodes_.switches[line.from].io->complete(line.from_port);
  return touched(line.from);
}

template <class Queue>
inline void Partition<Queue>::fly(const Line& line, Event arrival) {
  if constexpr (!kWhole)
    if (line.to_partition != number_) return desk_->send(line.to_partition, arrival);
  queue_.push(arrival, line.delay);
}

// The line is down, or a filter sees its frames.
template <class Queue>
void Partition<Queue>::leave_odd(Line& line, const Event& event) {
  if (!line.up) return lose(line, event.packet);
  ASSERT(kWhole);
  const LineFilter::Verdict verdict =
      nodes_.filters[event.target]->judge(event.target, *event.packet, now_);
  if (verdict.lose) return lose(line, event.packet);
  const Instant at = now_ + line.delay + verdict.extra_delay;
  queue_.push_odd({at, event.packet, event.target, kArrival});
  if (!verdict.duplicate) return;
  Packet* copy = pool_->get();
  if (copy == nullptr) return;
  PacketPool::copy(*event.packet, *copy);
  ++nodes_.ends[event.target].entered;
  tell(event.target, Watcher::Step::entered, *copy);
  queue_.push_odd({at, copy, event.target, kArrival});
}

template <class Queue>
void Partition<Queue>::lose(const Line& line, Packet* packet) {
  const auto index = static_cast<uint32_t>(&line - nodes_.lines.data());
  // Frames of one line may be lost at both ends in one window.
  std::atomic_ref(nodes_.lost[index]).fetch_add(1, std::memory_order_relaxed);
  tell(index, Watcher::Step::lost, *packet);
  pool_->put(packet);
}

template <class Queue>
inline uint32_t Partition<Queue>::arrive(const Event& event) {
  Line& line = nodes_.lines[event.target];
  if (!reaches_end(line, event.target, event.packet)) [[unlikely]]
    return kNobody;
  if (nodes_.is_switch(line.to)) {
    nodes_.switches[line.to].io->arrive(line.to_port, event.packet);
    return touched(line.to);
  }
  return bring_to_host(line.to, event.packet);
}

// False: the line is down.
template <class Queue>
inline bool Partition<Queue>::reaches_end(Line& line, uint32_t index, Packet* packet) {
  if (!line.up) [[unlikely]] {
    lose(line, packet);
    return false;
  }
  ++nodes_.ends[line.back].delivered;
  ++counts_.packet_hops;
  tell(index, Watcher::Step::delivered, *packet);
  return true;
}

template <class Queue>
inline uint32_t Partition<Queue>::bring_to_host(uint32_t node, Packet* packet) {
  HostNode& host = nodes_.host_at(node);
  if constexpr (kWhole) {
    if (host.intake != nullptr) [[unlikely]] {
      host.intake->take(packet);
      return kNobody;
    }
  }
  host.nic->receive(*packet, now_);
  pool_->put(packet);
  return node;
}

template <class Queue>
void Partition<Queue>::deliver(uint32_t node, Packet* packet) {
  nodes_.host_at(node).nic->receive(*packet, now_);
  pool_->put(packet);
  take_part(node);
}

// All flows that start now; then the next start is waited for. More than one event may stand for
// one instant.
template <class Queue>
void Partition<Queue>::start_flows() {
  if (!start_due()) return;
  if constexpr (kWhole) ++counts_.events;
  plan_start();
}

// The whole one tells the book. False: there is none.
template <class Queue>
bool Partition<Queue>::start_due() {
  const auto start = [this](uint32_t host, uint32_t qpn, Instant) {
    if (kWhole && !nodes_.is_here(nodes_.first_host + host)) return;
    nodes_.hosts[host].nic->start(qpn, now_);
    nodes_.hosts[host].departs = book_.awaits_departure(host);
    touch(nodes_.first_host + host);
  };
  if constexpr (kWhole) {
    if (book_.next_start() > now_) return false;
    book_.start_due(now_, start);
    return true;
  } else {
    const size_t before = next_flow_;
    for (; next_flow_ < flows_.size() && book_.flows()[flows_[next_flow_]].start <= now_;
         ++next_flow_)
      book_.start_one(flows_[next_flow_], start);
    const auto later = std::ranges::find_if(
        releases_, [this](const Release& release) { return release.at > now_; });
    for (auto at = releases_.begin(); at != later; ++at) book_.start_one(at->flow, start);
    releases_.erase(releases_.begin(), later);
    return next_flow_ != before;
  }
}

template <class Queue>
void Partition<Queue>::plan_start() {
  Instant at = Instant::never();
  if constexpr (kWhole)
    at = book_.next_start();
  else if (next_flow_ < flows_.size())
    at = book_.flows()[flows_[next_flow_]].start;
  if (at != Instant::never()) queue_.push_odd({at, nullptr, 0, kFlowStart});
}

template <class Queue>
void Partition<Queue>::wake(uint32_t node) {
  note_due(node);
  take_part(node);
}

template <class Queue>
inline void Partition<Queue>::note_due(uint32_t node) {
  nodes_.wake_at(node) = Instant::never();
  if (!nodes_.is_switch(node)) nodes_.host_at(node).due = true;
}

// The node's one deadline, moved forward if `at` is earlier.
template <class Queue>
void Partition<Queue>::wake_at(uint32_t node, Instant& planned, Instant at) {
  if (at >= planned) return;
  planned = at;
  wakes_.set(place_of(node), at);
}

// The first point of the switch's polling grid that is not before `from`, with its jitter.
template <class Queue>
Instant Partition<Queue>::grid_from(uint32_t node, Instant from) {
  SwitchNode& of = nodes_.switches[node];
  const int64_t period = nodes_.options.poll_period.ps();
  const int64_t offset = of.grid_offset.ps();
  const int64_t points = (from.ps() - offset + period - 1) / period;
  const int64_t jitter = nodes_.options.poll_jitter.ps();
  const int64_t late =
      jitter == 0 ? 0 : static_cast<int64_t>(of.jitter.next64() % static_cast<uint64_t>(jitter));
  return std::max(Instant::at(Duration::picoseconds(offset + points * period + late)), from);
}

template <class Queue>
void Partition<Queue>::take_turns() {
  // A turn can touch no other node at this instant: frames take time to leave.
  for (const uint32_t node : touched_) {
    is_touched_[place_of(node)] = 0;
    take_turn(node);
    if constexpr (kWhole)
      if (nodes_.watcher != nullptr) [[unlikely]]
        nodes_.watcher->on_turn(node);
  }
  touched_.clear();
}

template <class Queue>
inline void Partition<Queue>::take_turn(uint32_t node) {
  nodes_.is_switch(node) ? turn_switch(node) : turn_host(node);
}

template <class Queue>
inline void Partition<Queue>::turn_switch(uint32_t index) {
  SwitchNode& node = nodes_.switches[index];
  if (node.stalled_until > now_ || is_put_off(index)) [[unlikely]]
    return wake_at(index, node.wake_at, node.stalled_until);
  poll_and_ask(index);
}

// Of a switch to which one thing has happened: the port has received the packet, or, with null, its
// line is free.
template <class Queue>
inline void Partition<Queue>::turn_alone(uint32_t index, PortId port, Packet* packet) {
  SwitchNode& node = nodes_.switches[index];
  if (!polls_alone_ || node.stalled_until > now_ || !node.io->is_read()) [[unlikely]]
    return turn_with(index, port, packet);
  if (is_put_off(index)) [[unlikely]] {
    bring(node, port, packet);
    return wake_at(index, node.wake_at, node.stalled_until);
  }
  const auto polled =
      node.shard->poll_alone(*node.io, of_switch(node, now_), {port, by_clock_, packet});
  if (polled == Shard::Lone::refused) [[unlikely]] {
    bring(node, port, packet);
    return poll_and_ask(index);
  }
  count_poll(node);
  if (kHasFaultSites || polled == Shard::Lone::done) [[unlikely]]
    ask_deadline(index);
}

// The same by way of all that has happened to it.
template <class Queue>
void Partition<Queue>::turn_with(uint32_t index, PortId port, Packet* packet) {
  bring(nodes_.switches[index], port, packet);
  if (const uint32_t now = touched(index); now != kNobody) turn_switch(now);
}

template <class Queue>
void Partition<Queue>::bring(SwitchNode& node, PortId port, Packet* packet) {
  if (packet != nullptr)
    node.io->arrive(port, packet);
  else
    node.io->complete(port);
}

template <class Queue>
void Partition<Queue>::poll_and_ask(uint32_t index) {
  poll_now(nodes_.switches[index]);
  ask_deadline(index);
}

template <class Queue>
inline void Partition<Queue>::ask_deadline(uint32_t index) {
  const Instant deadline = deadline_of(index);
  if (deadline != nodes_.switches[index].wake_at) [[unlikely]]
    follow_deadline(index, deadline);
}

template <class Queue>
void Partition<Queue>::follow_deadline(uint32_t index, Instant deadline) {
  if (is_busy_polled(index) && deadline != Instant::never())
    deadline = grid_from(index, std::max(deadline, now_ + Duration::picoseconds(1)));
  nodes_.switches[index].wake_at = deadline;
  wakes_.set(place_of(index), deadline);
}

// A fault site: the switch is polled within `latest`, and then for sure.
template <class Queue>
inline bool Partition<Queue>::is_put_off(uint32_t index) {
  SwitchNode& node = nodes_.switches[index];
  if (node.stalled_until == now_ || !nodes_.sites.fires(FaultSite::poll_late)) return false;
  node.stalled_until = now_ + nodes_.options.latest / 2;
  return true;
}

template <class Queue>
inline Instant Partition<Queue>::deadline_of(uint32_t index) {
  SwitchNode& node = nodes_.switches[index];
  if (node.io->has_waiting()) return now_;
  const Instant deadline = of_world(node, node.shard->next_deadline());
  if (deadline <= now_ || deadline == Instant::never()) return deadline;
  if (!nodes_.sites.fires(FaultSite::timers_together)) return deadline;
  const int64_t step = (nodes_.options.latest / 2).ps() + 1;
  return Instant::at(Duration::picoseconds((deadline.ps() + step - 1) / step * step));
}

template <class Queue>
void Partition<Queue>::turn(uint32_t node) {
  take_turn(node);
}

template <class Queue>
void Partition<Queue>::poll(uint32_t index) {
  poll_now(nodes_.switches[index]);
}

template <class Queue>
inline void Partition<Queue>::poll_now(SwitchNode& node) {
  node.io->begin(now_);
  node.shard->poll(*node.io, of_switch(node, now_));
  node.io->end();
  count_poll(node);
}

template <class Queue>
inline void Partition<Queue>::count_poll(SwitchNode& node) {
  ++counts_.polls;
  if (kHasFaultSites && nodes_.options.rebase_every != 0 &&
      ++node.polls % nodes_.options.rebase_every == 0)
    move_clock(node);
}

template <class Queue>
void Partition<Queue>::move_clock(SwitchNode& node) {
  const Rebase rebase(node.rebased ? Rebase::Way::back : Rebase::Way::forward);
  node.object->rebase(rebase);
  node.clock_ahead -= rebase.back();
  node.rebased = !node.rebased;
}

template <class Queue>
void Partition<Queue>::turn_host(uint32_t index) {
  HostNode& host = nodes_.host_at(index);
  host::Nic& nic = *host.nic;
  ++counts_.host_turns;
  if (std::exchange(host.due, false)) nic.on_timers(now_);
  if (!host.line_busy) transmit(host);
  if (!nic.completions().empty()) [[unlikely]] {
    for (const host::Completion& completion : nic.completions()) {
      if constexpr (kWhole)
        book_.finish(completion);
      else
        keep(completion);
    }
    if (book_.any_wait()) follow(host);
    nic.clear_completions();
    if (!ready_.empty()) start_ready(host);
  }
  const Instant deadline =
      host.blank_missing ? std::min(nic.next_deadline(), now_ + kBlankRetry) : nic.next_deadline();
  if (deadline == host.wake_at) return;
  host.wake_at = deadline;
  wakes_.set(place_of(index), deadline);
}

// What has arrived at the host lets flows of its own begin, at once.
template <class Queue>
[[gnu::noinline]] void Partition<Queue>::follow(const HostNode& host) {
  for (const host::Completion& completion : host.nic->completions())
    book_.arrive(completion, ready_, item_news_);
  if constexpr (kWhole) {
    if (!item_news_.item_ended || book_.is_shared()) return;
    const Instant next = book_.next_start();
    book_.hear(item_news_.ends);
    item_news_ = {};
    if (book_.next_start() < next) plan_start();
  }
}

template <class Queue>
[[gnu::noinline]] void Partition<Queue>::start_ready(HostNode& host) {
  for (const uint32_t flow : ready_)
    book_.start_late(flow, now_,
                     [&](uint32_t, uint32_t qpn, Instant) { host.nic->start(qpn, now_); });
  ready_.clear();
  host.departs = book_.awaits_departure(index_of(host));
  if (!host.line_busy) transmit(host);
}

// Flows that wait for one of this host to leave begin behind its last packet.
template <class Queue>
[[gnu::noinline]] void Partition<Queue>::note_departures(HostNode& host) {
  book_.depart(index_of(host), ready_);
  host.departs = book_.awaits_departure(index_of(host));
  if (!ready_.empty()) start_ready(host);
}

template <class Queue>
void Partition<Queue>::keep(const host::Completion& completion) {
  completions_.push_back(completion);
  awaited_ += book_.awaits(completion) ? 1 : 0;
}

template <class Queue>
void Partition<Queue>::transmit(HostNode& host) {
  Packet* blank = pool_->get();
  host.blank_missing = blank == nullptr;
  if (blank == nullptr) [[unlikely]] {
    ++counts_.blank_missing;
    return;
  }
  if (!host.nic->transmit(*blank, now_)) return pool_->put(blank);
  host.line_busy = true;
  blank->sent_at = now_ + host.rate.time_of(Bytes(blank->wire_len + host.line_overhead));
  send(host.line, blank, true);
  if (host.departs) [[unlikely]]
    note_departures(host);
}

template class Partition<EventQueue>;
template class Partition<Wheel>;

}  // namespace eddy::lab
