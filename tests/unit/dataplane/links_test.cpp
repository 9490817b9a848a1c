// Ports that come and go, fabric peers, and what control asks of a running shard.
#include <gtest/gtest.h>

#include "net/lldp.h"
#include "net/shim.h"
#include "switch/dataplane/object/shard.h"
#include "tests/support/manual_io.h"
#include "tests/support/one_switch.h"

namespace eddy::test {
namespace {

constexpr MacAddress kSpineMac = {{0x02, 0, 0, 0, 0, 9}};

// A host and two spines to leaf 2; the spines are learned unless `peers_known`.
config::SwitchConfig a_leaf(bool peers_known) {
  config::SwitchConfig config = hosts_switch(1);
  config.control.lldp = true;
  for (const char* name : {"spine1", "spine2"}) {
    add_fabric_port(config, name, 10_Gbps);
    if (peers_known) config.ports.back().peer_mac = kSpineMac;
  }
  config.leaves = {{LeafId(2), {{"spine1", 1, {}}, {"spine2", 1, {}}}}};
  config.routes = {{prefix("10.2.0.0/16"), LeafId(2), {}}};
  config.load_balancer.scheme = "spray";
  return config;
}

Frame to_leaf2(const config::SwitchConfig& config) {
  UdpSpec spec = between(config, 0, 0);
  spec.destination = ip("10.2.1.2");
  return udp_frame(spec);
}

Frame lldp(uint16_t ttl_seconds, const MacAddress& mac = kSpineMac) {
  Frame frame(kLldpFrameLimit);
  frame.resize(encode(LldpFrame{mac, mac, "port1", ttl_seconds, "spine"}, frame));
  return frame;
}

size_t lldp_seen(OneSwitch& rig, size_t port) {
  size_t n = 0;
  for (const Arrival& arrival : rig.seen(port)) {
    LldpFrame frame;
    n += decode(ConstOctets(arrival.frame), frame) == CodecVerdict::ok ? 1 : 0;
  }
  return n;
}

TEST(Peers, AFabricPortCarriesPacketsFromWhenItsPeerIsKnown) {
  OneSwitch rig(a_leaf(false));
  EXPECT_EQ(lldp_seen(rig, 1), 1u) << "advertised as the link came up";
  EXPECT_EQ(lldp_seen(rig, 0), 0u) << "not to hosts";
  rig.inject(0, to_leaf2(rig.config));
  EXPECT_EQ(drops(rig.object(), DropReason::no_live_path), 1u);
  EXPECT_TRUE(rig.object().peer_mac(PortId(1)).is_zero());
  rig.inject(1, lldp(10));
  EXPECT_EQ(rig.object().peer_mac(PortId(1)), kSpineMac);
  EXPECT_TRUE(rig.object().peer_mac(PortId(2)).is_zero());
  EXPECT_EQ(lldp_seen(rig, 1), 1u) << "the line is busy with the first";
  rig.run_for(1_ms);
  EXPECT_EQ(lldp_seen(rig, 1), 2u) << "and at once to a new peer";
  for (int i = 0; i < 4; ++i) rig.inject(0, to_leaf2(rig.config));
  rig.run_for(1_ms);
  EXPECT_EQ(rig.seen(1).size(), 6u);
  EXPECT_EQ(load_mac(rig.seen(1).back().frame.data()), kSpineMac);
  EXPECT_EQ(lldp_seen(rig, 2), 1u);
  EXPECT_EQ(rig.seen(2).size(), 1u) << "its peer is not known";
}

TEST(Peers, AnAdvertisementOnTheLineWasInNoQueue) {
  OneSwitch rig(a_leaf(false));
  rig.inject(1, lldp(10));
  rig.inject(0, to_leaf2(rig.config));
  const lb::PortSignals& port = rig.object().signals(PortId(1));
  EXPECT_GT(port.line_bytes, 0u);
  EXPECT_GT(port.backlog_from(QueueId(0)), 0u);
  EXPECT_EQ(port.waiting_from(QueueId(0)), port.backlog_from(QueueId(0)));
}

TEST(Peers, LldpBeyondARateIsNotRead) {
  config::SwitchConfig config = a_leaf(false);
  config.control.lldp_frames_per_second = 3;
  OneSwitch rig(config);
  for (uint8_t i = 0; i < 5; ++i) rig.inject(1, lldp(10, {{0x02, 0, 0, 0, 0, i}}));
  EXPECT_EQ(drops(rig.object(), DropReason::control_policed), 2u);
  rig.run_for(1_us);
  rig.inject(0, to_leaf2(rig.config));
  rig.run_for(1_us);
  EXPECT_EQ(load_mac(rig.seen(1).back().frame.data()), (MacAddress{{0x02, 0, 0, 0, 0, 2}}));
}

TEST(Peers, AdvertiseOnceASecond) {
  OneSwitch rig(a_leaf(false));
  rig.fabric.run_until(Instant::at(10_s) - 1_ps);
  EXPECT_EQ(lldp_seen(rig, 1), 10u);
}

TEST(Peers, AreLostWhenTheirTimeRunsOutOrTheySayGoodbye) {
  OneSwitch rig(a_leaf(false));
  rig.inject(1, lldp(10));
  rig.inject(2, lldp(10));
  rig.fabric.run_until(Instant::at(9_s));
  rig.inject(2, lldp(10));
  rig.fabric.run_until(Instant::at(11_s));
  EXPECT_EQ(rig.object().signals(PortId(1)).up, 0);
  EXPECT_EQ(rig.object().signals(PortId(2)).up, 1);
  rig.inject(2, lldp(0));
  EXPECT_EQ(rig.object().signals(PortId(2)).up, 0);
  EXPECT_TRUE(rig.object().peer_mac(PortId(2)).is_zero());
  rig.inject(0, to_leaf2(rig.config));
  EXPECT_EQ(drops(rig.object(), DropReason::no_live_path), 1u);
}

TEST(Peers, ConfiguredOnesOutliveWhatLldpSaidBefore) {
  OneSwitch rig(a_leaf(false));
  rig.inject(1, lldp(10));
  config::SwitchConfig fixed = rig.config;
  fixed.ports[1].peer_mac = kSpineMac;
  ASSERT_TRUE(rig.object().reconfigure(fixed).ok());
  rig.fabric.poll(rig.node);
  rig.run_for(20_s);
  EXPECT_EQ(rig.object().signals(PortId(1)).up, 1);
}

TEST(Peers, NoLongerConfiguredOnesHaveToBeHeardFrom) {
  OneSwitch rig(a_leaf(true));
  config::SwitchConfig learning = rig.config;
  learning.ports[1].peer_mac.reset();
  learning.ports[2].peer_mac.reset();
  ASSERT_TRUE(rig.object().reconfigure(learning).ok());
  rig.fabric.poll(rig.node);
  rig.run_for(9_s);
  rig.inject(2, lldp(10));
  rig.run_for(2_s);
  EXPECT_EQ(rig.object().signals(PortId(1)).up, 0);
  EXPECT_EQ(rig.object().signals(PortId(2)).up, 1);
}

TEST(Peers, FromHostPortsAreNotHeard) {
  OneSwitch rig(a_leaf(false));
  rig.inject(0, lldp(10));
  EXPECT_EQ(drops(rig.object(), DropReason::link_local), 1u);
}

TEST(Peers, FabricControlFramesAreConsumedThere) {
  OneSwitch rig(a_leaf(true));
  Frame feedback(60);
  encode(EthernetHeader{port_mac(rig.config, 1), kSpineMac, kEtherTypeShim}, feedback);
  encode(Shim{.kind = ShimKind::feedback, .destination_leaf = LeafId(1)},
         Octets(feedback).subspan(14));
  rig.inject(1, feedback);
  EXPECT_EQ(count(rig.object(), 1, PortCounter::consumed_packets), 1u);
  EXPECT_EQ(rig.object().balance().dropped, 0u);
}

// The port's shard hears of the link; every other must leave the path at its next poll.
class DeadPortOnShards : public testing::TestWithParam<size_t> {};

TEST_P(DeadPortOnShards, LeavesEveryPathSetWithinOnePoll) {
  config::SwitchConfig config = a_leaf(true);
  config.control.lldp = false;
  spread_over_workers(config, GetParam());
  OneSwitch rig(config, GetParam());
  for (int i = 0; i < 8; ++i) rig.inject(0, to_leaf2(config));
  rig.run_for(1_ms);
  EXPECT_EQ(rig.seen(1).size() + rig.seen(2).size(), 8u);
  EXPECT_GT(rig.seen(1).size(), 0u);
  const size_t before = rig.seen(1).size();
  rig.fabric.set_link(rig.node, PortId(1), false);  // polls its shard, no other
  for (int i = 0; i < 8; ++i) rig.inject(0, to_leaf2(config));
  rig.run_for(1_ms);
  EXPECT_EQ(rig.seen(1).size(), before);
  EXPECT_EQ(rig.object().balance().dropped, 0u);
  rig.fabric.set_link(rig.node, PortId(1), true);
  for (int i = 0; i < 8; ++i) rig.inject(0, to_leaf2(config));
  rig.run_for(1_ms);
  EXPECT_GT(rig.seen(1).size(), before);
}
INSTANTIATE_TEST_SUITE_P(Shards, DeadPortOnShards, testing::Values(1, 2, 3));

TEST(DeadPort, FlushesItsQueuesAndCountsThem) {
  OneSwitch rig(hosts_switch(2));
  for (int i = 0; i < 10; ++i) rig.send(0, 1, kLosslessDscp);
  rig.fabric.set_link(rig.node, PortId(1), false);
  EXPECT_EQ(drops(rig.object(), DropReason::egress_down), 9u) << "one is on the line";
  EXPECT_EQ(leftovers(rig.object()), "");
  const auto downs = only(take_events(rig.object()), EventKind::link_down);
  ASSERT_EQ(downs.size(), 1u);
  EXPECT_EQ(downs[0].port, PortId(1));
}

TEST(DeadPort, TakenDownByConfigurationCarriesNothingUntilItIsBack) {
  OneSwitch rig(a_leaf(true));
  config::SwitchConfig down = rig.config;
  down.ports[1].admin_up = false;
  ASSERT_TRUE(rig.object().reconfigure(down).ok());
  rig.fabric.poll(rig.node);
  rig.run_for(1_ms);
  const size_t before = rig.seen(1).size();
  for (int i = 0; i < 8; ++i) rig.inject(0, to_leaf2(rig.config));
  rig.run_for(1_ms);
  EXPECT_EQ(rig.seen(1).size(), before);
  EXPECT_EQ(rig.object().balance().dropped, 0u);
  ASSERT_TRUE(rig.object().reconfigure(rig.config).ok());
  rig.fabric.poll(rig.node);
  for (int i = 0; i < 8; ++i) rig.inject(0, to_leaf2(rig.config));
  rig.run_for(1_ms);
  EXPECT_GT(rig.seen(1).size(), before);
}

// Has failed long ago, and says so with its first packets.
class Failed final : public lb::Selector {
 public:
  void select(const lb::PathView& view, std::span<Packet* const> burst,
              std::span<const uint16_t> set_of) override {
    for (size_t i = 0; i < burst.size(); ++i) {
      burst[i]->member = 0;
      burst[i]->egress_port = view.set(set_of[i]).members[0].port;
      burst[i]->path = view.set(set_of[i]).members[0].path;
    }
    view.report_fallback(static_cast<uint32_t>(burst.size()), first_);
    first_ = false;
  }
  lb::MemberIndex again(const lb::PathView&, Packet&, uint16_t, lb::Trip&) override { return 0; }
  void follow(const lb::PathView&, Packet&, uint16_t, lb::MemberIndex) override {}
  lb::FlowTableUse flow_table(Instant, size_t, size_t) override { return {}; }
  lb::PathAgent* agent() override { return nullptr; }
  lb::FlowStage* stage(lb::StagePlace) override { return nullptr; }
  void rebase(const Rebase&) override {}

