// What a capture of a switch sees: packets as they come, go and end, with what was decided about
// them; and that it changes nothing else.
#include "switch/dataplane/object/capture.h"

#include <gtest/gtest.h>

#include "net/cnm.h"
#include "net/ethernet.h"
#include "switch/dataplane/object/switch.h"
#include "tests/support/one_switch.h"
#include "tests/support/topologies.h"
#include "tests/support/warning_frame.h"

namespace eddy::test {
namespace {

constexpr uint8_t kEverything = (1u << kCaptureDirections) - 1;

// The rings of a switch, and what came out of them.
struct Capture {
  explicit Capture(Switch& captured, uint8_t directions = kEverything, size_t octets = 1u << 20)
      : object(captured) {
    for (size_t shard = 0; shard < object.shard_count(); ++shard) {
      auto ring = std::make_unique<Ring>(octets);
      ring->order.ports.set();
      ring->order.directions = directions;
      ring->order.ring = CaptureWriter(ring->state, ring->tail, ring->data);
      rings.push_back(std::move(ring));
    }
  }
  ~Capture() { end(); }
  void begin() {
    for (size_t shard = 0; shard < rings.size(); ++shard)
      capture(object.shard(ShardId(shard)), &rings[shard]->order);
  }
  void end() {
    for (size_t shard = 0; shard < rings.size(); ++shard)
      capture(object.shard(ShardId(shard)), nullptr);
  }
  // Since the last time.
  std::vector<CaptureRecord> read() {
    std::vector<CaptureRecord> out;
    frames.clear();
    for (auto& ring : rings) {
      CapturedPacket packet;
      while (ring->reader.next(packet)) {
        out.push_back(packet.head);
        frames.emplace_back(packet.frame.begin(), packet.frame.end());
      }
      EXPECT_FALSE(ring->reader.broken());
      ring->reader.release();
    }
    return out;
  }
  std::vector<CaptureRecord> read(CaptureDirection direction) {
    std::vector<CaptureRecord> all = read();
    std::erase_if(all, [=](const CaptureRecord& each) { return each.direction != direction; });
    return all;
  }
  uint64_t lost(size_t port) const {
    uint64_t sum = 0;
    for (const auto& ring : rings) sum += ring->reader.lost(port);
    return sum;
  }

