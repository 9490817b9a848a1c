#include <gtest/gtest.h>

#include <array>

#include "tests/support/paths.h"

namespace eddy::lb {
namespace {

using test::make;
using test::make_packet;
using test::make_set;
using test::Paths;
using test::select_one;

template <size_t N>
std::array<uint64_t, N> shares(Selector& selector, const Paths& paths, uint64_t flows) {
  std::array<uint64_t, N> count{};
  for (uint64_t flow = 0; flow < flows; ++flow) {
    Packet packet = make_packet(flow);
    ++count[select_one(selector, paths.view(), packet)];
  }
  return count;
}

constexpr uint64_t kFlows = 50'000;

TEST(Wcmp, SharesFollowWeights) {
  const std::array<uint16_t, 3> weights = {2, 1, 1};
  Paths paths({make_set(weights)});
  const auto count = shares<3>(*make("wcmp", paths), paths, kFlows);
  EXPECT_NEAR(static_cast<double>(count[0]), kFlows / 2.0, 5 * 112.0);
  EXPECT_NEAR(static_cast<double>(count[1]), kFlows / 4.0, 5 * 97.0);
  EXPECT_NEAR(static_cast<double>(count[2]), kFlows / 4.0, 5 * 97.0);
}

TEST(Wcmp, ADeadMembersFlowsGoByWeightToo) {
  const std::array<uint16_t, 3> weights = {2, 1, 1};
  Paths paths({make_set(weights)});
  paths.live() = 0b011;
  const auto count = shares<3>(*make("wcmp", paths), paths, kFlows);
  EXPECT_EQ(count[2], 0u);
  EXPECT_NEAR(static_cast<double>(count[0]), kFlows * 2 / 3.0, 1'000);
}

TEST(Wcmp, EqualWeightsAreEcmp) {
  Paths paths({make_set(7)});
  const auto wcmp = make("wcmp", paths);
  const auto ecmp = make("ecmp", paths);
  for (uint64_t flow = 0; flow < 1'000; ++flow) {
    Packet packet = make_packet(flow);
    const MemberIndex member = select_one(*wcmp, paths.view(), packet);
    EXPECT_EQ(member, select_one(*ecmp, paths.view(), packet));
  }
}

// A weight too small for a bucket still serves when nothing else is alive.
TEST(Wcmp, ATinyWeightIsALastResort) {
  const std::array<uint16_t, 2> weights = {65'535, 1};
  Paths paths({make_set(weights)});
  const auto wcmp = make("wcmp", paths);
  EXPECT_EQ((shares<2>(*wcmp, paths, 1'000)[1]), 0u);
  paths.live() = 0b10;
  EXPECT_EQ((shares<2>(*wcmp, paths, 1'000)[1]), 1'000u);
}

}  // namespace
}  // namespace eddy::lb