 private:
  bool first_ = true;
};

TEST(Fallback, OfAPluginsSchemeIsCountedAndSaidOnce) {
  const lb::SchemeInfo info{
      .name = "mine",
      .hosted = [](const lb::SchemeInfo&,
                   const lb::SelectorInit&) -> Result<std::unique_ptr<lb::Selector>> {
        return std::unique_ptr<lb::Selector>(std::make_unique<Failed>());
      }};
  config::SchemeTrouble trouble;
  const config::LoadedScheme loaded{.file = "/opt/mine.so", .info = &info, .trouble = &trouble};
  config::SwitchConfig config = a_leaf(true);
  config.load_balancer = {.plugin = "/opt/mine.so", .scheme = "mine", .loaded = &loaded};
  OneSwitch rig(config);
  for (int i = 0; i < 10; ++i) rig.inject(0, to_leaf2(rig.config));
  rig.run_for(1_ms);
  EXPECT_EQ(rig.seen(1).size() - lldp_seen(rig, 1), 10u) << "they are sent on, all of them";
  EXPECT_EQ(count(rig.object(), 0, PortCounter::selector_fallback_packets), 10u);
  EXPECT_EQ(only(take_events(rig.object()), EventKind::scheme_failed).size(), 1u);
}

TEST(Ties, OfTheSchemeAreCountedAtThePortThePacketsCameBy) {
  for (const auto& [scheme, ties] : {std::pair{"drill", 10u}, {"ecmp", 0u}}) {
    config::SwitchConfig config = a_leaf(true);
    config.load_balancer.scheme = scheme;
    if (ties != 0) config.load_balancer.parameters["d"] = "8";
    OneSwitch rig(config);
    for (int i = 0; i < 10; ++i) {
      rig.inject(0, to_leaf2(rig.config));
      rig.run_for(1_ms);  // all queues are empty
    }
    EXPECT_EQ(count(rig.object(), 0, PortCounter::selector_ties_total), ties) << scheme;
  }
}

void order(OneSwitch& rig, Command& command) {
  ASSERT_TRUE(rig.object().post(ShardId(0), command));
  rig.fabric.poll(rig.node);
}

TEST(Control, PortTxOffHoldsPacketsAndOnReleasesThem) {
  OneSwitch rig(hosts_switch(2));
  Command off{.kind = Command::Kind::set_port_tx, .port = PortId(1), .on = false};
  order(rig, off);
  EXPECT_TRUE(off.done);
  for (int i = 0; i < 3; ++i) rig.send(0, 1, 0);
  rig.run_for(1_ms);
  EXPECT_TRUE(rig.seen(1).empty());
  EXPECT_EQ(rig.object().balance().held, 3u);
  Command on{.kind = Command::Kind::set_port_tx, .port = PortId(1), .on = true};
  order(rig, on);
  rig.run_for(1_ms);
  EXPECT_EQ(rig.seen(1).size(), 3u);
}

TEST(Control, DrainResumesPeersAndIsDoneWhenNothingIsHeld) {
  config::SwitchConfig config = hosts_switch(2);
  config.buffer.profiles["lossless"].xoff = 10'000_B;
  OneSwitch rig(config);
  rig.inject(1, pause_frame(bit(kLossless), 1000));  // 51.2 us
  for (int i = 0; i < 12; ++i) rig.send(0, 1, kLosslessDscp);
  rig.run_for(1_us);
  Command drain{.kind = Command::Kind::drain};
  order(rig, drain);
  rig.run_for(1_us);
  EXPECT_FALSE(drain.done);
  ASSERT_EQ(pauses_in(rig.seen(0)).size(), 2u);
  EXPECT_EQ(pauses_in(rig.seen(0))[1].pause.quanta[3], 0);
  rig.run_for(1_ms);
  EXPECT_TRUE(drain.done);
  EXPECT_EQ(rig.seen(1).size(), 12u);
}

TEST(Control, DrainsThatOverlapAreAllDone) {
  OneSwitch rig(hosts_switch(2));
  rig.inject(1, pause_frame(bit(kLossless), 1000));  // 51.2 us
  rig.send(0, 1, kLosslessDscp);
  rig.run_for(1_us);
  std::array<Command, 3> drains;
  for (Command& drain : drains) {
    drain.kind = Command::Kind::drain;
    order(rig, drain);
    EXPECT_FALSE(drain.done);
  }
  rig.run_for(1_ms);
  for (const Command& drain : drains) EXPECT_TRUE(drain.done);
}

TEST(Control, WatermarksKeepThePeakUntilCleared) {
  OneSwitch rig(hosts_switch(2));
  for (int i = 0; i < 5; ++i) rig.send(0, 1, kLosslessDscp);
  rig.run_for(1_ms);
  rig.send(0, 1, kLosslessDscp);
  QueueStatus queue = rig.object().queue_status(PortId(1), QueueId(3));
  PgStatus pg = rig.object().pg_status(PortId(0), PriorityGroupId(3));
  EXPECT_EQ(queue.used, 1000);
  EXPECT_EQ(queue.watermark.user, 5000);
  EXPECT_EQ(pg.used, 1024) << "four cells";
  EXPECT_EQ(pg.shared_watermark.user, 5 * 1024);
  Command clear{.kind = Command::Kind::clear_watermarks};
  order(rig, clear);
  queue = rig.object().queue_status(PortId(1), QueueId(3));
  pg = rig.object().pg_status(PortId(0), PriorityGroupId(3));
  EXPECT_EQ(queue.watermark.user, 1000) << "what is there now";
  EXPECT_EQ(queue.watermark.persistent, 5000);
  EXPECT_EQ(pg.shared_watermark.user, 1024);
  EXPECT_EQ(pg.shared_watermark.persistent, 5 * 1024);
}

// A group in headroom: its own marks, the queue's, and those of the two pools, each cleared alone.
struct AllMarks {
  Watermark pg_shared, pg_headroom, queue, pool, headroom_pool, stages;
  static AllMarks of(Switch& object) {
    const PgStatus pg = object.pg_status(PortId(0), PriorityGroupId(3));
    const BufferStatus buffer = object.buffer_status();
    return {pg.shared_watermark,
            pg.headroom_watermark,
            object.queue_status(PortId(1), QueueId(3)).watermark,
            buffer.shared_watermark,
            buffer.headroom_watermark,
            buffer.stages_watermark};
  }
  std::array<Watermark, kWatermarkOf> list() const {
    return {pg_shared, pg_headroom, queue, pool, headroom_pool, stages};
  }
};

TEST(Control, WatermarksAreOfGroupsQueuesAndPools) {
  for (const size_t shards : {1, 2}) {
    config::SwitchConfig config = hosts_switch(2);
    config.buffer.cell_bytes = 1;
    config.buffer.profiles["lossless"].xoff = 2'500_B;
    config.buffer.profiles["lossless"].xon_offset = 500_B;
    config.buffer.profiles["lossless"].headroom = 9'000_B;
    spread_over_workers(config, shards);
    for (const pfc::WatermarkKind kind :
         {pfc::WatermarkKind::user, pfc::WatermarkKind::persistent}) {
      for (size_t what = 0; what < kWatermarkOf; ++what) {
        OneSwitch rig(config, shards);
        for (int i = 0; i < 5; ++i) rig.send(0, 1, kLosslessDscp);
        rig.run_for(1_ms);
        const AllMarks peak = AllMarks::of(rig.object());
        EXPECT_EQ(peak.pg_shared.user, 3'000) << "the packet that crosses XOFF is still shared";
        EXPECT_EQ(peak.pg_headroom.user, 2'000);
        EXPECT_EQ(peak.queue.user, 5'000);
        EXPECT_EQ(peak.pool.user, 3'000);
        EXPECT_EQ(peak.headroom_pool.user, 2'000);
        Command clear{.kind = Command::Kind::clear_watermarks,
                      .watermarks = {kind, static_cast<uint8_t>(1u << what)}};
        for (size_t shard = 0; shard < shards; ++shard) {
          rig.object().post(ShardId(shard), clear);
          rig.fabric.poll(rig.node);
        }
        const auto before = peak.list();
        const auto after = AllMarks::of(rig.object()).list();
        for (size_t i = 0; i < kWatermarkOf; ++i) {
          const bool of_users = kind == pfc::WatermarkKind::user;
          EXPECT_EQ(after[i].user, i == what && of_users ? 0 : before[i].user) << what << i;
          EXPECT_EQ(after[i].persistent, i == what && !of_users ? 0 : before[i].persistent)
              << what << i;
        }
      }
    }
  }
}

TEST(Tags, PriorityTaggedFramesAreClassifiedByPcpAndStripped) {
  OneSwitch rig(hosts_switch(2));
  UdpSpec spec = between(rig.config, 0, 1, kLossyDscp);
  spec.frame_len = 200;
  for (const uint8_t tags : {0, 1, 2}) {
    spec.tags = tags;
    spec.pcp = 4;
    rig.inject(0, udp_frame(spec));
  }
  rig.run_for(1_ms);
  EXPECT_EQ(count(rig.object(), 1, QueueId(0), QueueCounter::queue_tx_packets), 1u);
  EXPECT_EQ(count(rig.object(), 1, QueueId(4), QueueCounter::queue_tx_packets), 2u);
  ASSERT_EQ(rig.seen(1).size(), 3u);
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(rig.seen(1)[i].wire_len, 200 - 4 * i);
    EXPECT_EQ(load_be16(rig.seen(1)[i].frame.data() + 12), kEtherTypeIpv4);
  }
  EXPECT_EQ(leftovers(rig.object()), "");
}

TEST(Tags, PcpCountsOnlyWhereItIsTrusted) {
  config::SwitchConfig config = hosts_switch(2);
  config.ports[0].maps.trust_pcp = false;
  OneSwitch rig(config);
  UdpSpec spec = between(rig.config, 0, 1, kLosslessDscp);
  spec.tags = 1;
  spec.pcp = 4;
  rig.inject(0, udp_frame(spec));
  rig.run_for(1_ms);
  EXPECT_EQ(count(rig.object(), 1, QueueId(3), QueueCounter::queue_tx_packets), 1u);
}

}  // namespace
}  // namespace eddy::test
