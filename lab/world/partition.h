// Partition: nodes of a world that run together, with a clock and events of their own.
//
// A world is one partition that holds all of its nodes (Whole: its queue is EventQueue), or many
// that meet only through lines of some length, and run in windows of time one after the other
// (Part: its queue is a Wheel, see windows.h). Both do the same with the same events. Only the
// whole one knows filters, intakes, watchers, fault sites and the agenda: they need to see all
// nodes at one instant. Owner: the world or its windows; in a window, one of the threads that
// windows have. Cost: about two polls a hop. Source: architecture, section 3.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "host/nic.h"
#include "lab/world/agenda.h"
#include "lab/world/event_queue.h"
#include "lab/world/flow_book.h"
#include "lab/world/nodes.h"
#include "lab/world/post.h"
#include "lab/world/wheel.h"
#include "net/deadlines.h"
#include "net/units.h"

namespace eddy::lab {

// What a thread has for the partitions that it runs.
struct Tools {
  PacketPool* pool = nullptr;
  Post::Desk* desk = nullptr;  // part, as is what follows
  Wheel::Store* events = nullptr;
};

template <class Queue>
class alignas(RTE_CACHE_LINE_SIZE) Partition final : public Wires {
 public:
  static constexpr bool kWhole = std::is_same_v<Queue, EventQueue>;

  struct Setup {
    Nodes& nodes;
    FlowBook& book;
    Tools tools;
    Agenda* agenda = nullptr;  // whole
    Post* post = nullptr;      // part, as is its number
    uint16_t number = 0;
    std::vector<uint32_t> members;  // nodes; each one's place in it is in Nodes::places
  };
  template <class... OfQueue>
  explicit Partition(Setup setup, OfQueue&&... of_queue)
      : nodes_(setup.nodes),
        book_(setup.book),
        pool_(setup.tools.pool),
        desk_(setup.tools.desk),
        agenda_(setup.agenda),
        post_(setup.post),
        number_(setup.number),
        polls_alone_(nodes_.options.poll_model == config::PollModel::exact),
        by_clock_(goes_by_clock()),
        members_(std::move(setup.members)),
        queue_(std::forward<OfQueue>(of_queue)...),
        wakes_(members_.size()),
        is_touched_(members_.size()) {
    touched_.reserve(members_.size());
  }
  Partition(const Partition&) = delete;
  Partition& operator=(const Partition&) = delete;

  // The next instant at which something happens.
  Instant next() const { return std::min(queue_.next(), wakes_.next()); }
  Instant now() const { return now_; }
  void set_now(Instant now) { now_ = now; }
  // Nodes wait for a turn, and not for an instant.
  bool has_touched() const { return !touched_.empty(); }
  // One instant: all its events, then a turn for every node that they touched.
  void advance(Instant at);
  // Part: takes what has come, then every instant of its own before `end`; none is before `start`.
  // Returns the next one.
  Instant run_window(Instant start, Instant end);

  // Whole: what others do at this instant.
  void touch(uint32_t node) {
    if (const uint32_t now = touched(node); now != kNobody) take_part(now);
  }
  void take_part(uint32_t node) {
    uint8_t& is_touched = is_touched_[place_of(node)];
    if (is_touched != 0) return;
    is_touched = 1;
    touched_.push_back(node);
  }
  void turn(uint32_t node);
  void poll(uint32_t node);
  void deliver(uint32_t node, Packet* packet);
  uint16_t send(uint32_t line, Packet* packet, bool last) override;
  void await(uint32_t line, Instant at) override;
  // A lane for the delay of each line, and for each of these lengths at its speed.
  void reserve_lanes(std::span<const Bytes> lengths);
  void plan_action(Instant at) { queue_.push_odd({at, nullptr, 0, kAction}); }