  struct Ring {
    explicit Ring(size_t octets) : data(octets), reader(state, tail, data) {}
    CaptureRingState state;
    CaptureRingTail tail;
    std::vector<uint8_t> data;
    CaptureReader reader;
    CaptureOrder order;
  };
  Switch& object;
  std::vector<std::unique_ptr<Ring>> rings;
  std::vector<Frame> frames;  // of what was read
};

TEST(Capture, APacketComesAndGoes) {
  OneSwitch rig(hosts_switch(2));
  Capture capture(rig.object());
  capture.rings[0]->order.zero_ns = 5'000'000'000;
  capture.begin();
  rig.run_for(10_us);
  rig.send(0, 1, kLosslessDscp, 1'000);
  rig.run_for(10_us);
  const std::vector<CaptureRecord> seen = capture.read();
  ASSERT_EQ(seen.size(), 2u);
  EXPECT_EQ(seen[0].direction, CaptureDirection::in);
  EXPECT_EQ(seen[0].port, 0);
  EXPECT_EQ(seen[0].from, kCaptureNoPort);
  EXPECT_EQ(seen[0].wire_len, 1'000u);
  EXPECT_EQ(seen[0].captured, 128);  // what can be read of it
  EXPECT_EQ(seen[0].pg, 3);
  EXPECT_EQ(seen[0].queue, 3);
  EXPECT_EQ(seen[0].reason, kCaptureNone);
  EXPECT_EQ(seen[1].direction, CaptureDirection::out);
  EXPECT_EQ(seen[1].port, 1);
  EXPECT_EQ(seen[1].from, 0);
  EXPECT_EQ(seen[1].pg, 3);
  EXPECT_EQ(seen[1].queue, 3);
  EXPECT_EQ(seen[1].decisions, 0);
  // Its last bit leaves when the line of 10 Gb/s has carried it.
  EXPECT_EQ(seen[0].stamp_ns, 5'000'010'000u);
  EXPECT_GE(seen[1].stamp_ns, seen[0].stamp_ns + 800);
  EXPECT_LE(seen[1].stamp_ns, seen[0].stamp_ns + 900);
  // Each as it was there: one router further the TTL is less by one.
  EXPECT_EQ(capture.frames[0][22] - 1, capture.frames[1][22]);
}

TEST(Capture, TellsWhyAPacketEnded) {
  OneSwitch rig(hosts_switch(2));
  Capture capture(rig.object());
  capture.begin();
  UdpSpec lost = between(rig.config, 0, 1);
  lost.destination = ip("192.0.2.1");
  rig.inject(0, udp_frame(lost));
  rig.inject(1, Frame(10));
  rig.run_for(1_us);
  const std::vector<CaptureRecord> drops = capture.read(CaptureDirection::drop);
  ASSERT_EQ(drops.size(), 2u);
  EXPECT_EQ(drops[0].reason, static_cast<uint8_t>(DropReason::no_route));
  EXPECT_EQ(drops[0].port, 0);
  EXPECT_EQ(drops[0].pg, 0);
  EXPECT_EQ(drops[1].reason, static_cast<uint8_t>(DropReason::runt));
  EXPECT_EQ(drops[1].port, 1);
  EXPECT_EQ(drops[1].pg, kCaptureNone);  // it got no class
}

TEST(Capture, OnlyWhatIsWanted) {
  OneSwitch rig(hosts_switch(3));
  Capture capture(rig.object(), 1u << static_cast<unsigned>(CaptureDirection::out));
  capture.rings[0]->order.ports.reset().set(1);
  capture.rings[0]->order.snap = 14;
  capture.begin();
  rig.send(0, 1, kLossyDscp);
  rig.send(1, 2, kLossyDscp);
  rig.run_for(10_us);
  const std::vector<CaptureRecord> seen = capture.read();
  ASSERT_EQ(seen.size(), 1u);
  EXPECT_EQ(seen[0].port, 1);
  EXPECT_EQ(seen[0].captured, 14);
  EXPECT_EQ(seen[0].wire_len, 1'000u);
}

TEST(Capture, ClassesOfFramesThatCome) {
  config::SwitchConfig config = hosts_switch(2);
  OneSwitch rig(config);
  Capture capture(rig.object(), 1u << static_cast<unsigned>(CaptureDirection::in));
  capture.begin();
  UdpSpec six = between(rig.config, 0, 1, kOtherLosslessDscp);
  six.source = ip("fd00:0:1::2");
  six.destination = ip("fd00:0:1:1::2");
  rig.inject(0, udp_frame(six));
  UdpSpec tagged = between(rig.config, 0, 1, kLossyDscp);
  tagged.tags = 1;
  rig.inject(0, udp_frame(tagged));
  rig.inject(0, Frame(60));
  rig.run_for(1_us);
  const std::vector<CaptureRecord> seen = capture.read();
  ASSERT_EQ(seen.size(), 3u);
  EXPECT_EQ(seen[0].pg, 4);
  EXPECT_EQ(seen[0].queue, 4);
  EXPECT_NE(seen[1].pg, kCaptureNone);
  EXPECT_EQ(seen[2].pg, kCaptureNone);  // neither IP nor anything
  EXPECT_EQ(seen[2].queue, kCaptureNone);
}

TEST(Capture, FramesOfOurOwnComeFromNoPort) {
  OneSwitch rig(hosts_switch(1));
  rig.run_for(1_us);
  Capture capture(rig.object(), 1u << static_cast<unsigned>(CaptureDirection::out));
  capture.begin();
  UdpSpec last = between(rig.config, 0, 0);
  last.destination = ip("192.0.2.1");  // no route: the sender is told by ICMP
  rig.inject(0, udp_frame(last));
  rig.run_for(10_us);
  const std::vector<CaptureRecord> seen = capture.read();
  ASSERT_EQ(seen.size(), 1u);
  EXPECT_EQ(seen[0].from, kCaptureNoPort);
  EXPECT_EQ(seen[0].pg, kCaptureNone);
}

TEST(Capture, WhatTheDeviceRefusesHasNotLeft) {
  OneSwitch rig(hosts_switch(2));
  rig.fabric.limit_transmit(rig.node, PortId(1), 0);
  Capture capture(rig.object(), 1u << static_cast<unsigned>(CaptureDirection::out));
  capture.begin();
  for (int i = 0; i < 3; ++i) rig.send(0, 1, kLosslessDscp);
  rig.run_for(20_us);
  EXPECT_TRUE(capture.read().empty());
  rig.fabric.limit_transmit(rig.node, PortId(1), 65'535);
  rig.run_for(20_us);
  EXPECT_EQ(capture.read().size(), 3u);
}

TEST(Capture, WhatTheRingCannotTakeIsCountedAndGoesItsWay) {
  OneSwitch rig(hosts_switch(2));
  Capture capture(rig.object(), kEverything, 4'096);
  capture.begin();
  for (int i = 0; i < 40; ++i) rig.send(0, 1, kLosslessDscp);
  rig.run_for(100_us);
  EXPECT_EQ(rig.seen(1).size(), 40u);
  const std::vector<CaptureRecord> seen = capture.read();
  EXPECT_EQ(seen.size(), 4'096u / capture_record_size(128));
  EXPECT_EQ(seen.size() + capture.lost(0) + capture.lost(1), 80u);
  rig.send(0, 1, kLosslessDscp);  // there is room again
  rig.run_for(10_us);
  EXPECT_EQ(capture.read().size(), 2u);
}

TEST(Capture, EndsAndBeginsAnew) {
  OneSwitch rig(hosts_switch(2));
  for (int round = 0; round < 2; ++round) {
    Capture capture(rig.object());
    capture.begin();
    rig.send(0, 1, kLossyDscp);
    rig.run_for(10_us);
    EXPECT_EQ(capture.read().size(), 2u);
    capture.end();
    rig.send(0, 1, kLossyDscp);
    rig.inject(0, Frame(10));
    rig.run_for(10_us);
    EXPECT_TRUE(capture.read().empty());
  }
  EXPECT_EQ(rig.seen(1).size(), 4u);
}

TEST(Capture, GoesOnThroughAReloadAndARebase) {
  OneSwitch rig(hosts_switch(2));
  Capture capture(rig.object());
  capture.begin();
  ASSERT_TRUE(rig.object().reconfigure(rig.config).ok());
  rig.run_for(1_us);
  rig.send(0, 1, kLossyDscp);
  rig.run_for(10_us);
  EXPECT_EQ(capture.read().size(), 2u);
  rig.fabric.rebase_every = 1;
  rig.send(0, 1, kLossyDscp);
  rig.run_for(10_us);
  const std::vector<CaptureRecord> seen = capture.read();
  ASSERT_EQ(seen.size(), 2u);
  for (const CaptureRecord& each : seen) {
    EXPECT_GE(each.stamp_ns, 11'000u);  // as before, whatever the clock showed
    EXPECT_LE(each.stamp_ns, 21'000u);
  }
}

TEST(Capture, SeveralShardsHaveARingEach) {
  config::SwitchConfig config = hosts_switch(2);
  spread_over_workers(config, 2);
  OneSwitch rig(config, 2);
  Capture capture(rig.object());
  capture.begin();
  rig.send(0, 1, kLossyDscp);
  rig.run_for(10_us);
  const std::vector<CaptureRecord> seen = capture.read();
  ASSERT_EQ(seen.size(), 2u);
  EXPECT_EQ(seen[0].direction, CaptureDirection::in);  // of shard 0
  EXPECT_EQ(seen[1].direction, CaptureDirection::out);
  EXPECT_EQ(seen[1].from, 0);
}

// A leaf with uplinks 2 and 3 that RLB watches.
config::SwitchConfig rlb_leaf() {
  config::SwitchConfig config = leaf_spine({.leaves = 3, .spines = 2}).leaves[0];
  config.rlb = config::rlb_preset(config::RlbPreset::standard);
  config.rlb.all_warned = config::AllWarned::wait_once;
  config.rlb.guard.mode = config::GuardMode::follow;
  config.path_service.shim = config::ShimUse::off;
  config.load_balancer.scheme = "ecmp";
  return config;
}

struct RlbRig : OneSwitch {
  RlbRig() : OneSwitch(rlb_leaf()) { run_for(1_us); }

  // Of the peer behind the uplink.
  void warn(size_t uplink) {
    inject(uplink, warning_frame(config, uplink, {.sequence = ++sequence}));
    run_for(100_ns);
  }
  // Packets of different flows, up to leaf 2.
  void up(size_t packets) {
    for (size_t i = 0; i < packets; ++i) {
      UdpSpec spec{.destination_mac = port_mac(config, 0),
                   .source_mac = host_mac(1, 1),
                   .source = host_ip(1, 1),
                   .destination = host_ip(2, 1),
                   .dscp = kLosslessDscp};
      spec.source_port = static_cast<uint16_t>(1'000 + i);
      inject(0, udp_frame(spec));
    }
    run_for(100_us);
  }
  uint64_t counted(PortCounter which) {
    return object().counters(ShardId(0))[PortId(0)].port.read(which);
  }
  uint32_t sequence = 0;
};

size_t with(const std::vector<CaptureRecord>& records, CaptureDecision decision) {
  return static_cast<size_t>(std::ranges::count_if(
      records, [=](const CaptureRecord& each) { return (each.decisions & decision) != 0; }));
}

TEST(Capture, TellsWhatRlbDecided) {
  RlbRig rig;
  Capture capture(rig.object(), 1u << static_cast<unsigned>(CaptureDirection::out));
  capture.begin();
  rig.warn(2);
  rig.up(32);
  std::vector<CaptureRecord> seen = capture.read();
  EXPECT_EQ(seen.size(), 32u);
  const size_t moved =
      rig.counted(PortCounter::rlb_rerouted_packets) + rig.counted(PortCounter::rlb_placed_flows);
  EXPECT_GT(moved, 0u);
  EXPECT_LT(moved, 32u);
  EXPECT_EQ(with(seen, kCaptureRerouted) + with(seen, kCapturePlaced), moved);
  for (const CaptureRecord& each : seen) EXPECT_EQ(each.port, 3);  // away from what warns
  rig.warn(3);
  rig.up(32);
  seen = capture.read();
  EXPECT_EQ(seen.size(), 32u);
  EXPECT_EQ(with(seen, kCaptureRecirculated), rig.counted(PortCounter::rlb_waiting_packets));
  EXPECT_GT(with(seen, kCaptureRecirculated), 0u);
  for (const CaptureRecord& each : seen)
    EXPECT_EQ(each.rounds != 0, (each.decisions & kCaptureRecirculated) != 0);
}

// A packet's memory has what another one left there.
TEST(Capture, ANoteIsThePacketsOwn) {
  RlbRig rig;
  Capture capture(rig.object(), 1u << static_cast<unsigned>(CaptureDirection::out));
  capture.begin();
  rig.warn(2);
  rig.up(32);
  EXPECT_GT(with(capture.read(), kCaptureRerouted), 0u);
  rig.run_for(2'000_us);  // the warning has expired
  rig.up(32);
  const std::vector<CaptureRecord> seen = capture.read();
  EXPECT_GE(seen.size(), 32u);
  for (const CaptureRecord& each : seen) EXPECT_EQ(each.decisions, 0);
}

// Everything that the shard has counted.
std::vector<uint64_t> counted(Switch& object) {
  std::vector<uint64_t> all;
  const Counters& counters = object.counters(ShardId(0));
  for (size_t i = 0; i < counters.port_count(); ++i) {
    const PortCounters port = counters[PortId(i)];
    for (size_t which = 0; which < kPortCounters; ++which) all.push_back(port.port.read(which));
    for (size_t which = 0; which < kDropReasons; ++which) all.push_back(port.drops.read(which));
  }
  return all;
}

TEST(Capture, ChangesNothing) {
  const auto run = [](bool captured) {
    RlbRig rig;
    Capture capture(rig.object());
    if (captured) capture.begin();
    for (int round = 0; round < 4; ++round) {
      rig.up(32);
      rig.warn(2);
      rig.up(32);
      rig.warn(3);
      rig.up(40);
    }
    std::vector<uint64_t> all = counted(rig.object());
    for (const size_t port : {2u, 3u})
      for (const Arrival& each : rig.seen(port)) all.push_back(static_cast<uint64_t>(each.at.ps()));
    return all;
  };
  EXPECT_EQ(run(true), run(false));
}

}  // namespace
}  // namespace eddy::test
