// ConWeave in switches: answers, tails and notices on the wire, and what becomes of them when they
// are lost, doubled, late, forged or not understood.
#include <gtest/gtest.h>

#include <algorithm>

#include "net/parse.h"
#include "tests/support/path_fabric.h"

namespace eddy {
namespace {

using namespace eddy::literals;
using namespace eddy::test;

struct ConweaveWith {
  std::string first = "conweave";   // leaf
  std::string second = "conweave";  // leaf
  std::string spines = "conweave";
  size_t shards = 1;
  size_t spine_count = 4;
  config::ShimUse shim = config::ShimUse::automatic;
};

struct ConweaveFabric : PathFabric {
  explicit ConweaveFabric(const ConweaveWith& with = {})
      : PathFabric(
            {.service = {.shim = with.shim, .base_rtt = kBaseRtt},
             .shards = with.shards,
             .spines = with.spine_count,
             .change =
                 [&](config::SwitchConfig& leaf) {
                   const bool first = leaf.leaf == LeafId(1);
                   leaf.load_balancer.scheme = first ? with.first : with.second;
                   if (leaf.load_balancer.scheme == "conweave")
                     leaf.load_balancer.parameters = {
                         {"reply", "12us"}, {"slack", "100us"}, {"wait", "200us"}};
                 },
             .change_spine =
                 [&](config::SwitchConfig& spine) { spine.load_balancer.scheme = with.spines; }}) {}
  ConweaveFabric(const ConweaveFabric&) = delete;
  ConweaveFabric& operator=(const ConweaveFabric&) = delete;

