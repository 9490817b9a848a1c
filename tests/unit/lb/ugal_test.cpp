#include <gtest/gtest.h>

#include "tests/support/paths.h"

namespace eddy::lb {
namespace {

using namespace literals;
using test::make;
using test::make_packet;
using test::make_set;
using test::Paths;
using test::select_one;

// Member 0 is the shortest, of 3 links; the others are detours of 5.
PathSet three_against_five(size_t count = 2) {
  PathSet set = make_set(count);
  for (size_t i = 0; i < count; ++i) {
    set.members[i].hops = i == 0 ? 3 : 5;
    set.members[i].detour = i != 0;
  }
  return set;
}

std::unique_ptr<Selector> ugal_by_packet(const Paths& paths, ParameterMap parameters = {}) {
  parameters.try_emplace("granularity", "packet");
  return make("ugal", paths, parameters);
}

// The members that 100 packets take.
MemberMask taken(const Paths& paths, const ParameterMap& parameters = {}) {
  const auto ugal = ugal_by_packet(paths, parameters);
  MemberMask used = 0;
  for (int i = 0; i < 100; ++i) {
    Packet packet = make_packet(1);
    used |= bit_of(select_one(*ugal, paths.view(), packet));
  }
  return used;
}

// 3 x q0 <= 5 x q1 + 3,200.
TEST(Ugal, OctetsTimesLinksDecideAndTheBiasIsTheShortestPaths) {
  struct Row {
    uint32_t shortest, detour;
    MemberMask takes;
  };
  for (const Row& row : {Row{0, 0, 0b01}, Row{1'066, 0, 0b01}, Row{1'067, 0, 0b10},
                         Row{2'733, 1'000, 0b01}, Row{2'734, 1'000, 0b10}, Row{1'000'000, 0, 0b10},
                         Row{1'000'000, 600'000, 0b01}, Row{1'000'000, 599'000, 0b10}}) {
    Paths paths({three_against_five()});
    paths.queue(0, row.shortest);
    paths.queue(1, row.detour);
    EXPECT_EQ(taken(paths), row.takes) << row.shortest << " and " << row.detour;
  }
}

TEST(Ugal, TheBiasIsAParameter) {
  Paths paths({three_against_five()});
  paths.queue(0, 1);
  EXPECT_EQ(taken(paths), 0b01u);
  EXPECT_EQ(taken(paths, {{"bias", "0B"}}), 0b10u);
  EXPECT_EQ(taken(paths, {{"bias", "3B"}}), 0b01u);
  paths.queue(0, 0);
  EXPECT_EQ(taken(paths, {{"bias", "0B"}}), 0b01u);  // of equals the shortest
}

// Where links are not said a detour counts twice, as the simulator has it.
TEST(Ugal, WithoutLinksADetourCountsTwice) {
  PathSet set = make_set(2);
  set.members[1].detour = true;
  Paths paths({set});
  paths.queue(0, 7'200);
  paths.queue(1, 2'000);
  EXPECT_EQ(taken(paths), 0b01u);
  paths.queue(0, 7'201);
  EXPECT_EQ(taken(paths), 0b10u);
}

// What waits in higher queues is before the packet, and its own later channels are among them.
TEST(Ugal, HigherQueuesCount) {
  Paths paths({three_against_five()});
  paths.queue(0, 1'067, 5);
  EXPECT_EQ(taken(paths), 0b10u);
  paths.queue(0, 0, 5);
  paths.queue(0, 1'067, 2);
  EXPECT_EQ(taken(paths), 0b01u);
}

// Of detours one is drawn, busy or not; with two samples the busier of the two is not taken.
TEST(Ugal, OfTwoSamplesTheOneWithLessWaiting) {
  Paths paths({three_against_five(3)});
  paths.queue(0, 1'000'000);
  paths.queue(1, 90'000);
  const auto count = [&](const ParameterMap& parameters, MemberIndex member) {
    const auto ugal = ugal_by_packet(paths, parameters);
    int packets = 0;
    for (int i = 0; i < 2'000; ++i) {
      Packet packet = make_packet(1);
      packets += select_one(*ugal, paths.view(), packet) == member ? 1 : 0;
    }
    return packets;
  };
  EXPECT_NEAR(count({{"samples", "1"}}, 1), 1'000, 100);
  EXPECT_NEAR(count({{"samples", "2"}}, 1), 500, 90);  // both draws
}

TEST(Ugal, EqualSamplesAreATie) {
  Paths paths({three_against_five(3)});
  paths.queue(0, 1'000'000);
  const auto ugal = ugal_by_packet(paths, {{"samples", "2"}});
  const PathView view = paths.view();
  for (int i = 0; i < 400; ++i) {
    Packet packet = make_packet(1);
    select_one(*ugal, view, packet);
  }
  EXPECT_NEAR(view.ties(), 200, 50);
  paths.queue(1, 1);
  const PathView other = paths.view();
  for (int i = 0; i < 400; ++i) {
    Packet packet = make_packet(1);
    select_one(*ugal, other, packet);
  }
  EXPECT_EQ(other.ties(), 0u);
}

TEST(Ugal, ADeadShortestPathLeavesDetoursAndTheReverse) {
  Paths paths({three_against_five(4)});
  paths.queue(1, 500'000);
  paths.live() = 0b1110;
  EXPECT_EQ(taken(paths), 0b1110u);
  paths.live() = 0b0001;
  paths.queue(0, 500'000);
  EXPECT_EQ(taken(paths), 0b0001u);
}

// The decision is the flowlet's: queues that change do not move it.
TEST(Ugal, AFlowletStays) {
  Paths paths({three_against_five()});
  const auto ugal = make("ugal", paths);
  Instant now;
  const auto member = [&] {
    Packet packet = make_packet(3);
    return select_one(*ugal, paths.view(now), packet);
  };
  EXPECT_EQ(member(), 0);
  paths.queue(0, 1'000'000);
  now = now + 50_us;
  EXPECT_EQ(member(), 0);
  now = now + 51_us;
  EXPECT_EQ(member(), 1);
}

}  // namespace
}  // namespace eddy::lb
