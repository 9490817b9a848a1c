// What of the path service's configuration is left open is settled here, by rules of thumb and
// hand.
#include "switch/dataplane/state/path_plan.h"

#include <gtest/gtest.h>

#include <functional>

#include "tests/support/paths.h"
#include "tests/support/topologies.h"

namespace eddy::test {
namespace {

// Two host ports with long cables, then uplinks of 2 us and 3 us; a poll takes 10 us at most.
config::SwitchConfig leaf() {
  config::SwitchConfig config = leaf_spine({.leaves = 2, .spines = 2, .hosts = 2}).leaves[0];
  for (size_t i = 0; i < 2; ++i) config.ports[i].cable_delay = 50_us;
  config.ports[2].cable_delay = 2_us;
  config.ports[3].cable_delay = 3_us;
  config.poll_gap = 10_us;
  config.path_service = {.shim = config::ShimUse::sampled};
  return config;
}

// Of one set of two members, hop by hop, to leaf 2.
PathPlan plan_of(const std::function<void(config::SwitchConfig&)>& change, size_t shards = 1) {
  config::SwitchConfig config = leaf();
  change(config);
  lb::PathSet set = lb::test::make_set(2);
  set.leaf = LeafId(2);
  const LeafId leaves[] = {LeafId(2)};
  return PathPlan::of(config, {&set, 1}, leaves, shards);
}
const auto kAsItIs = [](config::SwitchConfig&) {};

TEST(PathPlan, TimesFollowFromTheLongestFabricCableAndThePollGap) {
  const PathPlan plan = plan_of(kAsItIs);
  EXPECT_EQ(plan.base_rtt, 34_us) << "eight times 3 us, and 10 us";
  EXPECT_EQ(plan.sample, 136_us);
  EXPECT_EQ(plan.echo, 17_us);
  EXPECT_EQ(plan.probe, 272_us);
  EXPECT_EQ(plan.rest, 204_us) << "one and a half sample times";
  const PathPlan short_cables =
      plan_of([](auto& c) { c.ports[2].cable_delay = c.ports[3].cable_delay = 1_ns; });
  EXPECT_EQ(short_cables.base_rtt, 10'800_ns) << "100 ns a cable at least";
  const PathPlan given = plan_of([](auto& c) { c.path_service.base_rtt = 8_us; });
  EXPECT_EQ(given.base_rtt, 8_us);
  EXPECT_EQ(given.sample, 32_us);
}

TEST(PathPlan, ARestIsBetweenHalfAProbeTimeAndAWholeOne) {
  const auto rest_of = [](Duration sample) {
    return plan_of([sample](auto& c) {
             c.path_service.probe = 100_us;
             c.path_service.sample = sample;
           })
        .rest;
  };
  EXPECT_EQ(rest_of(10_us), 50_us);
  EXPECT_EQ(rest_of(40_us), 60_us);
  EXPECT_EQ(rest_of(90_us), 100_us);
}

TEST(PathPlan, AProofLagsWhereShardsHandPacketsOver) {
  EXPECT_EQ(plan_of(kAsItIs, 1).proof_lag, Duration{});
  EXPECT_EQ(plan_of(kAsItIs, 2).proof_lag, 8'500_ns);
  EXPECT_EQ(plan_of(kAsItIs, 2).table_parameters().proof_lag, 8'500_ns);
}

TEST(PathPlan, DelaysAreOneWayOnlyWithACommonClockAndIfWanted) {
  for (const bool common : {false, true})
    for (const auto delay : {config::DelayMetric::one_way, config::DelayMetric::round_trip}) {
      const PathPlan plan = plan_of([=](auto& c) {
        c.path_service.common_clock = common;
        c.path_service.delay = delay;
      });
      EXPECT_EQ(plan.one_way, common && delay == config::DelayMetric::one_way);
      EXPECT_EQ(plan.table_parameters().one_way, plan.one_way);
    }
}

TEST(PathPlan, WhatIsNeededIsAskedForOrTheSchemesOrNothing) {
  const auto need = [](config::ShimUse use, const char* scheme, bool rlb = false) {
    return plan_of([=](auto& c) {
             c.path_service.shim = use;
             c.load_balancer.scheme = scheme;
             if (rlb) c.rlb = config::rlb_preset(config::RlbPreset::standard);
           })
        .need;
  };
  using config::ShimUse;
  EXPECT_EQ(need(ShimUse::automatic, "ecmp"), lb::ShimNeed::none);
  EXPECT_EQ(need(ShimUse::automatic, "ecmp", true), lb::ShimNeed::sampled);
  EXPECT_EQ(need(ShimUse::automatic, "hermes"), lb::ShimNeed::sampled);
  EXPECT_EQ(need(ShimUse::automatic, "conga"), lb::ShimNeed::every);
  EXPECT_EQ(need(ShimUse::off, "conga"), lb::ShimNeed::none);
  EXPECT_EQ(need(ShimUse::sampled, "conga"), lb::ShimNeed::sampled);
  EXPECT_EQ(need(ShimUse::every, "ecmp"), lb::ShimNeed::every);
  const PathPlan spine = plan_of([](auto& c) {
    c.leaf = LeafId::none();
    c.path_service.shim = ShimUse::every;
  });
  EXPECT_EQ(spine.need, lb::ShimNeed::none) << "no leaf, nothing to measure";
  EXPECT_FALSE(spine.dresses());
}

TEST(PathPlan, TheMeasuredClassIsTheFirstLosslessOneOfTheFabric) {
  const PathPlan plan = plan_of(kAsItIs);
  EXPECT_EQ(plan.measured, (MeasuredClass{TrafficClass(3), PriorityGroupId(3), QueueId(3)}));
  EXPECT_EQ(plan.table_parameters().measured.queues, 1 << 3);
  const PathPlan chosen = plan_of([](auto& c) { c.path_service.traffic_class = 5; });
  EXPECT_EQ(chosen.measured.traffic_class, TrafficClass(5));
  const PathPlan lossy = plan_of([](auto& c) {
    for (auto& [name, profile] : c.buffer.profiles) profile.lossless = false;
  });
  EXPECT_EQ(lossy.measured.traffic_class, TrafficClass(0));
}

// A path id whose low octet is not 0xff names the second switch's choice. Of five sets: hop by hop;
// the first member pinned; the last; one for some hosts of leaf 2, and one of leaf 5's own.
TEST(PathPlan, KnowsWhichSetsArePinnedAndWhichIsALeafsOwn) {
  std::vector<lb::PathSet> sets(5, lb::test::make_set(3));
  const std::vector<LeafId> leaves = {LeafId(2), LeafId(3), LeafId(4), LeafId(2), LeafId(5)};
  for (size_t i = 0; i < 5; ++i) sets[i].leaf = LeafId(2 + i);
  sets[3].leaf = LeafId(9);  // by another id than that of the leaf where it leads
  sets[4].leaf = LeafId(5);
  sets[1].members[0].path = PathId(0x0002);
  sets[2].members[2].path = PathId(0x0201);
  const PathPlan plan = PathPlan::of(leaf(), sets, leaves, 1);
  EXPECT_EQ(plan.pinned, (std::vector<uint8_t>{0, 1, 1, 0, 0}));
  EXPECT_TRUE(plan.pins);
  EXPECT_EQ(plan.leaf_of_set, leaves);
  EXPECT_EQ(plan.set_of(LeafId(2)), 0);
  EXPECT_EQ(plan.set_of(LeafId(4)), 2);
  EXPECT_EQ(plan.set_of(LeafId(5)), 4);
  EXPECT_EQ(plan.set_of(LeafId(9)), PathPlan::kNoSet) << "no leaf's own";
  EXPECT_EQ(plan.set_of(LeafId(1)), PathPlan::kNoSet);
  EXPECT_EQ(plan.set_of(LeafId(10)), PathPlan::kNoSet) << "beyond all that are known";
  config::SwitchConfig off = leaf();
  off.path_service.shim = config::ShimUse::off;
  EXPECT_FALSE(PathPlan::of(off, sets, leaves, 1).pins);
  EXPECT_FALSE(PathPlan::of(leaf(), {sets.data(), 1}, leaves, 1).pins);
}

}  // namespace
}  // namespace eddy::test
