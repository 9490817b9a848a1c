// Configurations that change under traffic: nothing is lost, old snapshots are freed when no shard
// can see them and not before, and a refused configuration changes nothing.
#include <gtest/gtest.h>

#include <array>
#include <map>
#include <utility>

#include "lb/registry.h"
#include "net/roce.h"
#include "switch/dataplane/object/shard.h"
#include "tests/support/manual_io.h"
#include "tests/support/one_switch.h"

namespace eddy::test {
namespace {

// The n-th configuration: hot keys only.
config::SwitchConfig changed(config::SwitchConfig config, size_t n) {
  const auto schemes = lb::schemes();
  config.load_balancer.scheme = schemes[n % schemes.size()].name;
  config.buffer.profiles["lossless"].xoff = Bytes::kib(static_cast<int64_t>(12 + n % 3 * 30));
  config.buffer.profiles["lossless"].mode =
      n % 5 == 0 ? config::BufferMode::dynamic : config::BufferMode::fixed;
  config.buffer.wred["default"].kmin = Bytes(1000 + static_cast<int64_t>(n % 7) * 10'000);
  for (config::PortConfig& port : config.ports) {
    port.queues[3].weight = 1 + static_cast<int>(n % 20);
    port.queues[1].scheduler =
        n % 2 == 0 ? config::SchedulerType::strict : config::SchedulerType::dwrr;
    port.watchdog.enabled = n % 4 != 0;
  }
  config.routes.push_back({prefix("172.16." + std::to_string(n % 256) + ".0/24"), LeafId(2), {}});
  config.neighbors.push_back(
      {ip("10.1.1." + std::to_string(10 + n % 200)), host_mac(7, n % 256), config.ports[0].name});
  if (n % 3 == 0) std::swap(config.leaves[0].paths[0], config.leaves[0].paths[1]);
  return config;
}

class ReloadUnderTraffic : public testing::TestWithParam<size_t> {};

TEST_P(ReloadUnderTraffic, AThousandTimesUnderTrafficLosesNothing) {
  LeafSpine spec = leaf_spine({.leaves = 2, .spines = 2, .hosts = 2});
  Fabric fabric(4096, 512);
  std::vector<size_t> nodes;
  for (auto* configs : {&spec.leaves, &spec.spines}) {
    for (config::SwitchConfig& config : *configs) {
      spread_over_workers(config, GetParam());
      nodes.push_back(fabric.add_switch(config, GetParam()));
    }
  }
  for (size_t l = 0; l < 2; ++l)
    for (size_t s = 0; s < 2; ++s)
      fabric.connect(nodes[l], PortId(2 + s), nodes[2 + s], PortId(l), 1_us);
  std::vector<FabricHost*> hosts;
  for (size_t l = 0; l < 2; ++l)
    for (size_t h = 0; h < 2; ++h) {
      hosts.push_back(&fabric.attach_host(nodes[l], PortId(h), 1_us));
      hosts.back()->keep_frames = false;
    }
  const auto add_traffic = [&](size_t l, size_t h) {
    const Transmission one{udp_frame({.destination_mac = port_mac(spec.leaves[l], h),
                                      .source = host_ip(l + 1, h + 1),
                                      .destination = host_ip(2 - l, 1),
                                      .dscp = kLosslessDscp,
                                      .ecn = kEcnCapable0,
                                      .frame_len = 1000,
                                      .readable_len = 96}),
                           1000, kLossless};
    hosts[l * 2 + h]->source = [one, left = 400](Transmission& next) mutable {
      next = one;
      return left-- > 0;
    };
    fabric.kick(*hosts[l * 2 + h]);
  };
  for (size_t l = 0; l < 2; ++l)
    for (size_t h = 0; h < 2; ++h) add_traffic(l, h);
  for (size_t n = 0; n < 1000; ++n) {
    fabric.run_until(fabric.now() + 700_ns);
    const auto generation = fabric.at(nodes[0]).reconfigure(changed(spec.leaves[0], n));
    ASSERT_TRUE(generation.ok()) << generation.problems()[0];
    EXPECT_EQ(generation.value(), n + 2);
    fabric.poll(nodes[0]);
    EXPECT_LE(fabric.at(nodes[0]).reclaim(), 1u);
  }
  fabric.run_until(fabric.now() + 10_ms);
  EXPECT_EQ(hosts[0]->received_count + hosts[2]->received_count, 4 * 400u);
  for (const size_t node : nodes) {
    EXPECT_EQ(fabric.at(node).balance().dropped, 0u);
    EXPECT_EQ(leftovers(fabric.at(node)), "");
  }
  fabric.poll(nodes[0]);
  EXPECT_EQ(fabric.at(nodes[0]).reclaim(), 0u);
}
INSTANTIATE_TEST_SUITE_P(Shards, ReloadUnderTraffic, testing::Values(1, 2, 4));

// Two leaves behind four spines, each further away than the one before it: a flow that changes its
// path at the wrong time overtakes itself.
struct UnevenFabric {
  explicit UnevenFabric(const config::SwitchConfig& first) {
    leaves[0] = fabric.add_switch(first, 1);
    leaves[1] = fabric.add_switch(spec.leaves[1], 1);
    for (size_t s = 0; s < 4; ++s) {
      const size_t spine = fabric.add_switch(spec.spines[s], 1);
      for (size_t l = 0; l < 2; ++l)
        fabric.connect(leaves[l], PortId(1 + s), spine, PortId(l), 1_us + 4_us * s);
    }
    from = &fabric.attach_host(leaves[0], PortId(0), 0_us);
    to = &fabric.attach_host(leaves[1], PortId(0), 0_us);
    from->source = [this](Transmission& next) { return make(next); };
  }
  static LeafSpine shape() {
    LeafSpine shape = leaf_spine({.leaves = 2, .spines = 4, .hosts = 1, .scheme = "letflow"});
    for (config::SwitchConfig& leaf : shape.leaves)
      leaf.path_service = {
          .shim = config::ShimUse::sampled, .common_clock = true, .base_rtt = 12_us};
    return shape;
  }
  // Packets of 60 flows in turn, with a number where the checksum of UDP would be.
  bool make(Transmission& next) {
    const uint64_t flow = random.below(60);
    next = {udp_frame({.destination_mac = port_mac(spec.leaves[0], 0),
                       .source = host_ip(1, 1),
                       .destination = host_ip(2, 1),
                       .source_port = static_cast<uint16_t>(5'000 + flow),
                       .dscp = kLosslessDscp,
                       .frame_len = 200}),
            200, kLossless};
    store_be32(&next.frame[kNumberAt], ++sent);
    return sent < 60'000;
  }
  size_t out_of_order() {
    size_t late = 0;
    for (const Arrival& arrival : to->received) {
      const uint32_t number = load_be32(&arrival.frame[kNumberAt]);
      uint32_t& last = last_of[load_be16(&arrival.frame[34])];
      late += number < last ? 1 : 0;
      last = std::max(last, number);
    }
    to->received.clear();
    return late;
  }
  static constexpr size_t kNumberAt = 14 + 20 + 8;

  Fabric fabric{8192, 512};
  LeafSpine spec = shape();
  std::array<size_t, 2> leaves{};
  FabricHost* from = nullptr;
  FabricHost* to = nullptr;
  RandomStream random{7, 7, 7};
  uint32_t sent = 0;
  std::map<uint16_t, uint32_t> last_of;
};

config::SwitchConfig with_scheme(config::SwitchConfig config, const char* scheme, bool rlb) {
  config.load_balancer.scheme = scheme;
  if (rlb) config.rlb = config::rlb_preset(config::RlbPreset::standard);
  return config;
}

// Where flows are is known to whoever comes next.
TEST(Reload, AnotherSchemeOvertakesNothing) {
  const config::SwitchConfig plain = UnevenFabric::shape().leaves[0];
  UnevenFabric rig(plain);
  rig.fabric.kick(*rig.from);
  const std::array<std::pair<const char*, bool>, 10> kSteps = {{{"letflow", true},
                                                                {"presto", true},
                                                                {"conga", true},
                                                                {"letflow", false},
                                                                {"conga", true},
                                                                {"conga", false},
                                                                {"spray", true},
                                                                {"ecmp", true},
                                                                {"drill", true},
                                                                {"hermes", true}}};
  for (size_t n = 0; n < 200; ++n) {
    rig.fabric.run_until(rig.fabric.now() + 13_us);
    const auto [scheme, rlb] = kSteps[n % kSteps.size()];
    ASSERT_TRUE(rig.fabric.at(rig.leaves[0]).reconfigure(with_scheme(plain, scheme, rlb)).ok());
    rig.fabric.poll(rig.leaves[0]);
    ASSERT_EQ(rig.out_of_order(), 0u) << "before step " << n << ", to " << scheme;
  }
  EXPECT_GT(rig.sent, 10'000u);
  EXPECT_EQ(rig.fabric.at(rig.leaves[0]).balance().dropped, 0u);
}

TEST(Snapshots, AreFreedOnlyWhenNoShardCanLookBackAtThem) {
  config::SwitchConfig config = hosts_switch(2);
  auto made = Switch::create(config, {.shards = 1});
  ASSERT_TRUE(made.ok());
  Switch& object = **made;
  PacketPool pool(64);
  ManualIo io(pool);
  io.links = {{PortId(0), true}, {PortId(1), true}};
  Shard& shard = object.shard(ShardId(0));
  // Published in the middle of a poll: the shard holds the old one until the next.
  io.on_receive = [&] {
    if (object.config().seed == 1) {
      config.seed = 2;
      ASSERT_TRUE(object.reconfigure(config).ok());
    }
  };
  shard.poll(io, Instant::at(1_us));
  EXPECT_EQ(object.reclaim(), 1u);
  EXPECT_LE(shard.next_deadline(), Instant::at(1_us)) << "there is something to adopt";
  shard.poll(io, Instant::at(2_us));
  EXPECT_EQ(object.reclaim(), 0u);
  EXPECT_GT(shard.next_deadline(), Instant::at(2_us));
}

TEST(Snapshots, AShardThatDoesNotPollKeepsThemAll) {
  config::SwitchConfig config = hosts_switch(2);
  spread_over_workers(config, 2);
  auto made = Switch::create(config, {.shards = 2});
  ASSERT_TRUE(made.ok());
  PacketPool pool(64);
  ManualIo io(pool);
  for (uint64_t seed = 2; seed < 7; ++seed) {
    config.seed = seed;
    ASSERT_TRUE((*made)->reconfigure(config).ok());
    (*made)->shard(ShardId(0)).poll(io, Instant());
  }
  EXPECT_EQ((*made)->reclaim(), 5u);
  (*made)->shard(ShardId(1)).poll(io, Instant());
  EXPECT_EQ((*made)->reclaim(), 0u);
}

TEST(Refused, KeepsEverythingAsItWas) {
  OneSwitch rig(hosts_switch(2));
  const config::SwitchConfig before = rig.object().config();
  std::vector<config::SwitchConfig> bad(5, rig.config);
  bad[0].buffer.size = 64_KiB;
  bad[1].ports[0].name = "another";
  bad[2].ports.pop_back();
  bad[3].load_balancer.scheme = "no_such_scheme";
  bad[4].ports[1].worker = 1;
  for (const config::SwitchConfig& config : bad) {
    const auto refused = rig.object().reconfigure(config);
    ASSERT_FALSE(refused.ok());
    EXPECT_FALSE(refused.problems().empty());
  }
  rig.fabric.poll(rig.node);
  EXPECT_EQ(rig.object().reclaim(), 0u);
  EXPECT_TRUE(rig.object().config() == before);
  rig.send(0, 1, 0);
  EXPECT_EQ(rig.seen(1).size(), 1u);
  EXPECT_EQ(only(take_events(rig.object()), EventKind::snapshot_adopted).size(), 1u);
}

// Acknowledgements of one flow to a leaf behind two uplinks, over which spray sends in turn.
TEST(Reload, ControlPacketsGoAsTheNewConfigurationSays) {
  config::SwitchConfig config = hosts_switch(1);
  for (const char* name : {"spine1", "spine2"}) {
    add_fabric_port(config, name, 10_Gbps);
    config.ports.back().peer_mac = host_mac(9, 9);
  }
  config.leaves = {{LeafId(2), {{"spine1", 1, {}}, {"spine2", 1, {}}}}};
  config.routes = {{prefix("10.2.0.0/16"), LeafId(2), {}}};
  config.load_balancer = {.scheme = "spray", .parameters = {{"mode", "round_robin"}}};
  OneSwitch rig(config);
  UdpSpec spec = between(config, 0, 0);
  spec.destination = ip("10.2.1.2");
  spec.destination_port = kRocePort;
  spec.frame_len = 100;
  Frame reply = udp_frame(spec);
  constexpr size_t kBth = 14 + 20 + 8;
  reply[kBth] = static_cast<uint8_t>(RoceOpcode::acknowledge);
  const auto by_each = [&] {
    const size_t before[] = {rig.seen(1).size(), rig.seen(2).size()};
    for (int i = 0; i < 10; ++i) rig.inject(0, reply);
    rig.run_for(10_us);
    return std::array{rig.seen(1).size() - before[0], rig.seen(2).size() - before[1]};
  };
  const auto by_ecmp = by_each();
  EXPECT_EQ(by_ecmp[0] * by_ecmp[1], 0u) << "all by one";
  rig.config.load_balancer.control = config::ControlBy::scheme;
  ASSERT_TRUE(rig.object().reconfigure(rig.config).ok());
  EXPECT_EQ(by_each(), (std::array<size_t, 2>{5, 5}));
  rig.config.load_balancer.control = config::ControlBy::ecmp;
  ASSERT_TRUE(rig.object().reconfigure(rig.config).ok());
  EXPECT_EQ(by_each(), by_ecmp);
}

TEST(Reload, AChangedRateEstimatorStartsAnewAndAnUnchangedOneGoesOn) {
  OneSwitch rig(hosts_switch(2));
  const auto estimate = [&] { return rig.object().signals(PortId(1)).dre_bytes.load(); };
  rig.fabric.run_until(Instant::at(3_s));
  rig.send(0, 1, 0);
  ASSERT_EQ(estimate(), 1000u);
  ASSERT_TRUE(rig.object().reconfigure(rig.config).ok());
  rig.fabric.poll(rig.node);
  EXPECT_EQ(estimate(), 1000u);
  rig.config.dre = {.period = 1_ms, .alpha = 0.5, .q = 3};
  ASSERT_TRUE(rig.object().reconfigure(rig.config).ok());
  rig.fabric.poll(rig.node);
  EXPECT_EQ(estimate(), 0u);
  rig.run_for(10_us);
  rig.send(0, 1, 0);
  rig.run_for(1_ms - 20_us);
  rig.send(0, 1, 0);
  EXPECT_EQ(estimate(), 2000u) << "one period";
  rig.run_for(1_ms);
  rig.send(0, 1, 0);
  EXPECT_EQ(estimate(), 2000u) << "half of it decayed";
}

TEST(Reload, ConfiguredNeighborsFindRoomInAFullTable) {
  config::SwitchConfig config = hosts_switch(2);
  config.ports[0].addresses[0] = prefix("10.1.0.1/16");
  config.ports[1].addresses[0] = prefix("10.2.0.1/16");
  config.neighbors.clear();
  config.control.neighbors_per_port = 512;
  config.control.neighbor_messages_per_second = 10'000;
  OneSwitch rig(config);
  UdpSpec spec = between(config, 0, 0);
  for (uint32_t i = 0; i < 600; ++i)  // a scan of both subnets: all of them unresolved
    for (const uint32_t network : {0x0a010100u, 0x0a020100u}) {
      spec.destination = Ipv4Address{network + i};
      rig.inject(0, udp_frame(spec));
    }
  EXPECT_GT(drops(rig.object(), DropReason::neighbor_table_full), 0u);
  config.neighbors.push_back({ip("10.1.200.1"), host_mac(1, 1), config.ports[0].name});
  ASSERT_TRUE(rig.object().reconfigure(config).ok());
  rig.fabric.poll(rig.node);
  rig.run_for(1_ms);
  rig.seen(0).clear();
  spec.destination = ip("10.1.200.1");
  rig.inject(0, udp_frame(spec));
  rig.run_for(1_ms);
  EXPECT_EQ(rig.seen(0).size(), 1u);
  EXPECT_TRUE(rig.object().balance().holds());
  std::vector<config::NeighborConfig> many(600, config.neighbors[0]);
  config.neighbors = many;
  EXPECT_FALSE(rig.object().reconfigure(config).ok());
}

}  // namespace
}  // namespace eddy::test
