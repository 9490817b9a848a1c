#include "lab/world/world.h"

#include <algorithm>
#include <utility>

#include "net/assert.h"

namespace eddy::lab {
namespace {

constexpr int64_t kWindowsWorthTheWay = 16;  // less is not worth dividing a world for

}  // namespace

void World::run_until(Instant end) {
  advance(end, /*to_completion=*/false);
  if (stopped_ || end == Instant::never()) return;
  whole_->set_now(std::max(now(), end));
}

bool World::run_to_completion(Instant limit) {
  advance(limit, /*to_completion=*/true);
  return ranks_ == nullptr ? book_.all_ended() : ranks_->all().unended == 0;
}

// Until nothing is left that happens up to `limit`.
void World::advance(Instant limit, bool to_completion) {
  if (ranks_ != nullptr) return advance_with_others(limit, to_completion);
  while (!stopped_ && !(to_completion && book_.all_ended())) {
    const Instant at = next();
    if (at > limit || at == Instant::never()) {
      if (divided_) whole_->set_now(std::max(now(), windows_->settle_lines(limit)));
      return;
    }
    if (windows_ != nullptr && may_divide() && run_windows(limit, to_completion)) continue;
    Whole& whole = gather();
    whole.advance(std::min(at, whole.next()));  // it hears of lines that parts had no event for
  }
}

// Nobody needs to see all nodes at one instant.
bool World::may_divide() const {
  return nodes_.watcher == nullptr && nodes_.filtered == 0 && nodes_.intakes.empty() &&
         !nodes_.pool->is_withheld() && !whole_->has_touched();
}

// False: there is nothing to run in windows before the next action, or too little to begin.
bool World::run_windows(Instant limit, bool to_completion) {
  if (to_completion && book_.may_end_soon()) return false;
  const Instant after = limit == Instant::never() ? limit : limit + Duration::picoseconds(1);
  const Instant end = std::min(after, agenda_.next());
  if (!divided_) {
    if (agenda_.next() - next() < windows_->length() * kWindowsWorthTheWay) return false;
    windows_->take_over(*whole_);
    divided_ = true;
  }
  if (windows_->next() >= end) return false;
  run_divided(end, to_completion);
  settle_items();
  return true;
}

void World::run_divided(Instant end, bool to_completion) {
  windows_->run(end, to_completion);
  whole_->set_now(std::max(now(), windows_->now()));
  note_started();
}

// The book has not heard of what parts have started.
void World::note_started() {
  const uint64_t before = book_.start_instants();
  book_.note_started(now());
  start_instants_ += book_.start_instants() - before;
}

// Between two windows: an item may have ended that others wait for.
void World::settle_items() {
  if (!book_.any_wait()) return;
  ItemNews news = std::exchange(whole_->item_news(), {});
  windows_->tell_items(news);
  for (const Release& release : book_.hear(news.ends)) windows_->add_release(release);
}

// All nodes in one partition.
Whole& World::gather() {
  if (divided_) {
    divided_ = false;
    windows_->hand_over(*whole_);
  }
  return *whole_;
}

void World::at(Instant when, Agenda::Action action) {
  ASSERT(when >= now());
  agenda_.add(when, std::move(action));
  if (!divided_) whole_->plan_action(when);
}

void World::at_host(Instant when, Agenda::Action action) {
  ASSERT(when >= now());
  agenda_.add(when, std::move(action), /*shared=*/false);
  if (!divided_) whole_->plan_action(when);
}

void World::poll(size_t switch_index) {
  gather().poll(static_cast<uint32_t>(switch_index));
}

void World::nudge(size_t switch_index) {
  gather().take_part(static_cast<uint32_t>(switch_index));
}

void World::keep_whole() {
  ASSERT(!divided_ && ranks_ == nullptr);
  windows_.reset();
}

void World::set_link(uint32_t line, bool up) {
  Whole& whole = gather();
  for (const uint32_t each : {line, reverse(line)}) {
    Line& of = nodes_.lines[each];
    of.up = up;
    if (!nodes_.is_switch(of.from) || !nodes_.is_here(of.from)) continue;
    nodes_.switches[of.from].io->change_link(of.from_port, up);
    whole.touch(of.from);
  }
}

void World::set_filter(uint32_t line, LineFilter* filter) {
  Line& of = nodes_.lines[line];
  nodes_.filtered -= of.filtered ? 1 : 0;
  nodes_.filters[line] = filter;
  of.filtered = filter != nullptr;
  nodes_.filtered += of.filtered ? 1 : 0;
}

void World::inject(uint32_t line, Packet* packet) {
  packet->sent_at = now();
  gather().send(line, packet, false);
}

void World::set_host_rate(size_t host, BitRate rate) {
  nodes_.hosts[host].rate = LineRate(rate);
}

void World::set_intake(size_t host, Intake* intake) {
  std::erase(nodes_.intakes, nodes_.hosts[host].intake);
  nodes_.hosts[host].intake = intake;
  if (intake != nullptr) nodes_.intakes.push_back(intake);
}

void World::deliver(size_t host, Packet* packet) {
  gather().deliver(static_cast<uint32_t>(nodes_.first_host + host), packet);
}

PacketPool& World::pool() {
  if (windows_ != nullptr) windows_->settle_pools();
  return *nodes_.pool;
}

uint32_t World::line_of(size_t switch_index, PortId port) const {
  return static_cast<uint32_t>(first_line_[switch_index] + port.index());
}

uint32_t World::line_of_host(size_t host) const {
  return static_cast<uint32_t>(nodes_.lines.size() - nodes_.hosts.size() + host);
}

}  // namespace eddy::lab
