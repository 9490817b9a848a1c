// What a shard sees through SwitchIo: arrivals by port, and what a burst limit leaves for later.
#include "lab/world/switch_node.h"

#include <gtest/gtest.h>

#include <array>
#include <utility>
#include <vector>

namespace eddy::lab {
namespace {

using namespace eddy::literals;

struct FrameOnLine {
  uint32_t line;
  Packet* packet;
  bool last;
  bool operator==(const FrameOnLine&) const = default;
};

struct RecordedWires : Wires {
  uint16_t send(uint32_t line, Packet* packet, bool last) override {
    sent.push_back({line, packet, last});
    return 1;
  }
  void await(uint32_t line, Instant at) override { awaited.emplace_back(line, at); }
  std::vector<FrameOnLine> sent;
  std::vector<std::pair<uint32_t, Instant>> awaited;
};

class SwitchIoTest : public testing::Test {
 protected:
  SwitchIo io(size_t burst) {
    return SwitchIo(
        {.wires = &wires, .pool = &pool, .first_line = 10, .ports = 4, .burst = burst, .seed = 1});
  }
  Packet* packet(uint32_t wire_len) {
    Packet* made = pool.get();
    made->wire_len = wire_len;
    return made;
  }
  Received receive(SwitchIo& from) { return from.receive(burst); }

