#include <gtest/gtest.h>

#include <array>
#include <set>
#include <vector>

#include "tests/support/paths.h"

namespace eddy::lb {
namespace {

using test::make;
using test::make_packet;
using test::make_set;
using test::Paths;
using test::select_one;

std::vector<MemberIndex> spray(Selector& selector, const Paths& paths, size_t packets,
                               uint16_t set = 0) {
  std::vector<MemberIndex> members;
  for (size_t i = 0; i < packets; ++i) {
    Packet packet = make_packet(1);
    members.push_back(select_one(selector, paths.view(), packet, set));
  }
  return members;
}

template <size_t N>
std::array<size_t, N> count(const std::vector<MemberIndex>& members) {
  std::array<size_t, N> counts{};
  for (MemberIndex member : members) ++counts[member];
  return counts;
}

TEST(Spray, RandomIsUniform) {
  Paths paths({make_set(5)});
  for (size_t n : count<5>(spray(*make("spray", paths), paths, 50'000)))
    EXPECT_NEAR(static_cast<double>(n), 10'000, 5 * 89.0);
}

TEST(Spray, RandomStaysUniformOverTheLiving) {
  Paths paths({make_set(5)});
  paths.live() = 0b10110;
  const auto counts = count<5>(spray(*make("spray", paths), paths, 30'000));
  for (size_t member : {1u, 2u, 4u})
    EXPECT_NEAR(static_cast<double>(counts[member]), 10'000, 5 * 82.0);
}

TEST(Spray, RandomByWeight) {
  const std::array<uint16_t, 2> weights = {3, 1};
  Paths paths({make_set(weights)});
  const auto even = count<2>(spray(*make("spray", paths), paths, 20'000));
  const auto weighted =
      count<2>(spray(*make("spray", paths, {{"weighted", "true"}}), paths, 20'000));
  EXPECT_NEAR(static_cast<double>(even[0]), 10'000, 400);
  EXPECT_NEAR(static_cast<double>(weighted[0]), 15'000, 400);
}

TEST(Spray, RoundRobinTakesTurnsInEachSet) {
  Paths paths({make_set(3), make_set(2, 3)});
  const auto selector = make("spray", paths, {{"mode", "round_robin"}});
  EXPECT_EQ(spray(*selector, paths, 4), (std::vector<MemberIndex>{0, 1, 2, 0}));
  EXPECT_EQ(spray(*selector, paths, 3, 1), (std::vector<MemberIndex>{0, 1, 0}));
  EXPECT_EQ(spray(*selector, paths, 2), (std::vector<MemberIndex>{1, 2}));
}

TEST(Spray, RoundRobinSkipsTheDead) {
  Paths paths({make_set(4)});
  const auto selector = make("spray", paths, {{"mode", "round_robin"}});
  paths.live() = 0b1011;
  EXPECT_EQ(spray(*selector, paths, 5), (std::vector<MemberIndex>{0, 1, 3, 0, 1}));
}

TEST(Spray, EachRoundIsANewPermutation) {
  Paths paths({make_set(8)});
  const auto selector = make("spray", paths, {{"mode", "permutation"}});
  std::set<std::vector<MemberIndex>> rounds;
  for (int round = 0; round < 20; ++round) {
    const auto members = spray(*selector, paths, 8);
    for (size_t n : count<8>(members)) EXPECT_EQ(n, 1u) << "round " << round;
    rounds.insert(members);
  }
  EXPECT_GT(rounds.size(), 18u);
}

TEST(Spray, APermutationWithDeadMembersIsOneOfTheLiving) {
  Paths paths({make_set(8)});
  const auto selector = make("spray", paths, {{"mode", "permutation"}});
  paths.live() = 0b0101'0101;
  for (int round = 0; round < 20; ++round) {
    const auto counts = count<8>(spray(*selector, paths, 4));
    for (size_t member : {0u, 2u, 4u, 6u}) EXPECT_EQ(counts[member], 1u) << "round " << round;
  }
}

}  // namespace
}  // namespace eddy::lb
