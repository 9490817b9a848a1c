// HULA in switches: probes on the wire, from leaf to leaf by every spine.
#include <gtest/gtest.h>

#include <set>

#include "switch/dataplane/state/command.h"
#include "tests/support/path_fabric.h"

namespace eddy {
namespace {

using namespace eddy::literals;
using namespace eddy::test;

struct HulaSetup {
  std::string leaves = "hula";
  std::string spines = "hula";
  size_t shards = 1;
};

struct HulaFabric : PathFabric {
  explicit HulaFabric(const HulaSetup& with = {})
      : PathFabric(
            {.service = {.shim = config::ShimUse::off, .base_rtt = kBaseRtt},
             .shards = with.shards,
             .change =
                 [&](config::SwitchConfig& leaf) {
                   leaf.load_balancer.scheme = with.leaves;
                   leaf.load_balancer.parameters = {};
                 },
             .change_spine =
                 [&](config::SwitchConfig& spine) { spine.load_balancer.scheme = with.spines; }}) {}
  HulaFabric(const HulaFabric&) = delete;
  HulaFabric& operator=(const HulaFabric&) = delete;

  uint64_t at_spine(size_t s, PortCounter which) {
    uint64_t total = 0;
    for (size_t port = 0; port < spine(s).port_count(); ++port)
      total += test::count(spine(s), port, which);
    return total;
  }
  // Packets of so many flows of leaf 0's host, and how many left by each spine.
  std::array<uint64_t, 2> send_flows(uint16_t flows) {
    const std::array before = {test::count(leaf(0), 1, PortCounter::tx_packets),
                               test::count(leaf(0), 2, PortCounter::tx_packets)};
    for (uint16_t i = 0; i < flows; ++i) send(0, ++port_);
    run_for(100_us);
    return {test::count(leaf(0), 1, PortCounter::tx_packets) - before[0],
            test::count(leaf(0), 2, PortCounter::tx_packets) - before[1]};
  }