  PacketPool pool{64};
  RecordedWires wires;
  std::array<Packet*, kBurst> burst{};
};

TEST_F(SwitchIoTest, ASingleArrivalIsTheLast) {
  SwitchIo world = io(0);
  Packet* only = packet(100);
  world.arrive(PortId(2), only);
  world.begin(Instant());
  EXPECT_TRUE(world.news().packets);
  const Received received = receive(world);
  EXPECT_EQ(received.port, PortId(2));
  ASSERT_EQ(received.count, 1);
  EXPECT_EQ(burst[0], only);
  EXPECT_TRUE(received.last);
  EXPECT_EQ(receive(world).count, 0) << "it is read only once";
  world.end();
  EXPECT_FALSE(world.news().packets);
  EXPECT_EQ(receive(world).count, 0);
}

TEST_F(SwitchIoTest, ArrivalsComeByPortInTheirOrder) {
  SwitchIo world = io(0);
  Packet* first = packet(100);
  Packet* second = packet(100);
  Packet* other = packet(100);
  world.arrive(PortId(1), first);
  world.arrive(PortId(3), other);
  world.arrive(PortId(1), second);
  world.begin(Instant());
  size_t bursts = 0;
  bool last = false;
  for (Received got = receive(world); got.count != 0; got = receive(world), ++bursts) {
    EXPECT_FALSE(last);
    last = got.last;
    if (got.port == PortId(3)) {
      EXPECT_EQ(burst[0], other);
      continue;
    }
    ASSERT_EQ(got.count, 2);
    EXPECT_EQ(burst[0], first);
    EXPECT_EQ(burst[1], second);
  }
  EXPECT_EQ(bursts, 2u);
  EXPECT_TRUE(last);
  EXPECT_EQ(world.ties(), 2u);
}

// One frame is read alone, though others of its port wait: they are its backlog.
TEST_F(SwitchIoTest, WhatALimitLeavesIsTheBacklogOfASingleArrival) {
  SwitchIo world = io(1);
  std::array<Packet*, 3> packets = {packet(100), packet(200), packet(300)};
  for (Packet* each : packets) world.arrive(PortId(1), each);
  const std::array<int64_t, 3> backlog = {500, 300, 0};
  for (size_t poll = 0; poll < packets.size(); ++poll) {
    world.begin(Instant() + Duration::nanoseconds(static_cast<int64_t>(poll)));
    const Received got = receive(world);
    ASSERT_EQ(got.count, 1) << poll;
    EXPECT_EQ(burst[0], packets[poll]);
    EXPECT_EQ(got.backlog, Bytes(backlog[poll])) << poll;
    EXPECT_EQ(got.backlog_packets, packets.size() - 1 - poll);
    EXPECT_TRUE(got.last);
    world.end();
    EXPECT_EQ(world.waiting(), packets.size() - 1 - poll);
  }
}

// Three frames come by each of two ports in every poll, of which two are read.
TEST_F(SwitchIoTest, WhatIsUnreadStaysInOrderAndComesBeforeWhatIsNew) {
  SwitchIo world = io(2);
  std::array<std::vector<Packet*>, 2> sent;
  std::array<size_t, 2> got{};
  const auto poll = [&](size_t at) {
    world.begin(Instant() + Duration::nanoseconds(static_cast<int64_t>(at)));
    for (Received part = receive(world); part.count != 0; part = receive(world)) {
      const size_t port = part.port.index();
      ASSERT_LE(part.count, 2);
      for (size_t i = 0; i < part.count; ++i) ASSERT_EQ(burst[i], sent[port][got[port]++]);
      EXPECT_EQ(part.backlog_packets, sent[port].size() - got[port]);
      EXPECT_EQ(part.backlog, Bytes(100 * static_cast<int64_t>(part.backlog_packets)));
    }
    world.end();
    EXPECT_EQ(world.waiting(), sent[0].size() + sent[1].size() - got[0] - got[1]);
    EXPECT_EQ(world.news().packets, world.waiting() != 0);
  };
  size_t at = 0;
  for (; at < 8; ++at) {
    for (size_t i = 0; i < 6; ++i) {
      sent[i % 2].push_back(packet(100));
      world.arrive(PortId(i % 2), sent[i % 2].back());
    }
    poll(at);
  }
  EXPECT_EQ(got[0], 16u);
  EXPECT_EQ(got[1], 16u);
  while (world.waiting() != 0) poll(at++);
  EXPECT_EQ(got[0], 24u);
  EXPECT_EQ(got[1], 24u);
}

TEST_F(SwitchIoTest, TheLastOfABurstReportsTheLineFree) {
  SwitchIo world = io(0);
  const std::array<Packet*, 2> two = {packet(100), packet(200)};
  EXPECT_EQ(world.transmit(PortId(3), two, Instant()), 2);
  EXPECT_EQ(world.transmit(PortId(0), {two.data(), 1}, Instant()), 1);
  EXPECT_EQ(world.transmit(PortId(0), {}, Instant()), 0);
  EXPECT_EQ(wires.sent, (std::vector<FrameOnLine>{
                            {13, two[0], false}, {13, two[1], true}, {10, two[0], true}}));
}

TEST_F(SwitchIoTest, ALineIsReportedOnlyIfTheShardAsksForIt) {
  SwitchIo world = io(0);
  EXPECT_FALSE(world.news().lines_by_clock);
  world.connect(wires, pool, /*by_clock=*/true);
  EXPECT_TRUE(world.news().lines_by_clock);
  Packet* only = packet(100);
  EXPECT_EQ(world.transmit(PortId(3), {&only, 1}, Instant::never()), 1);
  EXPECT_EQ(wires.sent, (std::vector<FrameOnLine>{{13, only, false}}));
  EXPECT_TRUE(wires.awaited.empty());
  world.await(PortId(3), Instant() + 20_ns);
  ASSERT_EQ(wires.awaited.size(), 1u);
  EXPECT_EQ(wires.awaited[0], std::make_pair(13u, Instant() + 20_ns));
}

// A switch that is not polled for very long: more come than an order of arrival in 16 bits tells.
TEST_F(SwitchIoTest, MoreArriveThanThereWasRoomFor) {
  SwitchIo world = io(0);
  std::array<Packet*, 40> packets;
  for (Packet*& each : packets) each = packet(100);
  constexpr size_t kTimes = 2'000;
  for (size_t i = 0; i < kTimes * packets.size(); ++i)
    world.arrive(PortId(i % 2), packets[i % packets.size()]);
  EXPECT_EQ(world.waiting(), kTimes * packets.size());
  world.begin(Instant());
  std::array<size_t, 2> next = {0, 1};  // of each port: those of its own come in order
  size_t received = 0;
  for (Received got = receive(world); got.count != 0; got = receive(world)) {
    for (size_t i = 0; i < got.count; ++i, ++received) {
      size_t& expected = next[got.port.index()];
      ASSERT_EQ(burst[i], packets[expected % packets.size()]);
      expected += 2;
    }
  }
  EXPECT_EQ(received, kTimes * packets.size());
}

// What has come is news until the next poll has ended, and then no more.
TEST_F(SwitchIoTest, NewsEndWithThePoll) {
  SwitchIo world = io(0);
  EXPECT_FALSE(world.news().packets);
  world.complete(PortId(1));
  world.change_link(PortId(2), true);
  world.arrive(PortId(3), packet(100));
  EXPECT_EQ(world.news().completions.size(), 1u);
  EXPECT_EQ(world.news().link_changes.size(), 1u);
  EXPECT_TRUE(world.news().packets);
  world.end();
  EXPECT_TRUE(world.news().completions.empty());
  EXPECT_TRUE(world.news().link_changes.empty());
  EXPECT_FALSE(world.news().packets);
}

}  // namespace
}  // namespace eddy::lab
