#include "lab/world/world.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <utility>

#include <numeric>
#include <vector>

#include "lab/conformance/allocations.h"
#include "lab/fabric/build_topology.h"
#include "net/memory/reserved.h"

namespace eddy::lab {
namespace {

using namespace eddy::literals;

constexpr int64_t kOverhead = 24;
constexpr int64_t kPayload = 1'024;
constexpr int64_t kMiddle = 58 + kPayload;  // without FCS
constexpr int64_t kFirst = kMiddle + 16;
constexpr int64_t kAck = 62;

config::Experiment one_switch(int hosts) {
  config::Experiment experiment;
  experiment.topology.leaves = 1;
  experiment.topology.spines = 1;
  experiment.topology.hosts_per_leaf = hosts;
  experiment.host.congestion_control = "none";
  experiment.host.window = false;
  return experiment;
}

Flow flow(uint32_t source, uint32_t destination, Bytes size, Instant start = {}) {
  return {.source = source,
          .destination = destination,
          .size = size,
          .start = start,
          .source_port = static_cast<uint16_t>(50'000 + source)};
}

struct Fabric {
  Fabric(const config::Experiment& experiment, std::vector<Flow> flows, WorldOptions options = {}) {
    auto topology = build_topology(experiment);
    for (const std::string& problem : topology ? Problems{} : topology.problems())
      ADD_FAILURE() << problem;
    options.host = experiment.host;
    auto made = World::create(
        *topology, flows, [](uint32_t, uint32_t) { return 20_us; }, options);
    for (const std::string& problem : made ? Problems{} : made.problems()) ADD_FAILURE() << problem;
    world = std::move(*made);
  }
  std::unique_ptr<World> world;
};

Duration line_time(int64_t octets, BitRate rate = 40_Gbps) {
  return LineRate(rate).time_of(Bytes(octets + kOverhead));
}

// By hand: ten packets leave the sender back to back; the last crosses the switch's line too, then
// its ACK crosses both lines back. 2 us of propagation on each of four crossings.
TEST(World, OneFlowOverOneSwitchTakesWhatTheLinesTake) {
  Fabric fabric(one_switch(2), {flow(0, 1, Bytes(10 * kPayload))});
  ASSERT_TRUE(fabric.world->run_to_completion(Instant() + 1_ms));
  const Duration sending = line_time(kFirst) + line_time(kMiddle) * 9;
  const Duration data = line_time(kFirst) + 2_us + sending + 2_us;
  const Duration ack = line_time(kAck) * 2 + 4_us;
  EXPECT_EQ(fabric.world->records()[0].receiver_done, Instant() + data);
  EXPECT_EQ(fabric.world->records()[0].sender_done, Instant() + data + ack);
  EXPECT_EQ(fabric.world->send_outcome(0).sent_packets, 10u);
  EXPECT_EQ(fabric.world->receive_outcome(0).delivered_bytes, 10u * kPayload);
  EXPECT_EQ(fabric.world->receive_outcome(0).out_of_order_packets, 0u);
  EXPECT_EQ(fabric.world->counts().packet_hops, 10u * 4);
}

// Resident octets of this process.
size_t resident() {
  size_t size = 0;
  size_t pages = 0;
  std::ifstream("/proc/self/statm") >> size >> pages;
  return pages * static_cast<size_t>(sysconf(_SC_PAGESIZE));
}

// Most of what it needs is for traffic that this one has little of. It says for two worlds what
// they need, so that no part hides behind a constant: many ports and path sets, and many hosts.
TEST(World, TakesNoMoreMemoryThanItSaysItNeeds) {
  constexpr size_t kMore = kReservedOnHeap ? 8 : 1;  // AddressSanitizer has memory of its own
  for (const auto& [leaves, hosts] : {std::pair{24, 2}, std::pair{2, 200}}) {
    config::Experiment experiment = one_switch(hosts);
    experiment.topology.leaves = leaves;
    experiment.topology.spines = 16;
    experiment.load_balancer.scheme = "letflow";
    experiment.switches.buffer.size = 16_MiB;
    experiment.switches.allow_overcommit = true;
    auto topology = build_topology(experiment);
    ASSERT_TRUE(topology) << topology.problems().front();
    std::vector<Flow> flows;
    const auto count = static_cast<uint32_t>(topology->hosts.size());
    for (uint32_t i = 0; i < count; ++i) flows.push_back(flow(i, (i + count / 2) % count, 100_KiB));
    const size_t needed = World::memory_needed(*topology, flows.size());
    const size_t before = resident();
    Fabric fabric(experiment, flows);
    fabric.world->run_until(Instant() + 10_us);
    const size_t taken = resident() - before;
    EXPECT_LT(taken, needed * kMore) << leaves;
    EXPECT_LT(needed, taken * 8) << leaves;
  }
}

TEST(World, NothingIsLeftWhenAllIsDone) {
  Fabric fabric(one_switch(3), {flow(0, 2, 100_KiB), flow(1, 2, 100_KiB)});
  ASSERT_TRUE(fabric.world->run_to_completion(Instant() + 1_ms));
  EXPECT_EQ(fabric.world->frames_in_flight(), 0u);
  EXPECT_EQ(fabric.world->pool().used(), 0u);
  const Balance balance = fabric.world->switch_at(0).balance();
  EXPECT_TRUE(balance.holds());
  EXPECT_EQ(balance.held, 0u);
}

TEST(World, WhatIsDueWhenARunEndsHappens) {
  Fabric fabric(one_switch(2), {});
  std::vector<Duration> happened;
  for (const Duration at : {10_us, 20_us, 21_us})
    fabric.world->at(Instant::at(at), [&, at](World& world) {
      EXPECT_EQ(world.now(), Instant::at(at));
      happened.push_back(at);
    });
  fabric.world->run_until(Instant::at(20_us));
  EXPECT_EQ(happened, (std::vector<Duration>{10_us, 20_us}));
  EXPECT_EQ(fabric.world->now(), Instant::at(20_us));
}

TEST(World, SameSeedSameDigest) {
  const std::vector<Flow> flows = {flow(0, 3, 1_MiB), flow(1, 3, 1_MiB), flow(2, 3, 1_MiB)};
  config::Experiment experiment = one_switch(4);
  Fabric a(experiment, flows);
  Fabric b(experiment, flows);
  ASSERT_TRUE(a.world->run_to_completion(Instant() + 10_ms));
  ASSERT_TRUE(b.world->run_to_completion(Instant() + 10_ms));
  EXPECT_EQ(a.world->digest(), b.world->digest());
  EXPECT_GT(a.world->counts().ties, 0u);
  Fabric c(experiment, flows, {.seed = 2});
  ASSERT_TRUE(c.world->run_to_completion(Instant() + 10_ms));
  EXPECT_NE(a.world->digest(), c.world->digest());
}

// Lossless: 15 senders at line rate finish at the rate of the one line, and nothing is lost.
TEST(World, IncastOfFifteenFinishesAtTheBottlenecksRate) {
  std::vector<Flow> flows;
  constexpr int64_t kPackets = 1'000;
  for (uint32_t i = 0; i < 15; ++i) flows.push_back(flow(i, 15, Bytes(kPackets * kPayload)));
  config::Experiment experiment = one_switch(16);
  Fabric fabric(experiment, flows);
  ASSERT_TRUE(fabric.world->run_to_completion(Instant() + 100_ms));
  Duration last;
  for (const FlowRecord& record : fabric.world->records())
    last = std::max(last, record.receiver_done.since_zero());
  const Duration line = (line_time(kMiddle) * (kPackets - 1) + line_time(kFirst)) * 15;
  EXPECT_GE(last, line);
  EXPECT_LE(last, line + 10_us);
  EXPECT_EQ(fabric.world->switch_at(0).balance().dropped, 0u);
  uint64_t pauses = 0;
  for (size_t i = 0; i < 15; ++i)
    pauses += fabric.world->nic(i).counter(host::NicCounter::rx_pfc_packets);
  EXPECT_GT(pauses, 0u);
}

// 4 leaves, 2 spines, flows within and between racks; with `near`, one line without any delay, so
// that the partitions have no sides.
struct Racks {
  explicit Racks(DivisionOptions::Grain grain, bool near = true) {
    config::Experiment experiment = one_switch(3);
    experiment.topology.leaves = 4;
    experiment.topology.spines = 2;
    auto topology = build_topology(experiment);
    if (near) topology->links.front().delay = Duration{};
    std::vector<Flow> flows;
    for (uint32_t i = 0; i < 12; ++i)
      flows.push_back(
          flow(i, (i + (i % 3 == 0 ? 1 : 5)) % 12, 300_KiB, Instant() + 1_us * (i / 2)));
    auto made = World::create(*topology, flows, [](uint32_t, uint32_t) { return 20_us; },
                              {.host = experiment.host, .division = {.grain = grain}});
    world = std::move(*made);
  }
  std::unique_ptr<World> world;
};

void expect_same(const World& a, const World& b) {
  EXPECT_EQ(a.digest(), b.digest());
  EXPECT_EQ(a.now(), b.now());
  EXPECT_EQ(a.counts().events, b.counts().events);
  EXPECT_EQ(a.counts().packet_hops, b.counts().packet_hops);
  EXPECT_EQ(a.counts().host_turns, b.counts().host_turns);
  EXPECT_EQ(a.counts().ties, b.counts().ties);
  EXPECT_EQ(a.book().started(), b.book().started());
}

// Octets that all switches hold, where and at most so far.
std::vector<int64_t> held_octets(World& world) {
  std::vector<int64_t> octets;
  for (size_t i = 0; i < world.switch_count(); ++i) {
    const Switch& each = world.switch_at(i);
    const BufferStatus buffer = each.buffer_status();
    octets.insert(octets.end(), {buffer.shared_used, buffer.shared_watermark.user});
    for (size_t port = 0; port < each.port_count(); ++port) {
      for (size_t q = 0; q < kPriorities; ++q) {
        octets.push_back(each.queue_status(PortId(port), QueueId(q)).used);
        octets.push_back(each.pg_status(PortId(port), PriorityGroupId(q)).used);
      }
    }
  }
  return octets;
}

// It ends at the same instant, in a window's middle.
TEST(World, EndsAtTheSameInstantInWindows) {
  Racks one(DivisionOptions::Grain::one);
  Racks racks(DivisionOptions::Grain::rack);
  EXPECT_EQ(racks.world->partitions(),
            5u);  // leaf 1 and spine 1 are one: nothing lies between them
  ASSERT_TRUE(one.world->run_to_completion(Instant() + 10_ms));
  ASSERT_TRUE(racks.world->run_to_completion(Instant() + 10_ms));
  EXPECT_GT(racks.world->windows(), 20u);
  EXPECT_EQ(one.world->windows(), 0u);
  expect_same(*racks.world, *one.world);
}

// The same of windows in turn: a run may end while one side is ahead of the other.
TEST(World, EndsAtTheSameInstantWhereSidesTakeTurns) {
  using Grain = DivisionOptions::Grain;
  Racks one(Grain::one, /*near=*/false);
  ASSERT_TRUE(one.world->run_to_completion(Instant() + 10_ms));
  for (const Grain grain : {Grain::rack, Grain::node}) {
    Racks parts(grain, /*near=*/false);
    ASSERT_TRUE(parts.world->run_to_completion(Instant() + 10_ms));
    EXPECT_GT(parts.world->windows(), 20u);
    expect_same(*parts.world, *one.world);
  }
}

// Frames whose end concerns nobody are settled without a poll, and yet in their time as far as
// anybody can see.
class Held : public testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(World, Held, testing::Bool());

TEST_P(Held, IsTheSameInWindowsAtEveryInstant) {
  Racks one(DivisionOptions::Grain::one, GetParam());
  Racks racks(DivisionOptions::Grain::rack, GetParam());
  int64_t held = 0;
  for (int64_t us = 5; us < 80; us += 5) {
    for (Racks* each : {&one, &racks})
      each->world->run_until(Instant() + 1_us * us + Duration::nanoseconds(us * 7));
    const std::vector<int64_t> expected = held_octets(*one.world);
    EXPECT_EQ(held_octets(*racks.world), expected) << us;
    held += std::accumulate(expected.begin(), expected.end(), int64_t{0});
  }
  EXPECT_GT(held, 0);
  EXPECT_GT(racks.world->windows(), 20u);
  EXPECT_LT(racks.world->counts().polls, one.world->counts().polls * 9 / 10);
}

struct Frames final : Watcher {
  void on_frame(uint32_t, Step, const Packet&) override { ++frames; }
  void on_turn(uint32_t) override {}
  void on_instant() override {}
  uint64_t frames = 0;
};

// Steps, an action that cuts a link, a watcher that looks for some time.
TEST(World, GoesIntoWindowsAndOutOfThem) {
  Racks one(DivisionOptions::Grain::one);
  Racks nodes(DivisionOptions::Grain::node);
  uint64_t seen[2] = {};
  size_t at = 0;
  for (World* world : {one.world.get(), nodes.world.get()}) {
    world->at(Instant() + 40_us,
              [](World& now) { now.set_link(now.line_of(0, PortId(4)), false); });
    world->at(Instant() + 90_us, [](World& now) { now.set_link(now.line_of(0, PortId(4)), true); });
    world->run_until(Instant() + 20_us);
    world->run_until(Instant() + 55_us);
    Frames frames;
    world->set_watcher(&frames);
    world->run_until(Instant() + 60_us);
    world->set_watcher(nullptr);
    seen[at++] = frames.frames;
    world->run_until(Instant() + 70_us);
    world->at(Instant() + 75_us, [](World& now) { now.nudge(1); });
    world->run_until(Instant() + 2_ms);
  }
  EXPECT_GT(nodes.world->windows(), 20u);
  EXPECT_GT(seen[0], 100u);
  EXPECT_EQ(seen[1], seen[0]);
  expect_same(*nodes.world, *one.world);
}

TEST(World, BusyPollingAddsAtMostItsPeriodAtTheSwitch) {
  WorldOptions options;
  options.poll_model = config::PollModel::busy_poll;
  options.poll_period = 1_us;
  Fabric exact(one_switch(2), {flow(0, 1, Bytes(kPayload))});
  Fabric busy(one_switch(2), {flow(0, 1, Bytes(kPayload))}, options);
  ASSERT_TRUE(exact.world->run_to_completion(Instant() + 1_ms));
  ASSERT_TRUE(busy.world->run_to_completion(Instant() + 1_ms));
  const Duration later =
      busy.world->records()[0].receiver_done - exact.world->records()[0].receiver_done;
  EXPECT_GT(later, 0_ps);
  EXPECT_LE(later, 1_us);
}

// Two flows into one host, from the same instant: over 20 ms DCQCN gives each half of the line, to
// within a tenth.
TEST(World, TwoFlowsShareALinkFairlyUnderDcqcn) {
  config::Experiment experiment = one_switch(3);
  experiment.host.congestion_control = "dcqcn";
  experiment.host.dcqcn = config::dcqcn_preset(config::DcqcnPreset::paper);
  config::WredProfile& wred = experiment.switches.buffer.wred["default"];
  wred = {.ecn = true, .kmin = Bytes(5'000), .kmax = Bytes(200'000), .pmax = 0.01};
  const Bytes endless(int64_t{1} << 40);
  Fabric fabric(experiment, {flow(0, 2, endless), flow(1, 2, endless)});
  fabric.world->run_until(Instant() + 20_ms);
  const auto a = static_cast<double>(fabric.world->receive_outcome(0).delivered_bytes);
  const auto b = static_cast<double>(fabric.world->receive_outcome(1).delivered_bytes);
  EXPECT_NEAR(a / (a + b), 0.5, 0.05);
  EXPECT_LE((a + b) * 8 / 20e-3, 40e9);
}

// An incast with PFC, marks, cuts and ties, from its first event to its last.
TEST(World, AllocatesNothingWhileItRuns) {
  config::Experiment experiment = one_switch(8);
  experiment.host.congestion_control = "dcqcn";
  std::vector<Flow> flows;
  for (uint32_t i = 0; i < 7; ++i) flows.push_back(flow(i, 7, 2_MiB));
  Fabric fabric(experiment, flows);
  const uint64_t before = conformance::allocations();
  const bool done = fabric.world->run_to_completion(Instant() + 50_ms);
  EXPECT_EQ(conformance::allocations(), before);
  EXPECT_TRUE(done);
  EXPECT_GT(fabric.world->counts().ties, 0u);
}

}  // namespace
}  // namespace eddy::lab
