#include "switch/dpdk/dpdk_io.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <vector>

#include "tests/unit/dpdk/bridge_shard.h"
#include "tests/unit/dpdk/eal_environment.h"
#include "tests/unit/dpdk/ring_port.h"

namespace eddy {
namespace {

using testing_support::BridgeShard;
using testing_support::pools;
using testing_support::RingPort;

Instant at(int64_t us) {
  return Instant::at(Duration::microseconds(us));
}

class DpdkIoTest : public testing::Test {
 protected:
  DpdkIoTest() : free_before_(rte_mempool_avail_count(pools().data())) {
    left_.cell.lossless = true;
  }

  void poll(int64_t us) {
    io_.begin_poll(at(us));
    shard_.poll(io_, at(us));
  }
  void plug(RingPort& port, bool usable) {
    port.cell.usable = usable;
    bell_.ring();
  }
  void expect_nothing_leaked() {
    while (rte_mbuf* mbuf = left_.take()) rte_pktmbuf_free(mbuf);
    while (rte_mbuf* mbuf = right_.take()) rte_pktmbuf_free(mbuf);
    EXPECT_EQ(rte_mempool_avail_count(pools().data()), free_before_);
  }

  unsigned free_before_;
  Bell bell_;
  RingPort left_{"left"};
  RingPort right_{"right"};
  BridgeShard shard_;
  std::vector<IoPort> ports_{{PortId(0), &left_.cell}, {PortId(1), &right_.cell}};
  DpdkIo io_{ports_, pools().control(), bell_, shard_};
};

TEST_F(DpdkIoTest, PortsStartDownAndAreNotTouched) {
  left_.put(64);
  poll(1);
  EXPECT_TRUE(shard_.links.empty());
  EXPECT_TRUE(shard_.lengths.empty());
  plug(left_, true);
  plug(right_, true);
  poll(2);
  ASSERT_EQ(shard_.links.size(), 2u);
  EXPECT_TRUE(shard_.links[0].up && shard_.links[1].up);
  EXPECT_EQ(shard_.lengths, std::vector<uint32_t>{64});
  expect_nothing_leaked();
}

TEST_F(DpdkIoTest, FramesPassUnpaddedAndWhole) {
  plug(left_, true);
  plug(right_, true);
  left_.put(14);
  left_.put(1'514);
  poll(1);
  rte_mbuf* runt = right_.take();
  rte_mbuf* full = right_.take();
  ASSERT_TRUE(runt != nullptr && full != nullptr);
  EXPECT_EQ(runt->pkt_len, 14u);
  EXPECT_EQ(full->pkt_len, 1'514u);
  rte_pktmbuf_free(runt);
  rte_pktmbuf_free(full);
  expect_nothing_leaked();
}

TEST_F(DpdkIoTest, OneBurstAPortAPollAndTheFirstPortChanges) {
  plug(left_, true);
  plug(right_, true);
  poll(1);
  for (int i = 0; i < 40; ++i) left_.put(100);
  right_.put(100);
  poll(2);
  poll(3);
  ASSERT_EQ(shard_.visits.size(), 3u);
  EXPECT_NE(shard_.visits[0], shard_.visits[1]) << "both ports in the first of the two polls";
  EXPECT_EQ(shard_.visits[2], PortId(0)) << "the rest of the longer queue in the second";
  EXPECT_EQ(shard_.lengths.size(), 41u);
  expect_nothing_leaked();
}

TEST_F(DpdkIoTest, SegmentsAreJoinedOrCountedAndDropped) {
  plug(left_, true);
  plug(right_, true);
  left_.put(64);
  left_.put(600, 2);
  left_.put(1'500, 3);
  left_.put(100);
  poll(1);
  EXPECT_EQ(shard_.lengths, (std::vector<uint32_t>{64, 1'200, 100}));
  const PortTally counters = shard_.counters()[PortId(0)];
  EXPECT_EQ(counters.port.read(PortCounter::rx_oversize_packets), 1u);
  expect_nothing_leaked();
}

TEST_F(DpdkIoTest, AFrameInADriversOwnMemoryIsBroughtIntoItsPacket) {
  plug(left_, true);
  plug(right_, true);
  alignas(64) std::array<uint8_t, 12'000> memory;
  for (size_t i = 0; i < memory.size(); ++i) memory[i] = static_cast<uint8_t>(i * 7);
  const std::vector<uint8_t> frame(memory.begin(), memory.begin() + 900);
  bool freed = false;
  left_.put(64);
  left_.put_attached(memory, 900, freed);
  poll(1);
  EXPECT_EQ(shard_.lengths, (std::vector<uint32_t>{64, 900}));
  EXPECT_TRUE(freed) << "the driver has its memory back";
  rte_pktmbuf_free(right_.take());
  rte_mbuf* sent = right_.take();
  ASSERT_NE(sent, nullptr);
  EXPECT_FALSE(RTE_MBUF_HAS_EXTBUF(sent));
  ASSERT_EQ(sent->data_len, 900);
  EXPECT_EQ(std::memcmp(rte_pktmbuf_mtod(sent, void*), frame.data(), frame.size()), 0);
  rte_pktmbuf_free(sent);

  bool too_long_freed = false;
  left_.put_attached(memory, 11'000, too_long_freed);
  poll(2);
  EXPECT_EQ(shard_.lengths.size(), 2u);
  EXPECT_TRUE(too_long_freed);
  const PortTally counters = shard_.counters()[PortId(0)];
  EXPECT_EQ(counters.port.read(PortCounter::rx_oversize_packets), 1u);
  expect_nothing_leaked();
}

TEST_F(DpdkIoTest, SumsOfABurstAreGoodIfTheDeviceSaysSoOfEach) {
  plug(left_, true);
  plug(right_, true);
  constexpr uint64_t kGood = RTE_MBUF_F_RX_IP_CKSUM_GOOD;
  int poll_at = 0;
  for (const uint64_t other :
       {kGood, uint64_t{RTE_MBUF_F_RX_IP_CKSUM_UNKNOWN}, uint64_t{RTE_MBUF_F_RX_IP_CKSUM_BAD},
        uint64_t{RTE_MBUF_F_RX_IP_CKSUM_NONE}}) {
    for (const uint64_t flags : {kGood, other, kGood}) left_.put(64, 1, flags);
    poll(++poll_at);
  }
  EXPECT_EQ(shard_.sums_good, (std::vector<bool>{true, false, false, false}));
  expect_nothing_leaked();
}

TEST_F(DpdkIoTest, ARefusedTransmitLeavesTheRestWithTheShard) {
  plug(left_, true);
  plug(right_, true);
  for (int poll_at = 1; poll_at <= 3; ++poll_at) {
    for (int i = 0; i < 30; ++i) left_.put(64);
    poll(poll_at);
  }
  EXPECT_EQ(right_.waiting_out(), 63u) << "the ring's room; the bridge freed the others";
  expect_nothing_leaked();
}

TEST_F(DpdkIoTest, ALineIsReportedFreeWhenItIsAndNotBefore) {
  plug(left_, true);
  plug(right_, true);
  shard_.line_time = Duration::microseconds(10);
  left_.put(64);
  poll(1);
  EXPECT_EQ(io_.next_completion(), at(11));
  poll(10);
  EXPECT_TRUE(shard_.completed.empty());
  poll(11);
  ASSERT_EQ(shard_.completed.size(), 1u);
  EXPECT_EQ(shard_.completed[0], PortId(1));
  EXPECT_EQ(io_.next_completion(), Instant::never());
  expect_nothing_leaked();
}

TEST_F(DpdkIoTest, APortThatGoesIsOutOfUseWithinOnePoll) {
  plug(left_, true);
  plug(right_, true);
  poll(1);
  EXPECT_TRUE(right_.cell.in_use);
  plug(right_, false);
  left_.put(64);
  poll(2);
  EXPECT_FALSE(right_.cell.in_use);
  EXPECT_FALSE(shard_.links.back().up);
  EXPECT_EQ(right_.waiting_out(), 0u);
  expect_nothing_leaked();
}

TEST_F(DpdkIoTest, LossesOfTheDeviceAreCountedOnceAndRaiseAnEventWhereLossless) {
  plug(left_, true);
  plug(right_, true);
  poll(1);
  left_.cell.missed = 5;
  left_.cell.no_buffer = 2;
  right_.cell.missed = 1;
  bell_.ring();
  poll(2);
  bell_.ring();
  poll(3);
  const PortTally left = shard_.counters()[PortId(0)];
  EXPECT_EQ(left.port.read(PortCounter::rx_missed_packets), 5u);
  EXPECT_EQ(left.port.read(PortCounter::rx_nombuf_packets), 2u);
  EXPECT_EQ(shard_.counters()[PortId(1)].port.read(PortCounter::rx_missed_packets), 1u);
  ASSERT_EQ(shard_.events.size(), 1u);
  EXPECT_EQ(shard_.events[0].kind, EventKind::rx_loss);
  EXPECT_EQ(shard_.events[0].value, 7u);
  EXPECT_EQ(shard_.events[0].port, PortId(0));
}

TEST_F(DpdkIoTest, APlaceOfAnotherWorkerIsLeftAlone) {
  Bell bell;
  BridgeShard shard;
  DpdkIo other(ports_, pools().control(), bell, shard, 1);
  const auto poll_other = [&](int64_t us) {
    bell.ring();
    other.begin_poll(at(us));
    shard.poll(other, at(us));
  };
  left_.cell.usable = true;
  poll_other(1);
  EXPECT_TRUE(shard.links.empty());
  EXPECT_FALSE(left_.cell.in_use);
  // Handed over, with what was lost before.
  left_.cell.missed = 7;
  left_.cell.worker = 1;
  left_.put(64);
  poll_other(2);
  ASSERT_EQ(shard.links.size(), 1u);
  EXPECT_TRUE(left_.cell.in_use);
  EXPECT_EQ(shard.lengths, std::vector<uint32_t>{64});
  EXPECT_EQ(shard.counters()[PortId(0)].port.read(PortCounter::rx_missed_packets), 0u);
  left_.cell.missed = 9;
  poll_other(3);
  EXPECT_EQ(shard.counters()[PortId(0)].port.read(PortCounter::rx_missed_packets), 2u);
  poll(4);
  EXPECT_TRUE(shard_.links.empty());
}

TEST_F(DpdkIoTest, OwnFramesComeFromTheControlPoolAndGoBackWithOthersInOneCall) {
  const unsigned control_before = rte_mempool_avail_count(pools().control());
  std::vector<Packet*> mixed;
  for (int i = 0; i < 5; ++i) {
    mixed.push_back(io_.allocate());
    ASSERT_NE(mixed.back(), nullptr);
    EXPECT_EQ(mixed.back()->data_len(), 0u);
    EXPECT_EQ(mixed.back()->mbuf()->pool, pools().control());
    mixed.push_back(Packet::of(rte_pktmbuf_alloc(pools().data())));
  }
  io_.free(mixed);
  EXPECT_EQ(rte_mempool_avail_count(pools().control()), control_before);
  expect_nothing_leaked();
}

}  // namespace
}  // namespace eddy
