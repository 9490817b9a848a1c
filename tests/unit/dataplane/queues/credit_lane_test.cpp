// Credits between shards: they come out as they went in, all round the ring; a full ring says so
// and loses nothing; two threads agree.
#include "switch/dataplane/state/credit_lane.h"

#include <gtest/gtest.h>

#include <memory>
#include <thread>
#include <tuple>
#include <vector>

namespace eddy::test {
namespace {

using Words = std::tuple<int64_t, size_t, size_t>;

Words words_of(const Credit& credit) {
  return {credit.bytes, credit.port.index(), credit.pg.index()};
}

std::vector<Words> taken_from(CreditLane& lane) {
  std::vector<Words> credits;
  lane.take([&credits](const Credit& credit) { credits.push_back(words_of(credit)); });
  return credits;
}

// Every n has another.
Credit credit(size_t n) {
  return {.bytes = static_cast<int64_t>(n + 1),
          .port = PortId(n % kMaxPorts),
          .pg = PriorityGroupId(n / 3 % kPriorities)};
}

class LaneOfCredits : public testing::Test {
 protected:
  std::unique_ptr<CreditLane> lane_ = std::make_unique<CreditLane>();
};

TEST_F(LaneOfCredits, CarryTheGreatestOfEachPart) {
  const Credit most{(int64_t{1} << 52) - 1, PortId(kMaxPorts - 1),
                    PriorityGroupId(kPriorities - 1)};
  EXPECT_TRUE(lane_->empty());
  ASSERT_TRUE(lane_->send(most));
  ASSERT_TRUE(lane_->send({0, PortId(0), PriorityGroupId(0)}));
  EXPECT_FALSE(lane_->empty());
  EXPECT_EQ(taken_from(*lane_), (std::vector<Words>{words_of(most), {0, 0, 0}}));
  EXPECT_TRUE(lane_->empty());
}

// Some wait in the lane all the time, so that rounds of the ring meet.
TEST_F(LaneOfCredits, ComeInOrderOverManyRoundsOfTheRing) {
  size_t sent = 0;
  size_t taken = 0;
  for (size_t some = 1; sent < 5 * CreditLane::kRoom; some = some % 700 + 13) {
    for (size_t i = 0; i < some; ++i) ASSERT_TRUE(lane_->send(credit(sent++)));
    if (some % 2 == 0) continue;
    for (const Words& words : taken_from(*lane_)) EXPECT_EQ(words, words_of(credit(taken++)));
    EXPECT_EQ(taken, sent);
  }
}

TEST_F(LaneOfCredits, SayWhenTheyAreFullAndKeepAll) {
  for (size_t round = 0; round < 3; ++round) {
    const size_t first = round * CreditLane::kRoom;
    for (size_t i = 0; i < CreditLane::kRoom; ++i) ASSERT_TRUE(lane_->send(credit(first + i)));
    EXPECT_FALSE(lane_->send(credit(0)));
    const std::vector<Words> taken = taken_from(*lane_);
    ASSERT_EQ(taken.size(), CreditLane::kRoom);
    EXPECT_EQ(taken.front(), words_of(credit(first)));
    EXPECT_EQ(taken.back(), words_of(credit(first + CreditLane::kRoom - 1)));
    EXPECT_TRUE(lane_->empty());
  }
}

TEST_F(LaneOfCredits, CrossBetweenThreads) {
  constexpr size_t kCredits = 20 * CreditLane::kRoom;
  std::thread sender([this] {
    for (size_t i = 0; i < kCredits;)
      if (lane_->send(credit(i)))
        ++i;
      else
        std::this_thread::yield();
  });
  std::vector<Words> taken;
  while (taken.size() < kCredits) {
    const size_t before = taken.size();
    const size_t came =
        lane_->take([&taken](const Credit& each) { taken.push_back(words_of(each)); });
    EXPECT_EQ(taken.size() - before, came);
    if (came == 0) std::this_thread::yield();
  }
  sender.join();
  for (size_t i = 0; i < kCredits; ++i) ASSERT_EQ(taken[i], words_of(credit(i))) << i;
}

}  // namespace
}  // namespace eddy::test
