// Congestion isolation: who is told of a congested host, into which class its packets go, and that
// none overtakes another.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

#include "tests/unit/dataplane/pipeline/isolation_rig.h"

namespace eddy::test {
namespace {

using namespace isolation;

TEST(Isolation, SaysHelloAndAnswersANewPeer) {
  OneSwitch rig(leaf());
  rig.run_for(1_us);
  EXPECT_EQ(cims(rig, 2, true).size(), 1u);
  greet(rig);
  greet(rig);
  EXPECT_EQ(cims(rig, 2, true).size(), 2u);
  rig.run_for(25_ms);
  EXPECT_EQ(cims(rig, 2, true).size(), 4u) << "one each 10 ms";
}

TEST(Isolation, APacketToACongestedHostGoesIntoTheIsolatedClass) {
  OneSwitch rig(leaf());
  greet(rig);
  rig.inject(2, frame_of(hot(1)));
  rig.run_for(1_us);
  send(rig, {.port = 0});
  send(rig, {.port = 0, .dscp = 0, .number = 2});
  rig.run_for(10_us);
  std::vector<Seen> up = data_up(rig);
  std::ranges::sort(up, {}, &Seen::number);
  EXPECT_EQ(up, (std::vector<Seen>{{kIsolated, 1}, {0, 2}}));
  EXPECT_EQ(count(rig.object(), 0, PortCounter::isolation_begun_packets), 1u);
  EXPECT_EQ(count(rig.object(), 0, PriorityGroupId(kNormal), PgCounter::pg_rx_packets), 1u)
      << "charged to the group in which it arrived";
  rig.run_for(100_us);  // the news is old
  send(rig, {.port = 0, .number = 3});
  rig.run_for(10_us);
  up = data_up(rig);
  EXPECT_EQ(std::ranges::count(up, Seen{kNormal, 3}), 1);
  EXPECT_TRUE(rig.object().balance().holds());
}

// Another switch would not keep order between the classes.
TEST(Isolation, IsNotBegunWhereAPeerDoesNotIsolate) {
  OneSwitch rig(leaf());
  rig.inject(2, frame_of(hello()));
  rig.inject(2, frame_of(hot(1)));
  rig.run_for(1_us);
  send(rig, {.port = 0});
  rig.run_for(10_us);
  EXPECT_EQ(data_up(rig), (std::vector<Seen>{{kNormal, 1}}));
  rig.inject(3, frame_of(hello()));
  rig.run_for(1_us);
  send(rig, {.port = 0, .number = 2});
  rig.run_for(10_us);
  EXPECT_EQ(data_up(rig).size(), 2u);
  EXPECT_EQ(count(rig.object(), 0, PortCounter::isolation_begun_packets), 1u);
}

TEST(Isolation, AFlowIsIsolatedWithoutOthersToItsHost) {
  OneSwitch rig(leaf());
  greet(rig);
  Cim news = hot(1);
  news.tag = tag_of_flow(rig, {.port = 0, .flow = 7});
  rig.inject(2, frame_of(news));
  rig.run_for(1_us);
  send(rig, {.port = 0, .flow = 7});
  send(rig, {.port = 0, .number = 2, .flow = 8});
  rig.run_for(10_us);
  std::vector<Seen> up = data_up(rig);
  std::ranges::sort(up, {}, &Seen::number);
  EXPECT_EQ(up, (std::vector<Seen>{{kIsolated, 1}, {kNormal, 2}}));
}

// The flow was isolated for its own sake, then with its host. Both are cold, and it stays behind
// itself.
TEST(Isolation, AFlowKeepsOrderWhenItsHostIsNamedInItsPlace) {
  OneSwitch rig(leaf());
  greet(rig);
  Cim of_flow = hot(1);
  of_flow.tag = tag_of_flow(rig, {.port = 0});
  rig.inject(2, frame_of(of_flow));
  rig.run_for(1_us);
  pause(rig, 1u << kIsolated, 60'000);
  send(rig, {.port = 0, .number = 1});
  rig.inject(2, frame_of(hot(2)));
  rig.run_for(1_us);
  send(rig, {.port = 0, .number = 2});
  rig.run_for(1_us);
  rig.inject(2, frame_of(hot(3, CimKind::cold)));
  of_flow.kind = CimKind::cold;
  of_flow.sequence = 4;
  rig.inject(2, frame_of(of_flow));
  rig.run_for(1_us);
  send(rig, {.port = 0, .number = 3});
  rig.run_for(5_us);
  EXPECT_TRUE(data_up(rig).empty());
  pause(rig, 1u << kIsolated, 0);
  rig.run_for(10_us);
  EXPECT_EQ(data_up(rig), (std::vector<Seen>{{kIsolated, 1}, {kIsolated, 2}, {kIsolated, 3}}));
}

TEST(Isolation, ActsOnIpv6AsOnIpv4) {
  config::SwitchConfig config = leaf();
  config.routes.push_back({prefix("fd00:2::/64"), LeafId(2), {}});
  OneSwitch rig(config);
  greet(rig);
  Cim news = hot(1);
  news.tag = destination_tag(0xfd00'0002'0000'0000, 1);
  rig.inject(2, frame_of(news));
  rig.run_for(1_us);
  for (const char* to : {"fd00:2::1", "fd00:2::2"}) {
    UdpSpec spec{.destination_mac = port_mac(config, 0),
                 .source_mac = host_mac(1, 1),
                 .source = ip("fd00:1::1"),
                 .destination = ip(to),
                 .dscp = kNormal};
    spec.frame_len = 1000;
    spec.readable_len = 128;
    rig.inject(0, udp_frame(spec), 1000);
  }
  rig.run_for(10_us);
  std::vector<int> dscps;
  for (const size_t port : {2, 3})
    for (const Arrival& arrival : rig.seen(port))
      if (load_be16(arrival.frame.data() + 12) == kEtherTypeIpv6)
        dscps.push_back(load_be16(arrival.frame.data() + kEthernetHeader) >> 6 & 0x3f);
  std::ranges::sort(dscps);
  EXPECT_EQ(dscps, (std::vector<int>{kNormal, kIsolated}));
}

// What one shard hears another acts on, and a leaf tells by the ports of all its shards.
TEST(Isolation, SeveralShardsActAsOne) {
  config::SwitchConfig config = leaf();
  config.isolation.threshold = Bytes(5'000);
  config.ports[1].speed = 100_Mbps;
  spread_over_workers(config, 2);
  OneSwitch rig(config, 2);
  greet(rig);
  rig.inject(2, frame_of(hot(1)));
  rig.run_for(2_us);
  for (const size_t port : {0, 1}) send(rig, {.port = port, .number = static_cast<uint16_t>(port)});
  rig.run_for(10_us);
  std::vector<Seen> up = data_up(rig);
  std::ranges::sort(up, {}, &Seen::number);
  EXPECT_EQ(up, (std::vector<Seen>{{kIsolated, 0}, {kIsolated, 1}}));
  const Going to_slow{.port = 2, .from_leaf = 2, .to_leaf = 1, .to_host = 2};
  for (int i = 0; i < 10; ++i) send(rig, to_slow);
  rig.run_for(15_us);
  for (const size_t port : {2, 3}) {
    const std::vector<Cim> told = cims(rig, port);
    EXPECT_GT(std::ranges::count(told, tag_of_flow(rig, to_slow), &Cim::tag), 0) << port;
  }
  EXPECT_TRUE(rig.object().balance().holds());
}

// The normal queue is paused, and packets wait there: what is isolated now leaves behind them.
TEST(Isolation, WhatIsIsolatedOvertakesNothing) {
  OneSwitch rig(leaf());
  greet(rig);
  pause(rig, 1u << kNormal, 60'000);
  for (const uint16_t number : {1, 2, 3}) send(rig, {.port = 0, .number = number});
  rig.run_for(5_us);
  rig.inject(2, frame_of(hot(1)));
  rig.run_for(1_us);
  for (const uint16_t number : {4, 5}) send(rig, {.port = 0, .number = number});
  rig.run_for(20_us);
  EXPECT_TRUE(data_up(rig).empty()) << "it waits behind packets that are paused";
  pause(rig, 1u << kNormal, 0);
  rig.run_for(20_us);
  EXPECT_EQ(data_up(rig),
            (std::vector<Seen>{
                {kNormal, 1}, {kNormal, 2}, {kNormal, 3}, {kIsolated, 4}, {kIsolated, 5}}));
}

// What came into the normal queue later does not hold it.
TEST(Isolation, WaitsForNothingThatCameLater) {
  config::SwitchConfig config = leaf_spine({.spines = 1}).leaves[0];
  config.isolation.enabled = true;
  OneSwitch rig(config);
  rig.inject(2, frame_of(hello()));
  rig.inject(2, frame_of(hot(1)));
  rig.inject(2, pause_frame(1u << kNormal | 1u << kIsolated, 60'000));
  rig.run_for(1_us);
  send(rig, {.port = 0, .number = 1});
  for (const uint16_t number : {2, 3}) send(rig, {.port = 0, .number = number, .to_host = 2});
  rig.run_for(5_us);
  EXPECT_TRUE(data_at(rig, 2).empty());
  rig.inject(2, pause_frame(1u << kIsolated, 0));
  rig.run_for(10_us);
  EXPECT_EQ(data_at(rig, 2), (std::vector<Seen>{{kIsolated, 1}}));
}

// The host is cold, but packets to it wait isolated: what comes now stays behind them.
TEST(Isolation, ReturnsOnlyWhenNothingWaitsIsolated) {
  OneSwitch rig(leaf());
  greet(rig);
  rig.inject(2, frame_of(hot(1)));
  rig.run_for(1_us);
  pause(rig, 1u << kIsolated, 60'000);
  send(rig, {.port = 0, .number = 1});
  rig.run_for(5_us);
  rig.inject(2, frame_of(hot(2, CimKind::cold)));
  rig.run_for(1_us);
  send(rig, {.port = 0, .number = 2});
  rig.run_for(5_us);
  EXPECT_TRUE(data_up(rig).empty());
  pause(rig, 1u << kIsolated, 0);
  rig.run_for(10_us);
  send(rig, {.port = 0, .number = 3});
  rig.run_for(10_us);
  EXPECT_EQ(data_up(rig), (std::vector<Seen>{{kIsolated, 1}, {kIsolated, 2}, {kNormal, 3}}));
}

TEST(Isolation, TheLastLeafPutsBackWhatWasChanged) {
  OneSwitch rig(leaf());
  greet(rig);
  send(rig, {.port = 2, .dscp = kIsolated, .from_leaf = 2, .to_leaf = 1});
  send(rig, {.port = 2, .dscp = kNormal, .number = 2, .from_leaf = 2, .to_leaf = 1});
  rig.run_for(10_us);
  EXPECT_EQ(data_at(rig, 0), (std::vector<Seen>{{kNormal, 1}, {kNormal, 2}}));
  EXPECT_EQ(count(rig.object(), 2, PortCounter::isolation_ended_packets), 1u);
  EXPECT_EQ(count(rig.object(), 2, PriorityGroupId(kIsolated), PgCounter::pg_rx_packets), 1u);
  EXPECT_EQ(count(rig.object(), 0, QueueId(kNormal), QueueCounter::queue_tx_packets), 2u);
}

TEST(Isolation, AHostIsNotBelievedThatItIsIsolated) {
  OneSwitch rig(leaf());
  greet(rig);
  send(rig, {.port = 0, .dscp = kIsolated});
  rig.run_for(10_us);
  EXPECT_EQ(data_up(rig), (std::vector<Seen>{{kNormal, 1}}));
  EXPECT_EQ(count(rig.object(), 0, PortCounter::isolation_untrusted_packets), 1u);
}

// What has passed isolated is known, so that what follows in its own class does not overtake it.
TEST(Isolation, ASpineKeepsOrderOfWhatItHasNotHeardOf) {
  OneSwitch rig(spine());
  for (const size_t port : {0, 1, 2}) rig.inject(port, frame_of(hello()));
  rig.run_for(1_us);
  rig.inject(1, pause_frame(1u << kIsolated, 60'000));
  rig.run_for(1_us);
  send(rig, {.port = 0, .dscp = kIsolated, .number = 1});
  rig.run_for(2_us);
  send(rig, {.port = 0, .dscp = kNormal, .number = 2});
  send(rig, {.port = 2, .dscp = kNormal, .number = 3, .from_leaf = 3, .to_leaf = 1});
  rig.run_for(10_us);
  EXPECT_TRUE(data_at(rig, 1).empty());
  EXPECT_EQ(data_at(rig, 0), (std::vector<Seen>{{kNormal, 3}})) << "another destination";
  rig.inject(1, pause_frame(1u << kIsolated, 0));
  rig.run_for(10_us);
  send(rig, {.port = 0, .dscp = kNormal, .number = 4});
  rig.run_for(10_us);
  EXPECT_EQ(data_at(rig, 1), (std::vector<Seen>{{kIsolated, 1}, {kIsolated, 2}, {kNormal, 4}}));
}

TEST(Isolation, ASpinePassesNewsOnOnceAndNotBack) {
  OneSwitch rig(spine());
  rig.run_for(1_us);
  for (const uint32_t sequence : {5u, 5u, 4u, 6u}) {
    rig.inject(1, frame_of(hot(sequence)));
    rig.run_for(3_us);
  }
  for (const size_t port : {0, 2}) {
    const std::vector<Cim> passed = cims(rig, port);
    ASSERT_EQ(passed.size(), 2u);
    Cim expected = hot(5);
    expected.hops_left = 0;
    EXPECT_EQ(passed[0], expected);
    EXPECT_EQ(passed[1].sequence, 6u);
  }
  EXPECT_TRUE(cims(rig, 1).empty());
  EXPECT_EQ(count(rig.object(), 1, PortCounter::isolation_stale_packets), 2u);
  EXPECT_TRUE(rig.object().balance().holds());
}

TEST(Isolation, BadNewsChangesNothing) {
  OneSwitch rig(leaf());
  greet(rig);
  Cim forged = hot(1);
  forged.origin = rig.config.id;
  Cim of_another_class = hot(2);
  of_another_class.priority = Priority(5);
  rig.inject(2, frame_of(forged));
  rig.inject(2, frame_of(of_another_class));
  rig.inject(0, frame_of(hot(3)));
  Frame broken = frame_of(hot(4));
  broken[18] = 0x71;
  rig.inject(2, broken);
  rig.run_for(1_us);
  send(rig, {.port = 0});
  rig.run_for(10_us);
  EXPECT_EQ(data_up(rig), (std::vector<Seen>{{kNormal, 1}}));
  EXPECT_EQ(count(rig.object(), 2, PortCounter::isolation_forged_packets), 1u);
  EXPECT_EQ(count(rig.object(), 2, PortCounter::isolation_ignored_packets), 1u);
  EXPECT_EQ(drops(rig.object(), DropReason::control_on_host_port), 1u);
  EXPECT_EQ(drops(rig.object(), DropReason::control_malformed), 1u);
}

// News that claims to live for ever lives for a millisecond.
TEST(Isolation, WhatAMessageClaimsIsLimited) {
  OneSwitch rig(leaf());
  greet(rig);
  Cim eternal = hot(1);
  eternal.expiry_ns = UINT32_MAX;
  rig.inject(2, frame_of(eternal));
  rig.run_for(1100_us);
  send(rig, {.port = 0});
  rig.run_for(10_us);
  EXPECT_EQ(data_up(rig), (std::vector<Seen>{{kNormal, 1}}));
}

// At most 16 hosts are known here; the others' packets go on as they came.
TEST(Isolation, WhoHasNoPlaceIsNotIsolated) {
  config::SwitchConfig config = leaf();
  config.isolation.hosts = 16;
  OneSwitch rig(config);
  greet(rig);
  for (uint32_t i = 1; i <= 20; ++i) {
    Cim other = hot(i);
    if (i <= 16) other.tag = 1'000 + i;
    rig.inject(2, frame_of(other));
    rig.run_for(1_us);
  }
  EXPECT_EQ(count(rig.object(), 2, PortCounter::isolation_placeless_hosts), 4u);
  send(rig, {.port = 0});
  rig.run_for(10_us);
  EXPECT_EQ(data_up(rig), (std::vector<Seen>{{kNormal, 1}}));
}

// Packets of 1000 octets to host 1, whose port drains slowly, of flows by turns.
void fill(OneSwitch& rig, int packets, int flows = 1) {
  for (int i = 0; i < packets; ++i) {
    send(rig, {.port = 2,
               .number = static_cast<uint16_t>(i),
               .from_leaf = 2,
               .to_leaf = 1,
               .flow = static_cast<uint16_t>(7 + i % flows)});
    rig.run_for(1_us);
  }
}

TEST(Isolation, ALeafTellsOfAHostWhosePortIsCongestedUntilItIsNot) {
  config::SwitchConfig config = leaf();
  config.isolation.threshold = Bytes(20'000);
  config.ports[0].speed = 1_Gbps;
  OneSwitch rig(config);
  fill(rig, 15);
  EXPECT_TRUE(cims(rig, 2).empty());
  const Instant before = rig.fabric.now();
  fill(rig, 15);
  std::vector<Cim> told = cims(rig, 3);
  ASSERT_FALSE(told.empty());
  EXPECT_EQ(cims(rig, 2).size(), told.size());
  EXPECT_EQ(told[0].kind, CimKind::hot);
  EXPECT_EQ(told[0].tag, tag_of_flow(rig, {.port = 2, .from_leaf = 2, .to_leaf = 1}));
  EXPECT_EQ(told[0].leaf, LeafId(1));
  EXPECT_EQ(told[0].hops_left, 1);
  EXPECT_GT(told[0].queue_bytes, 20'000u);
  EXPECT_GE(told[0].crossed_ns, before.since_zero().ns());
  rig.run_for(400_us);
  told = cims(rig, 3);
  EXPECT_EQ(told.back().kind, CimKind::cold);
  EXPECT_EQ(std::ranges::count(told, CimKind::cold, &Cim::kind), 1);
  for (size_t i = 1; i < told.size(); ++i) EXPECT_EQ(told[i].sequence, told[i - 1].sequence + 1);
  EXPECT_EQ(count(rig.object(), 0, PortCounter::isolation_hot_hosts), 1u);
  rig.run_for(1_ms);
  EXPECT_EQ(cims(rig, 3).size(), told.size()) << "nothing more is told";
}

std::set<uint32_t> tags_told(int flows) {
  config::SwitchConfig config = leaf();
  config.isolation.threshold = Bytes(5'000);
  config.ports[0].speed = 100_Mbps;
  OneSwitch rig(config);
  fill(rig, 30, flows);
  std::set<uint32_t> tags;
  for (const Cim& told : cims(rig, 3)) tags.insert(told.tag);
  EXPECT_EQ(count(rig.object(), 0, PortCounter::isolation_hot_hosts), tags.size());
  return tags;
}
TEST(Isolation, FewFlowsAreToldOfByThemselvesAndAnIncastAsItsHost) {
  EXPECT_EQ(tags_told(4).size(), 4u);
  EXPECT_FALSE(tags_told(4).contains(tag_of_host(1, 1)));
  EXPECT_TRUE(tags_told(5).contains(tag_of_host(1, 1)));
  EXPECT_LE(tags_told(12).size(), 5u) << "four flows before it was known to be an incast";
}

// With a share of 50 percent the second of two ports has to be much worse.
TEST(Isolation, InACrowdNobodyElseIsToldOf) {
  config::SwitchConfig config = leaf();
  config.isolation.threshold = Bytes(5'000);
  config.ports[0].speed = 100_Mbps;
  config.ports[1].speed = 100_Mbps;
  OneSwitch rig(config);
  fill(rig, 10);
  UdpSpec spec{.destination_mac = port_mac(config, 2),
               .source = host_ip(2, 1),
               .destination = host_ip(1, 2),
               .dscp = kNormal};
  spec.frame_len = 1000;
  spec.readable_len = 128;
  for (int i = 0; i < 10; ++i) rig.inject(2, udp_frame(spec), 1000);
  rig.run_for(15_us);
  EXPECT_EQ(count(rig.object(), 0, PortCounter::isolation_hot_hosts), 1u);
  EXPECT_EQ(count(rig.object(), 1, PortCounter::isolation_hot_hosts), 0u);
  EXPECT_GE(count(rig.object(), 1, PortCounter::isolation_crowded_hosts), 1u);
  for (int i = 0; i < 20; ++i) rig.inject(2, udp_frame(spec), 1000);
  rig.run_for(30_us);
  EXPECT_EQ(count(rig.object(), 1, PortCounter::isolation_hot_hosts), 1u);
}

// Switched off while packets wait isolated: nothing is begun, and nothing is overtaken.
TEST(Isolation, SwitchedOffUnderTrafficItKeepsWhatItHasBegun) {
  config::SwitchConfig config = leaf();
  OneSwitch rig(config);
  greet(rig);
  rig.inject(2, frame_of(hot(1)));
  rig.run_for(1_us);
  pause(rig, 1u << kIsolated, 60'000);
  send(rig, {.port = 0, .number = 1});
  rig.run_for(1_us);
  config.isolation.enabled = false;
  ASSERT_TRUE(rig.object().reconfigure(config).ok());
  rig.fabric.poll(rig.node);
  rig.run_for(100_us);
  send(rig, {.port = 0, .number = 2});
  send(rig, {.port = 2, .dscp = kIsolated, .number = 9, .from_leaf = 2, .to_leaf = 1});
  rig.run_for(10_us);
  EXPECT_EQ(data_at(rig, 0), (std::vector<Seen>{{kNormal, 9}})) << "put back";
  pause(rig, 1u << kIsolated, 0);
  rig.run_for(10_us);
  rig.inject(2, frame_of(hot(2)));
  rig.run_for(1_us);
  send(rig, {.port = 0, .number = 3});
  rig.run_for(10_us);
  EXPECT_EQ(data_up(rig), (std::vector<Seen>{{kIsolated, 1}, {kIsolated, 2}, {kNormal, 3}}));
}

// A device that takes one frame at a time: what it refuses goes back, and the gate with it.
TEST(Isolation, KeepsOrderWhenTheDeviceRefusesFrames) {
  OneSwitch rig(leaf());
  greet(rig);
  pause(rig, 1u << kNormal | 1u << kIsolated, 60'000);
  for (const uint16_t number : {1, 2}) send(rig, {.port = 0, .number = number});
  rig.run_for(2_us);
  rig.inject(2, frame_of(hot(1)));
  rig.run_for(1_us);
  for (const uint16_t number : {3, 4}) send(rig, {.port = 0, .number = number});
  rig.run_for(2_us);
  for (const size_t port : {2, 3}) rig.fabric.limit_transmit(rig.node, PortId(port), 0);
  pause(rig, 1u << kNormal | 1u << kIsolated, 0);
  rig.run_for(20_us);
  for (const size_t port : {2, 3}) rig.fabric.limit_transmit(rig.node, PortId(port), 65535);
  rig.run_for(50_us);
  EXPECT_EQ(data_up(rig),
            (std::vector<Seen>{{kNormal, 1}, {kNormal, 2}, {kIsolated, 3}, {kIsolated, 4}}));
}

}  // namespace
}  // namespace eddy::test
