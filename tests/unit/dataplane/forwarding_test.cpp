// Packets through one switch and through a leaf-spine fabric, with 1, 2 and 4 shards.
#include <gtest/gtest.h>

#include "tests/support/fabric.h"
#include "tests/support/topologies.h"

namespace eddy::test {
namespace {

config::SwitchConfig two_hosts() {
  config::SwitchConfig config = bare_switch("leaf", 1);
  config.leaf = LeafId(1);
  add_host_port(config, 1, 1, 10_Gbps);
  add_host_port(config, 1, 2, 10_Gbps);
  return config;
}

UdpSpec from_host1(const config::SwitchConfig& config) {
  return {.destination_mac = port_mac(config, 0),
          .source_mac = host_mac(1, 1),
          .source = host_ip(1, 1),
          .destination = host_ip(1, 2)};
}

TEST(Forwarding, RewritesMacsAndTtlAndKeepsThePayload) {
  const config::SwitchConfig config = two_hosts();
  Fabric fabric;
  const size_t node = fabric.add_switch(config);
  fabric.set_link(node, PortId(0), true);
  fabric.set_link(node, PortId(1), true);
  const Frame sent = udp_frame(from_host1(config));
  fabric.inject(node, PortId(0), sent);
  fabric.run_until(Instant::at(1_ms));

  const auto& seen = fabric.seen(node, PortId(1));
  ASSERT_EQ(seen.size(), 1u);
  EthernetHeader ethernet;
  ASSERT_EQ(decode(seen[0].frame, ethernet), CodecVerdict::ok);
  EXPECT_EQ(ethernet.destination, host_mac(1, 2));
  EXPECT_EQ(ethernet.source, port_mac(config, 1));
  Ipv4Header network;
  ASSERT_EQ(decode(ConstOctets(seen[0].frame).subspan(14), network), CodecVerdict::ok);
  EXPECT_EQ(network.ttl, 63);
  EXPECT_TRUE(std::equal(sent.begin() + 34, sent.end(), seen[0].frame.begin() + 34));
}

TEST(Forwarding, LeavesWhenTheLineHasCarriedIt) {
  const config::SwitchConfig config = two_hosts();
  Fabric fabric;
  const size_t node = fabric.add_switch(config);
  fabric.set_link(node, PortId(0), true);
  fabric.set_link(node, PortId(1), true);
  UdpSpec spec = from_host1(config);
  spec.frame_len = 1000;
  for (int i = 0; i < 3; ++i) fabric.inject(node, PortId(0), udp_frame(spec), 1000);
  fabric.run_until(Instant::at(1_ms));
  const auto& seen = fabric.seen(node, PortId(1));
  ASSERT_EQ(seen.size(), 3u);
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(seen[static_cast<size_t>(i)].at, Instant::at(800_ps * 1024 * (i + 1)));
}

// What a scheme may tell apart: octets that wait, and those of the frame on the line.
TEST(Forwarding, TheFrameOnTheLineDoesNotWait) {
  const config::SwitchConfig config = two_hosts();
  Fabric fabric;
  const size_t node = fabric.add_switch(config);
  fabric.set_link(node, PortId(0), true);
  fabric.set_link(node, PortId(1), true);
  UdpSpec spec = from_host1(config);
  spec.frame_len = 1000;
  for (int i = 0; i < 3; ++i) fabric.inject(node, PortId(0), udp_frame(spec), 1000);
  const lb::PortSignals& port = fabric.at(node).signals(PortId(1));
  for (uint32_t left = 3; left > 0; --left) {
    EXPECT_EQ(port.backlog_from(QueueId(0)), left * 1000);
    EXPECT_EQ(port.waiting_from(QueueId(0)), (left - 1) * 1000);
    fabric.run_until(Instant::at(800_ps * 1024 * (4 - left)));
  }
  EXPECT_EQ(port.backlog_from(QueueId(0)), 0u);
  EXPECT_EQ(port.line_bytes, 0u);
}

class ShardCount : public testing::TestWithParam<size_t> {};

TEST_P(ShardCount, LeafSpineDeliversEverythingOnce) {
  LeafSpine spec = leaf_spine({});
  Fabric fabric;
  for (auto& leaf : spec.leaves) spread_over_workers(leaf, GetParam());
  for (auto& spine : spec.spines) spread_over_workers(spine, std::min<size_t>(GetParam(), 2));
  std::vector<size_t> leaves, spines;
  for (auto& leaf : spec.leaves) leaves.push_back(fabric.add_switch(leaf, GetParam()));
  for (auto& spine : spec.spines)
    spines.push_back(fabric.add_switch(spine, std::min<size_t>(GetParam(), 2)));
  for (size_t l = 0; l < 2; ++l)
    for (size_t s = 0; s < 2; ++s)
      fabric.connect(leaves[l], PortId(2 + s), spines[s], PortId(l), 1_us);
  std::vector<FabricHost*> hosts;
  for (size_t l = 0; l < 2; ++l)
    for (size_t h = 0; h < 2; ++h) hosts.push_back(&fabric.attach_host(leaves[l], PortId(h), 1_us));

  constexpr int kFlows = 64;
  for (int i = 0; i < kFlows; ++i)
    hosts[0]->to_send.push_back({udp_frame({.destination_mac = port_mac(spec.leaves[0], 0),
                                            .source = host_ip(1, 1),
                                            .destination = host_ip(2, 2),
                                            .source_port = static_cast<uint16_t>(1000 + i),
                                            .frame_len = 500}),
                                 0, Priority(0)});
  fabric.kick(*hosts[0]);
  fabric.run_until(Instant::at(1_ms));
  EXPECT_EQ(hosts[3]->received_count, kFlows);
  for (size_t s : spines) EXPECT_GT(fabric.at(s).balance().rx, 0u) << "ECMP left a spine out";
  for (size_t node : leaves) {
    EXPECT_EQ(fabric.at(node).balance().held, 0u);
    EXPECT_EQ(fabric.at(node).balance().dropped, 0u);
    EXPECT_EQ(fabric.at(node).buffer_status().shared_used, 0);
  }
}
INSTANTIATE_TEST_SUITE_P(Shards, ShardCount, testing::Values(1, 2, 4));

}  // namespace
}  // namespace eddy::test
