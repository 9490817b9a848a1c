// Flowcut in switches: numbers in shims, acknowledgements on the wire, and leaves that do not
// speak.
#include <gtest/gtest.h>

#include "tests/support/path_fabric.h"

namespace eddy {
namespace {

using namespace eddy::literals;
using namespace eddy::test;

struct FlowcutSetup {
  std::string receiver = "flowcut";
  std::string spines = "flowcut";
  std::string mode = "ingress";
  std::string ack_at = "enqueue";
  size_t shards = 1;
};

struct FlowcutFabric : PathFabric {
  explicit FlowcutFabric(const FlowcutSetup& with = {})
      : PathFabric({.service = {.base_rtt = kBaseRtt},
                    .shards = with.shards,
                    .change =
                        [&](config::SwitchConfig& leaf) {
                          const bool sends = leaf.leaf == LeafId(1);
                          choose(leaf, sends ? "flowcut" : with.receiver, with);
                        },
                    .change_spine =
                        [&](config::SwitchConfig& spine) { choose(spine, with.spines, with); }}) {}
  FlowcutFabric(const FlowcutFabric&) = delete;
  FlowcutFabric& operator=(const FlowcutFabric&) = delete;

  static void choose(config::SwitchConfig& at, const std::string& scheme,
                     const FlowcutSetup& with) {
    at.load_balancer = {.scheme = scheme};
    if (scheme == "flowcut")
      at.load_balancer.parameters = {
          {"mode", with.mode}, {"ack_at", with.ack_at}, {"ack_packets", "2"}};
  }
  uint64_t heard_at_spines() {
    uint64_t total = 0;
    for (size_t s = 0; s < spines.size(); ++s)
      for (size_t port = 0; port < spine(s).port_count(); ++port)
        total += test::count(spine(s), port, PortCounter::agent_frames_heard);
    return total;
  }
  // Bursts of eight flows, with pauses in which all arrives; what left by each uplink.
  std::array<uint64_t, 2> send_bursts() {
    for (int burst = 0; burst < 20; ++burst) {
      for (int i = 0; i < 3; ++i)
        for (uint16_t flow = 1; flow <= 8; ++flow) send(0, flow);
      run_for(burst % 2 == 0 ? 100_us : 5_us);
    }
    run_for(1_ms);
    return {test::count(leaf(0), 1, PortCounter::tx_packets),
            test::count(leaf(0), 2, PortCounter::tx_packets)};
  }
};

constexpr uint64_t kPackets = 20 * 3 * 8;

void expect_acknowledged(FlowcutFabric& fabric) {
  EXPECT_EQ(fabric.hosts[1]->received_count, kPackets);
  EXPECT_GT(fabric.count(0, PortCounter::agent_frames_heard), kPackets / 4);
  EXPECT_EQ(fabric.count(0, PortCounter::agent_frames_stale), 0u);
  EXPECT_EQ(fabric.count(0, PortCounter::agent_frames_unheard), 0u);
  EXPECT_EQ(fabric.count(1, PortCounter::agent_over_budget), 0u);
  EXPECT_EQ(fabric.count(0, PortCounter::selector_placeless_packets), 0u);
}

TEST(FlowcutFabric, PacketsAreAcknowledgedAndFlowsSpread) {
  FlowcutFabric fabric;
  const auto [one, other] = fabric.send_bursts();
  EXPECT_GT(one, kPackets / 4);
  EXPECT_GT(other, kPackets / 4);
  expect_acknowledged(fabric);
  EXPECT_EQ(fabric.heard_at_spines(), 0u);
}

TEST(FlowcutFabric, OverSpinesThatDoNotSpeak) {
  FlowcutFabric fabric({.spines = "ecmp"});
  (void)fabric.send_bursts();
  expect_acknowledged(fabric);
}

TEST(FlowcutFabric, EachSwitchHearsWhatGoesBackByIt) {
  FlowcutFabric fabric({.mode = "full"});
  (void)fabric.send_bursts();
  expect_acknowledged(fabric);
  EXPECT_EQ(fabric.heard_at_spines(), fabric.count(0, PortCounter::agent_frames_heard));
}

TEST(FlowcutFabric, WithTwoShards) {
  for (const char* mode : {"ingress", "full"}) {
    FlowcutFabric fabric({.mode = mode, .shards = 2});
    (void)fabric.send_bursts();
    EXPECT_EQ(fabric.hosts[1]->received_count, kPackets) << mode;
    EXPECT_GT(fabric.count(0, PortCounter::agent_frames_heard), kPackets / 16) << mode;
    EXPECT_EQ(fabric.count(0, PortCounter::agent_frames_stale), 0u) << mode;
  }
}

// The receiver has stopped its port: what has come to its leaf has not left.
TEST(FlowcutFabric, WhatWaitsForItsHostIsAcknowledgedBeforeOrAfter) {
  for (const char* at : {"enqueue", "transmit"}) {
    for (const size_t shards : {1, 2}) {
      const bool waits = std::string_view(at) == "transmit";
      FlowcutFabric fabric({.ack_at = at, .shards = shards});
      const auto pause = [&](uint16_t quanta) {
        fabric.fabric.inject(fabric.leaves[1], PortId(0), pause_frame(1 << 3, quanta), 64);
      };
      fabric.run_for(10_us);
      pause(UINT16_MAX);
      for (int i = 0; i < 4; ++i) fabric.send(0, 1);
      fabric.run_for(200_us);
      EXPECT_EQ(fabric.hosts[1]->received_count, 0u);
      EXPECT_EQ(fabric.count(1, PortCounter::agent_frames), waits ? 0u : 2u) << at;
      pause(0);
      fabric.run_for(50_us);
      EXPECT_EQ(fabric.hosts[1]->received_count, 4u);
      EXPECT_EQ(fabric.count(1, PortCounter::agent_frames), 2u) << at;
      EXPECT_EQ(fabric.count(0, PortCounter::agent_frames_heard), 2u) << at;
      EXPECT_EQ(fabric.count(0, PortCounter::agent_frames_stale), 0u) << at;
      EXPECT_EQ(fabric.count(1, PortCounter::stage_held_packets), 0u) << at;
    }
  }
}

TEST(FlowcutFabric, AcknowledgedWhenTheyLeaveFlowsSpreadAsWell) {
  for (const char* mode : {"ingress", "full"}) {
    FlowcutFabric fabric({.mode = mode, .ack_at = "transmit"});
    const auto [one, other] = fabric.send_bursts();
    EXPECT_GT(one, kPackets / 4) << mode;
    EXPECT_GT(other, kPackets / 4) << mode;
    expect_acknowledged(fabric);
  }
}

// Its flows stay where they are while they send, and all arrives.
TEST(FlowcutFabric, ToALeafThatDoesNotSpeak) {
  FlowcutFabric fabric({.receiver = "ecmp"});
  (void)fabric.send_bursts();
  EXPECT_EQ(fabric.hosts[1]->received_count, kPackets);
  EXPECT_EQ(fabric.count(0, PortCounter::agent_frames_heard), 0u);
}

}  // namespace
}  // namespace eddy
