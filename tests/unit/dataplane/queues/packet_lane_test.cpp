// Lanes between shards: rows come out as they went in, all round the ring; nothing is seen before
// it is published; what is full says so.
#include "switch/dataplane/state/packet_lane.h"

#include <gtest/gtest.h>

#include <deque>
#include <memory>
#include <vector>

#include "net/random.h"
#include "tests/support/packet_pool.h"

namespace eddy::test {
namespace {

struct Taken {
  LaneRow row;
  std::vector<Packet*> packets;
};

std::vector<Taken> taken_from(PacketLane& lane) {
  std::vector<Taken> rows;
  lane.take([&rows](const LaneRow& row, std::span<Packet* const> packets) {
    rows.push_back({row, {packets.begin(), packets.end()}});
  });
  return rows;
}

class LaneOfPackets : public testing::Test {
 protected:
  static constexpr size_t kPackets = 2 * PacketLane::kRoom;

  Packet* packet(size_t number) { return &packets_[number % kPackets]; }
  // Of `count` packets from this number on.
  LaneRow add_row(size_t number, size_t count) {
    for (size_t i = 0; i + 1 < count; ++i) packet(number + i)->next = packet(number + i + 1);
    const LaneRow row{.octets = static_cast<uint32_t>(number),
                      .port = PortId(number % 200),
                      .queue = QueueId(number % 8),
                      .count = static_cast<uint8_t>(count),
                      .ready = 1,
                      .ect = number % 2 == 0};
    lane_->add_row(row, packet(number));
    return row;
  }

  std::unique_ptr<PacketLane> lane_ = std::make_unique<PacketLane>();
  std::vector<Packet> packets_{kPackets, Packet{}};
};

TEST_F(LaneOfPackets, ShowNothingBeforeItIsPublished) {
  lane_->add(packet(1));
  (void)add_row(2, 3);
  EXPECT_TRUE(lane_->empty());
  EXPECT_TRUE(taken_from(*lane_).empty());
  EXPECT_EQ(lane_->packets(), 0u);
  lane_->publish();
  EXPECT_FALSE(lane_->empty());
  EXPECT_EQ(lane_->packets(), 4u);
  EXPECT_EQ(taken_from(*lane_).size(), 2u);
  EXPECT_TRUE(lane_->empty());
  EXPECT_EQ(lane_->packets(), 0u);
}

// Packets that go by themselves share a row until another kind comes, the row is full, or it has
// been published.
TEST_F(LaneOfPackets, GatherPacketsThatGoByThemselves) {
  size_t number = 0;
  for (; number < kBurst + 2; ++number) lane_->add(packet(number));
  (void)add_row(number, 2);
  number += 2;
  lane_->add(packet(number++));
  lane_->publish();
  lane_->add(packet(number++));
  lane_->publish();
  size_t next = 0;
  std::vector<size_t> counts;
  for (const Taken& taken : taken_from(*lane_)) {
    counts.push_back(taken.packets.size());
    EXPECT_EQ(taken.row.ready != 0, counts.size() == 3);
    for (Packet* each : taken.packets) EXPECT_EQ(each, packet(next++));
  }
  EXPECT_EQ(counts, (std::vector<size_t>{kBurst, 2, 2, 1, 1}));
  EXPECT_EQ(next, number);
}

// Rows of every length, so that they end at every place of the ring, and all that it holds.
TEST_F(LaneOfPackets, GoRoundTheRingInOrder) {
  RandomStream random{1, 2, 3};
  std::deque<Taken> model;
  size_t number = 0;
  size_t met_full = 0;
  for (int step = 0; step < 20'000; ++step) {
    for (uint32_t rows = random.next() % (step % 4'000 < 2'000 ? 6 : 2); rows > 0; --rows) {
      if (!lane_->has_room()) {
        ++met_full;
        continue;
      }
      const size_t count = 1 + random.next() % kBurst;
      Taken row{.row = add_row(number, count), .packets = {}};
      for (size_t i = 0; i < count; ++i) row.packets.push_back(packet(number++));
      model.push_back(row);
    }
    lane_->publish();
    size_t held = 0;
    for (const Taken& row : model) held += row.packets.size();
    ASSERT_EQ(lane_->packets(), held);
    if (step % 500 >= 40) {  // else nobody takes
      for (const Taken& taken : taken_from(*lane_)) {
        ASSERT_EQ(taken.packets, model.front().packets);
        ASSERT_EQ(taken.row.octets, model.front().row.octets);
        ASSERT_EQ(taken.row.port, model.front().row.port);
        ASSERT_EQ(taken.row.queue, model.front().row.queue);
        ASSERT_EQ(taken.row.ect, model.front().row.ect);
        model.pop_front();
      }
      ASSERT_TRUE(model.empty());
    }
  }
  EXPECT_GT(number, 20 * PacketLane::kRoom);
}

TEST_F(LaneOfPackets, SayWhenTheyAreFullAndTakeAllOfTheirRoom) {
  size_t number = 0;
  while (lane_->has_room()) number += add_row(number, kBurst).count;
  lane_->publish();
  EXPECT_GT(number, PacketLane::kRoom * 9 / 10);
  EXPECT_LT(number, PacketLane::kRoom);
  size_t next = 0;
  for (const Taken& taken : taken_from(*lane_))
    for (Packet* each : taken.packets) ASSERT_EQ(each, packet(next++));
  EXPECT_EQ(next, number);
  EXPECT_TRUE(lane_->has_room());
}

}  // namespace
}  // namespace eddy::test
