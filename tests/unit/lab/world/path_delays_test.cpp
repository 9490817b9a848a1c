// What leaves measure of their paths in the lab: right on an idle fabric, in two tiers and three.
#include <gtest/gtest.h>

#include "lab/fabric/build_topology.h"
#include "lab/world/world.h"
#include "tests/unit/lab/fabric/fabrics.h"

namespace eddy::test {
namespace {

constexpr int64_t kProbe = 60;  // octets, and 24 more on a line

struct Lab {
  explicit Lab(config::Experiment with) : experiment(std::move(with)) {
    experiment.switches.path_service.shim = config::ShimUse::sampled;
    auto made = lab::build_topology(experiment);
    for (const std::string& problem : made ? Problems{} : made.problems()) ADD_FAILURE() << problem;
    topology = std::move(*made);
    auto built = lab::World::create(topology, {}, [](uint32_t, uint32_t) { return 20_us; },
                                    {.host = experiment.host});
    for (const std::string& problem : built ? Problems{} : built.problems())
      ADD_FAILURE() << problem;
    world = std::move(*built);
  }
  // Over `links` links of the fabric and as many lines, to the nanosecond.
  Duration idle_delay(int64_t links) const {
    const LineRate line(experiment.topology.fabric_rate);
    return (experiment.topology.fabric_delay + line.time_of(Bytes(kProbe + 24))) * links;
  }
  uint64_t count(PortCounter which) {
    uint64_t total = 0;
    for (size_t i = 0; i < topology.switches.size(); ++i)
      for (size_t port = 0; port < topology.switches[i].ports.size(); ++port)
        total += world->switch_at(i).counters(ShardId(0))[PortId(port)].port.read(which);
    return total;
  }

  config::Experiment experiment;
  lab::Topology topology;
  std::unique_ptr<lab::World> world;
};

// Of every path of every leaf; returns how many there are.
size_t expect_idle_delays(Lab& lab, int64_t links) {
  size_t paths = 0;
  for (size_t i = 0; i < lab.topology.switches.size(); ++i) {
    const lb::PathTable* table = lab.world->switch_at(i).paths();
    if (lab.topology.switches[i].leaf.is_none()) {
      EXPECT_EQ(table, nullptr);
      continue;
    }
    const auto sets = lab.world->switch_at(i).path_sets();
    for (size_t set = 0; set < sets.size(); ++set)
      for (uint8_t member = 0; member < sets[set].count; ++member, ++paths) {
        const auto delay = table->delay(set, member, Instant() + 1_ms);
        EXPECT_TRUE(delay.has_value()) << i << " " << set << " " << int{member};
        if (!delay) continue;
        const Duration least = table->least_delay(set, member);
        EXPECT_LE(least - lab.idle_delay(links), 1_ns);
        EXPECT_GE(least - lab.idle_delay(links), Duration{} - 1_ns);
        EXPECT_GE(*delay, least);
        EXPECT_LT(*delay - least, 60_ns) << "echoes and probes of others were ahead, a few";
        EXPECT_GT(table->arrived_before(set, member, QueueId(3)), Instant());
      }
  }
  return paths;
}

// Cables of 2 us and a probe's 16.8 ns on each line of 40 Gb/s: 4,033.6 ns.
TEST(PathDelays, OfAnIdleLeafSpineAreTheirCablesAndLines) {
  Lab lab(leaf_spine_of(4, 4, 8));
  EXPECT_EQ(lab.idle_delay(2), 4'033'600_ps);
  EXPECT_EQ(lab.topology.switches.back().path_service.base_rtt, 16_us);
  lab.world->run_until(Instant() + 1_ms);
  EXPECT_EQ(expect_idle_delays(lab, 2), 4u * 3 * 4);
  EXPECT_EQ(lab.count(PortCounter::path_unanswered), 0u);
  EXPECT_EQ(lab.count(PortCounter::path_reports_stale), 0u);
}

// A fat tree of 4: two uplinks and, behind each, two of the aggregation switch.
TEST(PathDelays, PinnedPathsOfThreeTiersAreEachMeasuredAndKept) {
  config::Experiment experiment = fat_tree_of(4);
  experiment.topology.pinned = true;
  Lab lab(experiment);
  const lab::Topology& topology = lab.topology;
  size_t across = 0;
  for (const config::LeafConfig& set : topology.switches[0].leaves) {
    if (set.paths.size() != 4) continue;  // in the same pod: two paths, one hop of choice
    ++across;
    EXPECT_EQ(set.paths[0].path_id, PathId(0x0000));
    EXPECT_EQ(set.paths[1].path_id, PathId(0x0001));
    EXPECT_EQ(set.paths[0].port, set.paths[1].port);
    EXPECT_EQ(set.paths[3].path_id, PathId(0x0101));
  }
  EXPECT_EQ(across, 6u);
  EXPECT_EQ(topology.switches[0].path_service.base_rtt, 24_us);
  lab.world->run_until(Instant() + 1_ms);
  EXPECT_EQ(lab.count(PortCounter::path_deviated_packets), 0u);
  EXPECT_EQ(lab.count(PortCounter::path_unanswered), 0u);
  size_t cross_pod = 0;
  for (size_t i = 0; i < topology.switches.size(); ++i) {
    const lb::PathTable* table = lab.world->switch_at(i).paths();
    const auto sets = lab.world->switch_at(i).path_sets();
    for (size_t set = 0; table != nullptr && set < sets.size(); ++set) {
      if (sets[set].count != 4) continue;
      for (uint8_t member = 0; member < 4; ++member, ++cross_pod) {
        const auto delay = table->delay(set, member, Instant() + 1_ms);
        ASSERT_TRUE(delay.has_value());
        // Probes of one port wait for each other, as do those that meet on their way: 16.8 ns each.
        EXPECT_GE(*delay - lab.idle_delay(4), Duration{} - 1_ns);
        EXPECT_LT(*delay - lab.idle_delay(4), 90_ns);
        EXPECT_GT(table->arrived_before(set, member, QueueId(3)), Instant()) << "it kept its way";
      }
    }
  }
  EXPECT_EQ(cross_pod, 8u * 6 * 4);
}

// Where the aggregation switch chooses hop by hop, an uplink's delay is known, but proves nothing.
TEST(PathDelays, WithoutPinningThreeTiersProveNoArrival) {
  Lab lab(fat_tree_of(4));
  lab.world->run_until(Instant() + 1_ms);
  const lb::PathTable* table = lab.world->switch_at(0).paths();
  ASSERT_NE(table, nullptr);
  const auto sets = lab.world->switch_at(0).path_sets();
  size_t in_pod = 0;
  for (size_t set = 0; set < sets.size(); ++set) {
    const auto delay = table->delay(set, 0, Instant() + 1_ms);
    ASSERT_TRUE(delay.has_value());
    const bool near = *delay < lab.idle_delay(3);
    in_pod += near ? 1 : 0;
    EXPECT_EQ(table->arrived_before(set, 0, QueueId(3)) != Instant(), near);
  }
  EXPECT_EQ(in_pod, 1u);
}

}  // namespace
}  // namespace eddy::test
