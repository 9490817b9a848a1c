// The values that presets and maps stand for, as the papers and SONiC give them.
#include <gtest/gtest.h>

#include <map>

#include "config/config.h"
#include "config/host.h"
#include "config/rlb.h"

namespace eddy::config {
namespace {

TEST(RlbPresets, ThePapersWarnAtAFixedLengthAndTakeNothingBack) {
  for (const RlbPreset preset : {RlbPreset::paper, RlbPreset::paper_star}) {
    const RlbConfig rlb = rlb_preset(preset);
    EXPECT_EQ(rlb.predictor.mode, PredictorMode::fixed);
    EXPECT_FALSE(rlb.warning.clear);
    EXPECT_EQ(rlb.guard.mode, GuardMode::off);
    EXPECT_EQ(rlb.recirculation.on_exceed, OnExceed::optimal);
    EXPECT_EQ(rlb.all_warned, AllWarned::base);
    EXPECT_EQ(rlb.suspend, Suspend::most);
    EXPECT_EQ(rlb.heed, Heed::predicted);
    EXPECT_EQ(rlb.placement, Placement::alternative);
    EXPECT_FALSE(rlb.culprits);
    EXPECT_FALSE(rlb.predictor.until_drained);
    EXPECT_FALSE(rlb.warning.until_cleared);
    EXPECT_FALSE(rlb.warning.beside_pause);
    EXPECT_EQ(rlb.failure_detector.mode, DetectorMode::paper);
  }
  const RlbConfig standard = rlb_preset(RlbPreset::standard);
  EXPECT_TRUE(standard.warning.clear);
  EXPECT_TRUE(standard.predictor.until_drained);
  EXPECT_TRUE(standard.warning.until_cleared);
  EXPECT_TRUE(standard.warning.beside_pause);
  EXPECT_EQ(standard.suspend, Suspend::all);
  EXPECT_NE(standard.predictor.mode, PredictorMode::fixed);
}

TEST(RlbPresets, OnlyThePrintedAlgorithmCountsRounds) {
  const RlbConfig paper = rlb_preset(RlbPreset::paper);
  EXPECT_EQ(paper.recirculation.limit, RoundLimit::most);
  EXPECT_EQ(paper.recirculation.most_rounds, 64);
  EXPECT_FALSE(paper.recirculation.cumulative);
  const RlbConfig star = rlb_preset(RlbPreset::paper_star);
  EXPECT_NE(star.recirculation.limit, RoundLimit::most);
  EXPECT_TRUE(star.recirculation.cumulative);
}

TEST(DcqcnPresets, TheVendorsCountsNoBytesAndGrowsWithTheSpeed) {
  const DcqcnConfig vendor = for_line(dcqcn_preset(DcqcnPreset::vendor), 50_Gbps);
  EXPECT_EQ(vendor.algorithm, DcqcnAlgorithm::vendor);
  EXPECT_EQ(vendor.alpha_timer, 1_us);
  EXPECT_EQ(vendor.decrease_interval, 4_us);
  EXPECT_EQ(vendor.cnp_interval, 0_us);
  EXPECT_EQ(vendor.increase_timer, 300_us);
  EXPECT_EQ(vendor.byte_counter, Bytes(0));
  EXPECT_EQ(vendor.fast_recovery, 1);
  EXPECT_EQ(vendor.additive_increase, 10_Mbps);
  EXPECT_EQ(vendor.hyper_increase, 100_Mbps);
  EXPECT_EQ(vendor.min_rate, 1_Gbps);
  DcqcnConfig paper;
  paper.min_rate = 10_Mbps;
  EXPECT_EQ(paper.algorithm, DcqcnAlgorithm::paper);
  EXPECT_EQ(for_line(dcqcn_preset(DcqcnPreset::paper), 50_Gbps), paper);
}

TEST(QosMaps, AreThoseOfSonic) {
  const QosMaps maps = QosMaps::sonic_defaults();
  const std::map<size_t, size_t> not_one = {{3, 3}, {4, 4}, {5, 2}, {8, 0}, {46, 5}, {48, 6}};
  for (size_t dscp = 0; dscp < maps.dscp_to_tc.size(); ++dscp) {
    const auto found = not_one.find(dscp);
    EXPECT_EQ(maps.dscp_to_tc[dscp].index(), found == not_one.end() ? 1u : found->second) << dscp;
  }
  for (size_t i = 0; i < kPriorities; ++i) {
    EXPECT_EQ(maps.pcp_to_tc[i].index(), i);
    EXPECT_EQ(maps.tc_to_pg[i].index(), i == 3 || i == 4 || i == 7 ? i : 0u) << i;
    EXPECT_EQ(maps.tc_to_queue[i].index(), i);
    EXPECT_EQ(maps.pfc_to_queue[i].index(), i);
    EXPECT_EQ(maps.pg_to_pfc[i].index(), i);
  }
}

}  // namespace
}  // namespace eddy::config
