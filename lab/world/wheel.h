// Wheel: what will happen in one of many partitions, in the order of time.
//
// Buckets of a few nanoseconds, each a short list in the order of time, over a horizon that is
// longer than what usual events look ahead; a bitmap of the buckets finds the next one, and what is
// farther away is in a heap. It is small, so that hundreds of them cost little cache: a world that
// is one partition is better off with EventQueue. Memory for events is that of a Store, which the
// wheels of a thread share: what one gives back in its window the next one takes in its own, while
// it is in the cache. Events of one instant come out in the order in
// which they were put in, as long as all of them lay within the horizon, or all beyond it. Owner:
// one partition; of a store, whoever runs its wheels one after the other. Bounds: a store grows
// above the room that it was made for. Cost: push walks a bucket's
// list, pop looks into at most 17 words. Source: architecture, section 3.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <vector>

#include "lab/world/event_queue.h"
#include "net/assert.h"
#include "net/units.h"

namespace eddy::lab {

class Wheel {
  struct alignas(32) Node {  // two a cache line
    Event event;
    uint32_t next = 0;  // of the bucket, or of those that are spare
  };

 public:
  static constexpr size_t kBuckets = 1'024;

  class Store {
   public:
    Store() { nodes_.emplace_back(); }  // 0 stands for none
    Store(const Store&) = delete;
    Store& operator=(const Store&) = delete;

    // Room for so many events more.
    void reserve(size_t events) { nodes_.reserve(nodes_.capacity() + events); }

   private:
    friend class Wheel;
    // One spare node more. Apart: few events need it, and it takes registers.
    [[gnu::noinline]] void grow() {
      nodes_.emplace_back();
      spare_ = static_cast<uint32_t>(nodes_.size() - 1);
    }
    std::vector<Node> nodes_;
    uint32_t spare_ = 0;
  };

  // Events up to `horizon` after what move_to() last said are cheap.
  Wheel(Duration horizon, Store& store) : store_(store) {
    while ((static_cast<int64_t>(kBuckets) << shift_) <= horizon.ps()) ++shift_;
  }

  // Nothing will be pushed before `now`, and nothing before it is pending.
  void move_to(Instant now) { base_ = std::max(base_, now.ps() >> shift_); }

  [[gnu::always_inline]] void push(const Event& event, Duration /*delay*/ = {}) {
    const int64_t at = event.at.ps();
    const int64_t bucket = at >> shift_;
    if (bucket - base_ >= static_cast<int64_t>(kBuckets)) [[unlikely]]
      return push_far(event);
    if (store_.spare_ == 0) [[unlikely]]
      store_.grow();
    Node* const nodes = store_.nodes_.data();
    const uint32_t index = store_.spare_;
    Node& node = nodes[index];
    store_.spare_ = node.next;
    const size_t slot = slot_of(bucket);
    uint32_t* link = &heads_[slot];
    uint32_t behind = *link;
    if (behind == 0) words_[slot / 64] |= uint64_t{1} << slot % 64;
    while (behind != 0 && nodes[behind].event.at.ps() <= at) {
      link = &nodes[behind].next;
      behind = *link;
    }
    node.event = event;
    node.next = behind;
    *link = index;
    next_ = std::min(next_, at);
  }
  [[gnu::noinline]] void push_odd(const Event& event) { push(event); }

  Instant next() const { return Instant::at(Duration::picoseconds(std::min(next_, far_next_))); }
  bool empty() const { return next() == Instant::never(); }
  bool due(Instant now) const { return std::min(next_, far_next_) <= now.ps(); }

  // Takes out the next event; there is one. `soon` is called with the one behind it.
  template <class Soon>
  Event pop(Soon&& soon) {
    if (far_next_ <= next_) [[unlikely]]
      return pop_far();
    const size_t slot = slot_of(next_ >> shift_);
    const uint32_t index = heads_[slot];
    Node* const nodes = store_.nodes_.data();
    Node& node = nodes[index];
    const uint32_t follower = node.next;
    heads_[slot] = follower;
    node.next = store_.spare_;
    store_.spare_ = index;
    if (follower != 0) {
      next_ = nodes[follower].event.at.ps();
      soon(nodes[follower].event);
    } else {
      words_[slot / 64] &= ~(uint64_t{1} << slot % 64);
      const uint32_t first = first_from(slot);
      next_ = first == 0 ? kNever : nodes[first].event.at.ps();
      soon(nodes[first].event);
    }
    return node.event;
  }
  Event pop() {
    return pop([](const Event&) {});
  }

  // Whatever is pending, in no order.
  template <class Each>
  void for_each(Each each) const {
    const std::vector<Node>& nodes = store_.nodes_;
    for (const uint32_t head : heads_)
      for (uint32_t index = head; index != 0; index = nodes[index].next) each(nodes[index].event);
    for (const Far& far : far_) each(far.event);
  }

 private:
  static constexpr int64_t kNever = Instant::never().ps();
  static constexpr size_t kWords = kBuckets / 64;

  struct Far {
    Event event;
    uint64_t number;  // of creation: a heap alone does not keep the order of equals
  };

  static bool later(const Far& a, const Far& b) {
    return a.event.at != b.event.at ? a.event.at > b.event.at : a.number > b.number;
  }
  static size_t slot_of(int64_t bucket) { return static_cast<size_t>(bucket) % kBuckets; }

  // The head of the first bucket from this one on, round the wheel; 0 if all are empty.
  uint32_t first_from(size_t slot) const {
    const size_t from = slot / 64;
    uint64_t bits = words_[from] & (~uint64_t{0} << slot % 64);
    size_t word = from;
    for (size_t step = 1; bits == 0 && step <= kWords; ++step) {
      word = (from + step) % kWords;
      bits = words_[word];
    }
    return bits == 0 ? 0 : heads_[word * 64 + static_cast<size_t>(std::countr_zero(bits))];
  }

  // Apart, as few events are far.
  [[gnu::noinline]] void push_far(const Event& event) {
    far_.push_back({event, far_made_++});
    std::push_heap(far_.begin(), far_.end(), later);
    far_next_ = far_.front().event.at.ps();
  }
  [[gnu::noinline]] Event pop_far() {
    std::pop_heap(far_.begin(), far_.end(), later);
    const Event event = far_.back().event;
    far_.pop_back();
    far_next_ = far_.empty() ? kNever : far_.front().event.at.ps();
    return event;
  }

  alignas(64) int64_t next_ = kNever;  // of the buckets
  int64_t far_next_ = kNever;
  int64_t base_ = 0;  // the first bucket that may be in use
  int shift_ = 0;     // a bucket is 2^shift picoseconds
  Store& store_;
  alignas(64) std::array<uint64_t, kWords> words_{};  // bit = a bucket with events
  std::array<uint32_t, kBuckets> heads_{};
  std::vector<Far> far_;
  uint64_t far_made_ = 0;
};

}  // namespace eddy::lab
