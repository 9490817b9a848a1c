#include "lab/world/windows.h"

#include <rte_cycles.h>

#include <algorithm>
#include <utility>

#include "net/assert.h"

namespace eddy::lab {
namespace {

// A look comes after so many of each: some 100 ms of a core.
constexpr uint64_t kWindowsALook = 16;
constexpr uint64_t kEventsALook = 1'000'000;

constexpr Bytes kUsualFrame{512};  // there is room for as many as a line then carries

size_t frames_on(const Line& line, Duration usual) {
  return static_cast<size_t>(line.delay / usual) + 2;
}

}  // namespace

Windows::Windows(Nodes& nodes, FlowBook& book, const Division& division, const Ranks* ranks)
    : nodes_(nodes),
      book_(book),
      partition_of_(division.partition_of),
      sides_(division.side_of.empty() ? 1 : 2),
      side_of_(sides_ == 2 ? division.side_of : std::vector<uint8_t>(division.partitions)),
      length_(division.window),
      level_(book.any_wait_for_items()),
      post_(division.partitions, division.threads, sides_ == 2),
      threads_(division.threads),
      told_(division.threads),
      windows_a_look_(division.windows_a_look != 0 ? division.windows_a_look : kWindowsALook),
      events_a_look_(division.windows_a_look != 0 ? 0 : kEventsALook),
      next_look_(division.threads == 1 ? UINT64_MAX : windows_a_look_),
      sharing_(division.threads),
      crew_(division.threads) {
  ASSERT(length_ > Duration{} && length_ < Duration::max());
  if (threads_.size() > 1)
    for (Thread& thread : threads_) thread.pool = std::make_unique<PacketPool>(*nodes_.pool);
  make_parts(division, ranks);
  for (uint32_t flow = 0; flow < book_.timed(); ++flow)
    if (Part* part = part_of(nodes_.first_host + book_.flows()[flow].source)) part->add_flow(flow);
  book_.divide({partition_of_.begin() + nodes_.first_host, partition_of_.end()});
}

void Windows::make_parts(const Division& division, const Ranks* ranks) {
  const size_t partitions = division.partitions;
  std::vector<std::vector<uint32_t>> members(partitions);
  nodes_.places.resize(partition_of_.size());
  for (uint32_t node = 0; node < partition_of_.size(); ++node) {
    std::vector<uint32_t>& of = members[partition_of_[node]];
    nodes_.places[node] = static_cast<uint32_t>(of.size());
    of.push_back(node);
  }
  std::vector<size_t> events(partitions), own(partitions), posted(partitions);
  for (size_t i = 0; i < nodes_.lines.size(); ++i) {
    Line& line = nodes_.lines[i];
    line.to_partition = partition_of_[line.to];
    const Duration usual = nodes_.rates[i].time_of(kUsualFrame);
    if (usual == Duration{}) continue;  // nothing is joined there
    ++events[partition_of_[line.from]];
    events[line.to_partition] += frames_on(line, usual) * sides_;
    if (partition_of_[line.from] == line.to_partition) {
      own[line.to_partition] += frames_on(line, usual);
      continue;
    }
    ASSERT(sides_ == 1 || side_of_[partition_of_[line.from]] != side_of_[line.to_partition]);
    posted[line.to_partition] += frames_on(line, usual) * sides_;
  }
  by_number_.resize(partitions);
  const auto is_here = [&](size_t i) {
    return ranks == nullptr || division.rank_of[i] == ranks->rank();
  };
  size_t most = 0;  // of any partition that a thread may get
  for (size_t i = 0; i < partitions; ++i) most = std::max(most, is_here(i) ? events[i] : 0);
  for (Thread& thread : threads_) thread.events->reserve(most);
  for (size_t i = 0; i < partitions; ++i) {
    if (!is_here(i)) continue;
    const uint16_t thread = division.thread_of[i];
    const Tools tools = tools_of(thread);
    for (size_t from = 0; from < threads_.size(); ++from)
      post_.reserve(from, i, posted[i] / threads_.size());
    parts_.push_back(std::make_unique<Part>(Part::Setup{.nodes = nodes_,
                                                        .book = book_,
                                                        .tools = tools,
                                                        .post = &post_,
                                                        .number = static_cast<uint16_t>(i),
                                                        .members = std::move(members[i])},
                                            length_ * static_cast<int64_t>(sides_), own[i],
                                            *tools.events));
    threads_[thread].parts[side_of_[i]].push_back(parts_.back().get());
    by_number_[i] = parts_.back().get();
    sharing_.add({.tier = division.tier_of[i], .turn = side_of_[i], .thread = thread});
  }
  events_seen_.resize(parts_.size());
}

Tools Windows::tools_of(size_t thread) {
  PacketPool* const own = threads_[thread].pool.get();
  return {.pool = own == nullptr ? nodes_.pool.get() : own,
          .desk = &post_.desk(thread),
          .events = threads_[thread].events.get()};
}

// All threads find the same end, since all know what all have told. While one is under way the
// others may not have begun: what they begin with changes when all have come back.
void Windows::run(Instant end, bool to_completion) {
  Passed passed{.front = {.next = next_}};
  do {
    passed = go_together(passed.front, {end, to_completion});
    count_ += passed.windows;
    if (count_ >= next_look_) look();
  } while (!passed.over);
  next_ = passed.front.next;
  finish_flows();
}

Windows::Passed Windows::go_together(const Front& front, const Goal& goal) {
  if (threads_.size() == 1) return go(0, front, goal);
  Passed passed;
  crew_.run([&](size_t thread) {
    const Passed own = go(thread, front, goal);
    if (thread == 0) passed = own;
  });
  return passed;
}

// A thread's way through the windows.
Windows::Passed Windows::go(size_t thread, Front front, Goal goal) {
  const size_t awaited = book_.awaited();
  const uint64_t until_look = next_look_ - count_;
  uint64_t count = 0;
  for (size_t side = 0;; side = other(side)) {
    const bool all_ended = goal.to_completion && front.ended[0] + front.ended[1] == awaited;
    if (side == 0 && (all_ended || front.item_ended)) goal.end = std::min(goal.end, front.reach);
    if (front.earliest() >= goal.end) return {front, count, true};
    if (side == 0 && count >= until_look) return {front, count, false};
    const Instant stop = stop_of(side, front, goal.end);
    front.reach = std::max(front.reach, stop);
    if (front.next[side] < stop) run_window(thread, side, stop, front, count++);
  }
}

// Up to where nothing can come to the side that it does not have yet: from the other one, or from
// itself by way of the other one.
Instant Windows::stop_of(size_t side, const Front& front, Instant end) const {
  const auto within = [end](Instant from, Duration length) {
    return end - from > length ? from + length : end;
  };
  if (sides_ == 1) return within(front.next[0], length_);
  if (level_) return side == 0 ? within(front.earliest(), length_) : front.reach;
  return std::min(within(front.next[other(side)], length_), within(front.next[side], length_ * 2));
}

void Windows::run_window(size_t thread, size_t side, Instant stop, Front& front, size_t number) {
  auto& mine = told_[thread].of[number % 2];
  mine = {.next = Instant::never()};
  const uint64_t begun = rte_rdtsc();
  for (Part* part : threads_[thread].parts[side]) {
    mine.next = std::min(mine.next, part->run_window(front.next[side], stop));
    mine.ended += part->awaited();
    mine.item_ended |= part->item_news().item_ended;
  }
  told_[thread].worked += rte_rdtsc() - begun;
  mine.posted = post_.desk(thread).turn();
  if (threads_.size() > 1) crew_.meet();
  front.next[side] = Instant::never();
  front.ended[side] = 0;
  for (const Told& told : told_) {
    const auto& all = told.of[number % 2];
    front.next[side] = std::min(front.next[side], all.next);
    front.next[other(side)] = std::min(front.next[other(side)], all.posted);
    front.ended[side] += all.ended;
    front.item_ended |= all.item_ended;
  }
}

// The threads wait. Which of them runs a partition is seen by nobody but a clock.
void Windows::look() {
  next_look_ = count_ + windows_a_look_;
  std::vector<uint64_t> events(parts_.size()), worked;
  uint64_t all = 0;
  for (size_t i = 0; i < parts_.size(); ++i)
    all += events[i] = parts_[i]->counts().events - events_seen_[i];
  if (all < events_a_look_) return;
  for (Told& told : told_) worked.push_back(std::exchange(told.worked, uint64_t{0}));
  for (size_t i = 0; i < parts_.size(); ++i) events_seen_[i] += events[i];
  if (sharing_.look(events, worked)) share_anew();
}

void Windows::share_anew() {
  for (Thread& thread : threads_)
    for (std::vector<Part*>& parts : thread.parts) parts.clear();
  for (size_t i = 0; i < parts_.size(); ++i) {
    const uint16_t thread = sharing_.thread_of()[i];
    threads_[thread].parts[side_of_[parts_[i]->number()]].push_back(parts_[i].get());
    parts_[i]->go_to(tools_of(thread));
  }
}

void Windows::finish_flows() {
  for (const auto& part : parts_) {
    if (part->completions().empty()) [[likely]]
      continue;
    for (const host::Completion& completion : part->completions()) book_.finish(completion);
    part->clear_completions();
  }
}

void Windows::tell_items(ItemNews& news) {
  for (const auto& part : parts_) {
    for (const ItemEnds& each : part->item_news().ends) news.add(each);
    news.item_ended |= part->item_news().item_ended;
    part->item_news() = {};
  }
}

// It is no earlier than the next window: word takes as long as a window at least.
void Windows::add_release(const Release& release) {
  Part* part = part_of(nodes_.first_host + book_.flows()[release.flow].source);
  if (part == nullptr) return;
  ASSERT(release.at > part->now());
  part->add_release(release);
  bring_forward(nodes_.first_host + book_.flows()[release.flow].source, release.at);
}

void Windows::bring_forward(uint32_t node, Instant at) {
  Instant& next = next_[side_of_[partition_of_[node]]];
  next = std::min(next, at);
}

Instant Windows::now() const {
  Instant now;
  for (const auto& part : parts_) now = std::max(now, part->now());
  return now;
}

void Windows::add_counts(WorldCounts& counts, Instant now) const {
  for (const auto& part : parts_) {
    counts.events += part->counts().events + part->half_counted(now);
    counts.packet_hops += part->counts().packet_hops;
    counts.polls += part->counts().polls;
    counts.host_turns += part->counts().host_turns;
    counts.blank_missing += part->counts().blank_missing;
  }
  counts.events += left_;
}

// A frame that has not left belongs to its sender, one that flies to its receiver.
void Windows::take_frame(const Event& event) {
  const Line& line = nodes_.lines[event.target];
  if (Part* part = part_of(Whole::is_flying(event) ? line.to : line.from); part != nullptr)
    part->take_frame(event);
  else
    post_.hand_in(line.to_partition, event);
}

Instant Windows::send_away(Instant stop, Ranks& ranks) {
  Instant first = Instant::never();
  for (size_t i = 0; i < by_number_.size(); ++i) {
    if (by_number_[i] != nullptr) continue;
    post_.sift(i, [&](const Event& event) {
      const Instant leaves = Part::leaves_at(event, nodes_.lines[event.target]);
      if (!Part::is_flying(event) && leaves >= stop) {
        first = std::min(first, leaves);
        return true;
      }
      first = std::min(first, event.at);
      ranks.pack(event.at, event.target, *event.packet);
      left_ += Part::counts_its_leaving(event) ? 1 : 0;
      nodes_.pool->put(event.packet);
      return false;
    });
  }
  return first;
}

void Windows::hand_in(Instant at, uint32_t line, Packet* packet) {
  post_.hand_in(nodes_.lines[line].to_partition, Part::arrival(at, packet, line));
  bring_forward(nodes_.lines[line].to, at);
}

void Windows::take_over(Whole& whole) {
  for (const auto& part : parts_) part->take_over(whole.now());
  whole.hand_over(whole.now(), [this](const Event& event) { take_frame(event); });
  next_.fill(Instant::never());
  for (size_t i = 0; i < by_number_.size(); ++i)
    if (by_number_[i] != nullptr)
      next_[side_of_[i]] = std::min(next_[side_of_[i]], by_number_[i]->next());
  for (const Release& release : book_.releases_after(whole.now())) add_release(release);
}

void Windows::hand_over(Whole& whole) {
  const Instant at = std::max(now(), whole.now());
  whole.take_over(at);  // first: of one instant, actions come before frames
  for (const auto& part : parts_)
    part->hand_over(at, [&whole](const Event& event) { whole.take_frame(event); });
  for (size_t i = 0; i < by_number_.size(); ++i)
    if (by_number_[i] == nullptr)  // has not left, or another rank would have it
      post_.sift(i, [&](const Event& event) {
        whole.take_frame(Part::leaving(event, nodes_.lines[event.target]));
        return false;
      });
  settle_pools();
  next_.fill(Instant::never());
}

Instant Windows::settle_lines(Instant until) {
  Instant last = Instant::long_past();
  for (const auto& part : parts_) last = std::max(last, part->settle_lines(until));
  return last;
}

void Windows::settle_pools() {
  for (const Thread& thread : threads_)
    if (thread.pool != nullptr) thread.pool->settle();
}

}  // namespace eddy::lab
