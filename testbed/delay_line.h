// DelayLine: frames in flight on one direction of a link, in order, each with the time at which it
// comes out.
//
// Owner: one HostPort. Bounds: fixed at construction, a power of two. Cost: a store and a load a
// frame.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <vector>

#include "net/assert.h"
#include "net/packet.h"
#include "net/units.h"

namespace eddy::testbed {

class DelayLine {
 public:
  explicit DelayLine(size_t frames) : ring_(std::bit_ceil(std::max<size_t>(frames, 2))) {}

  size_t room() const { return ring_.size() - size_; }
  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }

  // Frames come out in the order in which they went in.
  void push(Packet* frame, Instant due) {
    ASSERT(room() != 0);
    ring_[(first_ + size_++) & (ring_.size() - 1)] = {frame, due};
  }
  Instant next() const { return size_ == 0 ? Instant::never() : ring_[first_].due; }
  // The i-th from the front, if it is due by `now`; else null.
  Packet* due(size_t i, Instant now) const {
    if (i >= size_) return nullptr;
    const Entry& entry = ring_[(first_ + i) & (ring_.size() - 1)];
    return entry.due <= now ? entry.frame : nullptr;
  }
  void pop(size_t frames) {
    first_ = (first_ + frames) & (ring_.size() - 1);
    size_ -= frames;
  }

 private:
  struct Entry {
    Packet* frame = nullptr;
    Instant due;
  };
  std::vector<Entry> ring_;
  size_t first_ = 0;
  size_t size_ = 0;
};

}  // namespace eddy::testbed