  // Part: flows whose sender is here and that do not wait, by their numbers.
  void add_flow(uint32_t flow) { flows_.push_back(flow); }
  // The end of an item lets flows begin. Whole: the book knows them. Part: it is told those whose
  // sender is here.
  void plan_start_at(Instant at) { queue_.push_odd({at, nullptr, 0, kFlowStart}); }
  void add_release(const Release& release) {
    releases_.push_back(release);
    std::sort(releases_.begin(), releases_.end());
    plan_start_at(release.at);
  }
  // What the book has yet to hear of items that others wait for.
  ItemNews& item_news() { return item_news_; }
  // What the book has yet to hear of, and how many of it it waits for.
  std::span<const host::Completion> completions() const { return completions_; }
  size_t awaited() const { return awaited_; }
  void clear_completions() {
    completions_.clear();
    awaited_ = 0;
  }
  const WorldCounts& counts() const { return counts_; }

  // The nodes go over to another partition, when all that happens up to `now` has happened: gives
  // frames that are on their way to `frame(event)`, in the order of time, and forgets everything
  // else.
  template <class Frame>
  void hand_over(Instant now, Frame frame) {
    const auto hand = [&](const Event& event) {
      if (event.kind == kWholeWay)
        frame(divided(event, now));
      else if (event.kind <= kArrival)
        frame(event);
    };
    if constexpr (kWhole) {
      while (!queue_.empty()) hand(queue_.pop());
    } else {
      take_post();
      report_lines(now);
      queue_.drain(hand);
    }
    for (uint32_t place = 0; place < members_.size(); ++place) wakes_.cancel(place);
  }
  // The nodes come from another partition, at `now`; their frames follow.
  void take_over(Instant now);
  void take_frame(const Event& event) { queue_.push_odd(event); }
  uint16_t number() const { return number_; }
  // Part, between two windows: whoever has these runs it from now on.
  void go_to(const Tools& tools);
  // Part: frames that have left their lines by `until`, of which no event tells. Returns when the
  // last of them did, or long_past().
  Instant settle_lines(Instant until);
  // Part: events of its own that counts() lacks, since what they stand for has half happened.
  uint64_t half_counted(Instant now) const;
  // Its last bit has left; else it is still its sender's.
  static bool is_flying(const Event& event) { return event.kind == kArrival; }
  // Part: of a frame that is not in a part: when its last bit leaves; when it has left, its
  // arrival; and else its leaving.
  static Instant leaves_at(const Event& event, const Line& line) { return event.at - line.delay; }
  static bool counts_its_leaving(const Event& event) { return event.kind == kWholeWay; }
  static Event arrival(Instant at, Packet* packet, uint32_t line) {
    return {at, packet, line, kArrival};
  }
  static Event leaving(const Event& event, const Line& line) {
    return {leaves_at(event, line), event.packet, event.target, kSent};
  }

 private:
  // A frame's last bit leaves, and the line is free behind the last frame; it arrives. In a part,
  // where lines neither change nor have filters while it runs, nobody needs to know when a frame
  // leaves: it goes the whole way at once, and its line is free in between.
  enum Kind : uint32_t { kSent, kSentLast, kFree, kArrival, kWholeWay, kFlowStart, kAction };
  static constexpr uint32_t kNobody = UINT32_MAX;  // among nodes

