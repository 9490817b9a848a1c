// PollTurns: which turns of a polling thread have ended, for others who wait until none of its
// driver calls that began earlier is still under way.
//
// The polling thread says when it starts, ends a turn and stops, with plain stores; whoever waits
// pays for the order. What the waiting thread wrote before must be seen by each turn that begins
// after those it waits for: processors let a turn's first loads overtake the store that ended the
// turn before, so the waiting thread makes all threads of the process pass a barrier (membarrier of
// Linux). Where the kernel refuses that, one turn more is waited for: by its end the stores of the
// turn before have long left the processor's queue.
//
// Threads: each function says whose it is. Cost: a store a turn; mark() is a system call.
#pragma once

#include <atomic>
#include <cstdint>

namespace eddy {

class PollTurns {
 public:
  // The polling thread.
  void start() { running_.store(true, std::memory_order_release); }
  void end_turn() {
    ended_.store(ended_.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  }
  void stop() { running_.store(false, std::memory_order_release); }

  // Any thread.
  bool running() const { return running_.load(std::memory_order_acquire); }
  // Any other thread: returns when every turn that did not see what this thread wrote has ended.
  void wait() const;

  // The parts of wait(). A mark is reached when so many turns have ended, or none is run.
  uint64_t mark(bool fenced) const {
    return ended_.load(std::memory_order_acquire) + (fenced ? 1 : 2);
  }
  bool reached(uint64_t mark) const {
    return !running() || ended_.load(std::memory_order_acquire) >= mark;
  }
  // Every thread of the process has passed a full barrier; false: the kernel does not do that.
  static bool fence_all_threads();

 private:
  std::atomic<bool> running_{false};
  std::atomic<uint64_t> ended_{0};
};

}  // namespace eddy
