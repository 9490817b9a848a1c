// Post: frames on their way from one partition to another.
//
// What is posted in a window arrives in a later one, so it waits in a box of the partition that it
// goes to, and is taken when that one's next window begins. Every thread has a desk with boxes of
// its own for all partitions. Where partitions of one window send to each other, boxes are double:
// one is written in this window, the other one was written in the last, so what a partition finds
// does not depend on which of them ran before it. Where sides take turns, a box is written in
// windows of one side and emptied in those of the other.
// Owner: the windows of one world; a desk: its thread, which also empties, at all desks, the boxes
// of its partitions; between two windows the threads meet. Bounds: boxes grow. Cost: an append to
// memory that is written in one stretch.
#pragma once

#include <array>
#include <cstddef>
#include <utility>
#include <vector>

#include "lab/world/event_queue.h"
#include "lab/world/row.h"
#include "net/memory/lines.h"
#include "net/units.h"

namespace eddy::lab {

class Post {
 public:
  // Of one thread.
  class alignas(64) Desk {
   public:
    Desk(size_t partitions, bool sides)
        : boxes_{Boxes(partitions), Boxes(sides ? 0 : partitions)}, other_(sides ? 0 : 1) {}

    [[gnu::always_inline]] void send(size_t partition, Event arrival) {
      Box& box = boxes_[writing_][partition];
      box.append(arrival);
      ask_to_write(box.end() + kAhead);
      if (arrival.at < earliest_) earliest_ = arrival.at;
    }
    // A window ends: what was sent in it can be taken. Returns when the first of it arrives.
    Instant turn() {
      writing_ ^= other_;
      return std::exchange(earliest_, Instant::never());
    }

   private:
    friend class Post;
    // Events, some two lines of a box: whoever emptied it has them, if another thread did.
    static constexpr size_t kAhead = 5;
    using Box = Row<Event>;
    using Boxes = std::vector<Box>;
    std::array<Boxes, 2> boxes_;
    size_t other_;  // box than that which is written: 1 away, or it is the same
    size_t writing_ = 0;
    Instant earliest_ = Instant::never();
  };

  // `sides` take turns, and nobody sends to its own.
  Post(size_t partitions, size_t threads, bool sides) {
    desks_.reserve(threads);
    for (size_t i = 0; i < threads; ++i) desks_.emplace_back(partitions, sides);
  }

  Desk& desk(size_t thread) { return desks_[thread]; }
  void reserve(size_t thread, size_t partition, size_t frames) {
    for (Desk::Boxes& boxes : desks_[thread].boxes_)
      if (!boxes.empty()) boxes[partition].reserve(frames);
  }
  // Takes what was sent to the partition in the last window, in the order of desks and of each
  // one's sending; `own`: the desk of the partition's thread, which knows the window.
  template <class Take>
  void take(const Desk& own, size_t partition, Take take) {
    const size_t reading = own.writing_ ^ own.other_;
    for (Desk& desk : desks_) {
      Desk::Box& box = desk.boxes_[reading][partition];
      for (const Event& arrival : box.all()) take(arrival);
      box.clear();
    }
  }

  // Between two windows: one that is taken when the partition's next window begins.
  void hand_in(size_t partition, const Event& arrival) {
    Desk& desk = desks_.front();
    desk.boxes_[desk.writing_ ^ desk.other_][partition].append(arrival);
  }
  // The same: goes through what was sent to the partition, of which keep(event) may stay.
  template <class Keep>
  void sift(size_t partition, Keep keep) {
    for (Desk& desk : desks_)
      for (Desk::Boxes& boxes : desk.boxes_)
        if (!boxes.empty()) boxes[partition].keep_if(keep);
  }
  // The same: what was sent to the partition and not taken.
  template <class Each>
  void for_each(size_t partition, Each each) const {
    for (const Desk& desk : desks_)
      for (const Desk::Boxes& boxes : desk.boxes_)
        if (!boxes.empty())
          for (const Event& arrival : boxes[partition].all()) each(arrival);
  }

 private:
  std::vector<Desk> desks_;
};

}  // namespace eddy::lab
