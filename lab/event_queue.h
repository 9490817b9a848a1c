// EventQueue: what will happen, in the order of time, for a world in which most delays are a few
// constants.
//
// Virtual time only grows, so events that come a constant delay after "now" are already sorted:
// each such delay gets a lane, a FIFO. The next event is the least of the lanes' heads; events of
// odd delays are in one heap. Events of the same instant come out in the order of lanes and
// creation: whoever needs a fair order makes it (World::poll order). Memory is taken at
// construction: `capacity` events in chunks that lanes share. Owner: one world. Cost: push and pop
// are a few instructions plus a minimum over kLanes heads; heap events log2 of the pending odd
// ones. Source: architecture, section 3.
#pragma once

#include <rte_prefetch.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "net/assert.h"
#include "net/packet.h"
#include "net/units.h"

namespace eddy::lab {

struct Event {
  Instant at;
  Packet* packet = nullptr;
  uint32_t target = 0;  // the kind's: a line, a number in the world's agenda
  uint32_t kind = 0;    // the world's
};
static_assert(sizeof(Event) == 24);

class EventQueue {
 public:
  static constexpr size_t kLanes = 16;
  static constexpr size_t kPrefetchAhead = 4;

  // At most `capacity` events are pending at once; more end the process.
  explicit EventQueue(size_t capacity) : chunks_(capacity / kChunkEvents + 2 * kLanes + 1) {
    heap_.reserve(capacity);
    for (size_t i = 0; i < chunks_.size(); ++i)
      chunks_[i].next = i + 1 < chunks_.size() ? &chunks_[i + 1] : nullptr;
    spare_ = chunks_.data();
    heads_.fill(kEmpty);
    lane_of_.fill(kNoLane);
  }

  // Gives a delay its own lane, if one is left. Before the first event.
  void reserve_lane(Duration delay) {
    const auto end = delays_.begin() + static_cast<ptrdiff_t>(lanes_);
    if (lanes_ == kLanes || std::find(delays_.begin(), end, delay) != end) return;
    delays_[lanes_++] = delay;
    while (!spread()) multiplier_ += 2;
  }

  // `event.at` must not be before the last event that came out.
  void push(const Event& event, Duration delay) {
    const uint8_t lane = lane_of_[slot_of(delay)];
    if (lane != kNoLane && delays_[lane] == delay && event.at >= lanes_state_[lane].last) [[likely]]
      return append(lane, event);
    push_odd(event);
  }
  void push_odd(const Event& event) {
    ASSERT(heap_.size() < heap_.capacity());
    heap_.push_back(event);
    std::push_heap(heap_.begin(), heap_.end(), later);
    heap_at_ = heap_.front().at.ps();
  }

  // The time of the next event; never() if there is none.
  Instant next() const { return Instant::at(Duration::picoseconds(std::min(least(), heap_at_))); }
  bool empty() const { return next() == Instant::never(); }
  size_t odd_pending() const { return heap_.size(); }

  // Takes out the next event, which is at `at` = next().
  Event pop(Instant at) {
    for (size_t lane = 0; lane < lanes_; ++lane)
      if (heads_[lane] == at.ps()) return take(lane);
    std::pop_heap(heap_.begin(), heap_.end(), later);
    const Event event = heap_.back();
    heap_.pop_back();
    heap_at_ = heap_.empty() ? kEmpty : heap_.front().at.ps();
    return event;
  }

 private:
  static constexpr size_t kChunkEvents = 126;
  static constexpr size_t kSlots = 256;
  static constexpr uint8_t kNoLane = 0xff;
  static constexpr int64_t kEmpty = Instant::never().ps();

  struct Chunk {
    std::array<Event, kChunkEvents> events;
    Chunk* next = nullptr;
  };
  struct Lane {
    Chunk* head = nullptr;
    Chunk* tail = nullptr;
    uint32_t read = 0;   // in head
    uint32_t write = 0;  // in tail
    Instant last;        // of the newest event
  };

  static bool later(const Event& a, const Event& b) { return a.at > b.at; }
  size_t slot_of(Duration delay) const {
    return (static_cast<uint64_t>(delay.ps()) * multiplier_) >> 56;
  }

  // Fills lane_of_; false if two delays fall into one slot.
  bool spread() {
    lane_of_.fill(kNoLane);
    for (size_t lane = 0; lane < lanes_; ++lane) {
      uint8_t& slot = lane_of_[slot_of(delays_[lane])];
      if (slot != kNoLane) return false;
      slot = static_cast<uint8_t>(lane);
    }
    return true;
  }

  int64_t least() const {
    int64_t least = kEmpty;
    for (size_t i = 0; i < kLanes; ++i) least = std::min(least, heads_[i]);
    return least;
  }

  void append(size_t index, const Event& event) {
    Lane& lane = lanes_state_[index];
    if (lane.tail == nullptr || lane.write == kChunkEvents) [[unlikely]]
      extend(lane);
    lane.tail->events[lane.write++] = event;
    lane.last = event.at;
    if (heads_[index] == kEmpty) heads_[index] = event.at.ps();
  }

  void extend(Lane& lane) {
    ASSERT(spare_ != nullptr);
    Chunk* chunk = spare_;
    spare_ = chunk->next;
    chunk->next = nullptr;
    (lane.tail == nullptr ? lane.head : lane.tail->next) = chunk;
    lane.tail = chunk;
    lane.write = 0;
  }

  Event take(size_t index) {
    Lane& lane = lanes_state_[index];
    const Event event = lane.head->events[lane.read++];
    if (lane.read == kChunkEvents) [[unlikely]]
      retire_head(lane);
    else if (lane.read + kPrefetchAhead < kChunkEvents)
      rte_prefetch0(lane.head->events[lane.read + kPrefetchAhead].packet);
    const bool empty = lane.head == nullptr || (lane.head == lane.tail && lane.read == lane.write);
    heads_[index] = empty ? kEmpty : lane.head->events[lane.read].at.ps();
    return event;
  }

  void retire_head(Lane& lane) {
    Chunk* done = lane.head;
    lane.head = done->next;
    lane.read = 0;
    if (lane.head == nullptr) lane.tail = nullptr;
    done->next = spare_;
    spare_ = done;
  }

  alignas(64) std::array<int64_t, kLanes> heads_;  // time of each lane's first event
  int64_t heap_at_ = kEmpty;
  size_t lanes_ = 0;
  uint64_t multiplier_ = 0x9e3779b97f4a7c15u;
  std::array<Lane, kLanes> lanes_state_;
  std::array<Duration, kLanes> delays_;
  std::array<uint8_t, kSlots> lane_of_;
  std::vector<Event> heap_;
  std::vector<Chunk> chunks_;
  Chunk* spare_ = nullptr;
};

}  // namespace eddy::lab
