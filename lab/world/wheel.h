// Wheel: what will happen in one of many partitions, in the order of time.
//
// A partition runs in windows. What happens in the one that is open is in buckets of a few
// nanoseconds, each a short list in the order of time, with a bitmap that finds the next one. What
// is later is in a row, in the order in which it was put in, and goes into the buckets when its
// window opens; what is later by many windows is in a heap. So buckets are empty between windows,
// and are in a Store that the wheels of a thread share: hundreds of partitions use the same memory
// in turn, which stays in the nearest cache, and a row is read in one stretch. A world that is one
// partition is better off with EventQueue. Events of one instant come out in the order in which
// they were put in. Owner: one partition; of a store, whoever runs its wheels one after the other.
// Bounds: a store and a row grow above the room that they were made for. Cost: push walks a
// bucket's list, pop looks into at most 16 words; a window looks at what the row has, which is of
// few windows. Source: architecture, section 3.
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
  Wheel(Duration longest, size_t room, Store& store)
      : row_span_((longest * kRowWindows).ps()), store_(&store), later_(room) {
    while ((static_cast<int64_t>(kBuckets) << shift_) < longest.ps()) ++shift_;
  }

  // Between two windows: those that come have their events there.
  void use(Store& store) {
    ASSERT(next_ == kNever);
    store_ = &store;
  }
  // A window begins: until close() what is pushed is not before `start`, and what is pushed or
  // pending before `end` can be popped. `taken` is called with what is pending.
  template <class Taken>
  void open(Instant start, Instant end, Taken taken) {
    ASSERT(next_ == kNever && later_next_ >= start.ps());
    ASSERT((end - start).ps() <= static_cast<int64_t>(kBuckets) << shift_);
    start_ = start.ps();
    end_ = end.ps();
    far_from_ = std::max(far_from_, end_ + row_span_);
    if (later_next_ >= end_) return;
    later_next_ = kNever;
    const auto take = [&](const Event& event) {
      taken(event);
      push_now(event);
    };
    // Of one instant what was far was put in first.
    while (!far_.empty() && far_.front().event.at < end) take(pop_far());
    if (!far_.empty()) later_next_ = far_.front().event.at.ps();
    take_row(take);
  }
  // The window ends: all of it has been popped.
  void close() {
    ASSERT(next_ == kNever);
    end_ = kLongPast;
  }

  // Events come by value, as one that is made for it is then in no memory before its place.
  [[gnu::always_inline]] void push(Event event, Duration /*delay*/ = {}) {
    if (event.at.ps() >= end_)
      push_later(event);
    else
      push_now(event);
  }
  [[gnu::noinline]] void push_odd(Event event) { push(event); }

  Instant next() const { return Instant::at(Duration::picoseconds(std::min(next_, later_next_))); }
  // In the window that is open.
  bool due(Instant now) const { return next_ <= now.ps(); }

  // Takes out the next event of the window; there is one. `soon` is called with the one behind it.
  template <class Soon>
  [[gnu::always_inline]] Event pop(Soon&& soon) {
    const size_t slot = slot_of(next_);
    const uint32_t index = store_->heads_[slot];
    Node* const nodes = store_->nodes_.data();
    Node& node = nodes[index];
    const uint32_t follower = node.next;
    store_->heads_[slot] = follower;
    node.next = store_->spare_;
    store_->spare_ = index;
    if (follower != 0) {
      next_ = nodes[follower].event.at.ps();
      soon(nodes[follower].event);
    } else {
      store_->words_[slot / 64] &= ~(uint64_t{1} << slot % 64);
      const uint32_t first = store_->first_from(slot);
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
    std::vector<Event> all;
    while (!far_.empty()) all.push_back(pop_far());
    for (const Event& event : later_.all()) all.push_back(event);
    later_.clear();
    later_next_ = kNever;
    std::ranges::stable_sort(all, {}, &Event::at);
    for (const Event& event : all) each(event);
  }
  // The same: whatever is pending, in no order.
  template <class Each>
  void for_each(Each each) const {
    for (const Event& event : later_.all()) each(event);
    for (const Far& far : far_) each(far.event);
  }

 private:
  static constexpr int64_t kNever = Instant::never().ps();
  static constexpr int64_t kLongPast = Instant::long_past().ps();
  static constexpr int64_t kRowWindows = 16;  // in how many of them a row is looked at, at most

  struct Far {
    Event event;
    uint64_t number;  // of creation: a heap alone does not keep the order of equals
  };
  static bool is_later(const Far& a, const Far& b) {
    return a.event.at != b.event.at ? a.event.at > b.event.at : a.number > b.number;
  }
  size_t slot_of(int64_t at) const { return static_cast<size_t>(at - start_) >> shift_; }

  [[gnu::always_inline]] void push_later(Event event) {
    if (event.at.ps() >= far_from_) [[unlikely]]
      return push_far(event);
    later_next_ = std::min(later_next_, event.at.ps());
    later_.append(event);
  }
  // Gives what is of the window that opens to take(event), in its order.
  template <class Take>
  void take_row(const Take& take) {
    later_.keep_if([&](const Event& event) {
      if (event.at.ps() < end_) {
        take(event);
        return false;
      }
      later_next_ = std::min(later_next_, event.at.ps());
      return true;
    });
  }
  // Apart, as few events are far.
  [[gnu::noinline]] void push_far(Event event) {
    later_next_ = std::min(later_next_, event.at.ps());
    far_.push_back({event, far_made_++});
    std::ranges::push_heap(far_, is_later);
  }
  [[gnu::noinline]] Event pop_far() {
    std::ranges::pop_heap(far_, is_later);
    const Event event = far_.back().event;
    far_.pop_back();
    return event;
  }
  [[gnu::always_inline]] void push_now(Event event) {
    const int64_t at = event.at.ps();
    if (store_->spare_ == 0) [[unlikely]]
      store_->grow();
    Node* const nodes = store_->nodes_.data();
    const uint32_t index = store_->spare_;
    Node& node = nodes[index];
    store_->spare_ = node.next;
    const size_t slot = slot_of(at);
    uint32_t* link = &store_->heads_[slot];
    uint32_t behind = *link;
    if (behind == 0) store_->words_[slot / 64] |= uint64_t{1} << slot % 64;
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
  int64_t later_next_ = kNever;   // of what is not in buckets
  int64_t far_from_ = kLongPast;  // what is later is far: before the first window all that there is
  int64_t row_span_;              // picoseconds behind a window
  int shift_ = 0;                 // a bucket is 2^shift picoseconds
  Store* store_;
  Row<Event> later_;
  std::vector<Far> far_;
  uint64_t far_made_ = 0;
};

}  // namespace eddy::lab
