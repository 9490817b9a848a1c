#include "lab/results/result_tables.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lab/figures/axis_figures.h"
#include "lab/figures/svg.h"
#include "lab/results/claims.h"
#include "lab/results/student.h"
#include "tests/unit/lab/run/sample_run.h"

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
      text_of_result(result_of({sample_run("a", 1), sample_run("a", 2), sample_run("a", 3)}));
  EXPECT_THAT(text, HasSubstr("sample (ci): A sample"));
  // FCT means are 60, 70 and 80 us: half width 4.3027 * 10 / sqrt(3).
  EXPECT_THAT(text, HasSubstr("70 +-24.8"));
  // 10, 20 and 30 PFC events.
  EXPECT_THAT(text, HasSubstr("20 +-24.8"));
  EXPECT_THAT(text, HasSubstr(" 25 "));  // percent out of order
  EXPECT_THAT(text,
              testing::StartsWith("warning: 3 of 3 runs (the first is [a], seed 1) are censored"));
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
  run.result.wait_p50 = Duration::nanoseconds(1'279);
  run.result.wait_p99 = Duration::nanoseconds(8'191);
  const Json values = run_values(run);
  EXPECT_DOUBLE_EQ(values.at("rlb_precision").get<double>(), 0.75);
  EXPECT_DOUBLE_EQ(values.at("rlb_recall").get<double>(), 0.9);
  EXPECT_DOUBLE_EQ(values.at("rlb_lead_us").get<double>(), 12);
  EXPECT_EQ(values.at("rlb_wait_p50_ns"), 1'279u);
  EXPECT_EQ(values.at("rlb_wait_p99_ns"), 8'191u);
  RunRecord without = sample_run("without", 1);
  EXPECT_TRUE(run_values(without).at("rlb_precision").is_null());
  EXPECT_TRUE(run_values(without).at("rlb_wait_p50_ns").is_null());
  const std::string text = text_of_result(result_of({run, without}));
  const std::string table = text.substr(text.find("RLB\n"));
  EXPECT_THAT(table, AllOf(HasSubstr("75"), HasSubstr("90"), HasSubstr("4711"), HasSubstr("8.19")));
  EXPECT_THAT(table, Not(HasSubstr("without")));
  EXPECT_THAT(text_of_result(result_of({without})), Not(HasSubstr("RLB")));
}

TEST(Claims, AreTextsOfOneShape) {
  const auto claim = parse_claim("fct_p99_us of [a=1 b=x] against [a=1 b=y]: -72 %");
  ASSERT_TRUE(claim.has_value());
  EXPECT_EQ(claim->key, "fct_p99_us");
  EXPECT_EQ(claim->variant, "a=1 b=x");
  EXPECT_EQ(claim->baseline, "a=1 b=y");
  EXPECT_DOUBLE_EQ(claim->value, -72);
  EXPECT_DOUBLE_EQ(parse_claim("x of [a] against [b]: +7.5 %")->value, 7.5);
  for (const char* words : {"Nothing is lost.", "x of [a] against [b]: much", "x of [a]: -7 %",
                            "x of [a] against [b]: 7", "x of [a] against [b]: 7x %"})
    EXPECT_FALSE(parse_claim(words).has_value()) << words;
}

TEST(Claims, MayBeOfACounter) {
  Json result = result_of({sample_run("a", 1), sample_run("b", 1)});
  for (Json& run : result["runs"]) run["counters"]["nic_flowlets"] = run["variant"] == "a" ? 6 : 4;
  result["expect"] = {"nic_flowlets of [a] against [b]: +50 %"};
  EXPECT_THAT(text_of_result(result), HasSubstr("+50 %  +50 %     1      holds"));
}

// FCT means are 60, 70, ... us by seed.
TEST(Claims, AreComparedWithinASeed) {
  Json result = result_of({sample_run("a", 1), sample_run("a", 2), sample_run("b", 1),
                           sample_run("b", 2), sample_run("b", 3)});
  for (Json& run : result["runs"])
    if (run["variant"] == "a") run["fct_mean_us"] = run["fct_mean_us"].get<double>() / 2;
  result["expect"] = {"fct_mean_us of [a] against [b]: -80 %",
                      "fct_mean_us of [b] against [a]: -80 %",
                      "fct_mean_us of [b] against [c]: -80 %", "In words."};
  const std::string text = text_of_result(result);
  EXPECT_THAT(text, HasSubstr("-50"));
  EXPECT_THAT(text, HasSubstr("half of it or more"));
  EXPECT_THAT(text, HasSubstr("+100"));
  EXPECT_THAT(text, HasSubstr("not at all"));
  EXPECT_THAT(text, Not(HasSubstr("[c]")));
  EXPECT_THAT(text, HasSubstr("Expected\n\n  In words.\n"));
}

TEST(AxisFigures, AreDrawnWhereTheMatrixHasAnAxisOfNumbers) {
  std::vector<RunRecord> runs;
  for (const char* variant : {"s=a load=0.4", "s=a load=0.6", "s=a load=0.8", "s=b load=0.4"})
    for (const uint64_t seed : {1, 2}) runs.push_back(sample_run(variant, seed));
  const std::vector<NamedChart> charts = axis_charts(result_of(runs));
  ASSERT_EQ(charts.size(), 4u);
  EXPECT_EQ(charts[1].id, "fct_p99_us_by_load");
  ASSERT_EQ(charts[0].chart.series.size(), 2u);
  EXPECT_EQ(charts[0].chart.series[0].name, "s=a");
  ASSERT_EQ(charts[0].chart.series[0].points.size(), 3u);
  const Series::Point& point = charts[0].chart.series[0].points[1];
  EXPECT_DOUBLE_EQ(point.x, 0.6);
  EXPECT_DOUBLE_EQ(point.y, 65);  // of 60 and 70 us
  EXPECT_NEAR(point.error, 12.7062 * 5, 0.1);
  EXPECT_THAT(draw(charts[0].chart), HasSubstr("95 %"));
  EXPECT_TRUE(axis_charts(result_of({sample_run("s=a", 1), sample_run("load=0.4", 1)})).empty());
}

TEST(Report, OneSeedHasNoInterval) {
  const std::string text = text_of_result(result_of({sample_run("", 1)}));
  EXPECT_THAT(text, HasSubstr("(only)"));
  EXPECT_THAT(text, Not(HasSubstr("60 +-")));
}

TEST(Report, WhatNoRunHasIsADash) {
  RunRecord run = sample_run("a", 1);
  run.result.fct_us = {};
  EXPECT_THAT(text_of_result(result_of({run})), HasSubstr("  -  "));
}

TEST(Report, ADistanceInTheLastBucketIsALowerBound) {
  RunRecord run = sample_run("a", 1);
  run.result.ood_p99 = host::Nic::kOodBuckets - 2;
  RunRecord other = sample_run("a", 2);
  other.result.ood_p99 = run.result.ood_p99;
  EXPECT_THAT(text_of_result(result_of({run, other})),
              AllOf(HasSubstr(" 1022 "), Not(HasSubstr(">=1"))));
  other.result.ood_p99 = host::Nic::kOodBuckets - 1;
  EXPECT_THAT(text_of_result(result_of({other, other})), HasSubstr(" >=1023 "));
  EXPECT_THAT(text_of_result(result_of({run, other})), HasSubstr(" >=1022 +-"));
}

TEST(Report, VariantsWithDifferentNumbersOfSeedsAreTold) {
  EXPECT_THAT(
      text_of_result(result_of({sample_run("a", 1), sample_run("a", 2), sample_run("b", 1)})),
      HasSubstr("different numbers of seeds"));
}

TEST(Report, AResultThatLacksMostThingsIsShownAllTheSame) {
  const Json result = {{"runs", {{{"variant", "x"}}}}};
  EXPECT_THAT(text_of_result(result), HasSubstr("x"));
}

TEST(Aligned, ColumnsLineUp) {
  EXPECT_EQ(aligned({{"a", "bb"}, {"ccc", "d"}}), "a    bb\nccc   d\n");
}

}  // namespace
}  // namespace eddy::lab