  uint32_t place_of(uint32_t node) const { return kWhole ? node : nodes_.places[node]; }
  // Whether the last window had an event for each node, or more. With fewer, most lines would be
  // asked for in vain.
  bool was_busy() {
    const uint64_t before = std::exchange(events_at_opening_, counts_.events);
    return counts_.events - before >= members_.size();
  }
  void ask_for_lines() const;
  void take_post();
  uint32_t touched(uint32_t node);
  [[gnu::noinline]] uint32_t touched_later(uint32_t node);
  [[gnu::always_inline]] inline bool advance_alone(Instant at);
  [[gnu::always_inline]] inline void take_alone(const Event& event);
  [[gnu::always_inline]] inline void turn_alone(uint32_t node, PortId port, Packet* packet);
  [[gnu::noinline]] void turn_with(uint32_t node, PortId port, Packet* packet);
  static void bring(SwitchNode& node, PortId port, Packet* packet);
  [[gnu::noinline]] void poll_and_ask(uint32_t node);
  bool wake_alone(Instant at);
  uint32_t handle(const Event& event);
  [[gnu::noinline]] uint32_t handle_rare(const Event& event);
  uint32_t handle_any(const Event& event);
  void prefetch(const Event& event) const;
  uint32_t leave(const Event& event);
  uint32_t end_frame(const Line& line);
  void leave_odd(Line& line, const Event& event);
  [[gnu::always_inline]] inline void fly(const Line& line, Event arrival);
  bool has_left(const Event& whole_way, Instant now) const {
    return whole_way.at - nodes_.lines[whole_way.target].delay <= now;
  }
  Event divided(const Event& whole_way, Instant now);
  [[gnu::noinline]] void lose(const Line& line, Packet* packet);
  [[gnu::always_inline]] inline bool reaches_end(Line& line, uint32_t index, Packet* packet);
  uint32_t arrive(const Event& event);
  uint32_t bring_to_host(uint32_t node, Packet* packet);
  void start_flows();
  bool start_due();
  void plan_start();
  void follow(const HostNode& host);
  size_t index_of(const HostNode& host) const {
    return static_cast<size_t>(&host - nodes_.hosts.data());
  }
  void start_ready(HostNode& host);
  void note_departures(HostNode& host);
  void take_turns();
  void take_turn(uint32_t node);
  void turn_switch(uint32_t node);
  void poll_now(SwitchNode& node);
  void report_lines(Instant now);
  void connect_switches();
  void count_poll(SwitchNode& node);
  void ask_deadline(uint32_t node);
  [[gnu::noinline]] void follow_deadline(uint32_t node, Instant deadline);
  bool is_put_off(uint32_t node);
  Instant deadline_of(uint32_t node);
  void move_clock(SwitchNode& node);
  void turn_host(uint32_t node);
  void keep(const host::Completion& completion);
  void transmit(HostNode& host);
  void wake(uint32_t node);
  void note_due(uint32_t node);
  void wake_at(uint32_t node, Instant& planned, Instant at);
  Instant grid_from(uint32_t node, Instant from);
  // A switch that is polled late would settle frames that it has yet to hear of. Ranks agree on
  // when a run ends by the events that they have.
  bool goes_by_clock() const {
    return !kWhole && nodes_.options.poll_model == config::PollModel::exact &&
           nodes_.options.exchange == nullptr;
  }
  bool is_busy_polled(uint32_t node) const {
    return nodes_.options.poll_model == config::PollModel::busy_poll && nodes_.is_switch(node);
  }
  void tell(uint32_t line, Watcher::Step step, const Packet& packet) {
    if constexpr (kWhole)
      if (nodes_.watcher != nullptr) [[unlikely]]
        nodes_.watcher->on_frame(line, step, packet);
  }
  // By the clock of the switch, which the world's own is compared to.
  static Instant of_switch(const SwitchNode& node, Instant at) {
    return kHasFaultSites ? at + node.clock_ahead : at;
  }
  static Instant of_world(const SwitchNode& node, Instant at) {
    return kHasFaultSites && at != Instant::never() ? at - node.clock_ahead : at;
  }

  Nodes& nodes_;
  FlowBook& book_;
  PacketPool* pool_;
  Post::Desk* desk_;
  Agenda* const agenda_;
  Post* const post_;
  const uint16_t number_;
  const bool polls_alone_;  // switches, for one event
  const bool by_clock_;
  const std::vector<uint32_t> members_;
  Instant now_;
  Queue queue_;
  Deadlines wakes_;                  // by place
  std::vector<uint8_t> is_touched_;  // by place: it will take a turn at this instant
  std::vector<uint32_t> touched_;
  std::vector<uint32_t> flows_;
  size_t next_flow_ = 0;           // of flows_
  std::vector<Release> releases_;  // part: that have not begun, by time
  std::vector<uint32_t> ready_;    // flows, while a turn lasts
  ItemNews item_news_;
  std::vector<host::Completion> completions_;
  size_t awaited_ = 0;  // of completions_
  WorldCounts counts_;
  uint64_t events_at_opening_ = 0;  // of the last window
};

using Whole = Partition<EventQueue>;
using Part = Partition<Wheel>;

extern template class Partition<EventQueue>;
extern template class Partition<Wheel>;

}  // namespace eddy::lab
