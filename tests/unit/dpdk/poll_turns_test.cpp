#include "switch/dpdk/poll_turns.h"

#include <gtest/gtest.h>

#include <thread>

namespace eddy {
namespace {

TEST(PollTurns, NobodyIsWaitedForWhoDoesNotPoll) {
  PollTurns turns;
  EXPECT_TRUE(turns.reached(turns.mark(true)));
  turns.wait();
  turns.start();
  const uint64_t mark = turns.mark(true);
  EXPECT_FALSE(turns.reached(mark));
  turns.stop();
  EXPECT_TRUE(turns.reached(mark)) << "it stopped instead of ending the turn";
}

TEST(PollTurns, BehindABarrierTheTurnUnderWayIsWaitedFor) {
  PollTurns turns;
  turns.start();
  turns.end_turn();
  const uint64_t mark = turns.mark(true);
  EXPECT_FALSE(turns.reached(mark));
  turns.end_turn();
  EXPECT_TRUE(turns.reached(mark));
}

TEST(PollTurns, WithoutABarrierOneTurnMore) {
  PollTurns turns;
  turns.start();
  turns.end_turn();
  const uint64_t mark = turns.mark(false);
  turns.end_turn();
  EXPECT_FALSE(turns.reached(mark)) << "it may have begun before our stores were seen";
  turns.end_turn();
  EXPECT_TRUE(turns.reached(mark));
}

// What is written before wait() is seen by every turn that ends after it.
TEST(PollTurns, TurnsAfterAWaitSeeWhatWasWrittenBefore) {
  PollTurns turns;
  std::atomic<int> told{0};  // relaxed: only wait() brings order
  std::atomic<int> in_use{0};
  std::atomic<bool> stop{false};
  turns.start();
  std::thread poller([&] {
    while (!stop.load(std::memory_order_relaxed)) {
      in_use.store(told.load(std::memory_order_relaxed), std::memory_order_relaxed);
      turns.end_turn();
      std::this_thread::yield();
    }
    turns.stop();
  });
  for (int i = 1; i <= 50; ++i) {
    told.store(i, std::memory_order_relaxed);
    turns.wait();
    turns.wait();  // the turn that begins after the first ends before the second does
    ASSERT_EQ(in_use.load(std::memory_order_relaxed), i);
  }
  stop.store(true, std::memory_order_relaxed);
  poller.join();
}

TEST(PollTurns, ThisKernelHasTheBarrier) {
  EXPECT_TRUE(PollTurns::fence_all_threads());
}

}  // namespace
}  // namespace eddy
