// What is known of ports within a burst, and never after it.
#include "lb/burst_memo.h"

#include <gtest/gtest.h>

namespace eddy::lb {
namespace {

constexpr PortId kNotedPort{1};
constexpr QueueId kNotedQueue{3};
constexpr uint64_t kLargestNumber = BurstMemo::kUnknown - 1;

bool has_noted(const BurstMemo& memo, PortId port = kNotedPort, QueueId queue = kNotedQueue) {
  return memo.look_up(port, memo.stamp(queue)) < BurstMemo::kUnknown;
}

TEST(BurstMemo, KnowsWhatWasNotedOfThePortAndQueue) {
  BurstMemo memo(3);
  memo.begin();
  EXPECT_FALSE(has_noted(memo)) << "nothing was noted";
  for (const uint64_t number : {uint64_t{0}, uint64_t{77}, kLargestNumber}) {
    EXPECT_EQ(memo.note(kNotedPort, memo.stamp(kNotedQueue), number), number);
    EXPECT_EQ(memo.look_up(kNotedPort, memo.stamp(kNotedQueue)), number);
  }
  EXPECT_FALSE(has_noted(memo, PortId(0)));
  EXPECT_FALSE(has_noted(memo, PortId(2)));
  for (size_t queue = 0; queue < kPriorities; ++queue)
    EXPECT_EQ(has_noted(memo, kNotedPort, QueueId(queue)), queue == kNotedQueue.index()) << queue;
}

// Also when all stamps have been used, and after that.
TEST(BurstMemo, ForgetsWithEachBurst) {
  BurstMemo memo(3);
  memo.begin();
  memo.note(kNotedPort, memo.stamp(kNotedQueue), kLargestNumber);
  int known = 0;
  for (int i = 0; i < (1 << 18) + 10; ++i) {
    memo.begin();
    known += has_noted(memo) ? 1 : 0;
    known += has_noted(memo, PortId(0), QueueId(0)) ? 1 : 0;  // of which nothing ever was
  }
  EXPECT_EQ(known, 0);
}

}  // namespace
}  // namespace eddy::lb
