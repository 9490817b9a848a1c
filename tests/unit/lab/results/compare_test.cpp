#include "lab/results/compare.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "lab/results/student.h"

namespace eddy::lab {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Json run_of(const std::string& variant, uint64_t seed, double p99) {
  return {{"variant", variant},
          {"seed", seed},
          {"fct_p99_us", p99},
          {"ooo_ratio", 0.0},
          {"trace_digest", "t" + std::to_string(seed)},
          {"digest", std::to_string(p99)}};
}

Json result_of(const std::vector<Json>& runs) {
  Json result = {{"experiment", "sample"}, {"size", "ci"}, {"runs", Json::array()}};
  for (const Json& run : runs) result["runs"].push_back(run);
  return result;
}

// `by[seed - 1]` added to 100 times the seed.
Json shifted(const std::string& variant, const std::vector<double>& by) {
  std::vector<Json> runs;
  for (size_t i = 0; i < by.size(); ++i)
    runs.push_back(run_of(variant, i + 1, 100.0 * static_cast<double>(i + 1) + by[i]));
  return result_of(runs);
}

void add(std::vector<Json>& runs, const Json& result) {
  for (const Json& run : result.at("runs")) runs.push_back(run);
}

// The values at which published tables have these probabilities.
TEST(StudentP, AgreesWithTables) {
  EXPECT_NEAR(student_p(12.7062, 1), 0.05, 1e-5);
  EXPECT_NEAR(student_p(4.3027, 2), 0.05, 1e-5);
  EXPECT_NEAR(student_p(-3.1824, 3), 0.05, 1e-5);
  EXPECT_NEAR(student_p(2.7764, 4), 0.05, 1e-5);
  EXPECT_NEAR(student_p(4.0321, 5), 0.01, 1e-5);
  EXPECT_NEAR(student_p(2.0423, 30), 0.05, 1e-4);
  EXPECT_NEAR(student_p(3.4082, 99), 0.00095, 2e-5);
  EXPECT_DOUBLE_EQ(student_p(0, 7), 1);
}

TEST(Compare, DifferencesAreWithinASeed) {
  // The seeds differ by hundreds, the results by about ten: unpaired, nothing would be seen.
  const Comparison found =
      compare(shifted("a", {0, 0, 0, 0, 0}), shifted("a", {10, 11, 9, 10, 10}));
  ASSERT_EQ(found.rows.size(), 1u);  // what is 0 everywhere is left out
  const ComparedRow& row = found.rows[0];
  EXPECT_EQ(row.variant, "a");
  EXPECT_EQ(row.head, "FCT p99 us");
  EXPECT_EQ(row.pairs, 5u);
  EXPECT_DOUBLE_EQ(row.before, 300);
  EXPECT_DOUBLE_EQ(row.after, 310);
  EXPECT_DOUBLE_EQ(row.difference.mean, 10);
  EXPECT_NEAR(row.difference.half_width, 2.7764 * std::sqrt(0.5 / 5), 1e-3);
  EXPECT_TRUE(row.significant);
  EXPECT_THAT(compared_text(found), HasSubstr("+10 +-0.878"));
}

TEST(Compare, TheTextEndsWithWhatElseIsToBeKnown) {
  const Comparison found = compare(shifted("a", {0, 0, 0}), shifted("a", {10, 11, 9, 10}));
  EXPECT_THAT(compared_text(found),
              testing::EndsWith("\n1 runs have no other of their seed to be paired with.\n"));
}

TEST(Compare, NoiseIsNotSignificant) {
  const Comparison found =
      compare(shifted("a", {0, 0, 0, 0, 0}), shifted("a", {10, -11, 9, -10, 3}));
  EXPECT_FALSE(found.rows[0].significant);
  EXPECT_GT(*found.rows[0].p, 0.5);
}

TEST(Compare, OnePairIsNeverSignificant) {
  const Comparison found = compare(shifted("a", {0}), shifted("a", {1'000}));
  EXPECT_FALSE(found.rows[0].p);
  EXPECT_FALSE(found.rows[0].significant);
  EXPECT_EQ(found.tested, 0u);
  EXPECT_THAT(compared_rows(found)[1].back(), "");
}

TEST(Compare, EqualDifferencesAreJudgedByTheirSigns) {
  const auto p_of = [](size_t seeds) {
    return *compare(shifted("a", std::vector<double>(seeds, 0)),
                    shifted("a", std::vector<double>(seeds, 5)))
                .rows[0]
                .p;
  };
  EXPECT_DOUBLE_EQ(p_of(3), 0.25);
  EXPECT_DOUBLE_EQ(p_of(6), 0.03125);
}

TEST(Compare, TheMoreIsComparedTheMoreItTakes) {
  // One row is significant by itself and not as one of twelve.
  const std::vector<double> real = {10, 14, 6, 10, 11};
  const std::vector<double> noise = {10, -11, 9, -10, 3};
  EXPECT_TRUE(compare(shifted("a", {0, 0, 0, 0, 0}), shifted("a", real)).rows[0].significant);
  std::vector<Json> before;
  std::vector<Json> after;
  constexpr int kVariants = 100;
  for (int v = 0; v < kVariants; ++v) {
    const std::string name = "v" + std::to_string(100 + v);
    add(before, shifted(name, {0, 0, 0, 0, 0}));
    add(after, shifted(name, v == 0 ? real : noise));
  }
  const Comparison found = compare(result_of(before), result_of(after));
  EXPECT_EQ(found.tested, 100u);
  EXPECT_FALSE(found.rows[0].significant);
  const double alone = *compare(shifted("a", {0, 0, 0, 0, 0}), shifted("a", real)).rows[0].p;
  EXPECT_NEAR(*found.rows[0].p, std::min(1.0, kVariants * alone), 1e-9);
  for (const ComparedRow& row : found.rows) EXPECT_LE(*row.p, 1);
}

TEST(Compare, HolmMultipliesByWhatIsLeft) {
  std::vector<Json> before;
  std::vector<Json> after;
  const std::vector<std::vector<double>> by = {{10, 14, 6, 10, 11}, {20, 21, 19, 20, 20}};
  for (size_t v = 0; v < by.size(); ++v) {
    const std::string name = "v" + std::to_string(v);
    add(before, shifted(name, {0, 0, 0, 0, 0}));
    add(after, shifted(name, by[v]));
  }
  const Comparison found = compare(result_of(before), result_of(after));
  const auto alone = [&](size_t v) {
    return *compare(shifted("a", {0, 0, 0, 0, 0}), shifted("a", by[v])).rows[0].p;
  };
  EXPECT_NEAR(*found.rows[1].p, 2 * alone(1), 1e-12);  // the smallest of two
  EXPECT_NEAR(*found.rows[0].p, alone(0), 1e-12);
}

TEST(Compare, WhatCannotBePairedIsSaid) {
  Json before = shifted("a", {0, 0, 0});
  Json after = shifted("a", {1, 2});
  before["runs"].push_back(run_of("gone", 1, 5));
  after["runs"].push_back(run_of("<new>", 1, 5));
  after["runs"][0]["trace_digest"] = "other";
  const Comparison found = compare(before, after);
  EXPECT_EQ(found.rows[0].pairs, 2u);
  EXPECT_THAT(found.remarks,
              ElementsAre(HasSubstr("1 of 2 pairs had different flows"),
                          HasSubstr("1 runs have no other of their seed"),
                          "Only in the first: [gone].", "Only in the second: [<new>]."));
}

TEST(Compare, TheSameResultDiffersInNothing) {
  const Json result = shifted("a", {1, 2, 3});
  const Comparison found = compare(result, result);
  EXPECT_EQ(found.rows[0].difference.mean, 0);
  EXPECT_FALSE(found.rows[0].significant);
  EXPECT_THAT(found.remarks, ElementsAre(HasSubstr("3 of 3 pairs are the same run")));
}

TEST(Compare, TheChangeInPercentIsThatOfEachPair) {
  // 100 by 10 %, 200 by 20 %, 300 by 30 %: the mean change is 20 %, that of the means 23.3 %.
  const Comparison found = compare(shifted("a", {0, 0, 0}), shifted("a", {10, 40, 90}));
  EXPECT_NEAR(found.rows[0].change.mean, 20, 1e-9);
  EXPECT_NEAR(found.rows[0].change.half_width, 4.3027 * 10 / std::sqrt(3.0), 1e-3);
  EXPECT_THAT(compared_rows(found)[1], testing::Contains("+20.0 [-4.8, +44.8]"));
}

TEST(Compare, OfNothingThereIsNoPercent) {
  Json before = shifted("a", {0, 0});
  Json after = shifted("a", {5, 5});
  before["runs"][1]["fct_p99_us"] = 0;
  const Comparison found = compare(before, after);
  EXPECT_EQ(found.rows[0].change.count, 0u);
  EXPECT_THAT(compared_rows(found)[1], testing::Contains("-"));
  EXPECT_TRUE(comparison_json(found, "b", "a")["rows"][0]["change_percent"].is_null());
}

// A sweep of every combination of the axes; each run takes 100 times its seed and the sum of what
// its variant's words add.
Json sweep(const std::vector<std::vector<std::pair<std::string, double>>>& axes) {
  std::vector<std::pair<std::string, double>> all = {{"", 0}};
  for (const auto& axis : axes) {
    std::vector<std::pair<std::string, double>> product;
    for (const auto& [name, by] : all)
      for (const auto& [word, more] : axis)
        product.emplace_back(name.empty() ? word : name + " " + word, by + more);
    all = product;
  }
  std::vector<Json> runs;
  for (const auto& [name, by] : all) add(runs, shifted(name, {by, by + 1, by}));
  return result_of(runs);
}

std::vector<std::string> who_with_whom(const Comparison& found) {
  std::vector<std::string> all;
  for (const ComparedRow& row : found.rows) all.push_back(row.variant + " < " + row.base);
  return all;
}

TEST(CompareWithin, EachVariantHasTheBaseOfItsOtherWords) {
  const Json result = sweep({{{"scheme=ecmp", 0}, {"scheme=letflow", 50}},
                             {{"off", 0}, {"rlb", 10}},
                             {{"deep", 0}, {"deep window", 100}}});
  auto found = compare_within(result, "off", {});
  ASSERT_TRUE(found.ok());
  EXPECT_THAT(who_with_whom(*found),
              ElementsAre("scheme=ecmp rlb deep < scheme=ecmp off deep",
                          "scheme=ecmp rlb deep window < scheme=ecmp off deep window",
                          "scheme=letflow rlb deep < scheme=letflow off deep",
                          "scheme=letflow rlb deep window < scheme=letflow off deep window"));
  for (const ComparedRow& row : found->rows) EXPECT_DOUBLE_EQ(row.difference.mean, 10);
  EXPECT_THAT(compared_text(*found), HasSubstr("against the variant with [off] in its place"));
}

// "deep" is a part of "deep window": the longer one is the nearer one.
TEST(CompareWithin, TheNearestBaseCounts) {
  const Json result = sweep({{{"deep", 0}, {"deep window", 100}}, {{"off", 0}, {"on", 10}}});
  auto found = compare_within(result, "off", {});
  ASSERT_TRUE(found.ok());
  EXPECT_THAT(who_with_whom(*found),
              ElementsAre("deep on < deep off", "deep window on < deep window off"));
}

TEST(CompareWithin, ABaseOfAllWordsIsForAllOthers) {
  auto found = compare_within(sweep({{{"a", 0}, {"b", 1}}, {{"x", 0}, {"y", 2}}}), "a x", {});
  ASSERT_TRUE(found.ok());
  EXPECT_THAT(who_with_whom(*found), ElementsAre("a y < a x", "b x < a x", "b y < a x"));
}

TEST(CompareWithin, WhatHasNoBaseIsSaid) {
  Json result = sweep({{{"a", 0}, {"b", 1}}, {{"off", 0}, {"on", 2}}});
  const Json more = shifted("c on", {1});
  for (const Json& run : more.at("runs")) result["runs"].push_back(run);
  auto found = compare_within(result, "off", {});
  ASSERT_TRUE(found.ok());
  EXPECT_THAT(found->remarks,
              testing::Contains("Only in the result, without a base to be compared with: [c on]."));
}

TEST(CompareWithin, WordsThatNoVariantHasAreRefused) {
  const Json result = sweep({{{"drill", 0}, {"drill off", 1}}});
  for (const char* words : {"", "of", "nothing"}) {
    auto found = compare_within(result, words, {});
    ASSERT_FALSE(found.ok()) << words;
    EXPECT_THAT(found.problems(), ElementsAre(HasSubstr("no variant has these words")));
  }
}

TEST(CompareWithin, TwoBasesAsNearAreRefused) {
  auto found = compare_within(sweep({{{"off", 0}, {"on", 1}}, {{"off", 0}, {"on", 2}}}), "off", {});
  ASSERT_FALSE(found.ok());
  EXPECT_THAT(found.problems(), ElementsAre(HasSubstr("give more of the base's name")));
}

Json with_victims(Json result) {
  for (Json& run : result["runs"]) {
    const double p99 = run["fct_p99_us"];
    run["tenants"] = {{{"name", "victims"}, {"slowdown_mean", p99 / 100}, {"requests", 0}},
                      {{"name", "incast"}, {"requests", 3}, {"request_mean_us", p99}}};
    run["pfc_switch_events"] = run["variant"] == "off" ? 10 : 0;
    run["pfc_host_events"] = 4;
    run["lossless_drops"] = 0;
  }
  return result;
}

TEST(CompareWithin, OfAnItemItsFlowsRequestsPausesAndDropsAreCompared) {
  const Json result = with_victims(sweep({{{"off", 0}, {"on", 10}}}));
  auto found = compare_within(result, "off", {.item = "victims"});
  ASSERT_TRUE(found.ok());
  std::vector<std::string> heads;
  for (const ComparedRow& row : found->rows) heads.push_back(row.head);
  EXPECT_THAT(heads, ElementsAre("victims: slowdown mean", "incast: requests mean us",
                                 "pauses of switches", "pauses of hosts", "lossless drops"));
  EXPECT_DOUBLE_EQ(found->rows[2].change.mean, -100);
  EXPECT_EQ(found->tested, 4u);  // no drops anywhere: nothing to be tested
  EXPECT_THAT(wide_rows(*found)[1].back(), "0");
  EXPECT_THAT(wide_text(*found, true),
              testing::StartsWith("| variant | victims: slowdown mean | incast: requests mean us"));
  EXPECT_FALSE(compare_within(result, "off", {.item = "nobody"}).ok());
}

TEST(CompareWithin, TheRowsAreNumbersInJson) {
  auto found = compare_within(sweep({{{"off", 0}, {"on", 10}}}), "off", {});
  ASSERT_TRUE(found.ok());
  const Json row = comparison_json(*found, "r", "")["rows"][0];
  EXPECT_EQ(row["variant"], "on");
  EXPECT_EQ(row["base"], "off");
  EXPECT_EQ(row["key"], "fct_p99_us");
  EXPECT_EQ(row["pairs"], 3);
  EXPECT_DOUBLE_EQ(row["difference"], 10);
  EXPECT_LT(row["change_low"], row["change_percent"]);
  EXPECT_GT(row["change_high"], row["change_percent"]);
}

}  // namespace
}  // namespace eddy::lab
