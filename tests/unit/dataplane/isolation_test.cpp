// Congestion isolation: who is told of a congested host, into which class its packets go, and that
// none overtakes another.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

#include "net/congestion/cim.h"
#include "net/congestion/destination_tag.h"
#include "net/ethernet.h"
#include "net/parse.h"
#include "tests/support/one_switch.h"

namespace eddy::test {
namespace {

constexpr uint8_t kNormal = 3;  // DSCP, queue and priority
constexpr uint8_t kIsolated = 4;

// Host ports 0 and 1, uplinks 2 and 3 to leaf 2.
config::SwitchConfig leaf() {
  config::SwitchConfig config = leaf_spine({}).leaves[0];
  config.isolation.enabled = true;
  return config;
}
// Ports 0 and 1 lead to leaves 1 and 2, port 2 to leaf 3.
config::SwitchConfig spine() {
  config::SwitchConfig config = leaf_spine({.leaves = 3, .spines = 1}).spines[0];
  config.isolation.enabled = true;
  return config;
}

uint32_t tag_of_host(size_t leaf, size_t host) {
  return destination_tag(host_ip(leaf, host).v4().value);
}

Cim hot(uint32_t sequence, CimKind kind = CimKind::hot) {
  return {.kind = kind,
          .hops_left = 1,
          .priority = Priority(kNormal),
          .origin = SwitchId(2),
          .leaf = LeafId(2),
          .tag = tag_of_host(2, 1),
          .sequence = sequence,
          .expiry_ns = 40'000};
}
Cim hello() {
  return {.kind = CimKind::hello, .priority = Priority(kNormal), .origin = SwitchId(50)};
}

Frame frame_of(const Cim& message) {
  const EthernetHeader header{.destination = host_mac(1, 1),
                              .source = host_mac(9, 9),
                              .ethertype = kEtherTypeCim,
                              .tag_count = 1,
                              .tags = {VlanTag{.pcp = 7}}};
  Frame frame(128);
  const size_t length = encode(header, frame);
  frame.resize(length + encode(message, Octets(frame).subspan(length)));
  return frame;
}
std::vector<Cim> cims(OneSwitch& rig, size_t port, bool with_hellos = false) {
  std::vector<Cim> all;
  for (const Arrival& arrival : rig.seen(port)) {
    EthernetHeader header;
    Cim message;
    if (decode(arrival.frame, header) != CodecVerdict::ok || header.ethertype != kEtherTypeCim)
      continue;
    EXPECT_EQ(decode(ConstOctets(arrival.frame).subspan(header.size()), message), CodecVerdict::ok);
    if (with_hellos || message.kind != CimKind::hello) all.push_back(message);
  }
  return all;
}

// From a host of one leaf to a host of another, numbered by its source port.
struct Going {
  size_t port;  // by which it comes
  uint8_t dscp = kNormal;
  uint16_t number = 1;
  size_t from_leaf = 1;
  size_t to_leaf = 2;
  size_t to_host = 1;
  uint16_t flow = 7;
};
Frame frame_of(OneSwitch& rig, const Going& going) {
  UdpSpec spec{.destination_mac = port_mac(rig.config, going.port),
               .source_mac = host_mac(1, 1),
               .source = host_ip(going.from_leaf, 1),
               .destination = host_ip(going.to_leaf, going.to_host),
               .dscp = going.dscp};
  spec.source_port = going.flow;
  spec.frame_len = 1000;
  spec.readable_len = 128;
  Frame frame = udp_frame(spec);
  store_be16(frame.data() + kEthernetHeader + kIpv4Header + kUdpHeader, going.number);
  return frame;
}
void send(OneSwitch& rig, const Going& going) {
  rig.inject(going.port, frame_of(rig, going), 1000);
}
uint32_t tag_of_flow(OneSwitch& rig, const Going& going) {
  const Frame frame = frame_of(rig, going);
  ParsedFrame parsed;
  EXPECT_EQ(parse_frame(frame.data(), static_cast<uint32_t>(frame.size()), 1000, parsed),
            ParseVerdict::ok);
  return flow_tag(parsed.order_hash);
}

struct Seen {
  uint8_t dscp;
  uint16_t number;
  bool operator==(const Seen&) const = default;
};
void PrintTo(const Seen& seen, std::ostream* out) {
  *out << int{seen.dscp} << "/" << seen.number;
}
std::vector<Seen> data_at(OneSwitch& rig, size_t port) {
  std::vector<Seen> all;
  for (const Arrival& arrival : rig.seen(port)) {
    const uint8_t* ip = arrival.frame.data() + kEthernetHeader;
    if (load_be16(arrival.frame.data() + 12) != kEtherTypeIpv4) continue;
    Ipv4Header header;
    EXPECT_EQ(decode(ConstOctets(arrival.frame).subspan(kEthernetHeader), header),
              CodecVerdict::ok);
    all.push_back({header.dscp, load_be16(ip + kIpv4Header + kUdpHeader)});
  }
  return all;
}
// By whichever uplink they went.
std::vector<Seen> data_up(OneSwitch& rig) {
  std::vector<Seen> all = data_at(rig, 2);
  const std::vector<Seen> others = data_at(rig, 3);
  all.insert(all.end(), others.begin(), others.end());
  return all;
}
void greet(OneSwitch& rig) {
  for (const size_t port : {2, 3}) rig.inject(port, frame_of(hello()));
  rig.run_for(1_us);
}
void pause(OneSwitch& rig, uint8_t priorities, uint16_t quanta) {
  for (const size_t port : {2, 3}) rig.inject(port, pause_frame(priorities, quanta));
  rig.run_for(1_us);
}

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