 private:
  uint16_t port_ = 1'000;
};

TEST(HulaFabric, ProbesOfEachLeafReachTheOther) {
  HulaFabric fabric;
  fabric.run_for(1_ms);
  EXPECT_GE(fabric.count(0, PortCounter::agent_frames), 2 * 12u);
  EXPECT_GE(fabric.count(1, PortCounter::agent_frames_heard), 2 * 12u);
  EXPECT_GE(fabric.at_spine(0, PortCounter::agent_frames), 2 * 12u);
  for (size_t l = 0; l < 2; ++l) {
    EXPECT_EQ(fabric.count(l, PortCounter::agent_frames_stale), 0u);
    EXPECT_EQ(fabric.count(l, PortCounter::agent_frames_forged), 0u);
    EXPECT_EQ(fabric.count(l, PortCounter::agent_over_budget), 0u);
  }
}

TEST(HulaFabric, FlowsTakeTheBestNextHop) {
  HulaFabric fabric;
  fabric.run_for(1_ms);
  const auto [first, second] = fabric.send_flows(40);
  EXPECT_GE(std::max(first, second), 40u);
  EXPECT_LE(std::min(first, second), 3u) << "probes";
  EXPECT_EQ(fabric.count(0, PortCounter::selector_ties_total), 0u);
}

// What leads there is full beyond the spine, which the leaf does not see: the probe says so.
TEST(HulaFabric, AFullLineBeyondTheSpineIsAvoided) {
  HulaFabric fabric;
  fabric.run_for(1_ms);
  const auto [first, second] = fabric.send_flows(40);
  const size_t best = first > second ? 0 : 1;
  for (int i = 0; i < 40; ++i) {
    for (int k = 0; k < 16; ++k)
      fabric.fabric.inject(fabric.spines[best], PortId(0), udp_frame(fabric.packet(0)), 1000);
    fabric.run_for(10_us);
  }
  const auto after = fabric.send_flows(40);
  EXPECT_LE(after[best], 3u);
  EXPECT_GE(after[1 - best], 40u);
}

TEST(HulaFabric, SpinesThatDoNotSpeakLeaveItToTheHash) {
  HulaFabric fabric({.spines = "ecmp"});
  fabric.run_for(1_ms);
  const auto [first, second] = fabric.send_flows(100);
  EXPECT_GT(first, 25u);
  EXPECT_GT(second, 25u);
  EXPECT_EQ(fabric.count(0, PortCounter::selector_ties_total), 100u);
  EXPECT_EQ(fabric.count(1, PortCounter::agent_frames_heard), 0u);
  EXPECT_GE(fabric.at_spine(0, PortCounter::consumed_packets), 2 * 12u);
  EXPECT_EQ(fabric.at_spine(0, PortCounter::agent_frames_unspoken),
            fabric.at_spine(0, PortCounter::consumed_packets));
}

// As eddyctl shows it.
TEST(HulaFabric, ARowSaysWhatProbesToldOfAPathAndWhichIsTheBest) {
  HulaFabric fabric;
  std::vector<PathRow> rows(2);
  const auto dump = [&] {
    Command command{.kind = Command::Kind::dump_paths, .path_rows = rows};
    EXPECT_TRUE(fabric.leaf(0).post(ShardId(0), command));
    fabric.fabric.poll(fabric.leaves[0]);
    EXPECT_TRUE(command.done.load());
  };
  dump();
  for (const PathRow& row : rows) {
    EXPECT_EQ(row.told.best, false) << "nothing has been heard yet";
    EXPECT_FALSE(row.told.utilisation || row.told.age || row.told.busy);
  }
  fabric.run_for(1_ms);
  dump();
  const auto [first, second] = fabric.send_flows(40);
  for (size_t s = 0; s < 2; ++s) {
    EXPECT_EQ(rows[s].told.best, s == (first > second ? 0u : 1u));
    EXPECT_TRUE(rows[s].told.utilisation.has_value());
    ASSERT_TRUE(rows[s].told.age.has_value());
    EXPECT_LE(*rows[s].told.age, 81_us) << "a probe comes each half of what the DRE remembers";
  }
}

TEST(HulaFabric, ALeafAmongOthersUsesWhatItHearsNothingOf) {
  HulaFabric fabric({.leaves = "letflow"});
  fabric.run_for(1_ms);
  const auto [first, second] = fabric.send_flows(100);
  EXPECT_GT(first, 25u);
  EXPECT_GT(second, 25u);
  EXPECT_EQ(fabric.at_spine(0, PortCounter::agent_frames), 0u);
}

TEST(HulaFabric, ShardsAgree) {
  HulaFabric fabric({.shards = 2});
  fabric.run_for(1_ms);
  EXPECT_EQ(fabric.count(1, PortCounter::agent_frames_stale), 0u);
  // As often as with one shard: a round goes on once.
  EXPECT_LE(fabric.at_spine(0, PortCounter::agent_frames), 2 * 14u);
  const auto [first, second] = fabric.send_flows(40);
  EXPECT_LE(std::min(first, second), 3u);
}

TEST(HulaFabric, AProbeFromAHostIsDropped) {
  HulaFabric fabric({.leaves = "hula", .spines = "ecmp"});
  fabric.run_for(200_us);
  std::vector<uint8_t> frame(64);
  const EthernetHeader header{port_mac(fabric.shape.leaves[0], 0), host_mac(1, 1), kEtherTypeShim};
  size_t length = encode(header, frame);
  length += encode(ShimControl{.shim = {.kind = ShimKind::hula_probe}, .top_of_rack = 2},
                   Octets(frame).subspan(length));
  fabric.fabric.inject(fabric.leaves[0], PortId(0), frame, 64);
  fabric.run_for(20_us);
  EXPECT_EQ(test::count(fabric.leaf(0), 0, PortCounter::agent_frames_heard), 0u);
  EXPECT_EQ(test::count(fabric.leaf(0), 0, PortCounter::consumed_packets), 0u);
}

}  // namespace
}  // namespace eddy
