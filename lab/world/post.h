// Post: frames on their way from one partition to another.
//
// What is posted in a window arrives in a later one, so it waits in the box of the partition that
// it goes to, and is taken when that one's next window begins. Boxes are double: one is written in
// this window, the other one was written in the last, so what a partition finds does not depend on
// which of them ran before it. Owner: the windows of one world. Bounds: boxes grow. Cost: an append
// to memory that is written in one stretch.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "lab/world/event_queue.h"
#include "net/units.h"

namespace eddy::lab {

class Post {
 public:
  using Box = std::vector<Event>;

  explicit Post(size_t partitions) : boxes_{Boxes(partitions), Boxes(partitions)} {}

  void reserve(size_t partition, size_t frames) {
    for (Boxes& boxes : boxes_) boxes[partition].reserve(frames);
  }
  void send(size_t partition, const Event& arrival) {
    boxes_[writing_][partition].push_back(arrival);
    if (arrival.at < earliest_) earliest_ = arrival.at;
  }
  // What was sent to the partition in the last window, in the order of each sender. To be emptied.
  Box& taken_by(size_t partition) { return boxes_[writing_ ^ 1][partition]; }
  // A window ends: what was sent in it can be taken. Returns when the first of it arrives.
  Instant turn() {
    writing_ ^= 1;
    return std::exchange(earliest_, Instant::never());
  }

 private:
  using Boxes = std::vector<Box>;
  std::array<Boxes, 2> boxes_;
  size_t writing_ = 0;
  Instant earliest_ = Instant::never();
};

}  // namespace eddy::lab
