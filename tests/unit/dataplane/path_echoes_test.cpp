// What a destination leaf keeps of the paths that end at it, place by place.
#include "switch/dataplane/state/path_echoes.h"

#include <gtest/gtest.h>

#include <array>
#include <set>

#include "net/random.h"
#include "tests/support/paths.h"

namespace eddy {
namespace {

// Two source leaves: of the first three paths come, of the second one.
struct Rig {
  Rig() : sets({lb::test::make_set(3), lb::test::make_set(1)}), echoes(sets) {}
  std::array<lb::PathSet, 2> sets;
  PathEchoes echoes;
};

TEST(PathEchoes, APathKeepsItsPlaceAndALeafHasAsManyAsAPowerOfTwo) {
  Rig rig;
  EXPECT_EQ(rig.echoes.sets(), 2u);
  std::set<uint8_t> places;
  for (size_t path = 10; path < 14; ++path) {  // four places, though the set has three members
    const PathEchoes::Place place = rig.echoes.place(0, PathId(path));
    EXPECT_FALSE(place.evicted) << path;
    EXPECT_LT(place.index, 4);
    EXPECT_EQ(place.heard.path, PathId(path));
    place.heard.packets = static_cast<uint8_t>(path);
    places.insert(place.index);
  }
  EXPECT_EQ(places.size(), 4u);
  for (size_t path = 10; path < 14; ++path) {
    const PathEchoes::Place place = rig.echoes.place(0, PathId(path));
    EXPECT_FALSE(place.evicted) << path;
    EXPECT_EQ(place.heard.packets, path) << "it was found, not made anew";
    EXPECT_EQ(&rig.echoes.at(0, place.index), &place.heard);
  }
}

TEST(PathEchoes, APathWithoutAPlaceTakesAnothersWithNothingOfItsState) {
  Rig rig;
  for (size_t path = 0; path < 4; ++path) {
    const PathEchoes::Place place = rig.echoes.place(0, PathId(path));
    place.heard.packets = 5;
    rig.echoes.wait(0, place.index);
  }
  rig.echoes.wait(1, rig.echoes.place(1, PathId(0)).index);
  EXPECT_EQ(rig.echoes.waiting(0), 0b1111u);
  const PathEchoes::Place place = rig.echoes.place(0, PathId(77));
  EXPECT_TRUE(place.evicted);
  EXPECT_EQ(place.heard.path, PathId(77));
  EXPECT_EQ(place.heard.packets, 0);
  EXPECT_EQ(rig.echoes.waiting(0), 0b1111u & ~(1u << place.index)) << "the stamp is gone with it";
  EXPECT_EQ(rig.echoes.waiting(1), 0b1u) << "another leaf's";
  EXPECT_FALSE(rig.echoes.place(0, PathId(77)).evicted) << "it has its place now";
}

TEST(PathEchoes, APlaceIsFreshToThePathThatComes) {
  Rig rig;
  EXPECT_FALSE(rig.echoes.has(0, 0));
  const uint8_t index = rig.echoes.place(0, PathId(5)).index;
  EXPECT_TRUE(rig.echoes.has(0, index));
  EXPECT_FALSE(rig.echoes.place(0, PathId(5)).fresh);
  for (size_t path = 6; path < 9; ++path) EXPECT_TRUE(rig.echoes.place(0, PathId(path)).fresh);
  EXPECT_TRUE(rig.echoes.place(0, PathId(77)).fresh) << "another's until now";
  EXPECT_FALSE(rig.echoes.has(0, 4)) << "there are four";
  EXPECT_FALSE(rig.echoes.has(1, 0)) << "another leaf's";
}

TEST(PathEchoes, EachMemberOwesAStampUntilItHasOne) {
  Rig rig;
  for (size_t member = 0; member < 3; ++member)
    EXPECT_TRUE(rig.echoes.stamp_is_due(0, member)) << "at first";
  rig.echoes.stamped(0, 1);
  EXPECT_TRUE(rig.echoes.stamp_is_due(0, 0));
  EXPECT_FALSE(rig.echoes.stamp_is_due(0, 1));
  EXPECT_TRUE(rig.echoes.stamp_is_due(0, 2));
  EXPECT_TRUE(rig.echoes.stamp_is_due(1, 0)) << "another leaf's";
  rig.echoes.set_stamps_due(0);
  EXPECT_TRUE(rig.echoes.stamp_is_due(0, 1));
}

TEST(PathEchoes, WhatWaitsIsDoneOneByOne) {
  Rig rig;
  rig.echoes.wait(0, 0);
  rig.echoes.wait(0, 3);
  rig.echoes.wait(0, 3);
  EXPECT_EQ(rig.echoes.waiting(0), 0b1001u);
  rig.echoes.done(0, 0);
  EXPECT_EQ(rig.echoes.waiting(0), 0b1000u);
}

// Whatever happened before, also to a place that another path took.
TEST(PathEchoes, AttentionIsThatOfWhatWaitsAndOfWhatIsDue) {
  Rig rig;
  RandomStream random(1, 0, 0);
  const auto happen = [&](size_t set) {
    switch (random.below(6)) {
      case 0:
        return rig.echoes.set_stamps_due(set);
      case 1:
      case 2:
        return rig.echoes.stamped(set, random.below(4));
      case 3:
        return rig.echoes.wait(set, rig.echoes.place(set, PathId(random.below(12))).index);
      default:
        return rig.echoes.done(set, static_cast<uint8_t>(random.below(set == 0 ? 4 : 1)));
    }
  };
  size_t for_all = 0;
  for (int i = 0; i < 5'000; ++i) {
    happen(random.below(2));
    for (const size_t set : {0, 1}) {
      const bool waits = rig.echoes.waiting(set) != 0;
      for_all += waits ? 1 : 0;
      for (lb::MemberIndex member = 0; member < kMaxPaths; ++member)
        ASSERT_EQ(lb::contains(rig.echoes.attention()[set], member),
                  waits || rig.echoes.stamp_is_due(set, member))
            << "set " << set << ", member " << int{member} << ", after " << i;
    }
  }
  EXPECT_GT(for_all, 1'000u);
  EXPECT_LT(for_all, 9'000u);
}

}  // namespace
}  // namespace eddy
