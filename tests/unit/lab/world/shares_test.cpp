#include "lab/world/shares.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "net/random.h"

namespace eddy::lab {
namespace {

using Shares = std::vector<uint16_t>;

SharedOut one_tier(std::vector<int64_t> weights) {
  return {std::vector<size_t>(weights.size()), std::move(weights)};
}

// How long whoever is last works.
double longest(const SharedOut& of, const Shares& share_of, const std::vector<double>& speeds) {
  std::vector<double> times(speeds.size());
  for (size_t i = 0; i < share_of.size(); ++i)
    times[share_of[i]] += static_cast<double>(of.weights[i]) / speeds[share_of[i]];
  return *std::ranges::max_element(times);
}

TEST(Shares, EveryTierIsCutIntoStretches) {
  const SharedOut of{{0, 0, 1, 0, 1, 0}, {1, 1, 1, 1, 1, 1}};
  EXPECT_EQ(stretches_of(of, std::vector{1.0, 1.0}), (Shares{0, 0, 0, 1, 1, 1}));
  EXPECT_EQ(stretches_of({}, std::vector{1.0, 1.0}), Shares{});
}

TEST(Shares, AreAsLargeAsTheirSpeedIs) {
  const SharedOut of = one_tier({1, 1, 1, 1, 1, 1, 1, 1});
  EXPECT_EQ(stretches_of(of, std::vector{3.0, 1.0}), (Shares{0, 0, 0, 0, 0, 0, 1, 1}));
  EXPECT_EQ(stretches_of(of, std::vector{0.5, 0.5, 1.0}), (Shares{0, 0, 1, 1, 2, 2, 2, 2}));
}

TEST(Shares, OfFewAreEvenedOutByExchanges) {
  const SharedOut of = one_tier({13, 11, 10, 8, 9, 9});
  const std::vector alike{1.0, 1.0};
  EXPECT_EQ(stretches_of(of, alike), (Shares{0, 0, 0, 1, 1, 1}));  // 34 and 26
  EXPECT_EQ(longest(of, even_shares_of(of, alike), alike), 30);
  EXPECT_EQ(even_shares_of(one_tier({5, 5, 5, 5}), alike), (Shares{0, 0, 1, 1}));
  EXPECT_EQ(even_shares_of(one_tier({9, 1, 1, 1}), alike), (Shares{0, 1, 1, 1}));
}

TEST(Shares, OfManyAreStretches) {
  std::vector<int64_t> weights(2 * kFew, 10);
  weights[0] = 12;
  const SharedOut of = one_tier(weights);
  const std::vector alike{1.0, 1.0};
  EXPECT_EQ(even_shares_of(of, alike), stretches_of(of, alike));
}

// Exchanges never make the last one later, and stop.
TEST(Shares, AreNoLessEvenThanStretches) {
  RandomStream random(1, 0, 0x73686172);
  const auto below = [&random](uint64_t bound) { return random.next64() % bound; };
  size_t better = 0;
  for (int round = 0; round < 2'000; ++round) {
    std::vector<int64_t> weights(1 + below(kFew));
    for (int64_t& weight : weights) weight = 1 + static_cast<int64_t>(below(1'000));
    std::vector<double> speeds(1 + below(5));
    for (double& speed : speeds) speed = 0.1 + static_cast<double>(below(100)) / 50;
    const SharedOut of = one_tier(weights);
    const Shares even = even_shares_of(of, speeds);
    ASSERT_LT(*std::ranges::max_element(even), speeds.size());
    const double before = longest(of, stretches_of(of, speeds), speeds);
    const double after = longest(of, even, speeds);
    ASSERT_LE(after, before * 1.000'001);
    better += after < before * 0.99 ? 1 : 0;
  }
  EXPECT_GT(better, 500u);
}

// Six of a tier that run at once, on two threads.
Sharing six() {
  Sharing sharing(2);
  for (uint16_t i = 0; i < 6; ++i) sharing.add({.tier = 0, .turn = 0, .thread = uint16_t(i / 3)});
  return sharing;
}

Shares of(const Sharing& sharing) {
  return {sharing.thread_of().begin(), sharing.thread_of().end()};
}

TEST(Sharing, StaysWhereAllEndTogether) {
  Sharing sharing = six();
  const std::vector<uint64_t> events{100, 101, 99, 100, 100, 101};
  EXPECT_FALSE(sharing.look(events, std::vector<uint64_t>{3'000, 3'010}));
  EXPECT_EQ(of(sharing), (Shares{0, 0, 0, 1, 1, 1}));
  EXPECT_EQ(sharing.moves(), 0u);
}

TEST(Sharing, FollowsWhatPartitionsCost) {
  Sharing sharing = six();
  const std::vector<uint64_t> events{130, 110, 100, 80, 90, 90};
  EXPECT_TRUE(sharing.look(events, std::vector<uint64_t>{3'400, 2'600}));
  uint64_t first = 0;
  for (size_t i = 0; i < events.size(); ++i) first += of(sharing)[i] == 0 ? events[i] : 0;
  EXPECT_EQ(first, 300u);
  EXPECT_GT(sharing.moves(), 0u);
  const Shares now = of(sharing);
  EXPECT_FALSE(sharing.look(events, std::vector<uint64_t>{3'000, 3'000}));
  EXPECT_EQ(of(sharing), now);
}

// As many events take the second thread twice as long.
TEST(Sharing, GivesASlowThreadLess) {
  Sharing sharing = six();
  const std::vector<uint64_t> events(6, 100);
  EXPECT_TRUE(sharing.look(events, std::vector<uint64_t>{3'000, 6'000}));
  EXPECT_EQ(of(sharing), (Shares{0, 0, 0, 0, 1, 1}));
  EXPECT_EQ(sharing.moves(), 1u);
  EXPECT_FALSE(sharing.look(events, std::vector<uint64_t>{4'000, 4'000}));
}

// Turns follow each other, so that one's long side is not another's short one.
TEST(Sharing, EvensOutEveryTurn) {
  Sharing sharing(2);
  for (uint16_t i = 0; i < 8; ++i)
    sharing.add({.tier = size_t(i / 4), .turn = uint8_t(i / 4), .thread = uint16_t(i / 2 % 2)});
  const std::vector<uint64_t> events{60, 60, 40, 40, 40, 40, 60, 60};
  EXPECT_TRUE(sharing.look(events, std::vector<uint64_t>{2'000, 2'000}));
  const Shares now = of(sharing);
  for (size_t turn : {0, 4}) {
    uint64_t first = 0;
    for (size_t i = turn; i < turn + 4; ++i) first += now[i] == 0 ? events[i] : 0;
    EXPECT_EQ(first, 100u) << turn;
  }
}

// What is so slow that it gets nothing is tried again.
TEST(Sharing, ForgetsAThreadThatHasNothing) {
  Sharing sharing(2);
  for (uint16_t i = 0; i < 2; ++i) sharing.add({.tier = 0, .turn = 0, .thread = i});
  const std::vector<uint64_t> events(2, 100);
  EXPECT_TRUE(sharing.look(events, std::vector<uint64_t>{100, 1'000}));
  EXPECT_EQ(of(sharing), (Shares{0, 0}));
  EXPECT_TRUE(sharing.look(events, std::vector<uint64_t>{200, 1}));
  EXPECT_EQ(of(sharing), (Shares{0, 1}));
}

TEST(Sharing, KnowsNothingOfAThreadThatHasNothing) {
  Sharing sharing(3);
  sharing.add({.tier = 0, .turn = 0, .thread = 0});
  sharing.add({.tier = 0, .turn = 0, .thread = 0});
  EXPECT_TRUE(sharing.look(std::vector<uint64_t>{100, 100}, std::vector<uint64_t>{500, 0, 0}));
  EXPECT_NE(of(sharing)[0], of(sharing)[1]);
  EXPECT_FALSE(Sharing(2).look({}, std::vector<uint64_t>{0, 0}));
}

}  // namespace
}  // namespace eddy::lab
