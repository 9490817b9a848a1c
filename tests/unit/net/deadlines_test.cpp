#include "net/deadlines.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <random>
#include <vector>

namespace eddy {
namespace {

Instant at(int64_t ps) {
  return Instant::at(Duration::picoseconds(ps));
}

TEST(Deadlines, EmptyIsNever) {
  Deadlines deadlines(4);
  EXPECT_EQ(deadlines.next(), Instant::never());
  EXPECT_FALSE(deadlines.pop_due(at(1'000'000)).has_value());
}

TEST(Deadlines, TiesComeOutById) {
  Deadlines deadlines(8);
  for (uint32_t id : {5, 1, 7, 3}) deadlines.set(id, at(10));
  EXPECT_FALSE(deadlines.pop_due(at(9)).has_value());
  for (uint32_t id : {1, 3, 5, 7}) EXPECT_EQ(deadlines.pop_due(at(10)), id);
}

TEST(Deadlines, NeverCancels) {
  Deadlines deadlines(2);
  deadlines.set(1, at(5));
  deadlines.set(1, Instant::never());
  EXPECT_FALSE(deadlines.pending(1));
  EXPECT_EQ(deadlines.next(), Instant::never());
}

TEST(Deadlines, AgreesWithASortedMapUnderRandomOperations) {
  const unsigned seed = 20'240'601;
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937_64 random(seed);
  constexpr uint32_t kIds = 40;
  Deadlines deadlines(kIds);
  std::map<uint32_t, int64_t> model;
  for (int step = 0; step < 20'000; ++step) {
    const auto id = static_cast<uint32_t>(random() % kIds);
    const auto when = static_cast<int64_t>(random() % 100);
    if (random() % 4 == 0) {
      deadlines.cancel(id);
      model.erase(id);
    } else if (random() % 3 == 0) {
      std::pair<int64_t, uint32_t> first{INT64_MAX, 0};
      for (const auto& [i, t] : model) first = std::min(first, {t, i});
      const auto popped = deadlines.pop_due(at(when));
      ASSERT_EQ(popped.has_value(), first.first <= when) << "step " << step;
      if (popped) {
        ASSERT_EQ(*popped, first.second) << "step " << step;
        model.erase(*popped);
      }
    } else {
      deadlines.set(id, at(when));
      model[id] = when;
    }
    int64_t earliest = INT64_MAX;
    for (const auto& [i, t] : model) earliest = std::min(earliest, t);
    ASSERT_EQ(deadlines.next(), model.empty() ? Instant::never() : at(earliest)) << "step " << step;
    const auto known = model.find(id);
    ASSERT_EQ(deadlines.pending(id), known != model.end()) << "step " << step;
    ASSERT_EQ(deadlines.at(id), known == model.end() ? Instant::never() : at(known->second));
  }
}

TEST(Deadlines, TellTheEarliestWhereTheirUserAsked) {
  Instant next;
  bool moved = false;
  Deadlines deadlines(2, DeadlinePlace(next, moved));
  EXPECT_EQ(next, Instant::never());
  deadlines.set(0, at(7));
  deadlines.set(1, at(5));
  EXPECT_EQ(next, at(5));
  EXPECT_EQ(deadlines.pop_due(at(5)), 1u);
  EXPECT_EQ(next, at(7));
  deadlines.set(0, at(9));
  EXPECT_EQ(next, at(9));
  deadlines.cancel(0);
  EXPECT_EQ(next, Instant::never());
}

// Whoever settles a board and asks it again only when it has moved always knows the earliest.
TEST(DeadlineBoard, IsTheEarliestOfAllKeepersUnderRandomOperations) {
  const unsigned seed = 20'261'123;
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937_64 random(seed);
  constexpr uint32_t kIds = 5;
  DeadlineBoard<4> board;
  EXPECT_TRUE(board.moved()) << "nobody has asked yet";
  EXPECT_EQ(board.earliest(), Instant::never());
  std::vector<std::unique_ptr<Deadlines>> keepers;
  for (size_t i = 0; i < 3; ++i)
    keepers.push_back(std::make_unique<Deadlines>(kIds, board.place(i)));
  const DeadlinePlace plain = board.place(3);  // of one that keeps no heap
  Instant known = Instant::never();
  int settled = 0;
  for (int step = 0; step < 20'000; ++step) {
    const auto id = static_cast<uint32_t>(random() % kIds);
    const Instant when = at(static_cast<int64_t>(random() % 100));
    Deadlines& keeper = *keepers[random() % keepers.size()];
    switch (random() % 6) {
      case 0:
        keeper.cancel(id);
        break;
      case 1:
        keeper.pop_due(when);
        break;
      case 2:
        plain.set(random() % 4 == 0 ? Instant::never() : when);
        break;
      case 3:
        keeper.set(id, when);
        break;
      default:
        break;  // nothing happens
    }
    if (board.moved()) {
      known = board.earliest();
      board.settle();
      ++settled;
    }
    Instant earliest = plain.at();
    for (const auto& each : keepers) earliest = std::min(earliest, each->next());
    ASSERT_EQ(known, earliest) << "step " << step;
  }
  EXPECT_LT(settled, 16'000) << "what does not move costs nothing";
}

TEST(DeadlineBoard, ARebaseMovesIt) {
  DeadlineBoard<1> board;
  Deadlines deadlines(1, board.place(0));
  deadlines.set(0, at(1'000'000));
  board.settle();
  deadlines.rebase(Rebase());
  EXPECT_TRUE(board.moved());
  EXPECT_EQ(board.earliest(), Rebase()(at(1'000'000)));
}

}  // namespace
}  // namespace eddy
