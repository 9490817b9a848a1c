// Several shards deliver what one does, give all credits back, and bear what a device or a pool
// refuses.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <utility>

#include "net/lldp.h"
#include "switch/dataplane/object/shard.h"
#include "switch/dataplane/queues/ingress_buffer.h"
#include "tests/support/manual_io.h"
#include "tests/support/one_switch.h"

namespace eddy::test {
namespace {

constexpr Duration kFrameTime = 800_ps * 1024;

uint16_t source_port(const Frame& frame) {
  return load_be16(frame.data() + 34);
}

// Source ports in order of arrival, by receiving port.
using Delivered = std::map<size_t, std::vector<uint16_t>>;

Delivered all_to_all(size_t shards, uint8_t dscp) {
  constexpr size_t kPorts = 8;
  config::SwitchConfig config = hosts_switch(kPorts);
  spread_over_workers(config, shards);
  OneSwitch rig(config, shards);
  uint16_t number = 0;
  for (int round = 0; round < 10; ++round) {
    for (size_t from = 0; from < kPorts; ++from) {
      for (size_t to = 0; to < kPorts; ++to) {
        UdpSpec spec = between(config, from, to, dscp);
        spec.source_port = ++number;
        spec.frame_len = 100 + number % 900;
        spec.readable_len = 96;
        rig.inject(from, udp_frame(spec), spec.frame_len);
      }
    }
    rig.run_for(2_us);
  }
  rig.run_for(10_ms);
  EXPECT_EQ(rig.object().balance().dropped, 0u);
  EXPECT_EQ(leftovers(rig.object()), "");
  Delivered delivered;
  for (size_t port = 0; port < kPorts; ++port)
    for (const Arrival& arrival : rig.seen(port))
      if (arrival.frame.size() > 60) delivered[port].push_back(source_port(arrival.frame));
  return delivered;
}

TEST(Shards, DeliverWhatOneDoesInTheSameOrder) {
  for (const uint8_t dscp : {kLossyDscp, kLosslessDscp}) {
    const Delivered one = all_to_all(1, dscp);
    EXPECT_EQ(one.size(), 8u);
    EXPECT_EQ(one, all_to_all(2, dscp));
    EXPECT_EQ(one, all_to_all(4, dscp));
  }
}

// A world of two shards under one hand.
struct TwoShards {
  explicit TwoShards(const config::SwitchConfig& with = hosts_switch(2)) : config(with) {
    spread_over_workers(config, 2);
    auto made = Switch::create(config, {.shards = 2});
    EXPECT_TRUE(made.ok());
    object = std::move(*made);
    io[0].links.push_back({PortId(0), true});
    io[1].links.push_back({PortId(1), true});
    poll(0, Instant());
    poll(1, Instant());
  }
  void poll(size_t shard, Instant now) {
    io[shard].complete(now);
    object->shard(ShardId(shard)).poll(io[shard], now);
    EXPECT_TRUE(object->balance().holds());
  }
  config::SwitchConfig config;
  PacketPool pool{4096, 256};
  std::array<ManualIo, 2> io{ManualIo(pool), ManualIo(pool)};
  std::unique_ptr<Switch> object;
};

TEST(Shards, CreditsComeBackByMessageAndMailIsADeadline) {
  TwoShards world;
  UdpSpec spec = between(world.config, 0, 1, kLosslessDscp);
  for (int i = 0; i < 10; ++i) world.io[0].arrive(PortId(0), udp_frame(spec));
  world.poll(0, Instant::at(1_us));
  const auto used = [&] { return world.object->pg_status(PortId(0), PriorityGroupId(3)).used; };
  EXPECT_EQ(used(), 10 * 256);
  EXPECT_EQ(world.object->balance().held, 10u) << "in the mailbox";
  EXPECT_LE(world.object->shard(ShardId(1)).next_deadline(), Instant::at(1_us));
  world.poll(1, Instant::at(2_us));
  world.poll(1, Instant::at(20_us));
  EXPECT_EQ(world.io[1].sent.size(), 10u);
  world.poll(1, Instant::at(21_us));
  EXPECT_EQ(used(), 10 * 256) << "shard 0 has not read its mail";
  EXPECT_LE(world.object->shard(ShardId(0)).next_deadline(), Instant::at(1_us));
  world.poll(0, Instant::at(22_us));
  EXPECT_EQ(leftovers(*world.object), "");
}

// A host on one shard, uplinks on the other.
struct UplinksOfAnother {
  explicit UplinksOfAnother(const std::function<void(config::SwitchConfig&)>& change =
                                [](config::SwitchConfig&) {}) {
    config = leaf_spine({.hosts = 1}).leaves[0];
    config.workers = 2;
    config.buffer.size = Bytes::mib(64);
    for (config::PortConfig& port : config.ports) {
      port.worker = port.role == config::PortRole::host ? 0 : 1;
      for (config::QueueConfig& queue : port.queues) queue.wred.reset();
    }
    change(config);
    auto made = Switch::create(config, {.shards = 2});
    EXPECT_TRUE(made.ok());
    object = std::move(*made);
    io[0].links = {{PortId(0), true}};
    io[1].links = {{PortId(1), true}, {PortId(2), true}};
    for (int i = 0; i < 2; ++i) poll_both(Instant());
  }
  void poll(size_t shard, Instant now) {
    io[shard].complete(now);
    object->shard(ShardId(shard)).poll(io[shard], now);
    ASSERT_TRUE(object->balance().holds());
  }
  void poll_both(Instant now) {
    poll(0, now);
    poll(1, now);
  }
  // Flows so that both uplinks are used; `number` is the flow's source port.
  void arrive(uint16_t number) {
    UdpSpec spec = between(config, 0, 0, dscp);
    spec.destination = host_ip(2, 1);
    spec.source_port = number;
    io[0].arrive(PortId(0), udp_frame(spec));
  }
  uint8_t dscp = kLossyDscp;
  config::SwitchConfig config;
  PacketPool pool{20'000, 256};
  std::array<ManualIo, 2> io{ManualIo(pool), ManualIo(pool)};
  std::unique_ptr<Switch> object;
};

// A lane that is full keeps what comes, ready for the line as it is: none is rewritten twice, and
// all come by and by in their order.
TEST(Shards, PacketsThatFindTheirLaneFullAreKeptAndComeInOrder) {
  UplinksOfAnother world;
  constexpr uint16_t kPackets = 18'000;  // more than a lane holds
  for (uint16_t number = 1; number <= kPackets; ++number) world.arrive(number);
  Instant now = Instant::at(1_us);
  while (!world.io[0].arrived.empty()) world.poll(0, now);
  ASSERT_LE(world.object->shard(ShardId(0)).next_deadline(), now) << "it keeps some";
  for (int i = 0; i < 40'000 && world.io[1].sent.size() < kPackets; ++i) {
    now = now + 1_us;
    world.poll_both(now);
  }
  ASSERT_EQ(world.io[1].sent.size(), kPackets);
  std::array<uint16_t, 3> last{};  // by port
  for (const Sent& sent : world.io[1].sent) {
    const size_t port = sent.port.index();
    ASSERT_GT(source_port(sent.frame), std::exchange(last[port], source_port(sent.frame)));
    const MacAddress& peer = *world.config.ports[port].peer_mac;
    ASSERT_TRUE(std::equal(peer.octets.begin(), peer.octets.end(), sent.frame.begin()));
    ASSERT_EQ(sent.frame[kEthernetHeader + 8], 63) << "hops left";
  }
  EXPECT_GT(last[1], 0);
  EXPECT_GT(last[2], 0);
  world.poll_both(now + 20_us);
  world.poll_both(now + 40_us);
  EXPECT_GT(world.object->shard(ShardId(0)).next_deadline(), now) << "it keeps none";
  EXPECT_EQ(leftovers(*world.object), "");
}

Frame advertisement_of(const MacAddress& source) {
  Frame frame(128);
  frame.resize(encode(LldpFrame{.source = source,
                                .chassis = source,
                                .port = "leaf1",
                                .ttl_seconds = 10,
                                .system_name = "spine"},
                      frame));
  return frame;
}

// The other shard hears of another peer at the end of its link: frames carry its MAC from then on.
TEST(Shards, APeerOfAnotherShardThatIsReplacedGetsWhatFollows) {
  UplinksOfAnother world([](config::SwitchConfig& config) {
    config.control.lldp = true;
    for (config::PortConfig& port : config.ports) port.peer_mac.reset();
  });
  Instant now = Instant::at(1_us);
  for (const size_t number : {1, 2}) {
    const MacAddress peer = host_mac(8, number);
    for (const size_t port : {1, 2}) world.io[1].arrive(PortId(port), advertisement_of(peer));
    for (int i = 0; i < 5; ++i) world.poll_both(now = now + 1_us);
    world.io[1].sent.clear();
    for (uint16_t flow = 1; flow <= 8; ++flow) world.arrive(flow);
    for (int i = 0; i < 10; ++i) world.poll_both(now = now + 1_us);
    ASSERT_EQ(world.io[1].sent.size(), 8u);
    for (const Sent& sent : world.io[1].sent)
      EXPECT_TRUE(std::equal(peer.octets.begin(), peer.octets.end(), sent.frame.begin()));
  }
}

// The sender knows nothing of a queue that discards what comes.
TEST(Shards, AStormyQueueOfAnotherShardDiscardsWhatComesReadyForTheLine) {
  UplinksOfAnother world([](config::SwitchConfig& config) {
    for (size_t port : {1, 2})
      config.ports[port].watchdog = {
          true, 40_us, 1_ms, 20_us, config::WatchdogDetect::paused, config::WatchdogAction::drop};
  });
  world.dscp = kLosslessDscp;
  Instant now = Instant::at(1_us);
  for (int i = 0; i < 20; ++i) {
    for (const size_t port : {1, 2})
      world.io[1].arrive(PortId(port), pause_frame(bit(kLossless), 0xffff));
    world.poll_both(now = now + 10_us);
  }
  ASSERT_TRUE(world.object->queue_status(PortId(1), QueueId(3)).storm);
  ASSERT_TRUE(world.object->queue_status(PortId(2), QueueId(3)).storm);
  for (uint16_t flow = 1; flow <= 8; ++flow) world.arrive(flow);
  for (int i = 0; i < 4; ++i) world.poll_both(now = now + 1_us);
  EXPECT_EQ(drops(*world.object, DropReason::watchdog), 8u);
  EXPECT_EQ(world.io[1].sent.size(), 0u);
  EXPECT_EQ(leftovers(*world.object), "");
}

// A shard whose peer does not poll owes it more credits than their lane has room for: one a poll.
// The rest stays owed and comes when there is room again.
TEST(Shards, CreditsThatFindTheirLaneFullAreOwedAndComeLater) {
  constexpr int kLane = CreditLane::kRoom;
  constexpr int kPackets = kLane + 53;
  config::SwitchConfig config = hosts_switch(2);
  config.buffer.size = Bytes::mib(64);
  TwoShards world(config);
  UdpSpec spec = between(world.config, 0, 1, kLossyDscp);
  for (int i = 0; i < kPackets; ++i) world.io[0].arrive(PortId(0), udp_frame(spec));
  Instant now = Instant::at(1_us);
  world.poll(0, now);
  const auto used = [&] { return world.object->pg_status(PortId(0), PriorityGroupId(0)).used; };
  ASSERT_EQ(used(), kPackets * 256);
  for (int i = 0; i <= kPackets; ++i) {  // each ends one packet and starts the next
    now = now + 800_ps * (64 + 24);
    world.poll(1, now);
  }
  ASSERT_EQ(world.io[1].sent.size(), static_cast<size_t>(kPackets));
  EXPECT_LE(world.object->shard(ShardId(1)).next_deadline(), now) << "it still owes";
  EXPECT_EQ(used(), kPackets * 256);
  world.poll(0, now);
  EXPECT_EQ(used(), (kPackets - kLane) * 256);
  world.poll(1, now);
  EXPECT_GT(world.object->shard(ShardId(1)).next_deadline(), now) << "it owes nothing any more";
  world.poll(0, now);
  EXPECT_EQ(leftovers(*world.object), "");
}

// A shard that still believes in a port sends to it in vain: dropped there, counted, conserved.
TEST(Shards, StaleReadsOfALinkAreHarmless) {
  TwoShards world;
  UdpSpec spec = between(world.config, 0, 1, kLosslessDscp);
  for (int i = 0; i < 10; ++i) world.io[0].arrive(PortId(0), udp_frame(spec));
  world.poll(0, Instant::at(1_us));
  world.io[1].links.push_back({PortId(1), false});
  world.poll(1, Instant::at(2_us));
  EXPECT_EQ(drops(*world.object, DropReason::egress_down) + world.io[1].sent.size(), 10u);
  world.poll(1, Instant::at(20_us));
  world.poll(0, Instant::at(20_us));
  EXPECT_EQ(leftovers(*world.object), "");
  EXPECT_EQ(world.pool.available(), 4096u);
}

// One shard whose device takes little.
class RefusalLimit : public testing::TestWithParam<size_t> {};

TEST_P(RefusalLimit, KeepsOrderLosesNothingAndRecovers) {
  config::SwitchConfig config = hosts_switch(2);
  auto made = Switch::create(config, {.shards = 1});
  ASSERT_TRUE(made.ok());
  Switch& object = **made;
  PacketPool pool(1024, 256);
  ManualIo io(pool);
  io.links = {{PortId(0), true}, {PortId(1), true}};
  io.transmit_limit = GetParam();
  UdpSpec spec = between(config, 0, 1, kLosslessDscp);
  spec.frame_len = 1000;
  spec.readable_len = 96;
  constexpr uint16_t kFrames = 100;
  for (uint16_t i = 1; i <= kFrames; ++i) {
    spec.source_port = i;
    io.arrive(PortId(0), udp_frame(spec), 1000);
  }
  Instant now;
  for (int i = 0; i < 1000 && io.sent.size() < kFrames; ++i) {
    if (i == 30) io.transmit_limit = SIZE_MAX;  // what refused all recovers
    object.shard(ShardId(0)).poll(io, now);
    ASSERT_TRUE(object.balance().holds());
    now = now + 11_us;
    io.complete(now);
  }
  object.shard(ShardId(0)).poll(io, now + 1_ms);
  ASSERT_EQ(io.sent.size(), kFrames);
  for (uint16_t i = 0; i < kFrames; ++i) EXPECT_EQ(source_port(io.sent[i].frame), i + 1);
  EXPECT_GT(count(object, 1, PortCounter::tx_refused_packets), 0u);
  EXPECT_EQ(count(object, 1, PortCounter::tx_packets), kFrames);
  EXPECT_EQ(count(object, 1, QueueId(3), QueueCounter::queue_tx_packets), kFrames);
  io.complete(now + 2_ms);
  object.shard(ShardId(0)).poll(io, now + 2_ms);
  EXPECT_EQ(leftovers(object), "");
}
INSTANTIATE_TEST_SUITE_P(Limits, RefusalLimit, testing::Values(0, 1, 3, 7));

// What is refused was not sent: it does not count against a queue's rate.
TEST(Refusal, DoesNotSlowAShapedQueue) {
  config::SwitchConfig config = hosts_switch(2);
  config.ports[1].queues[0].max_rate = 1_Gbps;
  const auto time_for_all = [&config](bool refuse) {
    auto made = Switch::create(config, {.shards = 1});
    PacketPool pool(1024, 256);
    ManualIo io(pool);
    io.links = {{PortId(0), true}, {PortId(1), true}};
    UdpSpec spec = between(config, 0, 1, kLossyDscp);
    spec.frame_len = 1000;
    spec.readable_len = 96;
    for (int i = 0; i < 60; ++i) io.arrive(PortId(0), udp_frame(spec), 1000);
    Instant now;
    for (int i = 0; io.sent.size() < 60; ++i) {
      io.transmit_limit = refuse && i < 20 ? 0 : SIZE_MAX;  // for 100 us
      (*made)->shard(ShardId(0)).poll(io, now);
      now = now + 5_us;
      io.complete(now);
    }
    return now;
  };
  EXPECT_LE(time_for_all(true) - time_for_all(false), 110_us);
}

// The queues of the frames that leave when each device poll takes at most `limits` in turn.
std::vector<QueueId> order_of_queues(const std::vector<size_t>& limits) {
  config::SwitchConfig config = hosts_switch(2);
  config.ports[1].queues[3].weight = 2;
  config.ports[1].queues[4].weight = 1;
  auto made = Switch::create(config, {.shards = 1});
  PacketPool pool(1024, 256);
  ManualIo io(pool);
  io.links = {{PortId(0), true}, {PortId(1), true}};
  constexpr int kFrames = 100;  // a queue
  for (int i = 0; i < 2 * kFrames; ++i) {
    UdpSpec spec = between(config, 0, 1, i % 2 == 0 ? kLosslessDscp : kOtherLosslessDscp);
    spec.frame_len = 700;
    spec.readable_len = 96;
    io.arrive(PortId(0), udp_frame(spec), 700);
  }
  Command off{.kind = Command::Kind::set_port_tx, .port = PortId(1), .on = false};
  Command on{.kind = Command::Kind::set_port_tx, .port = PortId(1), .on = true};
  EXPECT_TRUE((*made)->post(ShardId(0), off));
  while (!io.arrived.empty()) (*made)->shard(ShardId(0)).poll(io, Instant());
  EXPECT_TRUE((*made)->post(ShardId(0), on));
  Instant now;
  for (size_t i = 0; i < 1000 && io.sent.size() < 2 * kFrames; ++i) {
    io.transmit_limit = limits[i % limits.size()];
    (*made)->shard(ShardId(0)).poll(io, now);
    now = now + 11_us;
    io.complete(now);
  }
  std::vector<QueueId> order;
  for (const Sent& sent : io.sent) {
    constexpr size_t kTosAt = 14 + 1;
    order.emplace_back(static_cast<size_t>(sent.frame[kTosAt] >> 2));
  }
  return order;
}

// What is refused was not sent: queues take turns as if it had never been picked.
TEST(Refusal, DoesNotChangeTheTurnsOfDwrrQueues) {
  const std::vector<QueueId> undisturbed = order_of_queues({SIZE_MAX});
  ASSERT_EQ(undisturbed.size(), 200u);
  EXPECT_EQ(order_of_queues({SIZE_MAX, 3}), undisturbed);
  EXPECT_EQ(order_of_queues({0, SIZE_MAX, 5, 1, 2}), undisturbed);
}

// Readable octets that are not read yet count as if they had arrived.
TEST(Backlog, CountsTowardsXoff) {
  config::SwitchConfig config = hosts_switch(2);
  config.buffer.cell_bytes = 1;
  config.buffer.profiles["lossless"].xoff = 10'000_B;
  for (const int64_t backlog : {0, 8'999, 9'001}) {
    auto made = Switch::create(config, {.shards = 1});
    PacketPool pool(64, 256);
    ManualIo io(pool);
    io.links = {{PortId(0), true}, {PortId(1), true}};
    io.backlog = Bytes(backlog);
    UdpSpec spec = between(config, 0, 1, kLosslessDscp);
    spec.frame_len = 1000;
    spec.readable_len = 96;
    io.arrive(PortId(0), udp_frame(spec), 1000);
    (*made)->shard(ShardId(0)).poll(io, Instant());
    EXPECT_EQ(count(**made, 0, kLossless, PfcCounter::pfc_tx_xoff), backlog > 9'000 ? 1u : 0u)
        << backlog;
  }
}

// One switch with two lossless groups, of 10,000 octets each; what arrives on port 0 leaves at
// port 1.
struct WithBacklog {
  WithBacklog() {
    config.buffer.cell_bytes = 1;
    config.buffer.profiles["lossless"].xoff = 10'000_B;
    object = std::move(*Switch::create(config, {.shards = 1}));
    io.links = {{PortId(0), true}, {PortId(1), true}};
    poll();
  }
  void arrive(uint8_t dscp, size_t wire_len = 0) {
    io.arrive(PortId(0), udp_frame(between(config, 0, 1, dscp)), wire_len);
  }
  void poll() {
    object->shard(ShardId(0)).poll(io, now);
    now = now + 1_ns;
  }
  int64_t used(size_t pg) { return object->pg_status(PortId(0), PriorityGroupId(pg)).used; }
  bool pausing(size_t pg) { return object->pg_status(PortId(0), PriorityGroupId(pg)).pausing; }
  uint64_t pauses(Priority priority) {
    return count(*object, 0, priority, PfcCounter::pfc_tx_xoff);
  }

  config::SwitchConfig config = hosts_switch(2);
  PacketPool pool{64, 256};
  ManualIo io{pool};
  std::unique_ptr<Switch> object;
  Instant now;
};

// Frames of another class are read for long before the next of a group is.
TEST(Backlog, PausesAGroupBeforeItsNextPacketIsRead) {
  WithBacklog world;
  for (int i = 0; i < 5; ++i) world.arrive(kLosslessDscp, 1'000);
  world.poll();
  const int64_t held = world.used(3);
  ASSERT_GT(held, 0);
  world.io.backlog = Bytes(10'000 - held);
  world.arrive(kLossyDscp);
  world.poll();
  EXPECT_FALSE(world.pausing(3)) << "it all fits";
  world.io.backlog = Bytes(10'000 - held + 1);
  world.arrive(kLossyDscp);
  world.poll();
  EXPECT_TRUE(world.pausing(3));
  EXPECT_EQ(world.pauses(kLossless), 1u) << "in the same poll";
  EXPECT_FALSE(world.pausing(4)) << "it holds nothing";
}

// Nobody knows of which class it is: no group that loses nothing may be left out.
TEST(Backlog, PausesAllLosslessGroupsOfItsPortAndNoOther) {
  WithBacklog world;
  world.io.backlog = 10'001_B;
  world.arrive(kLossyDscp);
  world.poll();
  for (size_t pg = 0; pg < kPriorities; ++pg)
    EXPECT_EQ(world.pausing(pg), pg == 3 || pg == 4) << pg;
  EXPECT_EQ(world.pauses(kLossless), 1u);
  EXPECT_FALSE(world.object->pg_status(PortId(1), PriorityGroupId(3)).pausing) << "another port";
  world.io.backlog = 0_B;
  for (int i = 0; i < 3; ++i) {
    world.now = world.now + IngressBuffer::kLook;
    world.poll();
  }
  EXPECT_FALSE(world.pausing(3)) << "nothing of its own comes or goes";
  EXPECT_FALSE(world.pausing(4));
  EXPECT_EQ(count(*world.object, 0, kLossless, PfcCounter::pfc_tx_xon), 1u);
}

// What is unread will take whole cells, each frame of it.
TEST(Backlog, CountsInCells) {
  config::SwitchConfig config = hosts_switch(2);
  config.buffer.cell_bytes = 256;
  config.buffer.profiles["lossless"].xoff = 20'000_B;
  for (const uint32_t frames : {30, 100}) {
    auto made = Switch::create(config, {.shards = 1});
    PacketPool pool(64, 256);
    ManualIo io(pool);
    io.links = {{PortId(0), true}, {PortId(1), true}};
    io.backlog = 10'000_B;
    io.backlog_packets = frames;  // at most 255 octets more for each
    UdpSpec spec = between(config, 0, 1, kLosslessDscp);
    io.arrive(PortId(0), udp_frame(spec));
    (*made)->shard(ShardId(0)).poll(io, Instant());
    EXPECT_EQ(count(**made, 0, kLossless, PfcCounter::pfc_tx_xoff), frames == 100 ? 1u : 0u);
  }
}

// A group that is paused and holds nothing does not resume into frames that may be its own. When
// they turn out to be another's, it resumes though nothing of its own comes or goes any more.
TEST(Backlog, OfAnotherClassKeepsAnEmptyGroupPausedUntilItIsRead) {
  config::SwitchConfig config = hosts_switch(2);
  config.buffer.cell_bytes = 1;
  config.buffer.profiles["lossless"].xoff = 10'000_B;
  auto made = Switch::create(config, {.shards = 1});
  Switch& object = **made;
  Shard& shard = object.shard(ShardId(0));
  PacketPool pool(64, 256);
  ManualIo io(pool);
  io.links = {{PortId(0), true}, {PortId(1), true}};
  const auto resumed = [&] { return count(object, 0, kLossless, PfcCounter::pfc_tx_xon); };
  io.backlog = 50'000_B;
  io.arrive(PortId(0), udp_frame(between(config, 0, 1, kLosslessDscp)));
  Instant now;
  shard.poll(io, now);
  EXPECT_EQ(count(object, 0, kLossless, PfcCounter::pfc_tx_xoff), 1u);
  for (int i = 0; i < 5; ++i) {
    now = now + 1_us;
    io.complete(now);
    io.arrive(PortId(0), udp_frame(between(config, 0, 1, kLossyDscp)));
    shard.poll(io, now);
    ASSERT_EQ(object.pg_status(PortId(0), PriorityGroupId(3)).used, 0);
    ASSERT_EQ(resumed(), 0u) << "it might be more of the same";
    ASSERT_LE(shard.next_deadline(), now + IngressBuffer::kLook);
  }
  for (int i = 0; i < 5 && resumed() == 0; ++i) {
    now = std::max(now, shard.next_deadline());
    shard.poll(io, now);
  }
  EXPECT_EQ(resumed(), 1u);
  EXPECT_LE(now, Instant::at(8_us));
  io.complete(now + 1_us);
  shard.poll(io, now + 1_us);
  EXPECT_GT(shard.next_deadline(), now + 100_us) << "it looks no more";
}

// Other groups have used up the shared pool and the headroom pool of an overcommitted buffer: one
// that holds nothing is refused and pauses its sender. It resumes when there is room.
TEST(Headroom, ThatIsUsedUpPausesAnEmptyGroupUntilThereIsRoom) {
  config::SwitchConfig config = hosts_switch(3);
  config.buffer.size = 600'000_B;
  config.buffer.overcommit = true;
  config.buffer.profiles["lossless"].headroom = 200'000_B;
  config.buffer.profiles["lossless"].reserved = 0_B;
  OneSwitch rig(config);
  Command stop{.kind = Command::Kind::set_port_tx, .port = PortId(2), .on = false};
  Command go{.kind = Command::Kind::set_port_tx, .port = PortId(2), .on = true};
  ASSERT_TRUE(rig.object().post(ShardId(0), stop));
  for (int i = 0; i < 100; ++i)
    for (const size_t from : {0, 1}) rig.send(from, 2, kOtherLosslessDscp, 9000);
  const auto pauses = [&](PfcCounter which) { return count(rig.object(), 0, kLossless, which); };
  EXPECT_EQ(pauses(PfcCounter::pfc_tx_xoff), 0u);
  rig.send(0, 2, kLosslessDscp, 9000);
  const auto group = [&] { return rig.object().pg_status(PortId(0), PriorityGroupId(3)); };
  EXPECT_EQ(group().used, 0) << "it was refused";
  rig.run_for(10_us);
  EXPECT_EQ(pauses(PfcCounter::pfc_tx_xoff), 1u);
  EXPECT_EQ(pauses(PfcCounter::pfc_tx_xon), 0u) << "there is no room yet";
  EXPECT_TRUE(group().pausing);
  ASSERT_TRUE(rig.object().post(ShardId(0), go));
  rig.fabric.poll(rig.node);
  rig.run_for(1_ms);
  EXPECT_FALSE(group().pausing);
  EXPECT_EQ(pauses(PfcCounter::pfc_tx_xon), 1u);
  EXPECT_EQ(leftovers(rig.object()), "");
}

// Shard 1 sleeps while packets for its port pile up: more than their lane has room for. They wait
// with the shard that has them, in order.
TEST(Shards, PacketsThatFindTheirLaneFullWaitAndComeInOrder) {
  constexpr uint16_t kFrames = 17'000;
  config::SwitchConfig config = hosts_switch(2);
  config.buffer.size = 64_MiB;
  spread_over_workers(config, 2);
  auto made = Switch::create(config, {.shards = 2});
  ASSERT_TRUE(made.ok());
  Switch& object = **made;
  PacketPool pool(32'768, 128);
  ManualIo io0(pool), io1(pool);
  io0.links.push_back({PortId(0), true});
  io1.links.push_back({PortId(1), true});
  Instant now;
  object.shard(ShardId(1)).poll(io1, now);
  UdpSpec spec = between(config, 0, 1);
  for (uint16_t i = 0; i < kFrames; ++i) {
    spec.source_port = i;
    io0.arrive(PortId(0), udp_frame(spec));
    object.shard(ShardId(0)).poll(io0, now);
  }
  EXPECT_EQ(object.balance().dropped, 0u);
  EXPECT_EQ(object.balance().held, kFrames);
  EXPECT_TRUE(object.balance().holds());
  EXPECT_LE(object.shard(ShardId(0)).next_deadline(), now) << "it has packets to send on";
  while (object.balance().held != 0) {
    now = now + 10_us;
    io1.complete(now);
    object.shard(ShardId(1)).poll(io1, now);
    object.shard(ShardId(0)).poll(io0, now);
  }
  EXPECT_GT(object.shard(ShardId(0)).next_deadline(), now);
  ASSERT_EQ(io1.sent.size(), kFrames);
  for (uint16_t i = 0; i < kFrames; ++i) ASSERT_EQ(source_port(io1.sent[i].frame), i);
  now = now + 10_us;
  io1.complete(now);
  object.shard(ShardId(1)).poll(io1, now);
  object.shard(ShardId(0)).poll(io0, now);
  EXPECT_EQ(leftovers(object), "");
  EXPECT_EQ(pool.available(), 32'768u);
}

}  // namespace
}  // namespace eddy::test
