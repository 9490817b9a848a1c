#include "switch/dpdk/pools.h"

#include <gtest/gtest.h>
#include <rte_mbuf.h>

#include <set>
#include <vector>

#include "net/packet.h"
#include "tests/unit/dpdk/eal_environment.h"

namespace eddy {
namespace {

TEST(PacketPools, EveryPacketHasItsLineAndRoomForTheFrame) {
  rte_mempool* pool = testing_support::pools().data();
  rte_mbuf* mbuf = rte_pktmbuf_alloc(pool);
  ASSERT_NE(mbuf, nullptr);
  EXPECT_GE(rte_pktmbuf_tailroom(mbuf), 1'700);
  EXPECT_EQ(mbuf->priv_size, sizeof(Packet));
  Packet* packet = Packet::of(mbuf);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(packet) % RTE_CACHE_LINE_SIZE, 0u);
  EXPECT_EQ(packet->mbuf(), mbuf);
  EXPECT_GE(static_cast<uint8_t*>(mbuf->buf_addr), reinterpret_cast<uint8_t*>(packet + 1));
  rte_pktmbuf_free(mbuf);
}

TEST(PacketPools, AnEmptyDataPoolLeavesTheControlPoolUntouched) {
  rte_mempool* data = testing_support::pools().data();
  std::vector<rte_mbuf*> taken;
  while (rte_mbuf* mbuf = rte_pktmbuf_alloc(data)) taken.push_back(mbuf);
  EXPECT_EQ(taken.size(), 2'047u);
  rte_mbuf* reserved = rte_pktmbuf_alloc(testing_support::pools().control());
  EXPECT_NE(reserved, nullptr);
  rte_pktmbuf_free(reserved);
  rte_pktmbuf_free_bulk(taken.data(), static_cast<unsigned>(taken.size()));
  EXPECT_EQ(rte_mempool_avail_count(data), 2'047u);
}

// Buffers a page apart would share their cache sets; see pools.h.
TEST(PacketPools, PacketsAreNotSpacedByWholePages) {
  std::vector<rte_mbuf*> taken(64);
  rte_mempool* pool = testing_support::pools().data();
  ASSERT_EQ(rte_pktmbuf_alloc_bulk(pool, taken.data(), 64), 0);
  std::set<uintptr_t> offsets;
  for (rte_mbuf* mbuf : taken) offsets.insert(reinterpret_cast<uintptr_t>(mbuf) % 4'096);
  EXPECT_GT(offsets.size(), 16u);
  rte_pktmbuf_free_bulk(taken.data(), 64);
}

TEST(PacketPools, MoreThanThereIsMemoryForIsRefusedWithTheNumbers) {
  const auto made = PacketPools::create("huge", {.data_packets = 1'000'000, .buffer_size = 1'700});
  ASSERT_FALSE(made.ok());
  EXPECT_NE(made.problems().front().find("1000000 packets"), std::string::npos);
}

}  // namespace
}  // namespace eddy
