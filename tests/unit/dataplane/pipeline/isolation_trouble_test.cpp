// Isolation in trouble: messages that are lost, late or forged, hosts that stay hot or are cold too
// soon, tables that are full, and switches that do not isolate, or no more.
#include <gtest/gtest.h>

#include <array>
#include <initializer_list>
#include <map>
#include <string>
#include <vector>

#include "switch/dataplane/queues/hot_ports.h"
#include "tests/unit/dataplane/pipeline/isolation_rig.h"

namespace eddy::test {
namespace {

using namespace isolation;

bool is_isolated(OneSwitch& rig, uint16_t number, const Going& like = {.port = 0}) {
  Going going = like;
  going.number = number;
  send(rig, going);
  rig.run_for(5_us);
  const std::vector<Seen> up = data_up(rig);
  EXPECT_EQ(std::ranges::count(up, number, &Seen::number), 1);
  return std::ranges::count(up, Seen{kIsolated, number}) == 1;
}

// The news lives for four refreshes, so that three of four may be lost.
TEST(IsolationTrouble, LostRefreshesChangeNothingUntilTheNewsIsOld) {
  OneSwitch rig(leaf());
  greet(rig);
  uint32_t sequence = 1;
  for (uint16_t round = 0; round < 10; ++round, sequence += 4) {
    rig.inject(2, frame_of(hot(sequence)));
    rig.run_for(34_us);
    EXPECT_TRUE(is_isolated(rig, round)) << round;
  }
  rig.run_for(10_us);
  EXPECT_FALSE(is_isolated(rig, 99)) << "the cold was lost as well";
  EXPECT_TRUE(rig.object().balance().holds());
}

TEST(IsolationTrouble, LateNewsIsStaleWhileItsHostIsKnown) {
  OneSwitch rig(leaf());
  greet(rig);
  rig.inject(2, frame_of(hot(5)));
  rig.run_for(1_us);
  EXPECT_TRUE(is_isolated(rig, 1));
  rig.inject(3, frame_of(hot(6, CimKind::cold)));
  rig.inject(2, frame_of(hot(4)));
  rig.inject(2, frame_of(hot(6)));
  rig.run_for(1_us);
  EXPECT_FALSE(is_isolated(rig, 2));
  EXPECT_EQ(count(rig.object(), 2, PortCounter::isolation_stale_packets), 2u);
}

// A cold that overtook its hot on another path, and a hot of a host that is forgotten: isolated for
// no longer than a message lives, and in order.
TEST(IsolationTrouble, NewsThatComesTooLateToBeStaleLivesAsLongAsAnyOther) {
  OneSwitch rig(leaf());
  greet(rig);
  rig.inject(3, frame_of(hot(2, CimKind::cold)));
  rig.run_for(1_us);
  rig.inject(2, frame_of(hot(1)));
  rig.run_for(1_us);
  EXPECT_TRUE(is_isolated(rig, 1));
  rig.run_for(40_us);
  EXPECT_FALSE(is_isolated(rig, 2));
  rig.run_for(3_ms);  // forgotten
  rig.inject(2, frame_of(hot(1)));
  rig.run_for(41_us);
  EXPECT_FALSE(is_isolated(rig, 3));
}

TEST(IsolationTrouble, OnlyWhoSaidThatAHostIsHotSaysThatItIsCold) {
  OneSwitch rig(leaf());
  greet(rig);
  rig.inject(2, frame_of(hot(1)));
  Cim forged = hot(9, CimKind::cold);
  forged.origin = SwitchId(66);
  rig.inject(3, frame_of(forged));
  rig.run_for(1_us);
  EXPECT_TRUE(is_isolated(rig, 1));
}

// A sequence far ahead makes what the leaf says stale, but for no longer than a message is
// believed.
TEST(IsolationTrouble, AForgedSequenceSilencesALeafForAMillisecondAtMost) {
  config::SwitchConfig config = leaf();
  config.isolation.stay = 1_s;  // the host is not forgotten meanwhile
  OneSwitch rig(config);
  greet(rig);
  rig.inject(2, frame_of(hot(0x7000'0000, CimKind::hot)));
  rig.run_for(45_us);
  rig.inject(2, frame_of(hot(1)));
  rig.run_for(1_us);
  EXPECT_EQ(count(rig.object(), 2, PortCounter::isolation_stale_packets), 1u);
  EXPECT_FALSE(is_isolated(rig, 1));
  rig.run_for(1_ms);
  rig.inject(2, frame_of(hot(2)));
  rig.run_for(1_us);
  EXPECT_TRUE(is_isolated(rig, 2));
}

// More than a poll hears of a port is dropped unread, and what it heard fills no more than the
// table.
TEST(IsolationTrouble, AStormOfForgedHostsCostsPlacesAndIsForgotten) {
  config::SwitchConfig config = leaf();
  config.isolation.hosts = 16;
  OneSwitch rig(config);
  greet(rig);
  for (uint32_t i = 1; i <= 200; ++i) {
    Cim forged = hot(i);
    forged.tag = 1'000 + i;
    rig.inject(2, frame_of(forged));
  }
  rig.run_for(1_us);
  const auto counted = [&](PortCounter which) { return count(rig.object(), 2, which); };
  EXPECT_EQ(
      counted(PortCounter::isolation_rx_packets) + counted(PortCounter::isolation_storm_packets),
      201u);
  EXPECT_GT(counted(PortCounter::isolation_placeless_hosts), 0u);
  rig.run_for(3_ms);
  rig.inject(2, frame_of(hot(1'000)));
  rig.run_for(1_us);
  EXPECT_TRUE(is_isolated(rig, 1)) << "there is room again";
  EXPECT_TRUE(rig.object().balance().holds());
}

// It stays isolated however often sequence numbers begin anew, and comes back when it is cold.
TEST(IsolationTrouble, AHostThatIsHotForEverStaysIsolated) {
  OneSwitch rig(leaf());
  greet(rig);
  uint32_t sequence = ~uint32_t{0} - 100;
  for (uint16_t i = 0; i < 2'000; ++i) {
    rig.inject(2, frame_of(hot(sequence++)));
    if (i % 2 == 0) send(rig, {.port = 0, .number = i});
    rig.run_for(10_us);
  }
  const std::vector<Seen> up = data_up(rig);
  EXPECT_EQ(up.size(), 1'000u);
  EXPECT_EQ(std::ranges::count(up, kIsolated, &Seen::dscp), 1'000);
  EXPECT_EQ(count(rig.object(), 2, PortCounter::isolation_stale_packets), 0u);
  rig.inject(2, frame_of(hot(sequence, CimKind::cold)));
  rig.run_for(1_us);
  EXPECT_FALSE(is_isolated(rig, 9'999));
}

// To host `to_host` of this leaf, from the other.
void fill(OneSwitch& rig, int packets, size_t to_host, uint16_t flow = 7) {
  for (int i = 0; i < packets; ++i)
    send(rig, {.port = 2,
               .number = static_cast<uint16_t>(i),
               .from_leaf = 2,
               .to_leaf = 1,
               .to_host = to_host,
               .flow = flow});
}

// The leaf of a host that is hot for ever says so once a refresh, and nothing more.
TEST(IsolationTrouble, OfAHostThatIsHotForEverItsLeafTellsOnceARefresh) {
  config::SwitchConfig config = leaf();
  config.isolation.threshold = Bytes(5'000);
  config.ports[0].speed = 100_Mbps;
  OneSwitch rig(config);
  fill(rig, 10, 1);
  for (int round = 0; round < 200; ++round) {
    rig.run_for(80_us);  // a packet of 1,000 octets
    fill(rig, 1, 1);
  }
  const std::vector<Cim> told = cims(rig, 2);
  EXPECT_GE(told.size(), 1'590u);
  EXPECT_LE(told.size(), 1'610u);
  for (const Cim& each : told) EXPECT_EQ(each.kind, CimKind::hot);
  EXPECT_EQ(count(rig.object(), 0, PortCounter::isolation_hot_hosts), 1u);
}

// The other port was never told of, as most were hot; it is cold again, and nothing is to be taken
// back.
TEST(IsolationTrouble, AHostThatIsColdBeforeTheNewsIsOutIsNotToldOf) {
  config::SwitchConfig config = leaf();
  config.isolation.threshold = Bytes(5'000);
  config.ports[0].speed = 100_Mbps;
  config.ports[1].speed = 1_Gbps;
  OneSwitch rig(config);
  fill(rig, 10, 1);
  rig.run_for(20_us);
  fill(rig, 8, 2);
  rig.run_for(20_us);
  EXPECT_GT(count(rig.object(), 1, PortCounter::isolation_crowded_hosts), 0u);
  rig.run_for(200_us);
  for (const Cim& each : cims(rig, 2))
    EXPECT_EQ(each.tag, tag_of_flow(rig, {.port = 2, .from_leaf = 2, .to_leaf = 1}));
  EXPECT_EQ(count(rig.object(), 1, PortCounter::isolation_hot_hosts), 0u);
}

// Behind a port are more hosts than it has places: who finds none is not told of, and all arrives.
TEST(IsolationTrouble, MoreHotHostsThanAPortHasPlaces) {
  config::SwitchConfig config = leaf();
  config.isolation.threshold = Bytes(5'000);
  config.ports[0].speed = 100_Mbps;
  constexpr int kHosts = 3 * HotPorts::kPlaces;
  for (int host = 0; host < kHosts; ++host)
    config.neighbors.push_back(
        {ip("10.1.1." + std::to_string(100 + host)), host_mac(1, 1), config.ports[0].name});
  OneSwitch rig(config);
  for (int i = 0; i < 2 * kHosts; ++i) {
    UdpSpec spec{.destination_mac = port_mac(config, 2),
                 .source = host_ip(2, 1),
                 .destination = ip("10.1.1." + std::to_string(100 + i % kHosts)),
                 .dscp = kNormal};
    spec.frame_len = 1'000;
    spec.readable_len = 128;
    rig.inject(2, udp_frame(spec), 1'000);
  }
  rig.run_for(15_us);
  EXPECT_EQ(count(rig.object(), 0, PortCounter::isolation_hot_hosts), HotPorts::kPlaces);
  rig.run_for(10_ms);
  EXPECT_EQ(data_at(rig, 0).size(), 2u * kHosts);
  EXPECT_EQ(leftovers(rig.object()), "");
}

// Leaf 1 is behind port 0, leaf 2 behind port 1, leaf 3 behind port 2.
void greet_spine(OneSwitch& rig, std::initializer_list<size_t> ports) {
  for (const size_t port : ports) rig.inject(port, frame_of(hello()));
  rig.run_for(1_us);
}

// What came isolated goes on in its own class, and what follows it isolated when there is a place
// again stays behind it.
TEST(IsolationTrouble, WithoutAPlaceASpineEndsIsolationAndKeepsOrder) {
  config::SwitchConfig config = spine();
  config.isolation.hosts = 16;
  OneSwitch rig(config);
  greet_spine(rig, {0, 1, 2});
  for (uint32_t i = 1; i <= 16; ++i) {
    Cim other = hot(i);
    other.tag = 1'000 + i;
    other.hops_left = 0;
    rig.inject(1, frame_of(other));
    rig.run_for(1_us);
  }
  rig.inject(1, pause_frame(1u << kNormal, 60'000));
  rig.run_for(1_us);
  send(rig, {.port = 0, .dscp = kIsolated, .number = 1});
  rig.run_for(5_us);
  EXPECT_EQ(count(rig.object(), 0, PortCounter::isolation_placeless_packets), 1u);
  rig.run_for(3_ms);  // the hosts are forgotten
  rig.inject(1, pause_frame(1u << kNormal, 60'000));
  rig.run_for(1_us);
  send(rig, {.port = 0, .dscp = kIsolated, .number = 2});
  rig.run_for(5_us);
  EXPECT_EQ(count(rig.object(), 0, PortCounter::isolation_kept_packets), 1u);
  rig.inject(1, pause_frame(1u << kNormal, 0));
  rig.run_for(10_us);
  EXPECT_EQ(data_at(rig, 1), (std::vector<Seen>{{kNormal, 1}, {kIsolated, 2}}));
}

// The next switch is of a version that does not isolate: it gets what it knows.
TEST(IsolationTrouble, TowardsASwitchOfAnotherVersionNothingGoesIsolated) {
  OneSwitch rig(spine());
  greet_spine(rig, {0, 2});
  send(rig, {.port = 0, .dscp = kIsolated, .number = 1});
  send(rig, {.port = 0, .dscp = kIsolated, .number = 2, .from_leaf = 1, .to_leaf = 3});
  rig.run_for(10_us);
  EXPECT_EQ(data_at(rig, 1), (std::vector<Seen>{{kNormal, 1}}));
  EXPECT_EQ(data_at(rig, 2), (std::vector<Seen>{{kIsolated, 2}}));
  EXPECT_EQ(count(rig.object(), 0, PortCounter::isolation_placeless_packets), 1u);
}

// It has not said hello for four times as long as one takes.
TEST(IsolationTrouble, APeerThatSpeaksNoMoreIsNoPeerThatIsolates) {
  OneSwitch rig(leaf());
  greet(rig);
  uint32_t sequence = 1;
  rig.inject(2, frame_of(hot(sequence++)));
  rig.run_for(1_us);
  EXPECT_TRUE(is_isolated(rig, 1));
  for (int i = 0; i < 5; ++i) {
    rig.run_for(10_ms);
    rig.inject(2, frame_of(hello()));  // the other uplink's peer is silent
  }
  rig.inject(2, frame_of(hot(sequence++)));
  rig.run_for(1_us);
  EXPECT_FALSE(is_isolated(rig, 2));
  rig.inject(3, frame_of(hello()));
  rig.run_for(1_us);
  rig.inject(2, frame_of(hot(sequence++)));
  rig.run_for(1_us);
  EXPECT_TRUE(is_isolated(rig, 3));
}

// A CIM of a later version is counted, and does nothing; where isolation is off a good one as well.
TEST(IsolationTrouble, AMessageThatASwitchDoesNotSpeakIsCounted) {
  OneSwitch off(leaf_spine({}).leaves[0]);
  off.inject(2, frame_of(hot(1)));
  off.run_for(1_us);
  EXPECT_EQ(count(off.object(), 2, PortCounter::isolation_ignored_packets), 1u);
  EXPECT_FALSE(is_isolated(off, 1));
  EXPECT_TRUE(off.object().balance().holds());
}

// Two leaves of two hosts behind two spines. Hosts 1 and 2 of the first leaf send to host 1 of the
// second, more than it takes, and to host 2, all flows with numbers.
struct Incast {
  explicit Incast(std::vector<bool> spine_isolates = {true, true}) {
    for (config::SwitchConfig& each : shape.leaves) prepare(each, true);
    for (size_t s = 0; s < 2; ++s) prepare(shape.spines[s], spine_isolates[s]);
    for (const config::SwitchConfig& each : shape.leaves) nodes.push_back(fabric.add_switch(each));
    for (const config::SwitchConfig& each : shape.spines) nodes.push_back(fabric.add_switch(each));
    for (size_t l = 0; l < 2; ++l) {
      for (size_t h = 0; h < 2; ++h)
        hosts.push_back(&fabric.attach_host(nodes[l], PortId(h), 0_us));
      for (size_t s = 0; s < 2; ++s)
        fabric.connect(nodes[l], PortId(2 + s), nodes[2 + s], PortId(l), 500_ns);
    }
    for (size_t h = 0; h < 2; ++h)
      hosts[h]->source = [this, h](Transmission& next) { return make(h, next); };
  }
  static void prepare(config::SwitchConfig& config, bool isolates) {
    config.isolation.enabled = isolates;
    config.isolation.threshold = Bytes(10'000);
    config::BufferProfile& lossless = config.buffer.profiles.at("lossless");
    lossless.mode = config::BufferMode::fixed;
    lossless.xoff = Bytes(20'000);
    for (config::PortConfig& port : config.ports)
      if (port.role == config::PortRole::fabric) port.pg_profiles[kIsolated] = "lossless";
  }
  // Three of four packets to host 1; the number of each within its flow is in it.
  bool make(size_t host, Transmission& next) {
    if (fabric.now() >= ends) return false;
    const uint32_t turn = turns[host]++;
    const size_t to = turn % 4 == 3 ? 2 : 1;
    const uint16_t flow = static_cast<uint16_t>(turn / 4 % 3);
    UdpSpec spec{.destination_mac = port_mac(shape.leaves[0], host),
                 .source_mac = host_mac(1, host + 1),
                 .source = host_ip(1, host + 1),
                 .destination = host_ip(2, to),
                 .dscp = kNormal};
    spec.source_port = flow;
    spec.frame_len = 1'000;
    spec.readable_len = 128;
    next = {.frame = udp_frame(spec), .wire_len = 1'000, .priority = Priority(kNormal)};
    const uint32_t number = ++sent[key_of(next.frame)];
    store_be32(next.frame.data() + kEthernetHeader + kIpv4Header + kUdpHeader, number);
    return true;
  }
  // Of a flow: source, destination, source port.
  static uint64_t key_of(const Frame& frame) {
    const uint8_t* ip = frame.data() + kEthernetHeader;
    return uint64_t{load_be32(ip + 12)} << 32 ^ uint64_t { load_be32(ip + 16) } << 16 ^
           load_be16(ip + kIpv4Header);
  }
  void isolate(bool enabled) {
    for (size_t i = 0; i < nodes.size(); ++i) {
      config::SwitchConfig& config = i < 2 ? shape.leaves[i] : shape.spines[i - 2];
      config.isolation.enabled = enabled;
      ASSERT_TRUE(fabric.at(nodes[i]).reconfigure(config).ok());
      fabric.poll(nodes[i]);
    }
  }
  void run_until(Instant at) {
    for (FabricHost* host : hosts) fabric.kick(*host);
    fabric.run_until(at);
  }
  uint64_t counted(PortCounter which) {
    uint64_t total = 0;
    for (const size_t node : nodes)
      for (size_t port = 0; port < fabric.at(node).port_count(); ++port)
        total += count(fabric.at(node), port, which);
    return total;
  }
  // Everything has arrived, each flow in order, and with the DSCP that it was sent with.
  void expect_all_in_order() {
    std::map<uint64_t, uint32_t> last;
    for (size_t h = 2; h < 4; ++h)
      for (const Arrival& arrival : hosts[h]->received) {
        if (load_be16(arrival.frame.data() + 12) != kEtherTypeIpv4) continue;
        const uint8_t* ip = arrival.frame.data() + kEthernetHeader;
        EXPECT_EQ(ip[1] >> 2, kNormal);
        const uint32_t number = load_be32(ip + kIpv4Header + kUdpHeader);
        EXPECT_EQ(number, ++last[key_of(arrival.frame)]);
      }
    EXPECT_EQ(last, sent);
    for (const size_t node : nodes) {
      EXPECT_EQ(lossless_lost(fabric.at(node)), 0u);
      EXPECT_EQ(leftovers(fabric.at(node)), "");
    }
  }

  LeafSpine shape = leaf_spine({});
  Fabric fabric{16'384};
  std::vector<size_t> nodes;
  std::vector<FabricHost*> hosts;  // of leaf 1, then of leaf 2
  std::array<uint32_t, 2> turns{};
  std::map<uint64_t, uint32_t> sent;
  Instant ends = Instant::at(2_ms);
};

TEST(IsolationTrouble, AnIncastIsIsolatedInOrder) {
  Incast incast;
  incast.run_until(Instant::at(2_ms));
  incast.fabric.run_to_quiet(Instant::at(20_ms));
  incast.expect_all_in_order();
  EXPECT_GT(incast.counted(PortCounter::isolation_begun_packets), 100u);
  EXPECT_EQ(incast.counted(PortCounter::isolation_placeless_packets), 0u);
}

// A spine of another version is on one of the paths: the leaf begins nothing.
TEST(IsolationTrouble, ASpineOfAnotherVersionInTheMiddle) {
  Incast incast({true, false});
  incast.run_until(Instant::at(2_ms));
  incast.fabric.run_to_quiet(Instant::at(20_ms));
  incast.expect_all_in_order();
  EXPECT_GT(incast.counted(PortCounter::isolation_hot_hosts), 0u);
  EXPECT_GT(incast.counted(PortCounter::isolation_ignored_packets), 0u);
  EXPECT_EQ(count(incast.fabric.at(incast.nodes[0]), 0, PortCounter::isolation_begun_packets), 0u);
}

// By reload, every 50 us and at every switch, while links are paused.
TEST(IsolationTrouble, SwitchedOnAndOffUnderTrafficNothingIsLostOrOvertaken) {
  Incast incast({false, false});
  bool on = false;
  uint64_t begun = 0;
  int rounds_that_isolated = 0;
  for (int round = 0; round < 40; ++round) {
    incast.isolate(on = !on);
    incast.run_until(Instant::at(50_us * (round + 1)));
    const uint64_t so_far = incast.counted(PortCounter::isolation_begun_packets);
    rounds_that_isolated += so_far > begun ? 1 : 0;
    begun = so_far;
  }
  incast.fabric.run_to_quiet(Instant::at(20_ms));
  incast.expect_all_in_order();
  EXPECT_GT(rounds_that_isolated, 10);
  EXPECT_GT(incast.counted(PortCounter::isolation_ended_packets), 100u);
}

}  // namespace
}  // namespace eddy::test
