#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <vector>

#include "tests/support/paths.h"

namespace eddy::lb {
namespace {

using test::make;
using test::make_packet;
using test::make_set;
using test::Paths;
using test::select_one;

constexpr uint64_t kKeys = 100'000;

MemberIndex member_of(Selector& selector, const Paths& paths, uint64_t flow) {
  Packet packet = make_packet(flow);
  return select_one(selector, paths.view(), packet);
}

std::vector<MemberIndex> members_of(Selector& selector, const Paths& paths, uint64_t flows) {
  std::vector<Packet> packets;
  std::vector<Packet*> burst;
  std::vector<MemberIndex> members;
  packets.reserve(flows);
  for (uint64_t flow = 0; flow < flows; ++flow)
    burst.push_back(&packets.emplace_back(make_packet(flow)));
  selector.select(paths.view(), burst, std::vector<uint16_t>(flows, 0));
  for (const Packet& packet : packets) members.push_back(packet.member);
  return members;
}

TEST(Ecmp, WritesMemberPortAndPath) {
  Paths paths({make_set(1), make_set(4, 10)});
  const auto ecmp = make("ecmp", paths);
  Packet packet = make_packet(7);
  const MemberIndex member = select_one(*ecmp, paths.view(), packet, 1);
  EXPECT_EQ(packet.egress_port, PortId(10u + member));
  EXPECT_EQ(packet.path, PathId(member * 256u + 0xFF));
}

TEST(Ecmp, SharesEvenlyOver100kKeys) {
  Paths paths({make_set(8)});
  const auto ecmp = make("ecmp", paths);
  std::array<uint64_t, 8> count{};
  for (MemberIndex member : members_of(*ecmp, paths, kKeys)) ++count[member];
  // 12,500 each; the binomial deviation is 105.
  for (uint64_t n : count) EXPECT_NEAR(static_cast<double>(n), kKeys / 8.0, 5 * 105.0);
}

TEST(Ecmp, OnlyTheFlowsOfADeadMemberMove) {
  Paths paths({make_set(8)});
  const auto ecmp = make("ecmp", paths);
  const auto before = members_of(*ecmp, paths, 2'000);
  paths.live() = test::first_members(8) & ~bit_of(5);
  const auto one_dead = members_of(*ecmp, paths, 2'000);
  paths.live() &= ~bit_of(2);
  const auto two_dead = members_of(*ecmp, paths, 2'000);
  paths.live() = test::first_members(8);
  EXPECT_EQ(members_of(*ecmp, paths, 2'000), before);
  for (size_t i = 0; i < before.size(); ++i) {
    EXPECT_NE(one_dead[i], 5);
    EXPECT_TRUE(before[i] == 5 || one_dead[i] == before[i]);
    EXPECT_TRUE(one_dead[i] == 2 || two_dead[i] == one_dead[i]);
  }
}

TEST(Ecmp, ADeadMembersFlowsSpreadOverTheRest) {
  Paths paths({make_set(4)});
  paths.live() = 0b1101;
  const auto ecmp = make("ecmp", paths);
  std::array<uint64_t, 4> count{};
  for (MemberIndex member : members_of(*ecmp, paths, kKeys)) ++count[member];
  for (size_t i : {0u, 2u, 3u}) EXPECT_NEAR(static_cast<double>(count[i]), kKeys / 3.0, 1'500.0);
}

TEST(Ecmp, OneLiveMemberOf64TakesAll) {
  Paths paths({make_set(64)});
  paths.live() = bit_of(37);
  const auto ecmp = make("ecmp", paths);
  for (uint64_t flow = 0; flow < 500; ++flow) EXPECT_EQ(member_of(*ecmp, paths, flow), 37);
}

// What the first tier sends one way must still use all ways of the second (reference A.1).
TEST(Ecmp, TiersDoNotPolarise) {
  Paths paths({make_set(4)});
  const auto leaf = make("ecmp", paths, {}, {.switch_id = 1});
  const auto spine = make("ecmp", paths, {}, {.switch_id = 2});
  std::array<std::array<uint64_t, 4>, 4> count{};
  for (uint64_t flow = 0; flow < kKeys; ++flow)
    ++count[member_of(*leaf, paths, flow)][member_of(*spine, paths, flow)];
  for (const auto& row : count)
    for (uint64_t n : row) EXPECT_NEAR(static_cast<double>(n), kKeys / 16.0, 800.0);
}

TEST(Ecmp, ShardsOfASwitchAgree) {
  Paths paths({make_set(16)});
  const auto one = make("ecmp", paths, {}, {.shard = 0});
  const auto other = make("ecmp", paths, {}, {.shard = 3});
  EXPECT_EQ(members_of(*one, paths, 1'000), members_of(*other, paths, 1'000));
}

}  // namespace
}  // namespace eddy::lb
