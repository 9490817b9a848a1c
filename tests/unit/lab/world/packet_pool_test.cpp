#include "lab/world/packet_pool.h"

#include <gtest/gtest.h>

#include <array>
#include <set>
#include <vector>

#include "lab/world/crew.h"

namespace eddy::lab {
namespace {

std::vector<Packet*> take(PacketPool& pool, size_t count) {
  std::vector<Packet*> taken;
  for (size_t i = 0; i < count; ++i) taken.push_back(pool.get());
  return taken;
}

TEST(PacketPool, OfAThreadBorrowsAndGivesBack) {
  PacketPool world(10'000);
  PacketPool thread(world);
  const std::vector<Packet*> taken = take(thread, 1'000);
  EXPECT_EQ((std::set<Packet*>(taken.begin(), taken.end())).size(), 1'000u);
  EXPECT_GE(world.used(), 1'000u);
  for (Packet* packet : taken) thread.put(packet);
  EXPECT_LE(world.used(), static_cast<size_t>(PacketPool::kMostIdle));
  thread.settle();
  EXPECT_EQ(world.used(), 0u);
}

// Packets that are taken on one thread and put on the other come back to the first.
TEST(PacketPool, WhatGoesOneWayComesBackThroughTheLender) {
  PacketPool world(2'000);
  PacketPool source(world), sink(world);
  for (int round = 0; round < 20; ++round) {
    for (Packet* packet : take(source, 1'000)) {
      ASSERT_NE(packet, nullptr) << round;
      sink.put(packet);
    }
  }
  EXPECT_LE(world.used(), static_cast<size_t>(2 * PacketPool::kMostIdle));
  source.settle();
  sink.settle();
  EXPECT_EQ(world.used(), 0u);
}

TEST(PacketPool, SettledItKnowsWhatIsInUseAndGoesOn) {
  PacketPool world(1'000);
  PacketPool thread(world);
  std::vector<Packet*> taken = take(thread, 100);
  thread.settle();
  EXPECT_EQ(world.used(), 100u);
  for (Packet* packet : taken) thread.put(packet);
  thread.settle();
  EXPECT_EQ(world.used(), 0u);
}

// Each time both borrow and give back. Where they do so without the lock, TSan says it for sure,
// and the sum or a crash where they happen to meet.
TEST(PacketPool, TwoThreadsBorrowAndGiveBackAtOnce) {
  PacketPool world(200'000);
  std::array<PacketPool, 2> pools{PacketPool(world), PacketPool(world)};
  Crew crew(2);
  crew.run([&](size_t me) {
    for (size_t round = 0; round < 1'000; ++round)
      for (Packet* packet : take(pools[me], 1'000)) pools[me].put(packet);
  });
  for (PacketPool& pool : pools) pool.settle();
  EXPECT_EQ(world.used(), 0u);
}

TEST(PacketPool, OfAThreadIsEmptyWhenItsLenderIs) {
  PacketPool world(200);
  PacketPool thread(world);
  const std::vector<Packet*> taken = take(thread, 201);
  EXPECT_NE(taken[199], nullptr);
  EXPECT_EQ(taken[200], nullptr);
}

}  // namespace
}  // namespace eddy::lab
