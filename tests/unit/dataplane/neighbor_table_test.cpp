// The table finds what it holds and nothing else, whatever came and went before.
#include "switch/dataplane/neighbors/neighbors.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <utility>

namespace eddy {
namespace {

IpAddress address(uint32_t number) {
  return Ipv4Address{0x0a000000 + number};
}

TEST(NeighborTable, IsFullAtItsCapacityAndHasRoomAgainAfterAnErase) {
  NeighborTable table(3, 2);
  for (uint32_t i = 0; i < 3; ++i) EXPECT_NE(table.insert(PortId(1), address(i)), nullptr);
  EXPECT_EQ(table.insert(PortId(1), address(9)), nullptr);
  EXPECT_EQ(table.find(PortId(1), address(9)), nullptr);
  table.erase(table.find(PortId(1), address(1)));
  Neighbor* const neighbor = table.insert(PortId(1), address(9));
  ASSERT_NE(neighbor, nullptr);
  EXPECT_EQ(neighbor->address, address(9));
  EXPECT_EQ(neighbor->port, PortId(1));
  EXPECT_EQ(neighbor->state, NeighborState::free) << "its user says what it becomes";
}

TEST(NeighborTable, AnAddressIsAnotherNeighborOnAnotherPortAndInTheOtherFamily) {
  NeighborTable table(8, 4);
  Neighbor* const first = table.insert(PortId(1), address(7));
  Neighbor* const second = table.insert(PortId(2), address(7));
  Neighbor* const third =
      table.insert(PortId(1), Ipv6Address{{0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x0a, 0, 0, 7}});
  EXPECT_EQ(table.find(PortId(1), address(7)), first);
  EXPECT_EQ(table.find(PortId(2), address(7)), second);
  EXPECT_EQ(table.find(PortId(3), address(7)), nullptr);
  EXPECT_NE(third, first);
}

TEST(NeighborTable, DoesWithoutTheOneThatIsMissedLeast) {
  NeighborTable table(8, 2);
  const auto add = [&](uint32_t number, NeighborState state, bool wanted, int64_t changed_at) {
    Neighbor* neighbor = table.insert(PortId(1), address(number));
    neighbor->state = state;
    neighbor->wanted = wanted;
    neighbor->changed_at = Instant::at(Duration::seconds(changed_at));
    return neighbor;
  };
  add(1, NeighborState::reachable, true, 1);
  add(2, NeighborState::reachable, false, 9);
  add(3, NeighborState::incomplete, true, 8);
  add(4, NeighborState::incomplete, true, 7);
  table.keep(*add(5, NeighborState::failed, false, 0), true);
  EXPECT_EQ(table.learned(PortId(1)), 4u);
  EXPECT_EQ(table.most_learned(), PortId(1));
  EXPECT_EQ(table.least_missed(PortId(0), NeighborState::reachable), nullptr) << "another port";
  for (const uint32_t number : {4, 3}) {
    Neighbor* least = table.least_missed(PortId(1), NeighborState::lost);
    ASSERT_NE(least, nullptr);
    EXPECT_EQ(least->address, address(number));
    table.erase(least);
  }
  EXPECT_EQ(table.least_missed(PortId(1), NeighborState::lost), nullptr)
      << "the rest is worth more";
  EXPECT_EQ(table.least_missed(PortId(1), NeighborState::reachable)->address, address(2));
}

// Against a map, with a table so small that its runs of slots collide and wrap.
TEST(NeighborTable, AgreesWithAMapUnderRandomOperations) {
  constexpr unsigned kSeed = 20'261'122;
  SCOPED_TRACE(testing::Message() << "seed " << kSeed);
  std::mt19937 random(kSeed);
  constexpr size_t kCapacity = 12;
  NeighborTable table(kCapacity, 3);
  std::map<std::pair<size_t, uint32_t>, const Neighbor*> model;
  for (int step = 0; step < 4'000; ++step) {
    const size_t port = random() % 3;
    const uint32_t number = random() % 12;
    const auto known = model.find({port, number});
    Neighbor* const found = table.find(PortId(port), address(number));
    ASSERT_EQ(found, known == model.end() ? nullptr : known->second) << "step " << step;
    if (found != nullptr) {
      ASSERT_EQ(found->address, address(number));
      ASSERT_EQ(found->port, PortId(port));
      if (random() % 2 == 0) continue;
      table.erase(found);
      model.erase(known);
    } else {
      const Neighbor* const made = table.insert(PortId(port), address(number));
      ASSERT_EQ(made == nullptr, model.size() == kCapacity) << "step " << step;
      if (made != nullptr) model[{port, number}] = made;
    }
  }
}

}  // namespace
}  // namespace eddy
