#include <gtest/gtest.h>

#include <array>
#include <map>
#include <set>
#include <vector>

#include "lb/flow_table.h"
#include "tests/support/paths.h"

namespace eddy::lb {
namespace {

using test::make;
using test::make_packet;
using test::make_set;
using test::Paths;
using test::select_one;

std::vector<MemberIndex> send(Selector& selector, const Paths& paths, size_t packets,
                              uint64_t flow = 1, uint16_t payload = 1'000) {
  std::vector<MemberIndex> members;
  for (size_t i = 0; i < packets; ++i) {
    Packet packet = make_packet(flow, payload);
    members.push_back(select_one(selector, paths.view(), packet));
  }
  return members;
}

// Golden vector I-14: 65 packets of 1,000 octets make a cell of 65,536; the next turn follows.
TEST(Presto, CellsOf65Packets) {
  Paths paths({make_set(4)});
  const auto presto = make("presto", paths);
  const auto members = send(*presto, paths, 65 * 6);
  for (size_t i = 0; i < members.size(); ++i)
    EXPECT_EQ(members[i], (members[0] + i / 65) % 4) << "packet " << i;
}

TEST(Presto, ACellIsFilledToTheOctet) {
  Paths paths({make_set(2)});
  const auto presto = make("presto", paths, {{"cell_bytes", "4000B"}});
  const auto members = send(*presto, paths, 9);
  for (size_t i = 0; i < members.size(); ++i)
    EXPECT_EQ(members[i], (members[0] + i / 4) % 2) << "packet " << i;
}

TEST(Presto, FlowsStartAtRandom) {
  Paths paths({make_set(4)});
  const auto presto = make("presto", paths);
  std::array<int, 4> starts{};
  for (uint64_t flow = 0; flow < 4'000; ++flow) ++starts[send(*presto, paths, 1, flow)[0]];
  for (int n : starts) EXPECT_NEAR(n, 1'000, 140);
}

TEST(Presto, FlowsDoNotDisturbEachOther) {
  Paths paths({make_set(4)});
  const auto presto = make("presto", paths);
  std::map<uint64_t, MemberIndex> first;
  for (int i = 0; i < 65; ++i)
    for (uint64_t flow = 0; flow < 20; ++flow) {
      const MemberIndex member = send(*presto, paths, 1, flow)[0];
      EXPECT_EQ(first.try_emplace(flow, member).first->second, member);
    }
}

TEST(Presto, TurnsFollowWeights) {
  const std::array<uint16_t, 3> weights = {20, 10, 10};
  Paths paths({make_set(weights)});
  const auto presto = make("presto", paths, {{"cell_bytes", "1000B"}});
  std::array<int, 3> count{};
  const auto members = send(*presto, paths, 400);
  for (MemberIndex member : members) ++count[member];
  EXPECT_EQ(count, (std::array<int, 3>{200, 100, 100}));
}

TEST(Presto, ADeadMembersCellMovesAtOnceAndStartsAfresh) {
  Paths paths({make_set(3)});
  const auto presto = make("presto", paths);
  const MemberIndex before = send(*presto, paths, 60)[0];
  paths.live() &= ~bit_of(before);
  const auto after = send(*presto, paths, 66);
  EXPECT_EQ(after[0], (before + 1) % 3);
  EXPECT_EQ(after[64], after[0]);
  EXPECT_EQ(after[65], (before + 2) % 3);
}

TEST(FlowTable, ForgetsTheLeastRecentOfASet) {
  FlowTable<uint64_t> table(4);  // bits 0 and 1 of a key are not told apart
  for (uint64_t key = 4; key <= 16; key += 4) table.touch(key) = key;
  table.touch(4);
  table.touch(20) = 20;
  EXPECT_EQ(table.find(8), nullptr);
  for (uint64_t key : {4u, 12u, 16u, 20u}) {
    ASSERT_NE(table.find(key), nullptr);
    EXPECT_EQ(*table.find(key), key);
  }
}

TEST(FlowTable, KnowsNobodyAtFirst) {
  const FlowTable<uint64_t> table(64);
  EXPECT_EQ(table.find(0), nullptr);
  EXPECT_EQ(table.find(~uint64_t{0}), nullptr);
}

}  // namespace
}  // namespace eddy::lb
