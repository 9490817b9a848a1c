#include "lab/world/division.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "lab/fabric/build_topology.h"

namespace eddy::lab {
namespace {

using namespace eddy::literals;
using Grain = DivisionOptions::Grain;

Topology leaf_spine(int leaves, Duration host_delay, Duration fabric_delay) {
  config::Experiment experiment;
  experiment.topology.leaves = leaves;
  experiment.topology.spines = leaves;
  experiment.topology.hosts_per_leaf = 2;
  experiment.topology.host_delay = host_delay;
  experiment.topology.fabric_delay = fabric_delay;
  auto built = build_topology(experiment);
  return std::move(*built);
}

TEST(Division, ARackIsALeafWithItsHosts) {
  const Topology topology = leaf_spine(2, 100_ns, 1_us);
  const Division division = divide(topology, {.grain = Grain::rack});
  EXPECT_EQ(division.partitions, 4u);
  EXPECT_EQ(division.window, 1_us);
  EXPECT_EQ(division.partition_of, (std::vector<uint16_t>{0, 1, 2, 3, 0, 0, 1, 1}));
}

TEST(Division, ByNodeLinesOfHostsCountToo) {
  const Topology topology = leaf_spine(2, 100_ns, 1_us);
  const Division division = divide(topology, {.grain = Grain::node});
  EXPECT_EQ(division.partitions, 8u);
  EXPECT_EQ(division.window, 100_ns);
  EXPECT_EQ(divide(topology, {.grain = Grain::node, .longest = 30_ns}).window, 30_ns);
}

TEST(Division, WhatMeetsThroughShortLinesIsOne) {
  Topology topology = leaf_spine(3, 2_us, 1_us);
  for (Topology::Link& link : topology.links)  // leaf 1 and leaf 2 are near spine 1
    if (link.b.switch_index == 3 && link.a.switch_index < 2) link.delay = 50_ns;
  const Division division = divide(topology, {.grain = Grain::node, .shortest = 1_us});
  EXPECT_EQ(division.partition_of, (std::vector<uint16_t>{0, 0, 1, 0, 2, 3, 4, 5, 6, 7, 8, 9}));
  EXPECT_EQ(division.window, 1_us);
  EXPECT_EQ(divide(topology, {.grain = Grain::node}).window, 50_ns);
  EXPECT_EQ(divide(topology, {.grain = Grain::node, .shortest = 3_us}).partitions, 1u);
}

TEST(Division, NeighboursByNumberGoTogether) {
  const Topology topology = leaf_spine(3, 1_us, 1_us);
  const Division division = divide(topology, {.grain = Grain::rack, .together = 2});
  EXPECT_EQ(division.partition_of, (std::vector<uint16_t>{0, 0, 1, 1, 2, 2, 0, 0, 0, 0, 1, 1}));
}

TEST(Division, LeavesAndSpinesAreTwoSides) {
  const Topology topology = leaf_spine(2, 1_us, 1_us);
  EXPECT_EQ(divide(topology, {.grain = Grain::rack}).side_of, (std::vector<uint8_t>{0, 0, 1, 1}));
  EXPECT_EQ(divide(topology, {.grain = Grain::node}).side_of,
            (std::vector<uint8_t>{1, 1, 0, 0, 0, 0, 0, 0}))
      << "hosts are on side 0";
}

TEST(Division, WhatNoLineJoinsIsOnSomeSide) {
  Topology topology = leaf_spine(2, 1_us, 1_us);
  std::erase_if(topology.links,
                [](const Topology::Link& link) { return link.b.switch_index == 3; });
  EXPECT_EQ(divide(topology, {.grain = Grain::rack}).side_of, (std::vector<uint8_t>{0, 0, 1, 0}));
}

TEST(Division, ACircleOfThreeHasNoSides) {
  Topology topology = leaf_spine(3, 1_us, 1_us);
  topology.links.front().delay = 1_ns;  // leaf 1 and spine 1, which meet leaf 2 and spine 2
  const Division division = divide(topology, {.grain = Grain::rack, .shortest = 1_us});
  EXPECT_EQ(division.partitions, 5u);
  EXPECT_THAT(division.side_of, testing::IsEmpty());
}

TEST(Division, HostsOnBothEndsOfALineForbidSides) {
  Topology topology = leaf_spine(2, 1_us, 1_us);
  topology.hosts.back().switch_index = 2;  // a spine
  EXPECT_THAT(divide(topology, {.grain = Grain::rack}).side_of, testing::IsEmpty());
}

// Four leaves and four spines: each rank has neighbours of both tiers.
TEST(Division, RanksShareEveryTier) {
  const Topology topology = leaf_spine(4, 100_ns, 1_us);
  const Division two = divide(topology, {.ranks = 2});
  EXPECT_EQ(two.partitions, 8u);
  EXPECT_EQ(two.rank_of, (std::vector<uint16_t>{0, 0, 1, 1, 0, 0, 1, 1}));
  EXPECT_EQ(two.rank_window, 1_us);
  EXPECT_EQ(two.rank_of_node(1), 0);   // leaf 2
  EXPECT_EQ(two.rank_of_node(12), 1);  // the first host of leaf 3
  EXPECT_EQ(divide(topology, {.ranks = 4}).rank_of,
            (std::vector<uint16_t>{0, 1, 2, 3, 0, 1, 2, 3}));
  EXPECT_TRUE(divide(topology, {}).rank_of.empty());
}

// The threads of a rank, what it has of each.
TEST(Division, ThreadsShareEveryTier) {
  const Topology topology = leaf_spine(4, 100_ns, 1_us);
  EXPECT_EQ(divide(topology, {.threads = 2}).thread_of,
            (std::vector<uint16_t>{0, 0, 1, 1, 0, 0, 1, 1}));
  const Division division = divide(topology, {.threads = 2, .ranks = 2});
  EXPECT_EQ(division.rank_of, (std::vector<uint16_t>{0, 0, 1, 1, 0, 0, 1, 1}));
  EXPECT_EQ(division.thread_of, (std::vector<uint16_t>{0, 1, 0, 1, 0, 1, 0, 1}));
  EXPECT_EQ(divide(topology, {.grain = Grain::rack}).thread_of, std::vector<uint16_t>(8));
}

// A tier with fewer partitions than threads runs on as many threads as it has partitions.
TEST(Division, NoThreadHasTwoOfATierThatOthersLack) {
  const Division division = divide(leaf_spine(3, 100_ns, 1_us), {.threads = 4});
  ASSERT_EQ(division.threads, 4u);
  EXPECT_EQ(division.thread_of, (std::vector<uint16_t>{0, 2, 3, 0, 2, 3}));
}

// A heavy leaf is half of its tier, and a thread of its own.
TEST(Division, ThreadsShareByWeight) {
  Topology topology = leaf_spine(4, 100_ns, 1_us);
  for (Topology::Host& host : topology.hosts)
    if (host.switch_index == 0) host.rate = 400_Gbps;
  const std::vector<uint16_t> thread_of = divide(topology, {.threads = 2}).thread_of;
  EXPECT_EQ(std::vector<uint16_t>(thread_of.begin(), thread_of.begin() + 4),
            (std::vector<uint16_t>{0, 1, 1, 1}));
}

// More ranks than a tier has partitions: each gets one of whatever tier.
TEST(Division, NoRankIsWithoutAPartition) {
  const Topology topology = leaf_spine(3, 100_ns, 1_us);
  for (const size_t ranks : {4, 5, 6}) {
    const Division division = divide(topology, {.ranks = ranks});
    std::vector<size_t> has(ranks);
    for (const uint16_t rank : division.rank_of) ++has[rank];
    EXPECT_EQ(std::count(has.begin(), has.end(), 0u), 0) << ranks;
  }
}

// Only lines between two ranks bound the windows in which ranks meet.
TEST(Division, RanksMeetAsSeldomAsTheirLinesAllow) {
  Topology topology = leaf_spine(4, 100_ns, 3_us);
  for (Topology::Link& link : topology.links)  // leaf 1 and spine 1 are near, and on one rank
    if (link.a.switch_index == 0 && link.b.switch_index == 4) link.delay = 1_us;
  const Division division = divide(topology, {.grain = Grain::rack, .ranks = 2});
  EXPECT_EQ(division.window, 1_us);
  EXPECT_EQ(division.rank_window, 3_us);
}

// Whatever windows are worth: who asks for ranks gets the coarsest division that has enough parts.
TEST(Division, ShortLinesDivideForRanksAllTheSame) {
  const Topology topology = leaf_spine(4, 10_ns, 50_ns);
  EXPECT_EQ(divide(topology, {}).partitions, 1u);
  const Division division = divide(topology, {.ranks = 3});
  EXPECT_EQ(division.partitions, 8u);
  EXPECT_EQ(division.rank_window, 50_ns);
}

TEST(Division, ALineWithoutDelayDividesNothing) {
  const Topology topology = leaf_spine(2, 1_us, Duration{});
  EXPECT_EQ(divide(topology, {.grain = Grain::rack}).partitions, 1u);
}

// Small fabrics and short windows are not worth it.
TEST(Division, AutomaticWeighsWhatAWindowBrings) {
  EXPECT_EQ(divide(leaf_spine(2, 1_us, 1_us), {}).partitions, 1u);
  EXPECT_EQ(divide(leaf_spine(8, 2_us, 4_us), {}).partitions, 16u);
  EXPECT_EQ(divide(leaf_spine(8, 10_ns, 10_ns), {}).partitions, 1u);
  EXPECT_EQ(divide(leaf_spine(8, 2_us, 4_us), {.grain = Grain::one}).partitions, 1u);
}

TEST(Division, ThreadsAreAsManyAsAreAskedForOrAsWindowsAreWorth) {
  const Topology small = leaf_spine(2, 2_us, 2_us);
  EXPECT_EQ(divide(small, {}).threads, 1u);
  EXPECT_EQ(divide(small, {.threads = 3}).threads, 3u);
  EXPECT_EQ(divide(small, {.threads = 99}).threads, 4u) << "no more than partitions";
  EXPECT_EQ(divide(small, {.threads = 4, .as_worthwhile = true}).threads, 1u);
  // 16 racks, 144 lines of 40 Gb/s: 5,625 frames in a window of 4 us.
  const Topology large = leaf_spine(16, 4_us, 4_us);
  EXPECT_EQ(divide(large, {.threads = 3}).threads, 3u);
  EXPECT_GT(divide(large, {.threads = 64, .as_worthwhile = true}).threads, 1u);
  EXPECT_LT(divide(large, {.threads = 64, .as_worthwhile = true}).threads, 32u);
}

TEST(Division, WhatNoLineJoinsHasWindowsToo) {
  Topology topology = leaf_spine(2, 1_us, 1_us);
  topology.links.clear();
  const Division division = divide(topology, {.grain = Grain::rack});
  EXPECT_EQ(division.partitions, 4u);
  EXPECT_EQ(division.window, 1'000_us);
}

Division whole(const Topology& topology) {
  return divide(topology, {.grain = Grain::one});
}

TEST(Division, OneHasEveryNode) {
  const Topology topology = leaf_spine(4, 1_us, 1_us);
  EXPECT_EQ(whole(topology).partition_of, std::vector<uint16_t>(16));
}

}  // namespace
}  // namespace eddy::lab
