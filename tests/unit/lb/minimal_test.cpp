#include <gtest/gtest.h>

#include "tests/support/paths.h"

namespace eddy::lb {
namespace {

using test::make;
using test::make_packet;
using test::make_set;
using test::Paths;
using test::select_one;

// A packet goes where ecmp would send it, on its way as well: what is different is what it asks of
// the fabric.
TEST(Minimal, IsEcmpAmongTheShortestPaths) {
  Paths paths({make_set(5), make_set(3, 5)});
  const auto minimal = make("minimal", paths);
  const auto ecmp = make("ecmp", paths);
  for (uint64_t flow = 0; flow < 200; ++flow)
    for (const uint16_t set : {uint16_t{0}, uint16_t{1}})
      for (const uint16_t flags : {uint16_t{0}, uint16_t{kPacketShim}}) {
        Packet one = make_packet(flow), other = make_packet(flow);
        one.flags = other.flags = static_cast<uint16_t>(one.flags | flags);
        EXPECT_EQ(select_one(*minimal, paths.view(), one, set),
                  select_one(*ecmp, paths.view(), other, set));
      }
}

TEST(Minimal, AsksForTwoChannels) {
  const SchemeInfo* info = find_scheme("minimal");
  ASSERT_NE(info, nullptr);
  EXPECT_EQ(info->grouped.channels, 2);
  EXPECT_FALSE(info->grouped.detours);
  EXPECT_EQ(info->needs, ShimNeed::none);  // its shims are for channels, and measure nothing
  EXPECT_TRUE(info->promises_order);
}

// No hash leads to a detour while a shortest path lives; and if there is nothing else, it does.
TEST(Minimal, HashesHaveNoBucketForDetours) {
  PathSet set = make_set(6);
  for (const size_t i : {1, 2, 5}) set.members[i].detour = true;
  Paths paths({set});
  const auto minimal = make("minimal", paths);
  MemberMask used = 0;
  for (uint64_t flow = 0; flow < 500; ++flow) {
    Packet packet = make_packet(flow);
    used |= bit_of(select_one(*minimal, paths.view(), packet));
  }
  EXPECT_EQ(used, 0b011001u);
  paths.live() = 0b100110;
  used = 0;
  for (uint64_t flow = 0; flow < 500; ++flow) {
    Packet packet = make_packet(flow);
    used |= bit_of(select_one(*minimal, paths.view(), packet));
  }
  EXPECT_NE(used, 0u);
  EXPECT_EQ(used & 0b011001u, 0u);
}

}  // namespace
}  // namespace eddy::lb
