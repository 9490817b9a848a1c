// Post: frames on their way from one partition to another.
//
// What is posted in a window arrives in a later one, so it waits in a box of the partition that it
// goes to, and is taken when that one's next window begins. Every thread has a desk with boxes of
// its own for all partitions. Boxes are double: one is written in this window, the other one was
// written in the last, so what a partition finds does not depend on which of them ran before it.
// Owner: the windows of one world; a desk: its thread, which also empties, at all desks, the boxes
// of its partitions; between two windows the threads meet. Bounds: boxes grow. Cost: an append to
// memory that is written in one stretch.
#pragma once

#include <array>
#include <cstddef>
#include <utility>
#include <vector>

#include "lab/world/event_queue.h"
#include "net/units.h"

namespace eddy::lab {

class Post {
 public:
  // Of one thread.
  class alignas(64) Desk {
   public:
    explicit Desk(size_t partitions) : boxes_{Boxes(partitions), Boxes(partitions)} {}

    void send(size_t partition, const Event& arrival) {
      boxes_[writing_][partition].push_back(arrival);
      if (arrival.at < earliest_) earliest_ = arrival.at;
    }
    // A window ends: what was sent in it can be taken. Returns when the first of it arrives.
    Instant turn() {
      writing_ ^= 1;
      return std::exchange(earliest_, Instant::never());
    }

   private:
    friend class Post;
    using Box = std::vector<Event>;
    using Boxes = std::vector<Box>;
    std::array<Boxes, 2> boxes_;
    size_t writing_ = 0;
    Instant earliest_ = Instant::never();
  };

  Post(size_t partitions, size_t threads) { desks_.assign(threads, Desk(partitions)); }

  Desk& desk(size_t thread) { return desks_[thread]; }
  void reserve(size_t thread, size_t partition, size_t frames) {
    for (Desk::Boxes& boxes : desks_[thread].boxes_) boxes[partition].reserve(frames);
  }
  // Takes what was sent to the partition in the last window, in the order of desks and of each
  // one's sending; `own`: the desk of the partition's thread, which knows the window.
  template <class Take>
  void take(const Desk& own, size_t partition, Take take) {
    const size_t reading = own.writing_ ^ 1;
    for (Desk& desk : desks_) {
      Desk::Box& box = desk.boxes_[reading][partition];
      for (const Event& arrival : box) take(arrival);
      box.clear();
    }
  }

  // Between two windows: one that is taken when the partition's next window begins.
  void hand_in(size_t partition, const Event& arrival) {
    Desk& desk = desks_.front();
    desk.boxes_[desk.writing_ ^ 1][partition].push_back(arrival);
  }
  // The same: goes through what was sent to the partition, of which keep(event) may stay.
  template <class Keep>
  void sift(size_t partition, Keep keep) {
    for (Desk& desk : desks_)
      for (Desk::Boxes& boxes : desk.boxes_)
        std::erase_if(boxes[partition], [&](const Event& arrival) { return !keep(arrival); });
  }
  // The same: what was sent to the partition and not taken.
  template <class Each>
  void for_each(size_t partition, Each each) const {
    for (const Desk& desk : desks_)
      for (const Desk::Boxes& boxes : desk.boxes_)
        for (const Event& arrival : boxes[partition]) each(arrival);
  }

 private:
  std::vector<Desk> desks_;
};

}  // namespace eddy::lab
