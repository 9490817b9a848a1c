// The table that schemes keep flows in: four ways, and the flow that was away longest gives way.
#include "lb/flow_table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "net/random.h"

namespace eddy::lb {
namespace {

// Keys of one set of ways differ below bit 32; bits 0 and 1 are not told apart.
constexpr uint64_t key(uint32_t number, uint32_t set = 0) {
  return uint64_t{set} << 63 | (uint64_t{number} << 2);
}

constexpr int64_t kUnknown = -1;
int64_t value(const FlowTable<int64_t>& table, uint64_t of) {
  const int64_t* found = table.find(of);
  return found == nullptr ? kUnknown : *found;
}

TEST(FlowTable, KnowsWhatWasTouchedAndNothingElse) {
  FlowTable<int64_t> table(8);
  EXPECT_EQ(table.capacity(), 8u);
  EXPECT_EQ(value(table, key(1)), kUnknown);
  table.touch(key(1)) = 11;
  table.touch(key(1, 1)) = 21;
  EXPECT_EQ(value(table, key(1)), 11);
  EXPECT_EQ(value(table, key(1, 1)), 21);
  EXPECT_EQ(value(table, key(2)), kUnknown);
  EXPECT_EQ(value(table, 0), kUnknown) << "a way that is free is no flow of key 0";
  EXPECT_EQ(table.touch(key(2)), 0) << "as made";
}

TEST(FlowTable, SaysInWhichLineAFlowIs) {
  FlowTable<int64_t> table(1'000);
  const FlowLines lines = table.lines();
  ASSERT_TRUE(lines.any());
  for (uint64_t i = 0; i < 1'000; ++i) {
    const uint64_t of = mix64(i);
    const auto line = [](const void* at) { return reinterpret_cast<uintptr_t>(at) / 64; };
    EXPECT_EQ(line(lines.find(of)), line(&table.touch(of)));
  }
}

TEST(FlowTable, ANewFlowReplacesTheOneTouchedLongestAgo) {
  FlowTable<int64_t> table(8);
  for (uint32_t flow = 1; flow <= 4; ++flow) table.touch(key(flow)) = flow;
  table.touch(key(9, 1)) = 90;
  table.touch(key(1));
  table.touch(key(3));
  EXPECT_EQ(value(table, key(2)), 2) << "looking is no touching";
  table.touch(key(5)) = 5;
  EXPECT_EQ(value(table, key(2)), kUnknown);
  table.touch(key(6)) = 6;
  EXPECT_EQ(value(table, key(4)), kUnknown);
  for (const uint32_t flow : {1u, 3u, 5u, 6u}) EXPECT_EQ(value(table, key(flow)), flow);
  EXPECT_EQ(value(table, key(9, 1)), 90) << "of the other set of ways";
}

TEST(FlowTable, CountsTheFlowsOfASlice) {
  FlowTable<int64_t> table(9);  // rounded up to whole sets of ways
  EXPECT_EQ(table.capacity(), 12u);
  FlowTable<int64_t> two(8);
  for (uint32_t flow = 1; flow <= 3; ++flow) two.touch(key(flow));
  two.touch(key(1, 1));
  EXPECT_EQ(two.used(0, 8), 4u);
  EXPECT_EQ(two.used(0, 4), 3u);
  EXPECT_EQ(two.used(4, 4), 1u);
  EXPECT_EQ(two.used(4, 400), 1u);
  EXPECT_EQ(two.used(8, 4), 0u);
}

TEST(FlowTable, AShorterTagTellsFlowsApartByItsBits) {
  FlowTable<std::array<uint32_t, 3>, uint32_t> table(4);
  table.touch(key(5))[0] = 55;
  ASSERT_NE(table.find(key(5)), nullptr);
  EXPECT_EQ((*table.find(key(5)))[0], 55u);
  EXPECT_EQ(table.find(key(6)), nullptr);
}

// By what a table is: in each set of ways the flows that were touched last, the latest first.
template <class State, class Tag>
void expect_like_a_list(State (*state_of)(uint32_t)) {
  FlowTable<State, Tag> table(4);
  std::vector<std::pair<uint64_t, State>> list;
  RandomStream random(1, 2, 3);
  for (uint32_t turn = 0; turn < 2'000; ++turn) {
    const uint64_t flow = key(1 + random.below(6));
    const auto at = std::ranges::find(list, flow, [](const auto& entry) { return entry.first; });
    bool known = false;
    const auto place = table.place_of(flow);
    const bool by_place = random.below(2) == 0;
    const typename FlowTable<State, Tag>::Cursor cursor(table);
    State* const early = random.below(2) == 0 ? cursor.touch_early(flow) : nullptr;
    ASSERT_TRUE(early == nullptr || at - list.begin() < 2) << turn;
    State& found = early != nullptr ? *early
                   : by_place       ? table.touch(flow, place)
                                    : cursor.touch(flow, known);
    if (by_place || early != nullptr) known = place != table.kNowhere;
    ASSERT_EQ(known, at != list.end()) << turn;
    ASSERT_EQ(found, known ? at->second : State{}) << turn;
    if (known) list.erase(at);
    found = state_of(turn);
    list.insert(list.begin(), {flow, found});
    if (list.size() > 4) list.pop_back();
  }
}

TEST(FlowTable, LeavesFlowsWhereTheyAreThatAreHeld) {
  FlowTable<int64_t> table(8);
  const FlowTable<int64_t>::Cursor cursor(table);
  for (uint32_t flow = 1; flow <= 3; ++flow) table.touch(key(flow)) = flow;
  int64_t* const other = &table.touch(key(9, 1));
  std::array<int64_t*, 3> held = {nullptr, other, cursor.touch_early(key(2))};
  ASSERT_NE(held[2], nullptr);
  ASSERT_EQ(cursor.touch_early(key(1)), nullptr);
  EXPECT_EQ(cursor.touch_late(key(1), held), nullptr);
  EXPECT_EQ(cursor.touch_late(key(4), held), nullptr);
  EXPECT_EQ(value(table, key(4)), kUnknown);
  EXPECT_EQ(*held[2], 2);
  held[2] = nullptr;
  ASSERT_NE(cursor.touch_late(key(1), held), nullptr);
  EXPECT_EQ(value(table, key(1)), 1);
  ASSERT_NE(cursor.touch_early(key(1)), nullptr);
  ASSERT_NE(cursor.touch_early(key(2)), nullptr);
  EXPECT_EQ(*cursor.touch_late(key(4), held), 0) << "as made";
}

TEST(FlowTable, IsAListOfTheFlowsTouchedLast) {
  expect_like_a_list<int64_t, uint64_t>([](uint32_t turn) { return int64_t{turn} + 1; });
  using Parts = std::array<uint32_t, 3>;
  expect_like_a_list<Parts, uint32_t>([](uint32_t turn) {
    return Parts{turn, ~turn, turn * 3 + 1};
  });
}

}  // namespace
}  // namespace eddy::lb
