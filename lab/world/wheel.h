// Wheel: what will happen in one of many partitions, in the order of time.
//
// A partition runs in windows. What happens in the one that is open is in buckets of a few
// nanoseconds, each a short list in the order of time, with a bitmap that finds the next one. What
// is later is in a row, in the order in which it was put in, and goes into the buckets when its
// window opens. So buckets are empty between windows, and are in a Store that the wheels of a
// thread share: hundreds of partitions use the same memory in turn, which stays in the nearest
// cache, and a row is read in one stretch. A world that is one partition is better off with
// EventQueue. Events of one instant come out in the order in which they were put in. Owner: one
// partition; of a store, whoever runs its wheels one after the other. Bounds: a store and a row
// grow above the room that they were made for. Cost: push walks a bucket's list, pop looks into at
// most 16 words; a window looks at all that is later. Source: architecture, section 3.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <vector>

#include "lab/world/event_queue.h"
#include "lab/world/row.h"
#include "net/assert.h"
#include "net/units.h"

namespace eddy::lab {

class Wheel {
  static constexpr size_t kBuckets = 1'024;
  static constexpr size_t kWords = kBuckets / 64;
  struct alignas(32) Node {  // two a cache line
    Event event;
    uint32_t next = 0;  // of the bucket, or of those that are spare
  };

 public:
  class Store {
   public:
    Store() { nodes_.emplace_back(); }  // 0 stands for none
    Store(const Store&) = delete;
    Store& operator=(const Store&) = delete;

    // Room for so many events of a window.
    void reserve(size_t events) { nodes_.reserve(events + 1); }

   private:
    friend class Wheel;
    // One spare node more. Apart: few events need it, and it takes registers.
    [[gnu::noinline]] void grow() {
      nodes_.emplace_back();
      spare_ = static_cast<uint32_t>(nodes_.size() - 1);
    }
    // The head of the first bucket from this one on; 0 if all are empty.
    uint32_t first_from(size_t slot) const {
      size_t word = slot / 64;
      uint64_t bits = words_[word] & (~uint64_t{0} << slot % 64);
      while (bits == 0) {
        if (++word == kWords) return 0;
        bits = words_[word];
      }
      return heads_[word * 64 + static_cast<size_t>(std::countr_zero(bits))];
    }

    std::vector<Node> nodes_;
    uint32_t spare_ = 0;
    alignas(64) std::array<uint64_t, kWords> words_{};  // bit = a bucket with events
    std::array<uint32_t, kBuckets> heads_{};
  };

  // For windows of at most `longest`; `room`: events that are later than a window, mostly.
  Wheel(Duration longest, size_t room, Store& store) : store_(store), later_(room) {
    while ((static_cast<int64_t>(kBuckets) << shift_) < longest.ps()) ++shift_;
  }

  // A window begins: until close() what is pushed is not before `start`, and what is pushed or
  // pending before `end` can be popped. `taken` is called with what is pending.
  template <class Taken>
  void open(Instant start, Instant end, Taken taken) {
    ASSERT(next_ == kNever && later_next_ >= start.ps());
    ASSERT((end - start).ps() <= static_cast<int64_t>(kBuckets) << shift_);
    start_ = start.ps();
    end_ = end.ps();
    if (later_next_ >= end_) return;
    later_next_ = kNever;
    size_t kept = 0;
    for (const Event& event : later_.all()) {
      if (event.at.ps() >= end_) {
        later_next_ = std::min(later_next_, event.at.ps());
        later_[kept++] = event;
        continue;
      }
      taken(event);
      push_now(event);
    }
    later_.shrink(kept);
  }
  // The window ends: all of it has been popped.
  void close() {
    ASSERT(next_ == kNever);
    end_ = kLongPast;
  }

  [[gnu::always_inline]] void push(const Event& event, Duration /*delay*/ = {}) {
    if (event.at.ps() >= end_)
      push_later(event);
    else
      push_now(event);
  }
  [[gnu::noinline]] void push_odd(const Event& event) { push(event); }

  Instant next() const { return Instant::at(Duration::picoseconds(std::min(next_, later_next_))); }
  // In the window that is open.
  bool due(Instant now) const { return next_ <= now.ps(); }

  // Takes out the next event of the window; there is one. `soon` is called with the one behind it.
  template <class Soon>
  [[gnu::always_inline]] Event pop(Soon&& soon) {
    const size_t slot = slot_of(next_);
    const uint32_t index = store_.heads_[slot];
    Node* const nodes = store_.nodes_.data();
    Node& node = nodes[index];
    const uint32_t follower = node.next;
    store_.heads_[slot] = follower;
    node.next = store_.spare_;
    store_.spare_ = index;
    if (follower != 0) {
      next_ = nodes[follower].event.at.ps();
      soon(nodes[follower].event);
    } else {
      store_.words_[slot / 64] &= ~(uint64_t{1} << slot % 64);
      const uint32_t first = store_.first_from(slot);
      next_ = first == 0 ? kNever : nodes[first].event.at.ps();
      soon(nodes[first].event);
    }
    return node.event;
  }
  Event pop() {
    return pop([](const Event&) {});
  }

  // Between two windows: gives all that is pending to each(event), in the order of time, and
  // forgets it.
  template <class Each>
  void drain(Each each) {
    ASSERT(next_ == kNever);
    std::ranges::stable_sort(later_.all(), {}, &Event::at);
    for (const Event& event : later_.all()) each(event);
    later_.clear();
    later_next_ = kNever;
  }
  // The same: whatever is pending, in no order.
  template <class Each>
  void for_each(Each each) const {
    for (const Event& event : later_.all()) each(event);
  }

 private:
  static constexpr int64_t kNever = Instant::never().ps();
  static constexpr int64_t kLongPast = Instant::long_past().ps();
  size_t slot_of(int64_t at) const { return static_cast<size_t>(at - start_) >> shift_; }

  [[gnu::always_inline]] void push_later(const Event& event) {
    later_next_ = std::min(later_next_, event.at.ps());
    later_.append(event);
  }
  [[gnu::always_inline]] void push_now(const Event& event) {
    const int64_t at = event.at.ps();
    if (store_.spare_ == 0) [[unlikely]]
      store_.grow();
    Node* const nodes = store_.nodes_.data();
    const uint32_t index = store_.spare_;
    Node& node = nodes[index];
    store_.spare_ = node.next;
    const size_t slot = slot_of(at);
    uint32_t* link = &store_.heads_[slot];
    uint32_t behind = *link;
    if (behind == 0) store_.words_[slot / 64] |= uint64_t{1} << slot % 64;
    while (behind != 0 && nodes[behind].event.at.ps() <= at) {
      link = &nodes[behind].next;
      behind = *link;
    }
    node.event = event;
    node.next = behind;
    *link = index;
    next_ = std::min(next_, at);
  }

  int64_t next_ = kNever;    // of the window that is open
  int64_t end_ = kLongPast;  // of it; no window is open
  int64_t start_ = 0;
  int64_t later_next_ = kNever;
  int shift_ = 0;  // a bucket is 2^shift picoseconds
  Store& store_;
  Row<Event> later_;
};

}  // namespace eddy::lab
