// Places for ports: who may take and leave them, and that nothing of one port is the next one's.
#include "config/places.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <tuple>
#include <vector>

#include "tests/support/one_switch.h"

namespace eddy::test {
namespace {

using ::testing::HasSubstr;

std::string refusal(Switch& object, const config::SwitchConfig& config) {
  const auto done = object.reconfigure(config);
  return done.ok() ? "" : done.problems().front();
}

// Three hosts, of which the last may go.
config::SwitchConfig down(config::SwitchConfig config) {
  config.ports[2].admin_up = false;
  return config;
}
config::SwitchConfig gone(config::SwitchConfig config) {
  const std::string name = config.ports[2].name;
  config.ports[2] = config::empty_place(config.ports[2].worker);
  std::erase_if(config.neighbors, [&](const auto& each) { return each.port == name; });
  return config;
}

TEST(SwitchPlaces, APortGoesWhenItIsDownAndAnotherComesWhenThePlaceIsEmpty) {
  OneSwitch rig(hosts_switch(3));
  Switch& object = rig.object();
  EXPECT_THAT(refusal(object, gone(rig.config)), HasSubstr("host3 goes, and its admin_up is true"));
  config::SwitchConfig renamed = gone(down(rig.config));
  renamed.ports[2].name = "late";
  EXPECT_THAT(refusal(object, renamed), HasSubstr("host3 became late at once"));
  config::SwitchConfig fewer = rig.config;
  fewer.ports.pop_back();
  fewer.neighbors.pop_back();
  EXPECT_THAT(refusal(object, fewer), HasSubstr("number of places"));
  EXPECT_EQ(refusal(object, down(rig.config)), "");
  EXPECT_EQ(refusal(object, gone(rig.config)), "");
  EXPECT_EQ(refusal(object, renamed), "");
}

TEST(SwitchPlaces, OnlyAnEmptyOneChangesItsWorker) {
  config::SwitchConfig config = hosts_switch(3);
  spread_over_workers(config, 2);
  OneSwitch rig(config, 2);
  Switch& object = rig.object();
  config::SwitchConfig moved = down(config);
  moved.ports[2].worker = 1;
  EXPECT_THAT(refusal(object, moved), HasSubstr("ports.host3.worker changed"));
  EXPECT_EQ(refusal(object, down(config)), "");
  EXPECT_EQ(refusal(object, gone(config)), "");
  moved = gone(moved);
  EXPECT_EQ(moved.ports[2].worker, 1);
  EXPECT_EQ(refusal(object, moved), "");
  config::SwitchConfig back = config;
  EXPECT_THAT(refusal(object, back), HasSubstr("ports.host3.worker changed"));
  back.ports[2].worker = 1;
  EXPECT_EQ(refusal(object, back), "");
}

// Both configurations come before the shard's next poll.
TEST(SwitchPlaces, AShardThatSawNothingInBetweenForgetsAllTheSame) {
  OneSwitch rig(hosts_switch(3));
  Switch& object = rig.object();
  rig.inject(2, pause_frame(bit(kLossless), 65'535));
  for (int i = 0; i < 5; ++i) rig.send(0, 2, kLosslessDscp);
  rig.run_for(10_us);
  EXPECT_GT(object.queue_status(PortId(2), QueueId(3)).used, 0);
  ASSERT_TRUE(object.reconfigure(down(rig.config)).ok());
  ASSERT_TRUE(object.reconfigure(gone(rig.config)).ok());
  rig.fabric.poll(rig.node);
  rig.run_for(1_ms);
  const QueueStatus queue = object.queue_status(PortId(2), QueueId(3));
  EXPECT_EQ(queue.used, 0);
  EXPECT_FALSE(queue.paused);
  EXPECT_EQ(queue.watermark.user, 0);
  EXPECT_EQ(queue.watermark.persistent, 0);
  EXPECT_EQ(object.signals(PortId(2)).up.load(), 0u);
  EXPECT_EQ(drops(object, DropReason::egress_down), 5u);
  EXPECT_EQ(leftovers(object), "");
  EXPECT_TRUE(object.balance().holds());
}

TEST(SwitchPlaces, AnEmptyOneTakesAndSendsNothing) {
  config::SwitchConfig config = hosts_switch(2);
  config.spare_ports = 2;
  OneSwitch rig(config::seated(config));  // with links that are up everywhere
  rig.send(0, 1, kLosslessDscp);
  rig.inject(2, udp_frame(between(rig.config, 0, 1)));
  rig.run_for(2'000_ms);
  EXPECT_EQ(rig.seen(1).size(), 1u);
  EXPECT_TRUE(rig.seen(2).empty());
  EXPECT_EQ(rig.object().signals(PortId(2)).up.load(), 0u);
  EXPECT_EQ(rig.object().pg_status(PortId(3), PriorityGroupId(3)).used, 0);
  EXPECT_EQ(rig.object().buffer_status().reserved,
            OneSwitch(hosts_switch(2)).object().buffer_status().reserved)
      << "no headroom is set aside for nobody";
  EXPECT_TRUE(rig.object().balance().holds());
}

// A leaf and one of its spines.
struct Link {
  Link() : spec(leaf_spine({.leaves = 2, .spines = 2, .hosts = 1})) {
    leaf = fabric.add_switch(spec.leaves[0]);
    spine = fabric.add_switch(spec.spines[1]);
    fabric.connect(leaf, PortId(2), spine, PortId(0), 1_us);
    fabric.run_until(Instant::at(10_ms));
  }
  // Of the leaf, without its second spine.
  config::SwitchConfig without() const {
    config::SwitchConfig config = spec.leaves[0];
    for (config::LeafConfig& to : config.leaves) to.paths.pop_back();
    config.ports[2] = config::empty_place(0);
    return config;
  }
  void apply(const config::SwitchConfig& config) {
    ASSERT_TRUE(fabric.at(leaf).reconfigure(config).ok());
    fabric.poll(leaf);
  }

  LeafSpine spec;
  Fabric fabric;
  size_t leaf = 0;
  size_t spine = 0;
};

TEST(SwitchPlaces, AFabricPortsPeerIsNotThatOfTheNext) {
  Link link;
  Switch& object = link.fabric.at(link.leaf);
  EXPECT_FALSE(object.peer_mac(PortId(2)).is_zero()) << "LLDP has told it";
  link.apply(down(link.spec.leaves[0]));
  link.apply(link.without());
  EXPECT_TRUE(object.peer_mac(PortId(2)).is_zero());
  // What was told once and is configured now would stand for its time to live.
  config::SwitchConfig configured = link.spec.leaves[0];
  configured.ports[2].peer_mac = host_mac(9, 9);
  link.apply(configured);
  EXPECT_EQ(object.peer_mac(PortId(2)), host_mac(9, 9));
  link.apply(down(configured));
  link.apply(link.without());
  EXPECT_TRUE(object.peer_mac(PortId(2)).is_zero());
  link.apply(link.spec.leaves[0]);
  link.fabric.run_until(link.fabric.now() + 2'000_ms);
  EXPECT_EQ(object.peer_mac(PortId(2)), port_mac(link.spec.spines[1], 0));
  EXPECT_EQ(object.signals(PortId(2)).up.load(), 1u);
}

// A fabric with all that knows of ports, in which a leaf's second spine comes and goes under
// lossless traffic of everybody. Parameters: the scheme, and shards of each switch.
class UnderTraffic : public testing::TestWithParam<std::tuple<const char*, size_t>> {
 protected:
  static constexpr PortId kComesAndGoes{3};  // of leaf 1, to spine 2

  UnderTraffic() {
    const auto [scheme, shards] = GetParam();
    spec = leaf_spine({.leaves = 2, .spines = 2, .hosts = 2, .scheme = scheme});
    for (auto* configs : {&spec.leaves, &spec.spines})
      for (config::SwitchConfig& config : *configs) {
        config.rlb = config::rlb_preset(config::RlbPreset::standard);
        config.path_service.shim = config::ShimUse::sampled;
        config.resequence.enabled = true;
        config.isolation.enabled = true;
        spread_over_workers(config, shards);
        nodes.push_back(fabric.add_switch(config, shards));
      }
    for (size_t l = 0; l < 2; ++l)
      for (size_t s = 0; s < 2; ++s)
        fabric.connect(nodes[l], PortId(2 + s), nodes[2 + s], PortId(l), 1_us);
    for (size_t l = 0; l < 2; ++l)
      for (size_t h = 0; h < 2; ++h) {
        hosts.push_back(&fabric.attach_host(nodes[l], PortId(h), 1_us));
        hosts.back()->keep_frames = false;
        send_from(l, h);
      }
  }

  // To both hosts of the other leaf, and more to the first.
  void send_from(size_t l, size_t h) {
    hosts.back()->source = [this, l, h, sent = size_t{0}](Transmission& next) mutable {
      if (over) return false;
      next = {udp_frame({.destination_mac = port_mac(spec.leaves[l], h),
                         .source = host_ip(l + 1, h + 1),
                         .destination = host_ip(2 - l, sent % 3 == 2 ? 2 : 1),
                         .source_port = static_cast<uint16_t>(1'000 + sent % 16),
                         .dscp = kLosslessDscp,
                         .ecn = kEcnCapable0,
                         .frame_len = 1'000,
                         .readable_len = 96}),
              1'000, kLossless};
      ++sent;
      return true;
    };
    fabric.kick(*hosts.back());
  }

  Switch& leaf() { return fabric.at(nodes[0]); }
  void apply(const config::SwitchConfig& config) {
    const auto done = leaf().reconfigure(config);
    ASSERT_TRUE(done.ok()) << done.problems().front();
    fabric.poll(nodes[0]);
    fabric.poll(nodes[0]);
    leaf().reclaim();
  }
  void run(Duration time) { fabric.run_until(fabric.now() + time); }
  void set_link(bool up) {
    fabric.set_link(nodes[0], kComesAndGoes, up);
    fabric.set_link(nodes[3], PortId(0), up);
  }
  bool is_empty() {
    for (size_t i = 0; i < kPriorities; ++i) {
      const PgStatus pg = leaf().pg_status(kComesAndGoes, PriorityGroupId(i));
      if (pg.used != 0 || pg.pausing) return false;
      if (leaf().queue_status(kComesAndGoes, QueueId(i)).used != 0) return false;
    }
    return true;
  }

  LeafSpine spec;
  Fabric fabric{16'384, 256};
  std::vector<size_t> nodes;  // leaves, then spines
  std::vector<FabricHost*> hosts;
  bool over = false;
};

TEST_P(UnderTraffic, AFabricPortComesAndGoesAndTheBooksStayBalanced) {
  const config::SwitchConfig with = spec.leaves[0];
  config::SwitchConfig falling = with;
  falling.ports[3].admin_up = false;
  config::SwitchConfig without = falling;
  for (config::LeafConfig& to : without.leaves) to.paths.pop_back();
  without.ports[3] = config::empty_place(with.ports[3].worker);
  run(100_us);
  for (int round = 0; round < 4; ++round) {
    const uint64_t before = count(leaf(), 3, PortCounter::tx_packets);
    run(60_us);
    EXPECT_GT(count(leaf(), 3, PortCounter::tx_packets), before) << "it is used";
    apply(falling);
    for (int i = 0; i < 1'000 && !is_empty(); ++i) run(5_us);
    ASSERT_TRUE(is_empty());
    apply(without);
    set_link(false);
    run(20_us);
    EXPECT_EQ(leaf().signals(kComesAndGoes).up.load(), 0u);
    set_link(true);
    apply(with);
    run(40_us);
    EXPECT_EQ(leaf().signals(kComesAndGoes).up.load(), 1u);
  }
  over = true;
  fabric.run_to_quiet(fabric.now() + 1'000_ms);
  for (const size_t node : nodes) {
    EXPECT_EQ(leftovers(fabric.at(node)), "");
    EXPECT_EQ(drops(fabric.at(node), DropReason::headroom_full), 0u);
    EXPECT_TRUE(fabric.at(node).balance().holds());
    EXPECT_EQ(fabric.at(node).balance().held, 0u);
  }
}

INSTANTIATE_TEST_SUITE_P(SchemesAndShards, UnderTraffic,
                         testing::Combine(testing::Values("letflow", "conga", "conweave", "plb",
                                                          "hula"),
                                          testing::Values(1, 2)),
                         [](const auto& info) {
                           return std::string(std::get<0>(info.param)) + "Shards" +
                                  std::to_string(std::get<1>(info.param));
                         });

}  // namespace
}  // namespace eddy::test
