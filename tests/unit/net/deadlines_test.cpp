#include "net/deadlines.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

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
  Deadlines deadlines(2, &next);
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

}  // namespace
}  // namespace eddy
