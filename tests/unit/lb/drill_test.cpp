#include <gtest/gtest.h>

#include <array>
#include <set>

#include "tests/support/paths.h"

namespace eddy::lb {
namespace {

using test::make;
using test::make_packet;
using test::make_set;
using test::Paths;
using test::select_one;

MemberIndex choose(Selector& drill, const Paths& paths, uint64_t flow = 1) {
  Packet packet = make_packet(flow);
  return select_one(drill, paths.view(), packet);
}

TEST(Drill, OfTwoMembersTheShorterQueue) {
  Paths paths({make_set(2)});
  const auto drill = make("drill", paths, {{"d", "8"}});
  paths.queue(0, 5'000);
  paths.queue(1, 4'999);
  for (int i = 0; i < 20; ++i) EXPECT_EQ(choose(*drill, paths), 1);
  paths.queue(1, 5'001);
  for (int i = 0; i < 20; ++i) EXPECT_EQ(choose(*drill, paths), 0);
}

TEST(Drill, ATieStaysWithTheRemembered) {
  Paths paths({make_set(16)});
  const auto drill = make("drill", paths);
  const MemberIndex first = choose(*drill, paths);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(choose(*drill, paths), first);
}

TEST(Drill, ReportsATieOfTheShortestOnly) {
  Paths paths({make_set(2)});
  const auto drill = make("drill", paths, {{"d", "8"}});
  const auto ties_of_100 = [&] {
    const PathView view = paths.view();
    for (uint64_t flow = 0; flow < 100; ++flow) {
      Packet packet = make_packet(flow);
      select_one(*drill, view, packet);
    }
    return view.ties();
  };
  EXPECT_GE(ties_of_100(), 95u);  // 8 draws and the remembered member hold both, but 1 in 256 times
  paths.queue(1, 1);
  EXPECT_EQ(ties_of_100(), 0u);
  Paths many({make_set(3)});
  many.queue(0, 7);
  many.queue(1, 7);
  const auto wide = make("drill", many, {{"d", "8"}});
  Packet packet = make_packet(1);
  const PathView view = many.view();
  for (int i = 0; i < 20; ++i) select_one(*wide, view, packet);  // finds and remembers member 2
  const uint32_t before = view.ties();
  for (int i = 0; i < 20; ++i) select_one(*wide, view, packet);
  EXPECT_EQ(view.ties(), before) << "longer queues that are equal are no tie";
}

TEST(Drill, MemoryHoldsTheBestMember) {
  Paths paths({make_set(32)});
  const auto drill = make("drill", paths);
  for (size_t port = 0; port < 32; ++port) paths.queue(port, port == 17 ? 1 : 10'000);
  bool found = false;
  for (int i = 0; i < 400; ++i) {
    const bool best = choose(*drill, paths) == 17;
    EXPECT_TRUE(best || !found) << "left the shortest queue at packet " << i;
    found = found || best;
  }
  EXPECT_TRUE(found);
}

TEST(Drill, WithoutMemoryItForgets) {
  Paths paths({make_set(32)});
  const auto drill = make("drill", paths, {{"m", "0"}});
  for (size_t port = 0; port < 32; ++port) paths.queue(port, port == 17 ? 1 : 10'000);
  int best = 0;
  for (int i = 0; i < 3'200; ++i) best += choose(*drill, paths) == 17 ? 1 : 0;
  EXPECT_NEAR(best, 3'200 * (1 - 31.0 * 31 / 32 / 32), 5 * 14);  // two draws of 32
}

// With m = 2 the runner-up is remembered: when the best fills up, it is next.
TEST(Drill, TheRunnerUpIsRememberedToo) {
  Paths paths({make_set(64)});
  const auto drill = make("drill", paths, {{"m", "2"}});
  for (size_t port = 0; port < 64; ++port) paths.queue(port, 10'000);
  paths.queue(20, 1);
  paths.queue(40, 2);
  for (int i = 0; i < 2'000; ++i) choose(*drill, paths);
  EXPECT_EQ(choose(*drill, paths), 20);
  paths.queue(20, 20'000);
  EXPECT_EQ(choose(*drill, paths), 40);
}

TEST(Drill, CountsTheQueuesServedBeforeItsOwn) {
  Paths paths({make_set(2)});
  const auto drill = make("drill", paths, {{"d", "8"}, {"m", "0"}});
  paths.queue(0, 9'000, 6);   // strict priority above queue 3
  paths.queue(1, 90'000, 1);  // below: does not matter
  for (int i = 0; i < 20; ++i) EXPECT_EQ(choose(*drill, paths), 1);
}

TEST(Drill, UnlikePathsShareByCapacityAndNotByQueue) {
  const std::array<uint16_t, 4> weights = {40, 40, 10, 10};
  Paths paths({make_set(weights)});
  const auto drill = make("drill", paths);
  paths.queue(0, 50'000);
  paths.queue(1, 50'000);
  int slow = 0;
  for (uint64_t flow = 0; flow < 10'000; ++flow) slow += choose(*drill, paths, flow) >= 2 ? 1 : 0;
  EXPECT_NEAR(slow, 2'000, 5 * 40 + 40);  // and half a bucket
  for (uint64_t flow = 0; flow < 50; ++flow) {
    const bool first_slow = choose(*drill, paths, flow) >= 2;
    EXPECT_EQ(choose(*drill, paths, flow) >= 2, first_slow);
  }
}

TEST(Drill, ADeadComponentsFlowsUseTheOther) {
  const std::array<uint16_t, 3> weights = {40, 40, 10};
  Paths paths({make_set(weights)});
  const auto drill = make("drill", paths);
  paths.live() = 0b100;
  for (uint64_t flow = 0; flow < 100; ++flow) EXPECT_EQ(choose(*drill, paths, flow), 2);
}

TEST(Drill, PauseMattersOnlyWhenAsked) {
  Paths paths({make_set(4)});
  const auto blind = make("drill", paths, {{"m", "0"}});
  const auto aware = make("drill", paths, {{"m", "0"}, {"pfc_aware", "true"}});
  for (size_t port : {0u, 1u, 2u}) paths.port(port).paused_queues = 1 << 3;
  std::set<MemberIndex> used;
  for (int i = 0; i < 100; ++i) {
    used.insert(choose(*blind, paths));
    EXPECT_EQ(choose(*aware, paths), 3);
  }
  EXPECT_EQ(used.size(), 4u);
  paths.port(3).paused_queues = 0xFF;
  used.clear();
  for (int i = 0; i < 100; ++i) used.insert(choose(*aware, paths));
  EXPECT_EQ(used.size(), 4u);
}

}  // namespace
}  // namespace eddy::lb