  // A flow whose packets are told apart by their lengths.
  void send_flow(int packets, Duration gap = 1_us) {
    for (int i = 0; i < packets; ++i) {
      UdpSpec spec = packet(0);
      spec.frame_len = 600 + static_cast<size_t>(sent_ % 400);
      fabric.inject(leaves[0], PortId(0), udp_frame(spec), spec.frame_len);
      ++sent_;
      run_for(gap);
    }
  }
  // Lossless traffic between others, that fills the spine's line to the second leaf.
  void jam(size_t s, int frames) {
    UdpSpec spec = packet(0, 7'777);
    spec.destination_mac = port_mac(shape.spines[s], 0);
    for (int i = 0; i < frames; ++i) fabric.inject(spines[s], PortId(0), udp_frame(spec), 1000);
  }
  size_t path_in_use() {
    std::array<uint64_t, 4> before{};
    for (size_t s = 0; s < spines.size(); ++s) before[s] = sent_by(s);
    send_flow(3);
    for (size_t s = 0; s < spines.size(); ++s)
      if (sent_by(s) - before[s] >= 3) return s;
    return spines.size();
  }
  uint64_t sent_by(size_t s) { return test::count(leaf(0), 1 + s, PortCounter::tx_packets); }
  // Of our flow, at the second leaf's host: how many came, and whether in order.
  struct Got {
    int packets = 0;
    int out_of_order = 0;
  };
  Got got() {
    Got got;
    for (const auto& arrival : hosts[1]->received) {
      if (arrival.wire_len < 600 || arrival.wire_len >= 1'000) continue;
      const auto number = static_cast<int>(arrival.wire_len) - 600;
      got.out_of_order += number != got.packets % 400 ? 1 : 0;
      ++got.packets;
    }
    return got;
  }
  int sent() const { return sent_; }

 private:
  int sent_ = 0;
};

TEST(ConweaveFabric, EachEpochIsAnswered) {
  ConweaveFabric fabric;
  fabric.run_for(100_us);
  fabric.send_flow(100);
  fabric.run_for(100_us);
  // A round trip takes some 5 us, and the next packet asks.
  EXPECT_GT(fabric.count(1, PortCounter::agent_frames), 10u);
  EXPECT_EQ(fabric.count(0, PortCounter::agent_frames_heard),
            fabric.count(1, PortCounter::agent_frames));
  EXPECT_EQ(fabric.count(0, PortCounter::agent_frames_stale), 0u);
  EXPECT_EQ(fabric.got().packets, 100);
  EXPECT_EQ(fabric.got().out_of_order, 0);
}

// What one queue beyond the leaf does: the answer is late, the flow goes another way, and what
// comes first there waits for what went before.
TEST(ConweaveFabric, AFlowMovesAwayFromAJamAndComesInOrder) {
  for (const size_t shards : {1, 2}) {
    ConweaveFabric fabric({.shards = shards});
    fabric.run_for(100_us);
    fabric.send_flow(20);
    const size_t before = fabric.path_in_use();
    fabric.jam(before, 60);
    fabric.send_flow(40);
    EXPECT_NE(fabric.path_in_use(), before);
    fabric.run_for(200_us);
    EXPECT_GT(fabric.count(1, PortCounter::stage_held_packets), 5u);
    EXPECT_EQ(fabric.count(1, PortCounter::stage_missed_flows), 0u);
    EXPECT_EQ(fabric.got().packets, fabric.sent());
    EXPECT_EQ(fabric.got().out_of_order, 0);
    EXPECT_EQ(fabric.count(0, PortCounter::agent_frames_stale), 0u);
    for (const size_t node : fabric.leaves) EXPECT_EQ(leftovers(fabric.fabric.at(node)), "");
  }
}

// The tail is lost: what waits for it goes on after a while, is counted, and the flow moves again.
TEST(ConweaveFabric, ALostTailIsNotWaitedForForever) {
  ConweaveFabric fabric;
  fabric.run_for(100_us);
  fabric.send_flow(20);
  const size_t before = fabric.path_in_use();
  fabric.jam(before, 60);
  fabric.send_flow(30);
  ASSERT_GT(fabric.count(1, PortCounter::stage_held_packets), 0u);
  fabric.fabric.set_link(fabric.spines[before], PortId(1), false);  // with all that waits there
  fabric.send_flow(300);
  fabric.run_for(300_us);
  EXPECT_EQ(fabric.count(1, PortCounter::stage_missed_flows), 1u);
  EXPECT_LT(fabric.got().packets, fabric.sent());
  const uint64_t answers = fabric.count(0, PortCounter::agent_frames_heard);
  fabric.send_flow(50);
  EXPECT_GT(fabric.count(0, PortCounter::agent_frames_heard), answers + 5);
  EXPECT_EQ(fabric.leaf(1).balance().held, 0u);
}

TEST(ConweaveFabric, AFlowStaysWhereTheOtherLeafDoesNotSpeak) {
  ConweaveFabric fabric({.second = "ecmp"});
  fabric.run_for(100_us);
  fabric.send_flow(20);
  const size_t before = fabric.path_in_use();
  fabric.jam(before, 60);
  fabric.send_flow(100);
  EXPECT_EQ(fabric.path_in_use(), before);
  fabric.run_for(200_us);
  EXPECT_EQ(fabric.count(0, PortCounter::agent_frames_heard), 0u);
  EXPECT_EQ(fabric.got().packets, fabric.sent());
  EXPECT_EQ(fabric.got().out_of_order, 0);
}

TEST(ConweaveFabric, ALeafThatDoesNotSpeakIsNotAnswered) {
  for (const char* other : {"ecmp", "conga"}) {
    ConweaveFabric fabric({.first = other});
    fabric.run_for(100_us);
    fabric.send_flow(50);
    fabric.run_for(100_us);
    EXPECT_EQ(fabric.count(1, PortCounter::agent_frames), 0u) << other;
    EXPECT_EQ(fabric.count(1, PortCounter::stage_held_packets), 0u) << other;
    EXPECT_EQ(fabric.got().packets, 50) << other;
  }
}

// Where the configuration gives packets no shims, it does not speak either.
TEST(ConweaveFabric, WithoutShimsFlowsStay) {
  for (const config::ShimUse use : {config::ShimUse::off, config::ShimUse::sampled}) {
    ConweaveFabric fabric({.shim = use});
    fabric.run_for(100_us);
    fabric.send_flow(20);
    const size_t before = fabric.path_in_use();
    fabric.jam(before, 60);
    fabric.send_flow(100);
    EXPECT_EQ(fabric.path_in_use(), before);
    fabric.run_for(200_us);
    EXPECT_EQ(fabric.count(1, PortCounter::agent_frames), 0u);
    EXPECT_EQ(fabric.got().out_of_order, 0);
  }
}

TEST(ConweaveFabric, MarkedPacketsAreToldOf) {
  ConweaveFabric fabric;
  fabric.run_for(100_us);
  fabric.send_flow(2, 20_us);
  const uint64_t before = fabric.count(1, PortCounter::agent_frames);
  UdpSpec marked = fabric.packet(0);
  marked.ecn = kEcnCongestion;
  for (int i = 0; i < 20; ++i)
    fabric.fabric.inject(fabric.leaves[0], PortId(0), udp_frame(marked), 1000);
  fabric.run_for(100_us);
  const uint64_t told = fabric.count(1, PortCounter::agent_frames) - before;
  EXPECT_GE(told, 1u);
  EXPECT_LE(told, 8u) << "not of each";
  EXPECT_EQ(fabric.count(0, PortCounter::agent_frames_stale), 0u);
}

// Answers are lost, doubled, late and forged: the flow comes in order, whatever is made of them.
TEST(ConweaveFabric, FramesThatLieAreCountedAndOrderIsKept) {
  ConweaveFabric fabric;
  fabric.run_for(100_us);
  const auto forge = [&](ShimControl message) {
    message.shim.source_leaf = LeafId(2);
    message.shim.destination_leaf = LeafId(1);
    std::vector<uint8_t> frame(128);
    size_t length = encode(EthernetHeader{host_mac(1, 1), host_mac(9, 9), kEtherTypeShim}, frame);
    length += encode(message, Octets(frame).subspan(length));
    frame.resize(pad_frame(frame, length));
    fabric.fabric.inject(fabric.leaves[0], PortId(1), frame, frame.size());
  };
  ParsedFrame parsed;
  const Frame data = udp_frame(fabric.packet(0));
  ASSERT_EQ(parse_frame(data.data(), static_cast<uint32_t>(data.size()), 1'000, parsed),
            ParseVerdict::ok);
  for (int round = 0; round < 30; ++round) {
    fabric.send_flow(3);
    if (round % 7 == 3) fabric.jam(fabric.path_in_use() % 4, 40);
    for (const uint8_t flag : {uint8_t{kShimRttEcho}, uint8_t{kShimTail}, uint8_t{0}})
      for (uint8_t epoch = 0; epoch < 4; ++epoch)
        forge({.shim = {.kind = ShimKind::clear,
                        .flags = flag,
                        .epoch = epoch,
                        .echoed_ns = static_cast<uint32_t>(round * 1'000)},
               .order_hash = parsed.order_hash});
    forge({.shim = {.kind = ShimKind::notify, .feedback_path = PathId(0x30ff)}});
  }
  fabric.run_for(500_us);
  EXPECT_GT(fabric.count(0, PortCounter::agent_frames_stale), 300u);
  EXPECT_GT(fabric.count(1, PortCounter::stage_held_packets), 0u);
  EXPECT_EQ(fabric.count(1, PortCounter::stage_missed_flows), 0u);
  EXPECT_EQ(fabric.got().packets, fabric.sent());
  EXPECT_EQ(fabric.got().out_of_order, 0);
}

}  // namespace
}  // namespace eddy
