#include "lab/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lab/student.h"
#include "tests/unit/lab/sample_run.h"

namespace eddy::lab {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

Json result_of(const std::vector<RunRecord>& runs) {
  Json result = {
      {"schema_version", 1}, {"experiment", "sample"}, {"title", "A sample"}, {"size", "ci"}};
  result["runs"] = Json::array();
  for (const RunRecord& run : runs) result["runs"].push_back(run_values(run));
  return result;
}

// Percentiles from published tables.
TEST(Student, AgreesWithTables) {
  EXPECT_NEAR(student_t_975(1), 12.7062, 1e-4);
  EXPECT_NEAR(student_t_975(4), 2.7764, 1e-4);
  EXPECT_NEAR(student_t_975(30), 2.0423, 1e-4);
  EXPECT_NEAR(student_t_975(40), 2.0211, 1e-4);
  EXPECT_NEAR(student_t_975(60), 2.0003, 1e-4);
  EXPECT_NEAR(student_t_975(120), 1.9799, 1e-4);
}

TEST(Student, IntervalOfFiveValues) {
  const std::vector<double> values = {1, 2, 3, 4, 5};
  const Estimate found = estimate(values);
  EXPECT_DOUBLE_EQ(found.mean, 3);
  EXPECT_NEAR(found.half_width, 2.7764 * 1.581139 / 2.236068, 1e-4);
  EXPECT_EQ(estimate(std::vector<double>{7}).half_width, 0);
  EXPECT_EQ(estimate({}).count, 0u);
}

TEST(Report, MeansOverSeedsWithTheirIntervals) {
  const std::string text =
      report(result_of({sample_run("a", 1), sample_run("a", 2), sample_run("a", 3)}));
  EXPECT_THAT(text, HasSubstr("sample (ci): A sample"));
  // FCT means are 60, 70 and 80 us: half width 4.3027 * 10 / sqrt(3).
  EXPECT_THAT(text, HasSubstr("70 +-24.8"));
  // 10, 20 and 30 PFC events.
  EXPECT_THAT(text, HasSubstr("20 +-24.8"));
  EXPECT_THAT(text, HasSubstr(" 25 "));  // percent out of order
  EXPECT_THAT(text, HasSubstr("3 runs are censored"));
  EXPECT_THAT(text, HasSubstr(">= 1 BDP"));
}

TEST(Report, VariantsWithRlbHaveATableOfIt) {
  RunRecord run = sample_run("with", 1);
  run.identity.rlb = "default";
  run.result.counters["pfc_predictions_right"] = 3;
  run.result.counters["pfc_predictions_wrong"] = 1;
  run.result.counters["pfc_foreseen"] = 9;
  run.result.counters["pfc_unforeseen"] = 1;
  run.result.counters["rlb_rerouted_packets"] = 4711;
  run.result.prediction_lead = Duration::microseconds(36);
  const Json values = run_values(run);
  EXPECT_DOUBLE_EQ(values.at("rlb_precision").get<double>(), 0.75);
  EXPECT_DOUBLE_EQ(values.at("rlb_recall").get<double>(), 0.9);
  EXPECT_DOUBLE_EQ(values.at("rlb_lead_us").get<double>(), 12);
  RunRecord without = sample_run("without", 1);
  EXPECT_TRUE(run_values(without).at("rlb_precision").is_null());
  const std::string text = report(result_of({run, without}));
  const std::string table = text.substr(text.find("RLB\n"));
  EXPECT_THAT(table, AllOf(HasSubstr("75"), HasSubstr("90"), HasSubstr("4711")));
  EXPECT_THAT(table, Not(HasSubstr("without")));
  EXPECT_THAT(report(result_of({without})), Not(HasSubstr("RLB")));
}

TEST(Report, OneSeedHasNoInterval) {
  const std::string text = report(result_of({sample_run("", 1)}));
  EXPECT_THAT(text, HasSubstr("(only)"));
  EXPECT_THAT(text, Not(HasSubstr("60 +-")));
}

TEST(Report, WhatNoRunHasIsADash) {
  RunRecord run = sample_run("a", 1);
  run.result.fct_us = {};
  EXPECT_THAT(report(result_of({run})), HasSubstr("  -  "));
}

TEST(Report, ADistanceInTheLastBucketIsALowerBound) {
  RunRecord run = sample_run("a", 1);
  run.result.ood_p99 = host::Nic::kOodBuckets - 2;
  RunRecord other = sample_run("a", 2);
  other.result.ood_p99 = run.result.ood_p99;
  EXPECT_THAT(report(result_of({run, other})), AllOf(HasSubstr(" 1022 "), Not(HasSubstr(">=1"))));
  other.result.ood_p99 = host::Nic::kOodBuckets - 1;
  EXPECT_THAT(report(result_of({other, other})), HasSubstr(" >=1023 "));
  EXPECT_THAT(report(result_of({run, other})), HasSubstr(" >=1022 +-"));
}

TEST(Report, VariantsWithDifferentNumbersOfSeedsAreTold) {
  EXPECT_THAT(report(result_of({sample_run("a", 1), sample_run("a", 2), sample_run("b", 1)})),
              HasSubstr("different numbers of seeds"));
}

TEST(Report, AResultThatLacksMostThingsIsShownAllTheSame) {
  const Json result = {{"runs", {{{"variant", "x"}}}}};
  EXPECT_THAT(report(result), HasSubstr("x"));
}

TEST(Aligned, ColumnsLineUp) {
  EXPECT_EQ(aligned({{"a", "bb"}, {"ccc", "d"}}), "a    bb\nccc   d\n");
}

}  // namespace
}  // namespace eddy::lab
