// EventQueue: what will happen, in the order of time, for a world in which most delays are a few
// constants.
//
// Virtual time only grows, so events that come a constant delay after "now" are already sorted:
// each such delay gets a lane, a FIFO. The next event is the least of the lanes' heads; events of
// odd delays are in one heap. Events of the same instant come out in the order of lanes and
// creation: whoever needs a fair order makes it (World::poll order). Memory is taken at
// construction: `capacity` events in chunks that lanes share. Owner: one world. Cost: push and pop
// are a few instructions plus a minimum over the lanes in use; heap events log2 of the pending odd
// ones. Source: architecture, section 3.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <vector>

#include "net/assert.h"
#include "net/hash.h"
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
  static constexpr size_t kPrefetchAhead = 5;  // events of the same lane

  // Room for `capacity` events at once. More go to the heap, which then grows.
  explicit EventQueue(size_t capacity)
      : chunk_count_(capacity / kChunkEvents + 2 * kLanes),
        memory_(static_cast<Chunk*>(std::malloc(chunk_count_ * sizeof(Chunk)))) {
    ASSERT(memory_ != nullptr);
    heap_.reserve(capacity);
    heads_.fill(kEmpty);
    lane_of_.fill(kNoLane);
  }

  // Gives a delay its own lane, if one is left. Before the first event.
  void reserve_lane(Duration delay) {
    const auto end = delays_.begin() + lanes_;
    if (lanes_ == kLanes || std::find(delays_.begin() + 1, end, delay) != end) return;
    delays_[lanes_++] = delay;
    while (!spread()) multiplier_ *= kNextMultiplier;
  }

  // `event.at` is not before the last event that came out.
  void push(const Event& event, Duration delay) {
    const uint8_t lane = lane_of_[slot_of(delay)];
    if (lane == kNoLane || delays_[lane] != delay || event.at < lane_state_[lane].last) [[unlikely]]
      return push_odd(event);
    if (!append(lane, event)) [[unlikely]]
      push_odd(event);
  }
  void push_odd(const Event& event) {
    heap_.push_back({event, odd_made_++});
    std::push_heap(heap_.begin(), heap_.end(), later);
    set_head(kHeap, heap_.front().event.at.ps());
  }

  // The time of the next event; never() if there is none.
  Instant next() const { return Instant::at(Duration::picoseconds(least_at_)); }
  bool empty() const { return least_at_ == kEmpty; }
  size_t odd_pending() const { return heap_.size(); }

  // Takes out the next event; there is one. `soon` is called with an event that will come out some
  // events later, to prefetch what it is about.
  template <class Soon>
  Event pop(Soon&& soon) {
    const Event event = least_ == kHeap ? pop_odd() : take(least_, soon);
    find_least();
    return event;
  }
  Event pop() {
    return pop([](const Event&) {});
  }

 private:
  static constexpr size_t kChunkEvents = 126;
  static constexpr size_t kSlots = 256;
  static constexpr uint8_t kNoLane = 0xff;
  // Odd, so the product of two stays odd; each try spreads all delays anew.
  static constexpr uint64_t kNextMultiplier = 0xd1342543de82ef95;
  static constexpr uint32_t kHeap = 0;
  static constexpr int64_t kEmpty = Instant::never().ps();

  struct Chunk {  // made of untouched memory
    std::array<Event, kChunkEvents> events;
    Chunk* next;
  };
  struct Lane {
    Chunk* head = nullptr;
    Chunk* tail = nullptr;
    uint32_t read = 0;   // in head
    uint32_t write = 0;  // in tail
    Instant last;        // of the newest event
  };

  struct Odd {
    Event event;
    uint64_t number;  // of creation: a heap alone does not keep the order of equals
  };

  static bool later(const Odd& a, const Odd& b) {
    return a.event.at != b.event.at ? a.event.at > b.event.at : a.number > b.number;
  }
  size_t slot_of(Duration delay) const {
    return (static_cast<uint64_t>(delay.ps()) * multiplier_) >> 56;
  }

  // Fills lane_of_; false if two delays fall into one slot.
  bool spread() {
    lane_of_.fill(kNoLane);
    for (uint32_t lane = 1; lane < lanes_; ++lane) {
      uint8_t& slot = lane_of_[slot_of(delays_[lane])];
      if (slot != kNoLane) return false;
      slot = static_cast<uint8_t>(lane);
    }
    return true;
  }

  void set_head(uint32_t lane, int64_t at) {
    heads_[lane] = at;
    if (at >= least_at_) return;
    least_at_ = at;
    least_ = lane;
  }
  void find_least() {
    least_ = kHeap;
    least_at_ = heads_[kHeap];
    for (uint32_t lane = 1; lane < lanes_; ++lane) {
      const bool earlier = heads_[lane] < least_at_;
      least_ = earlier ? lane : least_;
      least_at_ = earlier ? heads_[lane] : least_at_;
    }
  }

  Event pop_odd() {
    std::pop_heap(heap_.begin(), heap_.end(), later);
    const Event event = heap_.back().event;
    heap_.pop_back();
    heads_[kHeap] = heap_.empty() ? kEmpty : heap_.front().event.at.ps();
    return event;
  }

  // False when all chunks are in use.
  bool append(uint32_t index, const Event& event) {
    Lane& lane = lane_state_[index];
    if ((lane.tail == nullptr || lane.write == kChunkEvents) && !extend(lane)) [[unlikely]]
      return false;
    lane.tail->events[lane.write++] = event;
    lane.last = event.at;
    if (heads_[index] == kEmpty) set_head(index, event.at.ps());
    return true;
  }

  // Chunks given back first: they are in the cache.
  bool extend(Lane& lane) {
    Chunk* chunk = spare_;
    if (chunk != nullptr)
      spare_ = chunk->next;
    else if (touched_ < chunk_count_)
      chunk = memory_.get() + touched_++;
    else
      return false;
    chunk->next = nullptr;
    (lane.tail == nullptr ? lane.head : lane.tail->next) = chunk;
    lane.tail = chunk;
    lane.write = 0;
    return true;
  }

  template <class Soon>
  Event take(uint32_t index, Soon&& soon) {
    Lane& lane = lane_state_[index];
    const Event event = lane.head->events[lane.read++];
    const size_t end = lane.head == lane.tail ? lane.write : kChunkEvents;
    if (lane.read + kPrefetchAhead < end) soon(lane.head->events[lane.read + kPrefetchAhead]);
    if (lane.read == kChunkEvents) [[unlikely]]
      retire_head(lane);
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

  // Lane 0 stands for the heap.
  alignas(64) std::array<int64_t, kLanes> heads_;  // time of each lane's first event
  int64_t least_at_ = kEmpty;                      // of heads_
  uint32_t least_ = kHeap;
  uint32_t lanes_ = 1;
  uint64_t multiplier_ = kHashKeyA;
  std::array<Lane, kLanes> lane_state_;
  std::array<Duration, kLanes> delays_;
  std::array<uint8_t, kSlots> lane_of_;
  std::vector<Odd> heap_;
  uint64_t odd_made_ = 0;
  size_t chunk_count_;
  size_t touched_ = 0;  // chunks ever used
  struct Free {
    void operator()(Chunk* memory) const { std::free(memory); }
  };
  std::unique_ptr<Chunk, Free> memory_;
  Chunk* spare_ = nullptr;
};

}  // namespace eddy::lab
