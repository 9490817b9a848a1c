// Watermarks: the two start again apart, whichever was cleared last.
#include "pfc/watermarks.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace eddy::pfc {
namespace {

using enum WatermarkKind;

TEST(Watermarks, FollowTheHighestLevel) {
  Watermarks marks;
  for (const int64_t level : {3, 7, 5}) marks.raise(level);
  EXPECT_EQ(marks.read(user), 7);
  EXPECT_EQ(marks.read(persistent), 7);
  EXPECT_TRUE(marks.cover(7));
  EXPECT_FALSE(marks.cover(8));
}

TEST(Watermarks, EachIsClearedAlone) {
  for (const WatermarkKind cleared : {user, persistent}) {
    const WatermarkKind kept = cleared == user ? persistent : user;
    Watermarks marks;
    marks.raise(9);
    marks.clear(cleared, 2);
    EXPECT_EQ(marks.read(cleared), 2);
    EXPECT_EQ(marks.read(kept), 9);
    marks.raise(5);
    EXPECT_EQ(marks.read(cleared), 5);
    EXPECT_EQ(marks.read(kept), 9);
    marks.raise(11);
    EXPECT_EQ(marks.read(cleared), 11);
    EXPECT_EQ(marks.read(kept), 11);
  }
}

// Against two numbers of which each is cleared alone.
TEST(Watermarks, AreAsTwoThatKnowNothingOfEachOther) {
  Watermarks marks;
  int64_t model[2] = {0, 0};
  int64_t level = 0;
  uint32_t draw = 1;
  for (int i = 0; i < 2'000; ++i) {
    draw = draw * 1'664'525u + 1'013'904'223u;
    const uint32_t what = draw >> 24;
    level = what % 64;
    if (what < 192) {
      marks.raise(level);
      for (int64_t& mark : model) mark = std::max(mark, level);
    } else {
      const auto kind = static_cast<WatermarkKind>(what & 1);
      level = std::min({level, model[0], model[1]});  // it is never above what was seen
      marks.clear(kind, level);
      model[what & 1] = level;
    }
    ASSERT_EQ(marks.read(user), model[0]) << i;
    ASSERT_EQ(marks.read(persistent), model[1]) << i;
  }
}

}  // namespace
}  // namespace eddy::pfc
