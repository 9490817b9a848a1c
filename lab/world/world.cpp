#include "lab/world/world.h"

#include <rte_prefetch.h>

#include <algorithm>
#include <utility>

#include "net/assert.h"

namespace eddy::lab {
namespace {

constexpr Duration kBlankRetry = Duration::microseconds(1);

}  // namespace

void World::run_until(Instant end) {
  for (;;) {
    const Instant at = std::min(queue_->next(), wakes_->next());
    if (at > end || stopped_) break;
    advance(at);
  }
  if (stopped_) return;
  if (end != Instant::never()) now_ = std::max(now_, end);
}

bool World::run_to_completion(Instant limit) {
  while (!book_.all_ended()) {
    const Instant at = std::min(queue_->next(), wakes_->next());
    if (at > limit || at == Instant::never() || stopped_) return false;
    advance(at);
  }
  return true;
}

// One instant: all its events, then a turn for every node that they touched.
void World::advance(Instant at) {
  ASSERT(at >= now_);
  now_ = at;
  constexpr int kRounds = 1'000;  // more means that a node asks for the present for ever
  int round = 0;
  do {
    ASSERT(round++ < kRounds);
    for (; queue_->due(at); ++counts_.events)
      dispatch(queue_->pop([this](const Event& soon) { prefetch(soon); }));
    while (const auto node = wakes_->pop_due(at)) wake(*node);
    take_turns();
  } while (queue_->due(at) || wakes_->has_due(at));
  if (watcher_ != nullptr) [[unlikely]]
    watcher_->on_instant();
}

// The line and, where the frame will be read, its lines.
inline void World::prefetch(const Event& event) const {
  rte_prefetch0(&lines_[event.target]);
  if (event.kind == kArrival) PacketPool::prefetch(event.packet);
}

inline void World::dispatch(const Event& event) {
  if (event.kind <= kSentLast) return leave(event);
  if (event.kind == kArrival) return arrive(event);
  event.kind == kFlowStart ? start_flows() : run_action(event.target);
}

inline void World::touch(uint32_t node) {
  if (options_.poll_model == config::PollModel::busy_poll && is_switch(node))
    return wake_at(node, switches_[node].wake_at, grid_from(node, now_ + Duration::picoseconds(1)));
  take_part(node);
}

// Wires: the shard or the NIC has put a frame on its line.
void World::send(uint32_t index, Packet* packet, bool last) {
  ++lines_[index].entered;
  tell(index, Watcher::Step::entered, *packet);
  const uint32_t from = lines_[index].from;
  const Instant sent_at =
      is_switch(from) ? of_world(switches_[from], packet->sent_at) : packet->sent_at;
  const Instant at = std::max(sent_at, now_);
  queue_->push({at, packet, index, last ? kSentLast : kSent}, at - now_);
}

// The last bit has left: the frame flies, the sender may go on.
inline void World::leave(const Event& event) {
  Line& line = lines_[event.target];
  if (line.up && !line.filtered) [[likely]]
    queue_->push({now_ + line.delay, event.packet, event.target, kArrival}, line.delay);
  else
    leave_filtered(line, event);
  if (event.kind != kSentLast) return;
  if (is_switch(line.from)) {
    switches_[line.from].io->complete(line.from_port);
    return touch(line.from);
  }
  host_at(line.from).line_busy = false;
  take_part(line.from);
}

void World::leave_filtered(Line& line, const Event& event) {
  LineFilter::Verdict verdict{.lose = !line.up};
  if (line.up) verdict = filters_[event.target]->judge(event.target, *event.packet, now_);
  if (verdict.lose) return lose(line, event.packet);
  const Instant at = now_ + line.delay + verdict.extra_delay;
  queue_->push_odd({at, event.packet, event.target, kArrival});
  if (!verdict.duplicate) return;
  Packet* copy = pool_->get();
  if (copy == nullptr) return;
  PacketPool::copy(*event.packet, *copy);
  ++line.entered;
  tell(event.target, Watcher::Step::entered, *copy);
  queue_->push_odd({at, copy, event.target, kArrival});
}

void World::lose(Line& line, Packet* packet) {
  ++line.lost;
  tell(static_cast<uint32_t>(&line - lines_.data()), Watcher::Step::lost, *packet);
  pool_->put(packet);
}

inline void World::arrive(const Event& event) {
  Line& line = lines_[event.target];
  if (!line.up) [[unlikely]]
    return lose(line, event.packet);
  ++line.delivered;
  ++counts_.packet_hops;
  tell(event.target, Watcher::Step::delivered, *event.packet);
  if (is_switch(line.to)) {
    switches_[line.to].io->arrive(line.to_port, event.packet);
    return touch(line.to);
  }
  HostNode& host = host_at(line.to);
  if (host.intake != nullptr) [[unlikely]]
    return host.intake->take(event.packet);
  host.nic->receive(*event.packet, now_);
  pool_->put(event.packet);
  take_part(line.to);
}

void World::deliver(size_t host, Packet* packet) {
  hosts_[host].nic->receive(*packet, now_);
  pool_->put(packet);
  take_part(static_cast<uint32_t>(first_host_ + host));
}

// All flows that start now; then the next start is waited for.
void World::start_flows() {
  book_.start_due(now_, [this](uint32_t host, uint32_t qpn, Instant) {
    hosts_[host].nic->start(qpn, now_);
    touch(static_cast<uint32_t>(first_host_ + host));
  });
  if (book_.next_start() != Instant::never())
    queue_->push_odd({book_.next_start(), nullptr, 0, kFlowStart});
}

void World::wake(uint32_t node) {
  if (is_switch(node)) {
    switches_[node].wake_at = Instant::never();
  } else {
    host_at(node).wake_at = Instant::never();
    host_at(node).due = true;
  }
  take_part(node);
}

// The node's one deadline, moved forward if `at` is earlier.
void World::wake_at(uint32_t node, Instant& planned, Instant at) {
  if (at >= planned) return;
  planned = at;
  wakes_->set(node, at);
}

// The first point of the switch's polling grid that is not before `from`, with its jitter.
Instant World::grid_from(uint32_t node, Instant from) {
  SwitchNode& of = switches_[node];
  const int64_t period = options_.poll_period.ps();
  const int64_t offset = of.grid_offset.ps();
  const int64_t points = (from.ps() - offset + period - 1) / period;
  const int64_t jitter = options_.poll_jitter.ps();
  const int64_t late =
      jitter == 0 ? 0 : static_cast<int64_t>(of.jitter.next64() % static_cast<uint64_t>(jitter));
  return std::max(Instant::at(Duration::picoseconds(offset + points * period + late)), from);
}

void World::take_turns() {
  // A turn can touch no other node at this instant: frames take time to leave.
  for (const uint32_t node : touched_) {
    is_touched_[node] = 0;
    if (is_switch(node))
      turn_switch(node);
    else
      turn_host(node);
    if (watcher_ != nullptr) [[unlikely]]
      watcher_->on_turn(node);
  }
  touched_.clear();
}

void World::turn_switch(uint32_t index) {
  SwitchNode& node = switches_[index];
  if (node.stalled_until > now_ || is_put_off(index)) [[unlikely]]
    return wake_at(index, node.wake_at, node.stalled_until);
  poll(index);
  Instant deadline = deadline_of(index);
  if (deadline == node.wake_at) [[likely]]
    return;
  if (options_.poll_model == config::PollModel::busy_poll && deadline != Instant::never())
    deadline = grid_from(index, std::max(deadline, now_ + Duration::picoseconds(1)));
  node.wake_at = deadline;
  wakes_->set(index, deadline);
}

// A fault site: the switch is polled within `latest`, and then for sure.
inline bool World::is_put_off(uint32_t index) {
  SwitchNode& node = switches_[index];
  if (node.stalled_until == now_ || !sites_.fires(FaultSite::poll_late)) return false;
  node.stalled_until = now_ + options_.latest / 2;
  return true;
}

inline Instant World::deadline_of(uint32_t index) {
  SwitchNode& node = switches_[index];
  if (node.io->waiting() != 0) return now_;
  const Instant deadline = of_world(node, node.shard->next_deadline());
  if (deadline <= now_ || deadline == Instant::never()) return deadline;
  if (!sites_.fires(FaultSite::timers_together)) return deadline;
  const int64_t step = (options_.latest / 2).ps() + 1;
  return Instant::at(Duration::picoseconds((deadline.ps() + step - 1) / step * step));
}

void World::poll(size_t index) {
  SwitchNode& node = switches_[index];
  node.io->begin(now_);
  node.shard->poll(*node.io, of_switch(node, now_));
  node.io->end();
  ++counts_.polls;
  if (kHasFaultSites && options_.rebase_every != 0 && counts_.polls % options_.rebase_every == 0)
    move_clock(node);
}

void World::move_clock(SwitchNode& node) {
  const Rebase rebase(node.rebased ? Rebase::Way::back : Rebase::Way::forward);
  node.object->rebase(rebase);
  node.clock_ahead -= rebase.back();
  node.rebased = !node.rebased;
}

void World::turn_host(uint32_t index) {
  HostNode& host = host_at(index);
  host::Nic& nic = *host.nic;
  ++counts_.host_turns;
  if (std::exchange(host.due, false)) nic.on_timers(now_);
  if (!host.line_busy) transmit(host);
  if (!nic.completions().empty()) [[unlikely]] {
    for (const host::Completion& completion : nic.completions()) book_.finish(completion);
    nic.clear_completions();
  }
  const Instant deadline =
      host.blank_missing ? std::min(nic.next_deadline(), now_ + kBlankRetry) : nic.next_deadline();
  if (deadline == host.wake_at) return;
  host.wake_at = deadline;
  wakes_->set(index, deadline);
}

void World::transmit(HostNode& host) {
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
}

void World::at(Instant when, std::function<void(World&)> action) {
  ASSERT(when >= now_);
  if (spare_actions_.empty()) {
    spare_actions_.push_back(static_cast<uint32_t>(actions_.size()));
    actions_.emplace_back();
  }
  const uint32_t place = spare_actions_.back();
  spare_actions_.pop_back();
  actions_[place] = std::move(action);
  queue_->push_odd({when, nullptr, place, kAction});
}

// Its place is free before it runs, since it may plan another.
void World::run_action(uint32_t place) {
  const auto action = std::move(actions_[place]);
  spare_actions_.push_back(place);
  action(*this);
}

void World::set_link(uint32_t line, bool up) {
  for (const uint32_t each : {line, reverse_[line]}) {
    lines_[each].up = up;
    if (!is_switch(lines_[each].from)) continue;
    switches_[lines_[each].from].io->change_link(lines_[each].from_port, up);
    touch(lines_[each].from);
  }
}

void World::set_filter(uint32_t line, LineFilter* filter) {
  filters_[line] = filter;
  lines_[line].filtered = filter != nullptr;
}

void World::inject(uint32_t line, Packet* packet) {
  packet->sent_at = now_;
  send(line, packet, false);
}

void World::set_host_rate(size_t host, BitRate rate) {
  hosts_[host].rate = LineRate(rate);
}

void World::set_intake(size_t host, Intake* intake) {
  std::erase(intakes_, hosts_[host].intake);
  hosts_[host].intake = intake;
  if (intake != nullptr) intakes_.push_back(intake);
}

uint32_t World::line_of(size_t switch_index, PortId port) const {
  return static_cast<uint32_t>(first_line_[switch_index] + port.index());
}

uint32_t World::line_of_host(size_t host) const {
  return static_cast<uint32_t>(lines_.size() - hosts_.size() + host);
}

}  // namespace eddy::lab
