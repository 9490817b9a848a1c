// No packet of a lossless priority group is lost while its headroom is right: incasts of hosts that
// obey PFC, into one switch and across a fabric.
#include <gtest/gtest.h>

#include <algorithm>

#include "pfc/headroom.h"
#include "tests/support/manual_io.h"
#include "tests/support/one_switch.h"

namespace eddy::test {
namespace {

// What one sender has to send: `left` equal frames.
void let_send(Fabric& fabric, FabricHost& host, const UdpSpec& spec, size_t wire_len, int frames) {
  const Transmission one{udp_frame(spec), wire_len, kLossless};
  host.keep_frames = false;
  host.source = [one, left = frames](Transmission& next) mutable {
    if (left == 0) return false;
    --left;
    next = one;
    return true;
  };
  fabric.kick(host);
}

struct IncastCase {
  size_t senders;
  config::BufferMode mode;
  size_t wire_len;
  int cell_bytes;
  size_t shards;
};

std::string name_of(const testing::TestParamInfo<IncastCase>& info) {
  const IncastCase& c = info.param;
  return std::to_string(c.senders) + "to1_" +
         (c.mode == config::BufferMode::fixed ? "static_" : "dynamic_") +
         std::to_string(c.wire_len) + "B_cells" + std::to_string(c.cell_bytes) + "_shards" +
         std::to_string(c.shards);
}

config::SwitchConfig incast_switch(const IncastCase& given) {
  config::SwitchConfig config = hosts_switch(given.senders + 1);
  config.buffer.cell_bytes = given.cell_bytes;
  config::BufferProfile& lossless = config.buffer.profiles["lossless"];
  lossless.mode = given.mode;
  lossless.xoff = given.wire_len > 1500 ? 12_KiB : 6_KiB;
  lossless.dynamic_th = -2;
  for (config::PortConfig& port : config.ports) port.mtu = given.wire_len > 1500 ? 4200 : 1500;
  config.buffer.size = 64_MiB;
  spread_over_workers(config, given.shards);
  return config;
}

// What all lossless groups need together at their static thresholds, or so little that dynamic ones
// shrink with every packet.
Bytes shared_size(const IncastCase& given) {
  if (given.mode == config::BufferMode::fixed)
    return Bytes::kib(12) * static_cast<int64_t>(2 * (given.senders + 1));
  return given.wire_len > 1500 ? 52_KiB : 30_KiB;
}

// Enough for a sender to come over XOFF and to go on after the XON. A 64-octet frame in a cell of
// 256 is charged four times as much as in cells of 1, so far fewer do.
int frames_each(const IncastCase& given) {
  if (given.wire_len > 256) return 30;
  if (given.cell_bytes == 1) return given.senders > 2 ? 150 : 400;
  return given.senders > 2 ? 50 : 110;
}

void fit_buffer(config::SwitchConfig& config, Bytes shared) {
  const auto made = Switch::create(config, {.shards = static_cast<size_t>(config.workers)});
  ASSERT_TRUE(made.ok());
  config.buffer.size = Bytes(made.value()->buffer_status().reserved) + shared;
}

class Incast : public testing::TestWithParam<IncastCase> {};

TEST_P(Incast, LosesNothing) {
  const IncastCase& given = GetParam();
  config::SwitchConfig config = incast_switch(given);
  fit_buffer(config, shared_size(given));
  Fabric fabric(8192, 512);
  const size_t node = fabric.add_switch(config, given.shards);
  std::vector<FabricHost*> hosts;
  for (size_t i = 0; i <= given.senders; ++i)
    hosts.push_back(&fabric.attach_host(node, PortId(i), 2_us));
  hosts[0]->keep_frames = false;
  const int frames = frames_each(given);
  for (size_t i = 1; i <= given.senders; ++i) {
    UdpSpec spec = between(config, i, 0, kLosslessDscp);
    spec.frame_len = given.wire_len;
    spec.readable_len = 96;
    let_send(fabric, *hosts[i], spec, given.wire_len, frames);
  }
  fabric.run_until(Instant::at(20_ms));

  Switch& object = fabric.at(node);
  EXPECT_EQ(hosts[0]->received_count, given.senders * static_cast<size_t>(frames));
  EXPECT_EQ(object.balance().dropped, 0u);
  uint64_t xoffs = 0;
  for (size_t i = 1; i <= given.senders; ++i)
    xoffs += count(object, i, kLossless, PfcCounter::pfc_tx_xoff);
  EXPECT_GT(xoffs, 0u) << "never came near the threshold";
  EXPECT_EQ(leftovers(object), "");
}

std::vector<IncastCase> incast_cases() {
  constexpr size_t kShards[] = {1, 2, 4};
  std::vector<IncastCase> cases;
  for (const size_t senders : {2, 8, 15})
    for (const auto mode : {config::BufferMode::fixed, config::BufferMode::dynamic})
      for (const size_t wire_len : {64, 4096})
        for (const int cell_bytes : {1, 256})
          cases.push_back({senders, mode, wire_len, cell_bytes, kShards[cases.size() % 3]});
  for (const size_t shards : kShards)
    cases.push_back({14, config::BufferMode::fixed, 64, 256, shards});
  return cases;
}
INSTANTIATE_TEST_SUITE_P(Hosts, Incast, testing::ValuesIn(incast_cases()), name_of);

// The other side of the claim: with less headroom than the formula asks for, packets are lost, and
// each is counted and told.
TEST(Headroom, TooSmallLosesAndSaysSo) {
  config::SwitchConfig config = incast_switch({8, config::BufferMode::fixed, 4096, 1, 1});
  config.buffer.profiles["lossless"].headroom = 2_KiB;
  fit_buffer(config, 12_KiB * 18);
  OneSwitch rig(config);
  std::vector<FabricHost*> hosts;
  for (size_t i = 0; i <= 8; ++i)
    hosts.push_back(&rig.fabric.attach_host(rig.node, PortId(i), 2_us));
  for (size_t i = 1; i <= 8; ++i) {
    UdpSpec spec = between(config, i, 0, kLosslessDscp);
    spec.frame_len = 4096;
    spec.readable_len = 96;
    let_send(rig.fabric, *hosts[i], spec, 4096, 40);
  }
  rig.run_for(20_ms);
  const uint64_t lost = drops(rig.object(), DropReason::headroom_full);
  EXPECT_GT(lost, 0u);
  uint64_t counted = 0;
  for (size_t i = 1; i <= 8; ++i)
    counted += count(rig.object(), i, PriorityGroupId(3), PgCounter::lossless_dropped_packets);
  EXPECT_EQ(counted, lost);
  EXPECT_EQ(only(take_events(rig.object()), EventKind::lossless_drop).size(), lost);
  EXPECT_EQ(hosts[0]->received_count, 8 * 40 - lost);
  EXPECT_EQ(leftovers(rig.object()), "");
}

struct FabricCase {
  std::string scheme;
  config::BufferMode mode;
  size_t shards;
  Duration lookahead;
};
class FabricIncast : public testing::TestWithParam<FabricCase> {};

// Two leaves of four hosts each send to one host of a third leaf: its leaf pauses the spines, and
// these the leaves, and these the hosts.
TEST_P(FabricIncast, PausesHopByHopAndLosesNothing) {
  constexpr int kFrames = 60;
  LeafSpine spec = leaf_spine({.leaves = 3, .spines = 2, .hosts = 4, .scheme = GetParam().scheme});
  Fabric fabric(8192, 512);
  std::vector<size_t> leaves, spines;
  const auto add = [&](config::SwitchConfig& config) {
    spread_over_workers(config, GetParam().shards);
    config.buffer.profiles["lossless"].mode = GetParam().mode;
    config.buffer.profiles["lossless"].xoff = 10_KiB;
    config.lookahead = GetParam().lookahead;
    fit_buffer(config, 256_KiB);
    return fabric.add_switch(config, GetParam().shards);
  };
  for (auto& leaf : spec.leaves) leaves.push_back(add(leaf));
  for (auto& spine : spec.spines) spines.push_back(add(spine));
  for (size_t l = 0; l < 3; ++l)
    for (size_t s = 0; s < 2; ++s)
      fabric.connect(leaves[l], PortId(4 + s), spines[s], PortId(l), 1_us);
  FabricHost& receiver = fabric.attach_host(leaves[2], PortId(0), 1_us);
  std::vector<FabricHost*> senders;
  for (size_t l = 0; l < 2; ++l) {
    for (size_t h = 0; h < 4; ++h) {
      senders.push_back(&fabric.attach_host(leaves[l], PortId(h), 1_us));
      let_send(fabric, *senders.back(),
               {.destination_mac = port_mac(spec.leaves[l], h),
                .source = host_ip(l + 1, h + 1),
                .destination = host_ip(3, 1),
                .source_port = static_cast<uint16_t>(1000 + h),
                .dscp = kLosslessDscp,
                .frame_len = 1000,
                .readable_len = 96},
               1000, kFrames);
    }
  }
  fabric.run_until(Instant::at(10_ms));
  EXPECT_EQ(receiver.received_count, 8u * kFrames);
  const auto xoffs = [&](size_t node) {
    uint64_t total = 0;
    for (size_t port = 0; port < fabric.at(node).port_count(); ++port)
      total += count(fabric.at(node), port, kLossless, PfcCounter::pfc_tx_xoff);
    return total;
  };
  EXPECT_GT(xoffs(leaves[2]), 0u);
  EXPECT_GT(xoffs(spines[0]) + xoffs(spines[1]), 0u);
  EXPECT_GT(xoffs(leaves[0]), 0u);
  for (size_t node = 0; node < 5; ++node) {
    EXPECT_EQ(fabric.at(node).balance().dropped, 0u);
    EXPECT_EQ(leftovers(fabric.at(node)), "");
  }
}
INSTANTIATE_TEST_SUITE_P(Fabrics, FabricIncast,
                         testing::Values(FabricCase{"ecmp", config::BufferMode::fixed, 1},
                                         FabricCase{"spray", config::BufferMode::dynamic, 2},
                                         FabricCase{"letflow", config::BufferMode::fixed, 4},
                                         FabricCase{"drill", config::BufferMode::fixed, 2},
                                         FabricCase{"ecmp", config::BufferMode::fixed, 1, 2_us},
                                         FabricCase{"drill", config::BufferMode::dynamic, 2,
                                                    2_us}));

// A device that has been given frames ahead sends them before a pause takes effect, ours before the
// pause, the peer's behind it: headroom has room for both.
TEST(Lookahead, CountsTwiceInHeadroom) {
  config::SwitchConfig config = hosts_switch(2);
  config.ports[1].speed = 25_Gbps;
  config.buffer.cell_bytes = 1;
  const auto headroom = [&](size_t port, Duration lookahead) {
    config.lookahead = lookahead;
    return pfc::auto_headroom(config.ports[port], config.pause_gap(config.ports[port]), 1);
  };
  const Bytes more = headroom(0, 2_us) - headroom(0, 0_us);
  EXPECT_GE(more, Bytes(4 * 1'250));  // 10 Gb/s, in frames that are charged as they are
  EXPECT_LE(more, Bytes(4 * 1'250) + 1_KiB);
  EXPECT_EQ(headroom(1, 2_us), headroom(1, 0_us)) << "faster ports have none";
  const auto set_aside = [&](Duration lookahead) {
    config.lookahead = lookahead;
    return (*Switch::create(config, {.shards = 1}))->buffer_status().reserved;
  };
  EXPECT_EQ(set_aside(2_us) - set_aside(0_us), 2 * more.count()) << "its lossless groups";
}

// Octets of a lookahead at once, each frame at the instant at which the line would have had it.
TEST(Lookahead, GivesTheDeviceBurstsAtTheSameTimes) {
  std::vector<std::vector<Sent>> sent;
  std::vector<uint64_t> transmits;
  for (const Duration lookahead : {0_us, 2_us}) {
    config::SwitchConfig config = hosts_switch(2);
    config.lookahead = lookahead;
    PacketPool pool(64, 512);
    ManualIo io(pool);
    const auto object = std::move(*Switch::create(config, {.shards = 1}));
    io.links = {{PortId(0), true}, {PortId(1), true}};
    UdpSpec spec = between(config, 0, 1, kLosslessDscp);
    spec.frame_len = 1'226;  // 1 us of 10 Gb/s with what is on the line only
    spec.readable_len = 96;
    for (int i = 0; i < 12; ++i) io.arrive(PortId(0), udp_frame(spec), spec.frame_len);
    for (int ns = 0; ns < 20'000; ns += 100) {
      const Instant now = Instant::at(1_ms + Duration::nanoseconds(ns));
      io.complete(now);
      object->shard(ShardId(0)).poll(io, now);
    }
    sent.push_back(io.sent);
    transmits.push_back(io.transmits);
    EXPECT_EQ(leftovers(*object), "");
  }
  ASSERT_EQ(sent[0].size(), 12u);
  ASSERT_EQ(sent[1].size(), 12u);
  for (size_t i = 0; i < 12; ++i) EXPECT_EQ(sent[0][i].at, sent[1][i].at) << i;
  EXPECT_EQ(transmits, (std::vector<uint64_t>{12, 4}));
}

// A port that was behind and is given more than a visit takes: the device gets two bursts, and the
// last frame of the first is settled though it has not left either.
TEST(Lookahead, GivesBackWhatTwoBurstsOfAVisitWereCharged) {
  config::SwitchConfig config = hosts_switch(2);
  config.lookahead = 2_us;
  PacketPool pool(256, 512);
  ManualIo io(pool);
  const auto object = std::move(*Switch::create(config, {.shards = 1}));
  io.links = {{PortId(0), true}, {PortId(1), true}};
  UdpSpec spec = between(config, 0, 1, kLosslessDscp);
  spec.frame_len = 64;  // 70 ns of 10 Gb/s
  constexpr size_t kFrames = 200;
  for (size_t i = 0; i < kFrames; ++i) io.arrive(PortId(0), udp_frame(spec), spec.frame_len);
  Instant now = Instant::at(1_ms);
  size_t most = 0;
  const auto poll = [&] {
    const size_t before = io.sent.size();
    io.complete(now);
    object->shard(ShardId(0)).poll(io, now);
    most = std::max(most, io.sent.size() - before);
  };
  for (int i = 0; i < 12; ++i) poll();  // all of them are in
  now = now + 5_us;
  poll();
  EXPECT_GT(most, 2 * kBurst) << "the visit took one burst";
  for (int i = 0; i < 200; ++i, now = now + 500_ns) poll();
  EXPECT_EQ(std::ranges::count(io.sent, PortId(1), &Sent::port), kFrames);
  EXPECT_EQ(leftovers(*object), "");
}

// Hosts that do not obey PFC sit on lossy ports: what comes from lossless groups of fabric ports
// must still not be dropped on its way out to them.
TEST(MixedPorts, QueueOfALossyHostPortIsLosslessForWhatArrivedLossless) {
  config::SwitchConfig config = bare_switch("leaf", 1);
  config.leaf = LeafId(1);
  add_host_port(config, 1, 1, 1_Gbps);
  config.ports[0].pg_profiles.fill("lossy");
  add_fabric_port(config, "spine1", 10_Gbps);
  config.ports[1].peer_mac = MacAddress{{0x02, 0, 0, 0, 0, 9}};
  config.buffer.profiles["lossless"].xoff = 64_KiB;
  config.ports[0].queues[3].dynamic_th = -8;  // a lossy queue would hold a few KiB
  OneSwitch rig(config);
  UdpSpec spec = between(config, 1, 0, kLosslessDscp);
  spec.frame_len = 1000;
  spec.readable_len = 96;
  for (int i = 0; i < 70; ++i) rig.inject(1, udp_frame(spec), 1000);
  EXPECT_EQ(rig.object().balance().dropped, 0u);
  EXPECT_EQ(count(rig.object(), 1, kLossless, PfcCounter::pfc_tx_xoff), 1u);
  rig.run_for(10_ms);
  EXPECT_EQ(rig.seen(0).size(), 70u);
}

}  // namespace
}  // namespace eddy::test
