// The loop in the switch: packets wait in it, in order, within limits, and always come out.
#include "switch/dataplane/pipeline/recirculation.h"

#include <gtest/gtest.h>

#include "lb/registry.h"
#include "net/cnm.h"
#include "net/ethernet.h"
#include "net/shim.h"
#include "switch/dataplane/object/shard.h"
#include "tests/support/counted.h"
#include "tests/support/manual_io.h"
#include "tests/support/one_switch.h"
#include "tests/support/warning_frame.h"

namespace eddy::test {
namespace {

constexpr size_t kHost = 0;
constexpr size_t kFirstUplink = 2;

// Host ports 0 and 1, uplinks 2 and 3; whatever is warned everywhere waits one round.
config::SwitchConfig leaf() {
  config::SwitchConfig config = leaf_spine({.leaves = 3, .spines = 2}).leaves[0];
  config.rlb = config::rlb_preset(config::RlbPreset::standard);
  config.rlb.all_warned = config::AllWarned::wait_once;
  config.rlb.guard.mode = config::GuardMode::follow;
  config.path_service.shim = config::ShimUse::off;  // nothing on the links but what is injected
  config.load_balancer.scheme = "ecmp";
  return config;
}

struct Rig : OneSwitch {
  explicit Rig(const config::SwitchConfig& with = leaf(), size_t shards = 1)
      : OneSwitch(with, shards) {
    run_for(1_us);
  }
  // Of the peer behind the uplink, or of `origin`, for all that goes there.
  void warn(size_t uplink, uint8_t severity = 20, size_t origin = 0) {
    inject(uplink, warning_frame(config, uplink, {severity, ++sequence, origin}));
  }
  void warn_both(uint8_t severity = 20) {
    warn(2, severity);
    warn(3, severity);
    run_for(100_ns);
  }
  // Packet `number` of the flow, up to leaf 2.
  void up(uint16_t flow, uint8_t number, size_t wire_len = 1000) {
    UdpSpec spec{.destination_mac = port_mac(config, kHost),
                 .source_mac = host_mac(1, 1),
                 .source = host_ip(1, 1),
                 .destination = host_ip(2, 1),
                 .dscp = kLosslessDscp};
    spec.source_port = static_cast<uint16_t>(1'000 + flow);
    spec.frame_len = wire_len;
    spec.readable_len = 128;
    Frame frame = udp_frame(spec);
    frame[100] = number;
    frame[101] = static_cast<uint8_t>(flow);
    inject(kHost, frame, wire_len);
  }
  // Where up() wrote, behind a shim if there is one; 0: it is another frame.
  static size_t payload_of(const Frame& frame) {
    const uint16_t ethertype = load_be16(frame.data() + 12);
    const size_t at = ethertype == kEtherTypeShim ? 100 + kShimHeader : 100;
    const bool ours = ethertype == kEtherTypeShim || ethertype == kEtherTypeIpv4;
    return ours && frame.size() > at + 1 ? at : 0;
  }
  struct Out {
    Instant at;
    size_t port;
    uint8_t flow, number;
  };
  std::vector<Out> out() {
    std::vector<Out> all;
    for (size_t port = kFirstUplink; port < 4; ++port)
      for (const Arrival& arrival : seen(port))
        if (const size_t at = payload_of(arrival.frame); at != 0)
          all.push_back({arrival.at, port, arrival.frame[at + 1], arrival.frame[at]});
    std::ranges::sort(all, {}, &Out::at);
    return all;
  }
  bool in_order() {
    std::array<int, 256> last{};
    for (const Out& packet : out()) {
      if (packet.number != last[packet.flow] + 1) return false;
      last[packet.flow] = packet.number;
    }
    return true;
  }
  uint64_t counted(PortCounter which) { return count(object(), kHost, which); }

  uint32_t sequence = 0;
};

TEST(Recirculation, APacketGoesRoundOnceAndIsHeldMeanwhile) {
  Rig rig;
  rig.warn_both();
  rig.up(1, 1);
  rig.run_for(500_ns);
  EXPECT_TRUE(rig.out().empty());
  EXPECT_EQ(rig.object().balance().held, 1u);
  EXPECT_TRUE(rig.object().balance().holds());
  EXPECT_EQ(rig.object().pg_status(PortId(kHost), PriorityGroupId(3)).used, 1'024)
      << "it stays charged";
  rig.run_for(10_us);
  ASSERT_EQ(rig.out().size(), 1u);
  EXPECT_EQ(rig.counted(PortCounter::rlb_waiting_packets), 1u);
  EXPECT_EQ(rig.counted(PortCounter::rlb_rounds_1), 1u);
  uint64_t waits = 0;
  for (size_t step = 0; step < DelayHistogram::kSteps; ++step)
    waits += rig.object().waits(ShardId(0)).count(step);
  EXPECT_EQ(waits, 1u);
  EXPECT_EQ(leftovers(rig.object()), "");
}

TEST(Recirculation, TheRoundIsATimerThatTheSwitchAnnounces) {
  Rig rig;
  rig.warn_both();
  rig.up(1, 1);
  rig.run_for(1_ns);
  const Instant entered = rig.fabric.now();
  const Instant next = rig.object().shard(ShardId(0)).next_deadline();
  EXPECT_GE(next, entered);
  EXPECT_LE(next, entered + 1'900_ns) << "a round: 1 us and 1,000 octets at line rate";
}

// Golden vector I-19.
TEST(Recirculation, WhatComesBehindAWaitingPacketLeavesBehindIt) {
  Rig rig;
  rig.warn_both();
  rig.up(1, 1);
  rig.run_for(300_ns);
  rig.warn_both(0);
  rig.up(1, 2);
  rig.run_for(200_ns);
  EXPECT_EQ(rig.object().balance().held, 2u);
  EXPECT_EQ(rig.counted(PortCounter::rlb_followed_packets), 1u);
  rig.run_for(5_us);
  EXPECT_EQ(rig.object().balance().held, 0u) << "the flow is out of the loop at once";
  rig.up(1, 3);
  rig.run_for(10_us);
  ASSERT_EQ(rig.out().size(), 3u);
  EXPECT_TRUE(rig.in_order());
  EXPECT_EQ(rig.counted(PortCounter::rlb_waiting_packets), 1u);
  EXPECT_EQ(rig.counted(PortCounter::rlb_followed_packets), 1u);
}

// That a packet waits is no choice of a path: no scheme's memory and no guard's may hear of it.
// A packet each half round: of a flow that is flushed those that come later go straight on; in the
// loop each finds one before it, long after the warning.
TEST(Recirculation, InALoopAFlowKeepsItselfInside) {
  for (const bool loops : {false, true}) {
    config::SwitchConfig config = leaf();
    if (loops) config.rlb.recirculation.follow_release = config::FollowRelease::loop;
    Rig rig(config);
    rig.warn_both();
    for (uint8_t number = 1; number <= 40; ++number) {
      if (number == 4) {
        rig.warn(2, 0);
        rig.warn(3, 0);
      }
      rig.up(1, number, 500);
      rig.run_for(600_ns);
    }
    if (!loops) {
      EXPECT_EQ(rig.object().balance().held, 0u);
      EXPECT_EQ(rig.counted(PortCounter::rlb_idle_round_bytes), 0u);
      EXPECT_LT(rig.counted(PortCounter::rlb_followed_packets), 4u);
    } else {
      EXPECT_GT(rig.object().balance().held, 0u);
      EXPECT_EQ(rig.counted(PortCounter::rlb_followed_packets), 39u);
      EXPECT_GE(rig.counted(PortCounter::rlb_idle_round_bytes), 36u * 500);
      EXPECT_LT(rig.counted(PortCounter::rlb_idle_round_bytes),
                rig.counted(PortCounter::rlb_round_bytes));
    }
    rig.run_for(10_us);
    EXPECT_EQ(rig.out().size(), 40u);
    EXPECT_TRUE(rig.in_order());
    EXPECT_EQ(leftovers(rig.object()), "");
  }
}

// Of so many flows some fall into one bucket of the loop.
TEST(Recirculation, AFlowThatIsLetOutOfTheLoopTakesNoOtherAlong) {
  config::SwitchConfig config = leaf();
  config.rlb.recirculation.follow_release = config::FollowRelease::loop;
  config.rlb.recirculation.latency = 100_us;
  config.rlb.recirculation.followers = 1;
  Rig rig(config);
  rig.warn_both();
  constexpr uint16_t kFlows = 60;
  for (uint16_t flow = 0; flow < kFlows; ++flow) rig.up(flow, 1, 200);
  for (uint16_t flow = 0; flow < kFlows; ++flow) {
    for (const uint8_t number : {2, 3}) rig.up(flow, number, 200);  // one too many
    EXPECT_EQ(rig.object().loop_use(ShardId(0)).octets, 200 * (kFlows - 1 - flow));
  }
  EXPECT_EQ(rig.counted(PortCounter::rlb_forced_packets), kFlows);
  rig.run_for(200_us);
  EXPECT_EQ(rig.out().size(), 3u * kFlows);
  EXPECT_TRUE(rig.in_order());
  EXPECT_EQ(leftovers(rig.object()), "");
}

// A leaf that knows how long its paths take: by the first uplink 1 us, by the second 40 us.
struct MeasuredRig : Rig {
  explicit MeasuredRig(const config::SwitchConfig& with) : Rig(with) {
    for (uint16_t flow = 1; flow <= kFlows; ++flow) up(flow, 1);
    run_for(40_us);
    echo(kFirstUplink, 1'000);
    echo(kFirstUplink + 1, 40'000);
    run_for(100_ns);
    EXPECT_EQ(count(object(), kFirstUplink, PortCounter::path_samples), 1u);
    EXPECT_EQ(count(object(), kFirstUplink + 1, PortCounter::path_samples), 1u);
  }
  // Of the first stamp that left by the uplink.
  void echo(size_t uplink, uint32_t delay_ns) {
    for (const Arrival& arrival : seen(uplink)) {
      Shim stamped;
      if (decode(ConstOctets(arrival.frame).subspan(14), stamped) != CodecVerdict::ok ||
          (stamped.flags & kShimRttRequest) == 0)
        continue;
      const Shim shim{.kind = ShimKind::feedback,
                      .flags = kShimRttEcho | kShimFeedback,
                      .source_leaf = LeafId(2),
                      .destination_leaf = LeafId(1),
                      .feedback_path = stamped.path,
                      .sent_ns = stamped.sent_ns + delay_ns,
                      .echoed_ns = stamped.sent_ns,
                      .feedback_packets = 1};
      Frame frame(128);
      const EthernetHeader header{host_mac(1, 1), host_mac(9, 9), kEtherTypeShim, 0, {}};
      size_t length = encode(header, frame);
      length += encode(ShimControl{.shim = shim}, Octets(frame).subspan(length));
      frame.resize(pad_frame(frame, length));
      return inject(uplink, frame);
    }
    ADD_FAILURE() << "no stamp left by uplink " << uplink;
  }
  // A flow whose path begins with the uplink.
  uint16_t flow_by(size_t uplink) {
    for (const Out& packet : out())
      if (packet.port == uplink) return packet.flow;
    ADD_FAILURE();
    return 0;
  }
  static constexpr uint16_t kFlows = 8;
};

// While the first of a flow makes its second round, the others are at different points of theirs,
// and one that comes then is in front of some that came before it.
TEST(Recirculation, ALoopKeepsTheOrderOfAFlowWhoseFirstPacketGoesRoundAgain) {
  config::SwitchConfig config = leaf();
  config.rlb.recirculation.follow_release = config::FollowRelease::loop;
  config.path_service = {.shim = config::ShimUse::sampled,
                         .common_clock = true,
                         .base_rtt = 8_us,
                         .probe = Duration{}};
  MeasuredRig rig(config);
  const uint16_t flow = rig.flow_by(kFirstUplink);
  rig.warn(kFirstUplink);
  rig.run_for(100_ns);
  for (uint8_t number = 2; number <= 20; ++number) {
    rig.up(flow, number, 500);
    rig.run_for(700_ns);
  }
  EXPECT_EQ(rig.counted(PortCounter::rlb_forced_packets), 0u);
  EXPECT_GT(rig.object().loop_use(ShardId(0)).rounds, 2u);
  rig.run_for(100_us);
  EXPECT_EQ(rig.out().size(), 8u + 19u);
  EXPECT_TRUE(rig.in_order());
  EXPECT_EQ(leftovers(rig.object()), "");
}

TEST(Recirculation, ALoopLetsAFlowOutInOrderWhenItIsFullOrALinkChanges) {
  config::SwitchConfig config = leaf();
  config.rlb.recirculation.follow_release = config::FollowRelease::loop;
  config.rlb.recirculation.followers = 3;
  Rig rig(config);
  rig.warn_both();
  for (uint8_t number = 1; number <= 5; ++number) rig.up(1, number, 500);
  EXPECT_EQ(rig.counted(PortCounter::rlb_forced_packets), 1u);
  for (uint8_t number = 1; number <= 3; ++number) rig.up(2, number, 500);
  rig.fabric.set_link(rig.node, PortId(3), false);
  rig.run_for(5_us);
  EXPECT_EQ(rig.out().size(), 8u);
  EXPECT_TRUE(rig.in_order());
  EXPECT_EQ(leftovers(rig.object()), "");
}

TEST(Recirculation, WaitsWithEverySchemeAndGuard) {
  for (const lb::SchemeInfo& scheme : lb::schemes()) {
    for (const auto mode : {config::GuardMode::follow, config::GuardMode::strict}) {
      SCOPED_TRACE(std::string(scheme.name) +
                   (mode == config::GuardMode::strict ? ", strict" : ""));
      config::SwitchConfig config = leaf();
      config.load_balancer.scheme = scheme.name;
      config.rlb.guard.mode = mode;
      Rig rig(config);
      rig.warn_both();
      for (uint8_t number = 1; number <= 3; ++number) {
        rig.up(1, number);
        rig.run_for(100_ns);
      }
      EXPECT_EQ(rig.object().balance().held, 3u);
      rig.run_for(10_us);
      EXPECT_EQ(rig.out().size(), 3u);
      EXPECT_TRUE(rig.in_order());
      EXPECT_EQ(leftovers(rig.object()), "");
    }
  }
}

TEST(Recirculation, AFlowWithTooManyFollowersLeavesAtOnceInOrder) {
  config::SwitchConfig config = leaf();
  config.rlb.recirculation.followers = 3;
  config.rlb.recirculation.latency = 100_us;
  Rig rig(config);
  rig.warn_both();
  for (uint8_t number = 1; number <= 4; ++number) rig.up(1, number);
  rig.run_for(1_us);
  EXPECT_TRUE(rig.out().empty());
  rig.up(1, 5);
  rig.run_for(20_us);
  EXPECT_EQ(rig.out().size(), 5u);
  EXPECT_TRUE(rig.in_order());
  EXPECT_EQ(rig.counted(PortCounter::rlb_forced_packets), 1u);
  rig.run_for(200_us);  // its round is over for nobody
  EXPECT_EQ(leftovers(rig.object()), "");
}

TEST(Recirculation, TheLoopAndAPortsShareOfItAreBounded) {
  for (const bool of_port : {false, true}) {
    config::SwitchConfig config = leaf();
    auto& recirculation = config.rlb.recirculation;
    (of_port ? recirculation.port_cap : recirculation.cap.emplace()) = Bytes(10'000);
    recirculation.latency = 50_us;
    Rig rig(config);
    rig.warn_both();
    for (size_t times = 1; times <= 3; ++times) {  // what leaves gives its share back
      for (uint16_t flow = 0; flow < 30; ++flow) rig.up(flow, static_cast<uint8_t>(times));
      rig.run_for(10_us);
      EXPECT_EQ(rig.object().balance().held, 10u) << of_port << ", time " << times;
      EXPECT_EQ(rig.object().loop_use(ShardId(0)).octets, 10'000);
      EXPECT_EQ(rig.object().loop_use(ShardId(0)).port_octets, 10'000);
      rig.run_for(100_us);
      EXPECT_EQ(rig.out().size(), 30u * times);
      EXPECT_EQ(rig.object().loop_use(ShardId(0)).octets, 0);
      EXPECT_EQ(rig.object().loop_use(ShardId(0)).port_octets, 0);
      EXPECT_EQ(leftovers(rig.object()), "");
    }
  }
}

// What follows a waiting packet takes as much of the loop, and of its port's share, as one that
// goes round, and gives it back when its flow is let out.
TEST(Recirculation, FollowersCountAgainstTheLoopAndThePortsShare) {
  for (const bool of_port : {false, true}) {
    config::SwitchConfig config = leaf();
    auto& recirculation = config.rlb.recirculation;
    (of_port ? recirculation.port_cap : recirculation.cap.emplace()) = Bytes(5'000);
    recirculation.latency = 50_us;
    Rig rig(config);
    rig.warn_both();
    uint8_t number = 0;
    for (uint64_t times = 1; times <= 3; ++times) {
      for (int i = 0; i < 5; ++i) rig.up(1, ++number);
      rig.run_for(10_us);
      EXPECT_EQ(rig.object().balance().held, 5u) << of_port << ", time " << times;
      EXPECT_EQ(rig.object().loop_use(ShardId(0)).port_octets, 5'000);
      rig.up(1, ++number);
      rig.run_for(10_us);
      EXPECT_EQ(rig.counted(PortCounter::rlb_forced_packets), times);
      EXPECT_EQ(rig.object().loop_use(ShardId(0)).port_octets, 0);
      EXPECT_EQ(leftovers(rig.object()), "");
    }
    EXPECT_EQ(rig.out().size(), 18u);
    EXPECT_TRUE(rig.in_order());
  }
}

// A quarter of the shared buffer at most; else what four rounds carry, and 128 KiB at least.
TEST(Recirculation, WithoutACapTheLoopHasItsShareOfTheBuffer) {
  const auto most = [](const config::SwitchConfig& config, bool of_buffer) {
    Rig rig(config);
    const int64_t share = rig.object().buffer_status().shared_size / 4;
    const int64_t octets = rig.object().loop_use(ShardId(0)).most_octets;
    EXPECT_EQ(octets == share, of_buffer) << octets << " of " << share;
    return octets;
  };
  config::SwitchConfig config = leaf();
  config.buffer.size = 64_MiB;
  EXPECT_EQ(most(config, false), 128 * 1'024);
  config.rlb.recirculation.latency = 50_us;
  EXPECT_EQ(most(config, false), 250'000) << "200 us at 10 Gb/s";
  config.rlb.recirculation.latency = 100_ms;
  most(config, true);
  config.rlb.recirculation.cap = Bytes(7'000);
  EXPECT_EQ(most(config, false), 7'000);
}

// Of a burst the first and the last are of a queue that nobody warns of.
TEST(Recirculation, OfABurstTheRestGoesOnWhileOneWaits) {
  const config::SwitchConfig config = leaf();
  auto made = Switch::create(config, {.shards = 1});
  ASSERT_TRUE(made.ok());
  Switch& object = **made;
  PacketPool pool(64, 256);
  ManualIo io(pool);
  for (size_t i = 0; i < config.ports.size(); ++i) io.links.push_back({PortId(i), true});
  Instant now;
  const auto poll = [&](Duration later) {
    now = now + later;
    io.complete(now);
    object.shard(ShardId(0)).poll(io, now);
  };
  for (const size_t uplink : {2u, 3u})
    io.arrive(PortId(uplink), warning_frame(config, uplink, {.sequence = 1}));
  poll(1_us);
  UdpSpec spec{.destination_mac = port_mac(config, kHost),
               .source_mac = host_mac(1, 1),
               .source = host_ip(1, 1),
               .destination = host_ip(2, 1)};
  for (const uint8_t dscp : {kOtherLosslessDscp, kLosslessDscp, kOtherLosslessDscp}) {
    spec.dscp = dscp;
    ++spec.source_port;
    io.arrive(PortId(kHost), udp_frame(spec));
  }
  poll(1_us);
  poll(900_ns);
  EXPECT_EQ(io.sent.size(), 2u);
  EXPECT_EQ(object.balance().held, 1u);
  EXPECT_TRUE(object.balance().holds());
  for (int i = 0; i < 5; ++i) poll(1_us);
  EXPECT_EQ(io.sent.size(), 3u);
  EXPECT_EQ(leftovers(object), "");
}

TEST(Recirculation, TheLoopCarriesNoMoreThanItsRate) {
  config::SwitchConfig config = leaf();
  config.rlb.recirculation.rate = BitRate::gbps(1);  // 8 us a packet of 1,000 octets
  Rig rig(config);
  rig.warn_both();
  for (uint16_t flow = 0; flow < 4; ++flow) rig.up(flow, 1);
  rig.run_for(100_us);
  const auto out = rig.out();
  ASSERT_EQ(out.size(), 4u);
  for (size_t i = 1; i < out.size(); ++i) EXPECT_GE(out[i].at - out[i - 1].at, 7'900_ns);
}

TEST(Recirculation, ALinkChangeADrainAndANewConfigurationLetAllOut) {
  for (const int what : {0, 1, 2, 3}) {
    config::SwitchConfig config = leaf();
    config.rlb.recirculation.latency = 500_us;
    Rig rig(config);
    rig.warn_both();
    for (uint8_t number = 1; number <= 3; ++number)
      for (uint16_t flow = 0; flow < 5; ++flow) rig.up(flow, number);
    rig.run_for(5_us);
    ASSERT_EQ(rig.object().balance().held, 15u);
    Command drain{.kind = Command::Kind::drain};
    if (what == 0) rig.fabric.set_link(rig.node, PortId(3), false);
    if (what == 1) {
      EXPECT_TRUE(rig.object().post(ShardId(0), drain));
    }
    if (what == 2) config.load_balancer.scheme = "drill";
    if (what == 3) config.rlb = {};
    if (what >= 2) {
      EXPECT_TRUE(rig.object().reconfigure(config));
    }
    rig.fabric.poll(rig.node);
    rig.run_for(30_us);
    EXPECT_EQ(rig.out().size(), 15u) << what;
    EXPECT_TRUE(rig.in_order()) << what;
    rig.run_for(1'000_us);
    EXPECT_EQ(leftovers(rig.object()), "") << what;
  }
}

TEST(Recirculation, WithoutAnyPathLeftWhatWaitsIsDroppedAndCounted) {
  config::SwitchConfig config = leaf();
  config.rlb.recirculation.latency = 50_us;
  Rig rig(config);
  rig.warn_both();
  for (uint8_t number = 1; number <= 3; ++number) rig.up(1, number);
  rig.run_for(5_us);
  rig.fabric.set_link(rig.node, PortId(2), false);
  rig.fabric.set_link(rig.node, PortId(3), false);
  rig.run_for(100_us);
  EXPECT_TRUE(rig.object().balance().holds());
  EXPECT_EQ(rig.object().balance().held, 0u);
}

TEST(Recirculation, AnIngressGroupThatIsFullLetsNothingWait) {
  config::SwitchConfig config = leaf();
  for (auto& [name, profile] : config.buffer.profiles)
    if (profile.lossless) profile.mode = config::BufferMode::fixed, profile.xoff = Bytes(6'000);
  config.rlb.recirculation.latency = 50_us;
  Rig rig(config);
  rig.warn_both();
  for (uint16_t flow = 0; flow < 60; ++flow) {
    rig.up(flow, 1);
    rig.run_for(10_us);
  }
  const uint64_t waited = rig.counted(PortCounter::rlb_waiting_packets);
  EXPECT_GT(waited, 5u);
  EXPECT_LT(waited, 45u) << "none while 6 packets are held";
  rig.run_for(200_us);
  EXPECT_EQ(rig.out().size(), 60u);
}

// Twenty flows with both uplinks as they come, one warned, both warned by switches of their own,
// and both by the one that is the bottleneck whichever way is taken.
TEST(Decisions, AreCountedEachByItsName) {
  config::SwitchConfig config = leaf();
  config.rlb.all_warned = config::AllWarned::least_bad;
  config.rlb.guard.mode = config::GuardMode::off;
  config.rlb.recirculation.enabled = false;
  constexpr uint64_t kFlows = 20;
  const auto decide = [&](std::initializer_list<size_t> warned, size_t origin) {
    Rig rig(config);
    for (const size_t uplink : warned) rig.warn(uplink, 20, origin);
    for (uint16_t flow = 0; flow < kFlows; ++flow) rig.up(flow, 1);
    rig.run_for(50_us);
    uint64_t by_first = 0;
    for (const Rig::Out& packet : rig.out()) by_first += packet.port == kFirstUplink ? 1 : 0;
    return std::pair(by_first, only(counted(rig.object()), {"rlb_", "guard_"}));
  };
  const auto [usual, nothing] = decide({}, 0);
  ASSERT_GT(usual, 0u);
  ASSERT_LT(usual, kFlows);
  EXPECT_EQ(nothing, Counted{});
  EXPECT_EQ(decide({2}, 0), std::pair(uint64_t{0}, Counted{{"0.rlb_rerouted_packets", usual}}));
  EXPECT_EQ(decide({2, 3}, 0), std::pair(usual, Counted{{"0.rlb_all_warned_packets", kFlows}}));
  EXPECT_EQ(decide({2, 3}, 99), std::pair(usual, Counted{{"0.rlb_suspended_packets", kFlows}}));
}

// A flow whose path is warned stays, as nothing is proven; after the guard's age it moves.
TEST(Decisions, OfTheGuardAreCountedEachByItsName) {
  config::SwitchConfig config = leaf();
  config.rlb.guard.mode = config::GuardMode::strict;
  config.rlb.recirculation.enabled = false;
  Rig rig(config);
  rig.up(1, 1);
  rig.run_for(5_us);
  ASSERT_EQ(rig.out().size(), 1u);
  const size_t home = rig.out()[0].port;
  rig.warn(home);
  for (uint8_t number = 2; number <= 6; ++number) rig.up(1, number);
  rig.run_for(10_us);
  EXPECT_EQ(only(counted(rig.object()), {"rlb_", "guard_"}),
            (Counted{{"0.guard_stayed_packets", 5}}));
  rig.run_for(config.rlb.guard.age + 1_us);
  rig.warn(home);
  rig.up(1, 7);
  rig.run_for(10_us);
  EXPECT_EQ(only(counted(rig.object()), {"rlb_", "guard_"}),
            (Counted{{"0.guard_stayed_packets", 5},
                     {"0.guard_moved_flows", 1},
                     {"0.rlb_rerouted_packets", 1}}));
  EXPECT_NE(rig.out().back().port, home);
}

TEST(Recirculation, DelaysAreCountedWithinAQuarter) {
  for (int64_t ns = 1; ns < 100'000; ns += 37) {
    const size_t step = DelayHistogram::step_of(Duration::nanoseconds(ns));
    EXPECT_GE(DelayHistogram::end_of(step).ns(), ns);
    EXPECT_LE(DelayHistogram::end_of(step).ns(), ns + ns / 4 + 1);
  }
  std::array<uint64_t, DelayHistogram::kSteps> steps{};
  EXPECT_EQ(percentile(steps, 99), 0_ns);
  steps[DelayHistogram::step_of(1_us)] = 98;
  steps[DelayHistogram::step_of(8_us)] = 2;
  EXPECT_LT(percentile(steps, 50), 2_us);
  EXPECT_GE(percentile(steps, 99), 8_us);
}

TEST(Recirculation, ThreeShardsWorkAsOne) {
  Rig rig(leaf(), 3);
  rig.warn_both();
  for (uint8_t number = 1; number <= 10; ++number)
    for (uint16_t flow = 0; flow < 8; ++flow) rig.up(flow, number);
  rig.run_for(200_us);
  EXPECT_EQ(rig.out().size(), 80u);
  EXPECT_TRUE(rig.in_order());
  EXPECT_EQ(leftovers(rig.object()), "");
}

}  // namespace
}  // namespace eddy::test
