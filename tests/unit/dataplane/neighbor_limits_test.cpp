// What hosts that do not answer, ask too much or claim too much can do to the others: nothing.
#include <gtest/gtest.h>

#include "net/arp.h"
#include "tests/support/one_switch.h"

namespace eddy::test {
namespace {

// Hosts 1 to 3 on ports 0 to 2, fixed; behind each port a subnet, too, whose hosts are asked for.
config::SwitchConfig switch_with_subnets() {
  config::SwitchConfig config = hosts_switch(3);
  for (size_t port = 0; port < 3; ++port)
    config.ports[port].addresses.push_back(prefix("172." + std::to_string(16 + port) + ".0.1/16"));
  return config;
}
// Host 1 is the switch itself.
IpAddress behind(size_t port, uint32_t number) {
  return Ipv4Address{ip("172.16.0.0").v4().value + (static_cast<uint32_t>(port) << 16) + number};
}

constexpr size_t kConfigured = 1;  // neighbors of a port

class NeighborLimits : public testing::Test {
 protected:
  // From host 1 to a host behind port 2.
  void send_to(uint32_t number, uint8_t dscp = 0, size_t wire_len = 1000) {
    UdpSpec spec = between(rig.config, 0, 1, dscp);
    spec.destination = behind(2, number);
    spec.frame_len = wire_len;
    spec.readable_len = 128;
    rig.inject(0, udp_frame(spec), wire_len);
  }
  void ask_us(size_t port, uint32_t number) {
    const MacAddress mac{
        {0x02, 0xbb, 0, 0, static_cast<uint8_t>(number >> 8), static_cast<uint8_t>(number)}};
    Frame frame(60);
    encode(EthernetHeader{MacAddress::broadcast(), mac, kEtherTypeArp}, frame);
    encode(
        ArpMessage{ArpOperation::request, mac, behind(port, number).v4(), {}, behind(port, 1).v4()},
        Octets(frame).subspan(14));
    rig.inject(port, frame);
  }
  size_t known(size_t port) {
    std::vector<NeighborRow> rows(1'100);
    Command dump{.kind = Command::Kind::dump_neighbors, .rows = rows};
    rig.object().post(ShardId(0), dump);
    rig.fabric.poll(rig.node);
    return static_cast<size_t>(
        std::count_if(rows.begin(), rows.begin() + static_cast<int64_t>(dump.row_count),
                      [&](const NeighborRow& row) { return row.port == PortId(port); }));
  }

  OneSwitch rig{switch_with_subnets()};
};

// 32 jumbo frames a time to hosts that are not there, while host 1 talks to host 2 in the same
// priority group.
TEST_F(NeighborLimits, WhatWaitsForAnAbsentHostPausesNobody) {
  constexpr size_t kInnocent = 400;
  for (size_t round = 0; round < 40; ++round) {
    for (uint32_t i = 0; i < 32; ++i) send_to(10 + round % 3, kLosslessDscp, 9000);
    for (size_t i = 0; i < kInnocent / 40; ++i) rig.send(0, 1, kLosslessDscp);
    rig.run_for(100_ms);
  }
  EXPECT_EQ(count(rig.object(), 0, kLossless, PfcCounter::pfc_tx_xoff), 0u);
  EXPECT_EQ(count(rig.object(), 1, PortCounter::tx_packets), kInnocent);
  EXPECT_GT(drops(rig.object(), DropReason::neighbor_queue_full), 0u) << "the budget is small";
  EXPECT_GT(drops(rig.object(), DropReason::neighbor_unresolved), 0u);
  rig.run_for(10_s);
  EXPECT_EQ(leftovers(rig.object()), "");
}

TEST_F(NeighborLimits, OneNeighborHoldsAQuarterOfTheQueueAndAllTheWholeOfIt) {
  const int64_t packet = 9'216;  // 9000 octets in cells of 256
  const auto room = [&](int64_t octets) { return static_cast<uint64_t>(octets / packet); };
  const int64_t queue = rig.config.control.neighbor_queue.count();
  for (int i = 0; i < 40; ++i) send_to(10, kLosslessDscp, 9000);
  EXPECT_EQ(drops(rig.object(), DropReason::neighbor_queue_full), 40 - room(queue / 4));
  for (uint32_t host = 11; host < 20; ++host)
    for (int i = 0; i < 40; ++i) send_to(host, kLosslessDscp, 9000);
  EXPECT_EQ(drops(rig.object(), DropReason::neighbor_queue_full), 400 - room(queue));
}

TEST_F(NeighborLimits, ThoseThatDoNotAnswerTakeNoPlaceFromThoseThatDo) {
  const auto quota = static_cast<uint32_t>(rig.config.control.neighbors_per_port);
  for (uint32_t i = 0; i < quota - 6; ++i) ask_us(2, 2 + i);
  ASSERT_EQ(known(2), quota - 6 + kConfigured);
  for (uint32_t i = 0; i < 1'000; ++i) {
    send_to(10'000 + i);
    rig.run_for(5_ms);
  }
  EXPECT_EQ(known(2), quota - 6 + kConfigured);
  EXPECT_GT(drops(rig.object(), DropReason::neighbor_table_full), 0u) << "of those that waited";
}

// Hosts behind two ports claim a thousand addresses each; the third one's neighbor stays known.
TEST_F(NeighborLimits, APortFillsItsQuotaAndNoMore) {
  const auto quota = static_cast<size_t>(rig.config.control.neighbors_per_port);
  ask_us(2, 7);
  for (uint32_t number = 2; number < 1'002; ++number) {
    ask_us(0, number);
    ask_us(1, number);
    rig.run_for(10_ms);
  }
  EXPECT_EQ(known(0), quota + kConfigured);
  EXPECT_EQ(known(1), quota + kConfigured);
  EXPECT_EQ(known(2), 1 + kConfigured);
  rig.seen(0).clear();
  UdpSpec spec = between(rig.config, 1, 0);
  spec.destination = behind(0, 1'001);
  rig.inject(1, udp_frame(spec));
  EXPECT_EQ(rig.seen(0).size(), 1u) << "the newest are the ones it knows";
}

TEST_F(NeighborLimits, TooManyNewOnesInASecondAreRefused) {
  const auto rate = static_cast<uint32_t>(rig.config.control.neighbor_messages_per_second);
  for (uint32_t i = 0; i < rate + 50; ++i) send_to(10'000 + i);
  EXPECT_EQ(drops(rig.object(), DropReason::neighbor_table_full), rate - 256 + 50);
}

TEST_F(NeighborLimits, QuestionsBeyondARateAreNotRead) {
  const auto rate = static_cast<uint64_t>(rig.config.control.neighbor_messages_per_second);
  for (uint64_t i = 0; i < 2 * rate; ++i) ask_us(2, 7);
  EXPECT_NEAR(static_cast<double>(drops(rig.object(), DropReason::control_policed)),
              static_cast<double>(rate), 2);
  ask_us(0, 2);
  EXPECT_EQ(known(0), 1 + kConfigured);
  EXPECT_EQ(count(rig.object(), 0, PortCounter::originated_packets), 1u) << "others are answered";
  rig.run_for(1_s);
  rig.seen(2).clear();
  ask_us(2, 7);
  EXPECT_EQ(rig.seen(2).size(), 1u) << "a second later it may ask again";
}

}  // namespace
}  // namespace eddy::test
