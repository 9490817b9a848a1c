// PLB in switches: tolerable delays on the wire, and notices of spines that PFC stops.
#include <gtest/gtest.h>

#include "net/byte_order.h"
#include "net/shim.h"
#include "switch/dataplane/queues/sojourn.h"
#include "tests/support/path_fabric.h"

namespace eddy {
namespace {

using namespace eddy::literals;
using namespace eddy::test;

struct PlbSetup {
  std::string spines = "plb";
  std::string far_leaf = "plb";
  size_t shards = 1;
};

struct PlbFabric : PathFabric {
  explicit PlbFabric(const PlbSetup& with = {})
      : PathFabric(
            {.service = {.common_clock = true, .base_rtt = kBaseRtt},
             .shards = with.shards,
             .change =
                 [&](config::SwitchConfig& leaf) {
                   leaf.load_balancer.scheme = leaf.leaf == LeafId(1) ? "plb" : with.far_leaf;
                 },
             .change_spine =
                 [&](config::SwitchConfig& spine) { spine.load_balancer.scheme = with.spines; }}) {}
  PlbFabric(const PlbFabric&) = delete;
  PlbFabric& operator=(const PlbFabric&) = delete;

  uint64_t at_spine(size_t s, PortCounter which) {
    uint64_t total = 0;
    for (size_t port = 0; port < spine(s).port_count(); ++port)
      total += test::count(spine(s), port, which);
    return total;
  }
  uint64_t sent_by(size_t s) { return test::count(leaf(0), 1 + s, PortCounter::tx_packets); }
  // A flow of leaf 0's host, for a while; by which spine it went.
  size_t run_flow(uint16_t source_port, int packets) {
    const std::array before = {sent_by(0), sent_by(1)};
    for (int i = 0; i < packets; ++i) {
      send(0, source_port);
      run_for(2_us);
    }
    return sent_by(0) - before[0] > sent_by(1) - before[1] ? 0 : 1;
  }
  // The far leaf pauses what comes from the spine, for as long as that can be told at once.
  void pause(size_t s) { fabric.inject(spines[s], PortId(1), pause_frame(1 << 3, 65'535)); }
};

TEST(PlbFabric, ASpineThatIsStoppedTellsTheLeafWhichGoesAnotherWay) {
  PlbFabric fabric;
  fabric.run_for(500_us);
  const size_t first = fabric.run_flow(7, 40);
  fabric.pause(first);
  EXPECT_EQ(fabric.run_flow(7, 40), 1 - first);
  EXPECT_GE(fabric.at_spine(first, PortCounter::agent_frames), 1u);
  EXPECT_LE(fabric.at_spine(first, PortCounter::agent_frames), 6u) << "once in 16 us";
  EXPECT_EQ(fabric.at_spine(1 - first, PortCounter::agent_frames), 0u);
  EXPECT_GE(fabric.count(0, PortCounter::agent_frames_heard), 1u);
  EXPECT_EQ(fabric.count(0, PortCounter::agent_frames_stale), 0u);
}

TEST(PlbFabric, ShardsHearOfIt) {
  PlbFabric fabric({.shards = 2});
  fabric.run_for(500_us);
  const size_t first = fabric.run_flow(7, 40);
  fabric.pause(first);
  EXPECT_EQ(fabric.run_flow(7, 40), 1 - first);
}

TEST(PlbFabric, ASpineThatDoesNotSpeakLeavesItToTheDelay) {
  PlbFabric fabric({.spines = "ecmp"});
  fabric.run_for(500_us);
  const size_t first = fabric.run_flow(7, 40);
  fabric.pause(first);
  fabric.run_flow(7, 40);
  EXPECT_EQ(fabric.at_spine(first, PortCounter::agent_frames), 0u);
  EXPECT_EQ(fabric.count(0, PortCounter::agent_frames_heard), 0u);
}

// Packets go there and arrive bare, whatever its scheme is; of its paths nothing is heard but
// echoes.
TEST(PlbFabric, ALeafThatDoesNotSpeakGetsItsPackets) {
  PlbFabric fabric({.far_leaf = "ecmp"});
  fabric.run_for(500_us);
  fabric.run_flow(7, 40);
  fabric.run_for(100_us);
  EXPECT_EQ(fabric.hosts[1]->received.size(), 40u);
}

TEST(PlbFabric, SojournsAreTimedWhereThePacketWaits) {
  PlbFabric fabric;
  fabric.run_for(500_us);
  // 20 packets at once wait for each other at the uplink: 0.8 us each.
  for (int i = 0; i < 20; ++i) fabric.send(0, 7);
  fabric.run_for(50_us);
  uint32_t most = 0;
  for (const size_t port : {1u, 2u})
    most = std::max(most, fabric.leaf(0).signals(PortId(port)).sojourn_ns.load());
  EXPECT_GT(most, 4'000u);
  EXPECT_LT(most, 20'000u);
  EXPECT_EQ(fabric.leaf(0).signals(PortId(0)).sojourn_ns.load(), 0u);
}

// A packet with a shim at the head of its frame.
struct Dressed {
  rte_mbuf mbuf{};
  Packet packet{};
  std::array<uint8_t, 64> octets{};

  explicit Dressed(uint16_t bears, uint8_t flags = kShimTolerableDelay) {
    packet.flags = kPacketShim;
    packet.l2_len = kEthernetHeader + kShimHeader;
    encode(Shim{.flags = flags, .tolerable_delay = bears}, Octets(octets).subspan(kEthernetHeader));
  }
  uint16_t left() const { return load_be16(octets.data() + kEthernetHeader + 14); }
};
static_assert(offsetof(Dressed, packet) == sizeof(rte_mbuf));

TEST(Sojourn, WhatAPacketWaitsIsCountedOffItsShim) {
  lb::PortSignals port;
  Dressed dressed(100);
  begin_sojourn(dressed.packet, Instant() + 10_us);
  end_sojourn(dressed.packet, port, Instant() + 10_us + 640_ns);
  EXPECT_EQ(dressed.left(), 90);
  EXPECT_EQ(port.sojourn_ns.load(), 80u) << "an eighth of a sample";
  end_sojourn(dressed.packet, port, Instant() + 10_us + 768_ns);  // the device gave it back
  EXPECT_EQ(dressed.left(), 88);
  end_sojourn(dressed.packet, port, Instant() + 100_us);
  EXPECT_EQ(dressed.left(), 0);
}

TEST(Sojourn, WhatHasNoLimitOrIsNotTimedStaysAsItIs) {
  lb::PortSignals port;
  Dressed unlimited(kShimUnlimitedDelay);
  begin_sojourn(unlimited.packet, Instant());
  end_sojourn(unlimited.packet, port, Instant() + 8_us);
  EXPECT_EQ(unlimited.left(), kShimUnlimitedDelay);
  EXPECT_EQ(port.sojourn_ns.load(), 1'000u);
  Dressed without(100, 0);
  end_sojourn(without.packet, port, Instant() + 8_us);
  EXPECT_EQ(without.left(), 100);
  EXPECT_EQ(port.sojourn_ns.load(), 1'000u);
}

}  // namespace
}  // namespace eddy
