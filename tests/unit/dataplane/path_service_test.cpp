// What leaves measure of the paths between them, in a fabric under one hand.
#include "switch/dataplane/paths/path_service.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "switch/dataplane/object/shard.h"
#include "tests/support/manual_io.h"
#include "tests/support/path_fabric.h"

namespace eddy::test {
namespace {

constexpr int64_t kProbe = 60;  // octets
constexpr int64_t kPacket = 1000;
// Both links of a path, and what a frame takes on them.
constexpr Duration path_time(int64_t octets) {
  return (PathFabric::kCable + on_line(octets)) * 2;
}
constexpr Duration whole_ns(Duration time) {
  return Duration::nanoseconds(time.ns());
}

config::PathServiceConfig with(config::ShimUse shim, Duration probe = Duration{}) {
  return {.shim = shim, .common_clock = true, .base_rtt = PathFabric::kBaseRtt, .probe = probe};
}

// At most two nanoseconds beside it: stamps are whole ones.
void expect_about(std::optional<Duration> found, Duration expected) {
  ASSERT_TRUE(found.has_value());
  EXPECT_LE((*found - expected).ps(), 2'000);
  EXPECT_GE((*found - expected).ps(), -2'000);
}

TEST(PathService, AnIdlePathIsProbedAndItsDelayIsItsCablesAndLines) {
  PathFabric rig({});
  rig.run_for(100_us);
  for (size_t l = 0; l < 2; ++l)
    for (size_t s = 0; s < 2; ++s) {
      expect_about(rig.delay(l, s), path_time(kProbe));
      EXPECT_EQ(rig.record(l, s).suspicion, 0);
      EXPECT_EQ(rig.leaf(l).paths()->least_delay(0, static_cast<uint8_t>(s)), *rig.delay(l, s));
    }
  EXPECT_GT(rig.count(0, PortCounter::path_probes), 0u);
  EXPECT_EQ(rig.count(0, PortCounter::path_probes), rig.count(0, PortCounter::path_requests));
  EXPECT_EQ(rig.count(0, PortCounter::path_unanswered), 0u);
  EXPECT_TRUE(rig.leaf(0).balance().holds());
}

TEST(PathService, WithoutACommonClockItIsThereAndBackLessTheWait) {
  PathFabric::Setup setup;
  setup.service.common_clock = false;
  PathFabric rig(setup);
  rig.run_for(100_us);
  expect_about(rig.delay(0, 1), path_time(kProbe) * 2);
  setup.service.common_clock = true;
  setup.service.delay = config::DelayMetric::round_trip;
  PathFabric asked_for(setup);
  asked_for.run_for(100_us);
  expect_about(asked_for.delay(0, 1), path_time(kProbe) * 2);
}

// Every path is looked at once in a probe time; those that nobody uses are probed.
TEST(PathService, ProbesComeOnceAProbeTime) {
  PathFabric rig({.service = with(config::ShimUse::sampled, 40_us)});
  rig.run_for(401_us);
  for (const size_t port : {1U, 2U})
    EXPECT_EQ(count(rig.leaf(0), port, PortCounter::path_probes), 10u);
}

TEST(PathService, ASampleGoesByAPacketAndItsShimIsGoneAtTheHost) {
  PathFabric rig({.service = with(config::ShimUse::sampled)});
  rig.run_for(10_us);
  rig.send(0);
  rig.run_for(20_us);
  ASSERT_EQ(rig.hosts[1]->received.size(), 1u);
  const Arrival& got = rig.hosts[1]->received[0];
  EXPECT_EQ(got.wire_len, kPacket);
  EXPECT_EQ(load_be16(got.frame.data() + 12), kEtherTypeIpv4);
  const Frame sent = udp_frame(rig.packet(0));
  EXPECT_TRUE(std::equal(got.frame.begin() + 26, got.frame.end(), sent.begin() + 26))
      << "but for MACs, TTL and checksum";
  EXPECT_EQ(rig.count(0, PortCounter::shim_tx_packets), 1u);
  EXPECT_EQ(rig.count(0, PortCounter::path_samples), 1u);
  EXPECT_EQ(rig.count(1, PortCounter::path_feedback_frames), 1u) << "nothing went back";
  const size_t used = rig.delay(0, 0) ? 0 : 1;
  expect_about(rig.delay(0, used), path_time(kPacket + kShimHeader));
  EXPECT_EQ(rig.delay(0, 1 - used), std::nullopt);
  for (Switch* one : {&rig.leaf(0), &rig.leaf(1), &rig.spine(0), &rig.spine(1)})
    EXPECT_EQ(leftovers(*one), "");
}

config::SwitchConfig& with_conga(config::SwitchConfig& leaf) {
  leaf.load_balancer.scheme = "conga";
  return leaf;
}

// With conga each packet has a shim. Where it is free the packet comes when it would without one,
// and is charged so: 1,000 octets are 4 cells of 256, 1,032 are 5.
TEST(PathService, AFreeShimTakesNoTimeAndNoOctet) {
  for (const std::optional<int> vlan : {std::optional<int>(), std::optional<int>(5)}) {
    const auto rig_with = [&](config::ShimUse use) {
      return std::make_unique<PathFabric>(
          PathFabric::Setup{.service = with(use), .vlan = vlan, .change = with_conga});
    };
    const auto none = rig_with(config::ShimUse::off);
    const auto free = rig_with(config::ShimUse::free);
    const auto paid = rig_with(config::ShimUse::automatic);
    for (PathFabric* rig : {none.get(), free.get(), paid.get()}) {
      rig->send(0);
      const int64_t used = rig->leaf(0).pg_status(PortId(0), PriorityGroupId(3)).used;
      EXPECT_EQ(used, rig == paid.get() ? 5 * 256 : 4 * 256);
      rig->run_for(20_us);
      ASSERT_EQ(rig->hosts[1]->received.size(), 1u);
      EXPECT_EQ(rig->hosts[1]->received[0].wire_len, kPacket);
      for (Switch* one : {&rig->leaf(0), &rig->leaf(1), &rig->spine(0), &rig->spine(1)})
        EXPECT_EQ(leftovers(*one), "");
    }
    EXPECT_EQ(free->count(0, PortCounter::shim_tx_packets), 1u);
    EXPECT_EQ(free->hosts[1]->received[0].at, none->hosts[1]->received[0].at);
    EXPECT_EQ(paid->hosts[1]->received[0].at - free->hosts[1]->received[0].at,
              on_line(kShimHeader) * 2 - on_line(0) * 2);
    EXPECT_EQ(free->hosts[1]->received[0].frame, none->hosts[1]->received[0].frame);
    EXPECT_EQ(free->count(0, PortCounter::tx_bytes), none->count(0, PortCounter::tx_bytes));
  }
}

// What it says is heard.
TEST(PathService, AFreeShimMeasuresAsAnotherDoes) {
  PathFabric rig({.service = with(config::ShimUse::free), .change = with_conga});
  rig.run_for(10_us);
  rig.send(0);
  rig.run_for(20_us);
  EXPECT_EQ(rig.count(0, PortCounter::path_samples), 1u);
  expect_about(rig.delay(0, rig.delay(0, 0) ? 0 : 1), path_time(kPacket));
}

TEST(PathService, APathIsStampedOnceASampleTime) {
  config::PathServiceConfig service = with(config::ShimUse::sampled);
  service.sample = PathFabric::kBaseRtt;
  PathFabric rig({.service = service, .spines = 1});
  rig.run_for(PathFabric::kBaseRtt);
  for (int i = 0; i < 40; ++i) {  // 40 us
    rig.send(0);
    rig.run_for(1_us);
  }
  EXPECT_EQ(rig.count(0, PortCounter::path_requests), 5u);
  EXPECT_EQ(rig.count(0, PortCounter::shim_tx_packets), 5u);
  EXPECT_EQ(rig.hosts[1]->received.size(), 36u) << "the last are still on their way";
}

// Plans come nearly three times a sample time: sets whose turn is later would wait for ever if each
// plan began the turns anew.
TEST(PathService, APlanThatComesSoonerThanTheNextStampStarvesNoSet) {
  config::PathServiceConfig service = with(config::ShimUse::sampled);
  service.sample = 8_us;
  PathFabric rig({.service = service, .spines = 1, .leaves = 4});
  config::SwitchConfig config = rig.shape.leaves[0];
  std::vector<std::set<uint32_t>> stamped(3);  // at which instants, by set
  for (int us = 0; us < 90; ++us) {
    if (us % 3 == 0) {
      config.buffer.wred["default"].kmin = Bytes(1'000 + us);
      ASSERT_TRUE(rig.leaf(0).reconfigure(config).ok());
    }
    for (size_t set = 0; set < stamped.size(); ++set) {
      UdpSpec packet = rig.packet(0);
      packet.destination = host_ip(2 + set, 1);
      packet.frame_len = 300;
      rig.fabric.inject(rig.leaves[0], PortId(0), udp_frame(packet), 300);
    }
    rig.run_for(1_us);
    for (size_t set = 0; set < stamped.size(); ++set)
      stamped[set].insert(rig.record(0, 0, set).requested_ns);
  }
  for (const auto& instants : stamped) {
    EXPECT_GE(instants.size(), 10u) << "once a sample time";
    EXPECT_LE(instants.size(), 22u) << "twice";
  }
}

TEST(PathService, EveryPacketHasAShimWhereThatIsAskedFor) {
  PathFabric rig({.service = with(config::ShimUse::every), .spines = 1});
  for (int i = 0; i < 20; ++i) {
    rig.send(0);
    rig.run_for(1_us);
  }
  EXPECT_EQ(rig.count(0, PortCounter::shim_tx_packets), 20u);
  EXPECT_LE(rig.count(0, PortCounter::path_requests), 3u);
}

TEST(PathService, WithoutNeedNothingIsAddedAndNothingMeasured) {
  PathFabric rig({.service = {.common_clock = true}});  // ecmp needs none
  for (int i = 0; i < 20; ++i) {
    rig.send(0);
    rig.run_for(1_us);
  }
  EXPECT_EQ(rig.leaf(0).paths(), nullptr);
  EXPECT_EQ(rig.count(0, PortCounter::shim_tx_packets), 0u);
  EXPECT_EQ(rig.count(0, PortCounter::originated_packets), 0u);
}

// Half of the base round trip, or the next packet back: the wait is not in the delay either way.
TEST(PathService, AnEchoGoesByTheNextPacketBack) {
  for (const bool common : {false, true}) {
    config::PathServiceConfig service = with(config::ShimUse::sampled);
    service.common_clock = common;
    PathFabric rig({.service = service, .spines = 1});
    rig.run_for(10_us);
    rig.send(0);
    rig.run_for(6_us);  // there after 3.7 us, and 2 us of waiting
    rig.send(1);
    rig.run_for(20_us);
    EXPECT_EQ(rig.count(1, PortCounter::path_feedback_frames), 0u);
    EXPECT_EQ(rig.count(0, PortCounter::path_samples), 1u);
    const Duration there = path_time(kPacket + kShimHeader);
    expect_about(rig.delay(0, 0), common ? there : there * 2);
  }
}

TEST(PathService, TheQueueAtTheLeafIsPartOfThePath) {
  config::PathServiceConfig service = with(config::ShimUse::sampled);
  service.sample = 4_us;
  PathFabric rig({.service = service, .spines = 1});
  rig.run_for(10_us);
  for (int i = 0; i < 8; ++i) rig.send(0);  // at once; the first is stamped
  rig.run_for(4_us);                        // and four have left
  rig.send(0);
  rig.run_for(1_us);
  EXPECT_EQ(rig.count(0, PortCounter::path_requests), 2u);
  rig.run_for(30_us);
  const lb::PathRecord& record = rig.record(0, 0);
  const Duration first = path_time(kPacket + kShimHeader);
  const Duration waited = on_line(kPacket + kShimHeader) + on_line(kPacket) * 7 - 4_us;
  const Duration second = first + waited;
  expect_about(Duration::nanoseconds(record.delay_ns), first + (second - first) / 4);
  EXPECT_EQ(Duration::nanoseconds(record.least_delay_ns), whole_ns(first));
}

// Packets that are stopped in the queue have not arrived, whatever probes in other classes do.
TEST(PathService, ArrivedBeforeIsProvenByWhatWaitedBehind) {
  PathFabric rig({.service = with(config::ShimUse::sampled, 20_us), .spines = 1});
  rig.run_for(60_us);
  const Instant before = rig.arrived_before(0, 0);
  EXPECT_GT(before, Instant{});
  EXPECT_EQ(rig.arrived_before(0, 0, QueueId(4)), Instant{}) << "not the class that is measured";
  rig.fabric.inject(rig.leaves[0], PortId(1), pause_frame(bit(kLossless), 0xffff));
  const Instant given = rig.fabric.now();
  rig.send(0);
  rig.run_for(200_us);
  EXPECT_LE(rig.arrived_before(0, 0), given);
  EXPECT_TRUE(rig.hosts[1]->received.empty());
  rig.fabric.inject(rig.leaves[0], PortId(1), pause_frame(bit(kLossless), 0));
  rig.run_for(30_us);
  EXPECT_GT(rig.arrived_before(0, 0), given);
  EXPECT_EQ(rig.hosts[1]->received.size(), 1u);
}

// A spine that does not isolate sends the classes by turns: there it proves nothing.
TEST(PathService, ASweepThatMayHaveBeenOvertakenIsNotAnswered) {
  for (const bool isolates : {true, false}) {
    PathFabric::Setup setup{.spines = 1};
    const auto enable = [](config::SwitchConfig& config) { config.isolation.enabled = true; };
    setup.change = enable;
    if (isolates) setup.change_spine = enable;
    PathFabric rig(setup);
    rig.run_for(20_us);
    const uint64_t before = rig.count(1, PortCounter::path_feedback_frames);
    Frame frame(128);
    size_t length = encode(EthernetHeader{port_mac(rig.shape.spines[0], 0),
                                          port_mac(rig.shape.leaves[0], 1), kEtherTypeShim},
                           frame);
    length += encode(ShimControl{.shim = {.kind = ShimKind::sweep,
                                          .flags = kShimPinned,
                                          .source_leaf = LeafId(1),
                                          .destination_leaf = LeafId(2),
                                          .path = PathId(0x00ff),
                                          .traffic_class = TrafficClass(4)}},
                     Octets(frame).subspan(length));
    frame.resize(pad_frame(frame, length));
    rig.fabric.inject(rig.spines[0], PortId(0), frame);
    rig.run_for(4_us);
    EXPECT_EQ(rig.count(1, PortCounter::path_feedback_frames) - before, isolates ? 1u : 0u);
  }
}

// At every moment: what the leaf believes to have arrived has.
TEST(PathService, NoProofIsEverWrong) {
  for (const size_t shards : {1u, 2u, 4u}) {
    config::PathServiceConfig service = with(config::ShimUse::sampled, 30_us);
    PathFabric rig({.service = service, .shards = shards});
    std::vector<Instant> sent;
    uint64_t proofs = 0;
    for (int i = 0; i < 400; ++i) {
      rig.send(0, static_cast<uint16_t>(i));
      sent.push_back(rig.fabric.now());
      rig.run_for(Duration::nanoseconds(100 + i * 37 % 1'500));
      const Instant both = std::min(rig.arrived_before(0, 0), rig.arrived_before(0, 1));
      const auto known =
          static_cast<size_t>(std::ranges::count_if(sent, [&](Instant at) { return at < both; }));
      // The last hop, from the other leaf to its host, is not part of the path.
      EXPECT_LE(known, rig.count(1, PortCounter::rx_packets)) << i;
      proofs += known != 0 ? 1 : 0;
    }
    EXPECT_GT(proofs, 250u) << shards;
  }
}

TEST(PathService, ShardsMeasureWhatOneDoes) {
  for (const size_t shards : {2u, 4u}) {
    PathFabric rig({.shards = shards});
    PathFabric one({});
    for (PathFabric* each : {&rig, &one}) {
      each->run_for(20_us);
      for (uint16_t i = 0; i < 60; ++i) {
        each->send(0, i);
        each->send(1, i);
        each->run_for(2_us);
      }
      each->run_for(20_us);
    }
    for (size_t l = 0; l < 2; ++l)
      for (size_t s = 0; s < 2; ++s) {
        EXPECT_EQ(rig.delay(l, s), one.delay(l, s)) << shards;
      }
    // A shard that rests is woken first, so a stamp may go a packet later.
    EXPECT_LE(rig.count(0, PortCounter::path_samples), one.count(0, PortCounter::path_samples));
    EXPECT_GT(rig.count(0, PortCounter::path_samples) * 3,
              one.count(0, PortCounter::path_samples) * 2);
    EXPECT_EQ(leftovers(rig.leaf(0)), "");
  }
}

// One shard chooses a path, another one sends the packet, by a configuration in which that member
// of the set is another path: a shim would sample what the packet does not take.
TEST(PathService, APacketOfAnOlderConfigurationGetsNoShim) {
  config::SwitchConfig config =
      PathFabric::shape_of({.service = with(config::ShimUse::every), .shards = 2}).leaves[0];
  config.ports[2].worker = 1;  // both uplinks
  auto made = Switch::create(config, {.shards = 2});
  ASSERT_TRUE(made.ok());
  Switch& object = **made;
  PacketPool pool(64, 256);
  ManualIo to_host(pool);
  ManualIo to_spines(pool);
  to_host.links = {{PortId(0), true}};
  to_spines.links = {{PortId(1), true}, {PortId(2), true}};
  Instant now;
  const auto poll = [&](size_t shard, ManualIo& io) {
    now = now + 1_us;
    io.complete(now);
    object.shard(ShardId(shard)).poll(io, now);
  };
  for (int i = 0; i < 3; ++i) {
    poll(0, to_host);
    poll(1, to_spines);
  }
  const auto ethertype_of_next = [&](bool reconfigures) {
    to_host.arrive(PortId(0), udp_frame({.destination_mac = port_mac(config, 0),
                                         .source = host_ip(1, 1),
                                         .destination = host_ip(2, 1),
                                         .dscp = kLosslessDscp,
                                         .frame_len = 200}));
    poll(0, to_host);
    if (reconfigures) std::ranges::reverse(config.leaves[0].paths);
    EXPECT_TRUE(object.reconfigure(config).ok());
    to_spines.sent.clear();
    poll(1, to_spines);
    for (const Sent& sent : to_spines.sent)
      if (sent.wire_len >= 200) return load_be16(sent.frame.data() + 12);
    return uint16_t{0};
  };
  EXPECT_EQ(ethertype_of_next(false), kEtherTypeShim);
  EXPECT_EQ(ethertype_of_next(true), kEtherTypeIpv4);
}

TEST(PathService, ASilentPathIsSuspectedAndForgotten) {
  PathFabric rig({.service = with(config::ShimUse::sampled, 32_us), .spines = 1});
  rig.run_for(100_us);
  ASSERT_TRUE(rig.delay(0, 0).has_value());
  rig.fabric.set_link(rig.spines[0], PortId(1), false);  // beyond what the leaf sees
  rig.run_for(300_us);
  EXPECT_EQ(rig.delay(0, 0), std::nullopt);
  EXPECT_FALSE(rig.record(0, 0).known());
  EXPECT_GE(rig.record(0, 0).suspicion, 6);
  EXPECT_EQ(rig.count(0, PortCounter::path_unanswered), rig.record(0, 0).suspicion);
  rig.fabric.set_link(rig.spines[0], PortId(1), true);
  rig.run_for(100_us);
  EXPECT_EQ(rig.record(0, 0).suspicion, 0);
  expect_about(rig.delay(0, 0), path_time(kProbe));
}

TEST(PathService, AMeasuredPathHasNoCreditForWhatWasMovedBefore) {
  PathFabric rig({});
  rig.run_for(100_us);
  lb::PathUse& use = rig.leaf(0).paths()->use(0, 1);
  use.move(5'000);
  EXPECT_EQ(use.moved, 5'000u);
  rig.run_for(100_us);
  EXPECT_EQ(use.moved, 0u);
}

TEST(PathService, MarksAndLoadOfThePathAreTold) {
  PathFabric rig({.service = with(config::ShimUse::every), .spines = 1});
  for (int i = 0; i < 800; ++i) {
    UdpSpec spec = rig.packet(0);
    spec.ecn = i % 2 == 0 ? 3 : 2;  // every other one is marked
    rig.fabric.inject(rig.leaves[0], PortId(0), udp_frame(spec), 1000);
    rig.run_for(1_us);
    if (i % 4 == 0) rig.send(1);
  }
  const lb::PathRecord& record = rig.record(0, 0);
  EXPECT_NEAR(record.marked, 65'535.0 / 2, 65'535.0 / 8);
  EXPECT_NEAR(record.congestion, 255 * 0.82, 255.0 / 6) << "of the spine's port";
  EXPECT_EQ(rig.record(1, 0).marked, 0) << "not ECN-capable";
  EXPECT_LT(rig.record(1, 0).congestion, 255 / 3);
}

// 32 octets more a packet leave what they took, to the byte, with cells of one octet.
TEST(PathService, WhatAShimAddsIsChargedAndGivenBack) {
  LeafSpine shape = leaf_spine({.leaves = 2, .spines = 1, .hosts = 1});
  config::SwitchConfig leaf = shape.leaves[0];
  leaf.path_service = with(config::ShimUse::every);
  leaf.buffer.cell_bytes = 1;
  OneSwitch rig(leaf);
  rig.inject(1, pause_frame(bit(kLossless), 0xffff));
  UdpSpec spec{.destination_mac = port_mac(leaf, 0),
               .source_mac = host_mac(1, 1),
               .source = host_ip(1, 1),
               .destination = host_ip(2, 1),
               .dscp = kLosslessDscp};
  spec.frame_len = 200;
  rig.inject(0, udp_frame(spec));
  rig.run_for(1_us);
  EXPECT_EQ(rig.object().pg_status(PortId(0), PriorityGroupId(3)).used, 232);
  EXPECT_EQ(rig.object().queue_status(PortId(1), QueueId(3)).used, 232);
  rig.inject(1, pause_frame(bit(kLossless), 0));
  rig.run_for(10_us);
  ASSERT_EQ(rig.seen(1).size(), 1u);
  EXPECT_EQ(rig.seen(1)[0].wire_len, 232u);
  EXPECT_EQ(leftovers(rig.object()), "");
}

std::vector<PathRow> rows_of(PathFabric& rig, size_t l) {
  std::vector<PathRow> rows(8);
  Command dump{.kind = Command::Kind::dump_paths, .path_rows = rows};
  EXPECT_TRUE(rig.leaf(l).post(ShardId(0), dump));
  rig.fabric.poll(rig.leaves[l]);
  EXPECT_TRUE(dump.done.load());
  rows.resize(dump.row_count);
  return rows;
}

TEST(PathService, ARowTellsWhatIsKnownOfAPath) {
  PathFabric rig({.service = with(config::ShimUse::sampled, 40_us), .leaves = 3});
  const std::vector<PathRow> unknown = rows_of(rig, 0);
  ASSERT_EQ(unknown.size(), 4u) << "two sets of two members";
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(unknown[i].leaf, LeafId(2 + i / 2));
    EXPECT_EQ(unknown[i].member, i % 2);
    EXPECT_TRUE(unknown[i].live);
    EXPECT_FALSE(unknown[i].measured || unknown[i].failed || unknown[i].last);
    EXPECT_EQ(unknown[i].delay, Duration{});
    EXPECT_EQ(unknown[i].least_delay, Duration{});
    EXPECT_EQ(unknown[i].age, Duration{});
  }
  rig.run_for(100_us);
  rig.fabric.set_link(rig.spines[1], PortId(1), false);  // to leaf 2, beyond what leaf 1 sees
  rig.run_for(100_us);
  const std::vector<PathRow> known = rows_of(rig, 0);
  EXPECT_TRUE(known[0].measured);
  EXPECT_EQ(known[0].delay, rig.delay(0, 0));
  EXPECT_EQ(known[0].least_delay, rig.leaf(0).paths()->least_delay(0, 0));
  EXPECT_LE(known[0].age, 45_us);
  EXPECT_EQ(known[0].age, rig.record(0, 0).age(rig.fabric.now()));
  EXPECT_EQ(known[0].unanswered, 0);
  EXPECT_EQ(known[1].unanswered, rig.record(0, 1).suspicion) << "silent now";
  EXPECT_GT(known[1].unanswered, 0);
  EXPECT_GT(known[1].least_delay, Duration{}) << "as it was";
  EXPECT_EQ(known[3].unanswered, 0) << "the same spine, another leaf";
  rig.fabric.set_link(rig.leaves[0], PortId(1), false);
  const std::vector<PathRow> down = rows_of(rig, 0);
  for (size_t i = 0; i < 4; ++i) EXPECT_EQ(down[i].live, i % 2 == 1) << i;
}

// An aggregation switch: port 0 down to leaf 1, ports 1 to 3 up, each leading to leaf 2.
config::SwitchConfig aggregation() {
  config::SwitchConfig config = bare_switch("agg", 9);
  for (const char* name : {"leaf1", "core1", "core2", "core3"}) {
    add_fabric_port(config, name, 10_Gbps);
    config.ports.back().peer_mac = host_mac(9, config.ports.size());
  }
  config.leaves = {{LeafId(2), {{"core1", 1, {}}, {"core2", 1, {}}, {"core3", 1, {}}}}};
  config.routes = {{prefix("10.2.0.0/16"), LeafId(2), {}}};
  return config;
}

struct Pinned {
  Pinned() : rig(aggregation()) {}
  // From leaf 1 to leaf 2; returns the shim as it went on, and says by which port.
  Shim send(PathId path, uint8_t hops = 0) {
    UdpSpec spec{.destination_mac = port_mac(rig.config, 0),
                 .source = host_ip(1, 1),
                 .destination = host_ip(2, 1),
                 .dscp = kLosslessDscp};
    const Frame plain = udp_frame(spec);
    Frame frame(plain.size() + kShimHeader);
    std::copy_n(plain.begin(), 12, frame.begin());
    store_be16(frame.data() + 12, kEtherTypeShim);
    encode(Shim{.flags = kShimPinned,
                .source_leaf = LeafId(1),
                .destination_leaf = LeafId(2),
                .path = path,
                .hop_count = hops,
                .inner_ethertype = kEtherTypeIpv4},
           Octets(frame).subspan(14));
    std::copy(plain.begin() + 14, plain.end(), frame.begin() + 46);
    for (size_t i = 1; i <= 3; ++i) rig.seen(i).clear();
    rig.inject(0, frame);
    rig.run_for(1_us);
    Shim shim;
    for (port = 1; port <= 3; ++port)
      if (!rig.seen(port).empty()) {
        EXPECT_EQ(decode(ConstOctets(rig.seen(port)[0].frame).subspan(14), shim), CodecVerdict::ok);
        break;
      }
    return shim;
  }
  OneSwitch rig;
  size_t port = 0;
};

TEST(PathPinning, TheSecondSwitchObeysThePathId) {
  Pinned pinned;
  for (const size_t second : {2u, 0u, 1u}) {
    const Shim shim = pinned.send(PathId(0x0500 | second));
    EXPECT_EQ(pinned.port, 1 + second);
    EXPECT_EQ(shim.flags, kShimPinned);
    EXPECT_EQ(shim.hop_count, 1);
    EXPECT_EQ(shim.path, PathId(0x0500 | second));
  }
  EXPECT_EQ(count(pinned.rig.object(), 0, PortCounter::path_deviated_packets), 0u);
  EXPECT_EQ(leftovers(pinned.rig.object()), "");
}

TEST(PathPinning, ADownPortIsGoneAroundAndCounted) {
  Pinned pinned;
  pinned.rig.fabric.set_link(pinned.rig.node, PortId(2), false);
  const Shim shim = pinned.send(PathId(0x0501));
  EXPECT_TRUE(pinned.port == 1 || pinned.port == 3);
  EXPECT_EQ(shim.flags, 0) << "it did not keep its way";
  EXPECT_EQ(count(pinned.rig.object(), 0, PortCounter::path_deviated_packets), 1u);
  pinned.send(PathId(0x0509));
  EXPECT_EQ(count(pinned.rig.object(), 0, PortCounter::path_deviated_packets), 2u) << "no such way";
}

TEST(PathPinning, HopByHopOrFurtherOnTheSchemeChoosesAndTheWayIsNotKept) {
  Pinned pinned;
  const Shim free = pinned.send(PathId(0x05ff));
  EXPECT_EQ(free.flags, 0);
  const size_t by_scheme = pinned.port;
  for (const size_t second : {0u, 1u, 2u}) {
    const Shim later = pinned.send(PathId(0x0500 | second), 1);
    EXPECT_EQ(later.flags, 0);
    EXPECT_EQ(pinned.port, by_scheme) << "the third switch";
  }
  EXPECT_EQ(count(pinned.rig.object(), 0, PortCounter::path_deviated_packets), 0u);
}

// Two paths by each uplink, which every packet must say, whatever the scheme needs.
TEST(PathPinning, ALeafWithPinnedPathsSaysWhichOnEveryPacket) {
  config::SwitchConfig leaf = leaf_spine({.leaves = 2, .spines = 2, .hosts = 1}).leaves[0];
  leaf.leaves[0].paths = {{"spine1", 1, PathId(0x0000)},
                          {"spine1", 1, PathId(0x0001)},
                          {"spine2", 1, PathId(0x0100)},
                          {"spine2", 1, PathId(0x0101)}};
  OneSwitch rig(leaf);
  for (uint16_t i = 0; i < 64; ++i) {
    UdpSpec spec{.destination_mac = port_mac(leaf, 0),
                 .source = host_ip(1, 1),
                 .destination = host_ip(2, 1)};
    spec.source_port = i;
    rig.inject(0, udp_frame(spec));
  }
  rig.run_for(20_us);
  std::map<size_t, size_t> packets;
  for (const size_t port : {1u, 2u})
    for (const Arrival& arrival : rig.seen(port)) {
      Shim shim;
      ASSERT_EQ(decode(ConstOctets(arrival.frame).subspan(14), shim), CodecVerdict::ok);
      EXPECT_EQ(shim.path.index() >> 8, port - 1);
      EXPECT_EQ(shim.flags & kShimRttRequest, 0) << "nothing is measured";
      ++packets[shim.path.index()];
    }
  EXPECT_EQ(packets.size(), 4u) << "each path is used";
  EXPECT_EQ(rig.seen(1).size() + rig.seen(2).size(), 64u);
  EXPECT_EQ(rig.object().paths(), nullptr);
}

}  // namespace
}  // namespace eddy::test
