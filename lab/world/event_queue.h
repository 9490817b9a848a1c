// EventQueue: what will happen, in the order of time, for a world in which most delays are a few
// constants.
//
// Virtual time only grows, so events that come a constant delay after "now" are already sorted:
// each such delay gets a lane, a FIFO. The next event is the least of the lanes' heads; events of
// odd delays are in one heap. Events of the same instant come out in the order of lanes and
// creation: whoever needs a fair order makes it (World::poll order). Memory is taken at
// construction: `capacity` events in chunks that lanes share. Owner: one world. Bounds: 6 days of
// virtual time. Cost: push and pop are a few instructions plus four matches of a tournament; heap
// events log2 of the pending odd ones. Source: architecture, section 3.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "lab/world/huge_pages.h"
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
      : chunk_count_(capacity / kChunkEvents + 2 * kLanes), memory_(chunk_count_ * sizeof(Chunk)) {
    heap_.reserve(capacity);
    least_.fill(kEmpty);
    lane_of_.fill(kNoLane);
  }

  // Gives a delay its own lane, if one is left. Before the first event.
  void reserve_lane(Duration delay) {
    const auto has = [delay](const Lane& lane) { return lane.delay == delay; };
    if (used_ == kLanes || std::any_of(lanes_.begin() + 1, lanes_.end(), has)) return;
    lanes_[used_++].delay = delay;
    while (!spread()) multiplier_ *= kNextMultiplier;
  }

  // `event.at` is not before the last event that came out.
  void push(const Event& event, Duration delay) {
    const uint32_t index = lane_of_[slot_of(delay)];
    Lane& lane = lanes_[index];
    if (lane.delay != delay || event.at < lane.last) [[unlikely]]
      return push_odd(event);
    if (lane.write == lane.write_end && !extend(lane)) [[unlikely]]
      return push_odd(event);
    if (lane.read == lane.write) set_head(index, event.at);
    *lane.write++ = event;
    lane.last = event.at;
  }
  void push_odd(const Event& event) {
    heap_.push_back({event, odd_made_++});
    std::push_heap(heap_.begin(), heap_.end(), later);
    set_head(kHeap, heap_.front().event.at);
  }

  // The time of the next event; never() if there is none.
  Instant next() const {
    return empty() ? Instant::never() : Instant::at(Duration::picoseconds(least_[1] >> kLaneBits));
  }
  bool empty() const { return least_[1] == kEmpty; }
  // There is one at or before `now`, which is not never().
  bool due(Instant now) const { return least_[1] >> kLaneBits <= now.ps(); }
  size_t odd_pending() const { return heap_.size(); }

  // Takes out the next event; there is one. `soon` is called with an event that will come out some
  // events later, or that has long come out, to prefetch what it is about.
  template <class Soon>
  Event pop(Soon&& soon) {
    const auto lane = static_cast<uint32_t>(least_[1] % kLanes);
    return lane == kHeap ? pop_odd() : take(lane, soon);
  }
  Event pop() {
    return pop([](const Event&) {});
  }

 private:
  static constexpr size_t kChunkEvents = 126;
  static constexpr size_t kSlots = 256;
  static constexpr int kLaneBits = 4;
  static_assert(kLanes == 1 << kLaneBits);
  static constexpr Duration kNoDelay = Duration::max();  // of lanes not in use
  // Odd, so the product of two stays odd; each try spreads all delays anew.
  static constexpr uint64_t kNextMultiplier = 0xd1342543de82ef95;
  static constexpr uint32_t kHeap = 0;
  static constexpr uint8_t kNoLane = kHeap;  // whose delay is none
  static constexpr int64_t kEmpty = Instant::never().ps();
  static constexpr int64_t kLastInstant = kEmpty >> kLaneBits;  // 6 days

  struct Chunk {  // made of untouched memory
    std::array<Event, kChunkEvents> events;
    std::array<Event, kPrefetchAhead> behind;  // read, never written
    Chunk* next;
  };
  struct Lane {
    const Event* read = nullptr;  // the first event; write: there is none
    const Event* read_end = nullptr;
    Event* write = nullptr;
    Event* write_end = nullptr;
    Instant last;  // of the newest event
    Duration delay = kNoDelay;
    Chunk* head = nullptr;  // where read and write are
    Chunk* tail = nullptr;
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
    for (uint32_t lane = 1; lane < used_; ++lane) {
      uint8_t& slot = lane_of_[slot_of(lanes_[lane].delay)];
      if (slot != kNoLane) return false;
      slot = static_cast<uint8_t>(lane);
    }
    return true;
  }

  void set_head(uint32_t lane, Instant at) {
    ASSERT(at.ps() < kLastInstant);
    replay(lane, at.ps() << kLaneBits | lane);
  }
  // Up from a leaf of the tournament.
  void replay(uint32_t lane, int64_t key) {
    size_t place = kLanes + lane;
    least_[place] = key;
    for (int level = 0; level < kLaneBits; ++level) {
      key = std::min(key, least_[place ^ 1]);
      place /= 2;
      least_[place] = key;
    }
  }

  Event pop_odd() {
    std::pop_heap(heap_.begin(), heap_.end(), later);
    const Event event = heap_.back().event;
    heap_.pop_back();
    if (heap_.empty())
      replay(kHeap, kEmpty);
    else
      set_head(kHeap, heap_.front().event.at);
    return event;
  }

  // A chunk to write to: those given back first, they are in the cache. False when all are in use.
  bool extend(Lane& lane) {
    Chunk* chunk = spare_;
    if (chunk != nullptr)
      spare_ = chunk->next;
    else if (touched_ < chunk_count_)
      chunk = reinterpret_cast<Chunk*>(memory_.data()) + touched_++;
    else
      return false;
    chunk->next = nullptr;
    lane.write = chunk->events.data();
    lane.write_end = lane.write + kChunkEvents;
    if (lane.tail == nullptr)
      enter(lane, chunk);
    else
      lane.tail->next = chunk;
    lane.tail = chunk;
    return true;
  }

  template <class Soon>
  Event take(uint32_t index, Soon&& soon) {
    Lane& lane = lanes_[index];
    soon(lane.read[kPrefetchAhead]);
    const Event event = *lane.read++;
    if (lane.read == lane.read_end) [[unlikely]]
      retire_head(lane);
    if (lane.read == lane.write)
      replay(index, kEmpty);
    else
      set_head(index, lane.read->at);
    return event;
  }

  void enter(Lane& lane, Chunk* chunk) {
    lane.head = chunk;
    lane.read = chunk->events.data();
    lane.read_end = lane.read + kChunkEvents;
  }
  void retire_head(Lane& lane) {
    Chunk* done = lane.head;
    if (done->next != nullptr) {
      enter(lane, done->next);
    } else {
      lane.head = lane.tail = nullptr;
      lane.read = lane.write = lane.write_end = nullptr;
    }
    done->next = spare_;
    spare_ = done;
  }

  // A tournament of the lanes' first events: their times with the lane in the low bits, those of
  // lane i at kLanes + i, the lesser of 2i and 2i + 1 at i. Lane 0 stands for the heap.
  alignas(64) std::array<int64_t, 2 * kLanes> least_;
  uint64_t multiplier_ = kHashKeyA;
  alignas(64) std::array<Lane, kLanes> lanes_;
  std::array<uint8_t, kSlots> lane_of_;
  uint32_t used_ = 1;  // lanes
  std::vector<Odd> heap_;
  uint64_t odd_made_ = 0;
  size_t chunk_count_;
  size_t touched_ = 0;  // chunks ever used
  Pages memory_;        // of chunks
  Chunk* spare_ = nullptr;
};

}  // namespace eddy::lab
