// The guard's table: what it remembers of a flow, and that it forgets only those that are over.
#include "lb/flow_paths.h"

#include <gtest/gtest.h>

#include "net/random.h"

namespace eddy::lb {
namespace {

using namespace eddy::literals;

constexpr auto kNever = [](const FlowPath&) { return false; };
constexpr auto kAlways = [](const FlowPath&) { return true; };

TEST(FlowPath, RemembersSetMemberAndWhatTheSchemeWanted) {
  const FlowPath path(1'000, 63, 17, Instant::at(5_us));
  EXPECT_EQ(path.member(), 63);
  EXPECT_EQ(path.base(), 17);
  EXPECT_TRUE(path.of(1'000));
  EXPECT_FALSE(path.of(999));
  EXPECT_EQ(path.set(), 1'000);
  EXPECT_TRUE(path.measured());
  EXPECT_FALSE(FlowPath(0, 0, 0, Instant::at(5_us), false).measured());
}

TEST(FlowPath, ALaterTimeIsTakenForOneOnlyWhenItIsSurelyLater) {
  const Instant given = Instant::at(10_us);
  const FlowPath path(0, 1, 1, given);
  EXPECT_FALSE(path.ends_before(given));
  EXPECT_FALSE(path.ends_before(given - 1_us));
  EXPECT_FALSE(path.ends_before(Instant::at(0_us)));
  EXPECT_TRUE(path.ends_before(given + 5_ns));
  for (int64_t ps = 0; ps < 10'000; ++ps) {
    const FlowPath other(0, 1, 1, given + Duration::picoseconds(ps));
    ASSERT_FALSE(other.ends_before(given + Duration::picoseconds(ps)));
    ASSERT_FALSE(other.ends_before(given + Duration::picoseconds(ps - 1)));
  }
  EXPECT_EQ(path.idle(given + 4'096_ns), 4'096_ns);
  EXPECT_EQ(path.idle(given - 1_us), 0_ns);
}

TEST(FlowPath, HoursLaterItStillLooksRecentAtWorst) {
  const Instant given = Instant::at(1_s);
  const FlowPath path(3, 1, 1, given);
  for (int64_t minutes = 1; minutes < 20 * 60; ++minutes) {
    const Instant now = given + 1_s * 60 * minutes;
    ASSERT_LE(path.idle(now), now - given) << minutes;
    ASSERT_FALSE(path.ends_before(given)) << minutes;
  }
}

// Null: there was no room.
template <class Over>
FlowPath* settle(FlowPaths& table, uint64_t key, Over&& over) {
  FlowPath* room = table.room(key, over);
  if (room != nullptr) table.settle(key, room);
  return room;
}

TEST(FlowPaths, FindsWhatItWasGivenAndNothingElse) {
  FlowPaths table(1'024);
  EXPECT_EQ(table.capacity(), 1'024u);
  RandomStream random(1, 2, 3);
  std::vector<uint64_t> keys;
  for (MemberIndex i = 0; i < 64; ++i) {
    keys.push_back(random.next64() & ~uint64_t{1});
    FlowPath* place = settle(table, keys.back(), kNever);
    ASSERT_NE(place, nullptr);
    *place = FlowPath(7, i, 0, Instant::at(1_us));
  }
  for (MemberIndex i = 0; i < 64; ++i) {
    ASSERT_NE(table.find(keys[i]), nullptr);
    EXPECT_EQ(table.find(keys[i])->member(), i);
    EXPECT_EQ(table.find(random.next64()), nullptr);
  }
  EXPECT_EQ(table.flows(), 64u);
}

// On a processor with AVX2 this holds the two ways against each other.
TEST(FlowPaths, AKeyIsFoundInItsPlacesOnEveryProcessor) {
  RandomStream random(4, 5, 6);
  for (int i = 0; i < 1'000; ++i) {
    FlowPathKeys keys;
    for (uint64_t& key : keys) key = random.next64();
    const uint64_t wanted = random.next64();
    const unsigned places = random.below(1 << kFlowPathWays);
    for (size_t way = 0; way < kFlowPathWays; ++way)
      if ((places >> way & 1) != 0) keys[way] = wanted;
    ASSERT_EQ(ways_of_portable(keys, wanted), places);
    ASSERT_EQ(ways_of(keys, wanted), places);
  }
}

TEST(FlowPaths, OnlyAFlowThatIsOverMakesRoom) {
  FlowPaths table(4);
  for (uint64_t key = 2; key <= 8; key += 2)
    *settle(table, key, kNever) = FlowPath(0, static_cast<MemberIndex>(key), 0, Instant::at(1_us));
  EXPECT_EQ(table.room(10, kNever), nullptr);
  EXPECT_EQ(table.find(10), nullptr);
  const auto is_sixth = [](const FlowPath& path) { return path.member() == 6; };
  FlowPath* place = table.room(10, is_sixth);
  ASSERT_NE(place, nullptr);
  EXPECT_EQ(place->member(), 6);
  EXPECT_EQ(table.find(10), nullptr) << "not before it settles";
  EXPECT_TRUE(table.settle(10, place)) << "another was forgotten";
  *place = FlowPath(0, 10, 0, Instant::at(2_us));
  EXPECT_EQ(table.find(6), nullptr);
  EXPECT_EQ(table.find(10)->member(), 10);
  EXPECT_EQ(table.find(4)->member(), 4);
  EXPECT_EQ(table.flows(), 4u);
  EXPECT_NE(table.room(12, kAlways), nullptr);
}

TEST(FlowPaths, TakesSixteenOctetsAFlow) {
  FlowPaths table(4'096);
  size_t seen = 0;
  for (uint64_t key = 2; settle(table, key << 20, kNever) != nullptr && key < 4'096; key += 2)
    ++seen;
  const auto visit = [&](uint64_t, const FlowPath&) { --seen; };
  for (size_t from = 0; from < table.capacity(); from += 256) table.for_each(from, 256, visit);
  table.for_each(table.capacity(), 256, visit);
  EXPECT_EQ(seen, 0u);
  static_assert(sizeof(FlowPath) + sizeof(uint64_t) == 16);
}

}  // namespace
}  // namespace eddy::lb
