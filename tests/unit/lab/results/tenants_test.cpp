#include "lab/results/tenants.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lab/results/claims.h"
#include "lab/results/compare.h"
#include "lab/results/run_check.h"
#include "lab/results/tenant_tables.h"
#include "tests/unit/lab/run/sample_run.h"

namespace eddy::lab {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// The sample's flows 0 to 5 are of one item, 6 to 10 of another, which is a collective.
RunRecord two_tenants(const std::string& variant, uint64_t seed) {
  RunRecord run = sample_run(variant, seed);
  run.result.simulated = Duration::milliseconds(1);
  run.result.traffic = {{.name = "web", .type = "poisson"}, {.name = "", .type = "collective"}};
  for (size_t i = 6; i < run.result.flows.size(); ++i) run.result.flows[i].flow.traffic = 1;
  for (int i = 0; i < 3; ++i)
    run.result.requests.push_back(
        {.traffic = 1,
         .number = static_cast<uint32_t>(i),
         .time = Duration::microseconds(100 * (i + 1) * static_cast<int64_t>(seed)),
         .slowdown = 1.0 + i,
         .measured = true,
         .finished = i < 2});
  return run;
}
Json tenants_result(std::vector<RunRecord> records) {
  Json runs = Json::array();
  for (const RunRecord& each : records) runs.push_back(run_values(each));
  return {{"experiment", "sample"},
          {"title", ""},
          {"size", "ci"},
          {"expect", Json::array()},
          {"runs", runs}};
}

TEST(Tenants, AreTheMeasuredItems) {
  RunRecord run = two_tenants("", 1);
  const Json all = tenants_of(run);
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0]["name"], "web");
  EXPECT_EQ(all[1]["name"], "collective");
  EXPECT_EQ(all[0]["flows"], 5);  // the first is not measured
  EXPECT_EQ(all[1]["flows"], 5);
  EXPECT_EQ(all[1]["unfinished"], 1);
  EXPECT_DOUBLE_EQ(all[0]["slowdown_mean"], (2 + 3 + 4 + 5 + 6) / 5.0);
  EXPECT_EQ(all[0]["requests"], 0);
  EXPECT_TRUE(all[0]["request_mean_us"].is_null());
  EXPECT_EQ(all[1]["requests"], 3);
  EXPECT_EQ(all[1]["requests_unfinished"], 1);
  EXPECT_DOUBLE_EQ(all[1]["request_mean_us"], 150);
  EXPECT_DOUBLE_EQ(all[1]["request_max_us"], 200);
  EXPECT_DOUBLE_EQ(all[1]["request_slowdown_mean"], 1.5);
  run.result.traffic[0].measured = false;
  EXPECT_EQ(tenants_of(run).size(), 1u);
}

TEST(Tenants, OfOneNameAreNumbered) {
  RunRecord run = two_tenants("", 1);
  run.result.traffic[1] = {.name = "web", .type = "poisson"};
  EXPECT_EQ(tenants_of(run)[1]["name"], "web (2)");
}

TEST(Tenants, JainsIndexIsOneWhereAllAreAlike) {
  EXPECT_DOUBLE_EQ(jain_index(std::vector<double>{3, 3, 3}), 1);
  EXPECT_DOUBLE_EQ(jain_index(std::vector<double>{5, 0, 0, 0}), 0.25);
  // 1/2 to 1/6: 1.45 squared over five times 0.4914.
  EXPECT_NEAR(tenants_of(two_tenants("", 1))[0]["fairness"].get<double>(), 0.8557, 0.0001);
}

// Twenty flows: two a tenth, by size.
TEST(Tenants, SizesAreInTenths) {
  RunRecord run = two_tenants("", 1);
  run.result.flows.clear();
  for (int i = 20; i > 0; --i)
    run.result.flows.push_back({.flow = {.size = Bytes(i * 100)},
                                .measured = true,
                                .finished = i != 20,
                                .slowdown = static_cast<double>(i)});
  const Json bins = tenants_of(run)[0]["bins"];
  ASSERT_EQ(bins.size(), 10u);
  EXPECT_EQ(bins[0]["name"], "0 to 10 %");
  EXPECT_EQ(bins[0]["from_bytes"], 100);
  EXPECT_EQ(bins[0]["to_bytes"], 200);
  EXPECT_DOUBLE_EQ(bins[0]["slowdown_mean"], 1.5);
  EXPECT_EQ(bins[9]["flows"], 2);
  EXPECT_DOUBLE_EQ(bins[9]["slowdown_p99"], 19);
  EXPECT_THAT(tenants_of(two_tenants("", 1))[0]["bins"], IsEmpty());  // fewer than ten
}

TEST(Tenants, ShortFlowsAreThoseBelowAHundredKilobytes) {
  RunRecord run = two_tenants("", 1);
  run.result.flows.clear();
  int slowdown = 1;
  for (const int64_t size : {5'000, 99'999, 100'000, 1'000'000})
    run.result.flows.push_back({.flow = {.size = Bytes(size)},
                                .measured = true,
                                .finished = true,
                                .slowdown = static_cast<double>(slowdown++)});
  const Json tenant = tenants_of(run)[0];
  EXPECT_DOUBLE_EQ(tenant["short_slowdown_mean"], 1.5);
  EXPECT_DOUBLE_EQ(tenant["short_slowdown_p99"], 2);
  run.result.flows.erase(run.result.flows.begin(), run.result.flows.begin() + 2);
  EXPECT_TRUE(tenants_of(run)[0]["short_slowdown_p99"].is_null());
}

TEST(Tenants, HaveTablesOfTheirOwn) {
  const Json result =
      tenants_result({two_tenants("a", 1), two_tenants("a", 2), two_tenants("b", 1)});
  const std::vector<VariantRuns> variants = by_variant(result);
  const std::string text = text_of_result(result);
  EXPECT_THAT(text, HasSubstr("\nBy traffic item\n"));
  EXPECT_THAT(text, HasSubstr("\nRequests and collectives: completion time\n"));
  const CellTable requests = request_table(variants);
  ASSERT_EQ(requests.rows.size(), 2u);
  EXPECT_EQ(requests.rows[0][1].text, "collective");
  EXPECT_EQ(requests.rows[0][4].values, (std::vector<double>{150, 300}));
  EXPECT_EQ(tenant_table(variants).rows.size(), 4u);
  EXPECT_THAT(text_of_result(tenants_result({sample_run("", 1)})),
              testing::Not(HasSubstr("By traffic item")));
}

TEST(Tenants, CanBeClaimedAndCompared) {
  const Json result = tenants_result({two_tenants("a", 1), two_tenants("b", 1)});
  const std::vector<VariantRuns> variants = by_variant(result);
  const auto claim = parse_claim("collective.request_mean_us of [a] against [b]: -10 %");
  ASSERT_TRUE(claim);
  EXPECT_THAT(changes(*claim, variants), ElementsAre(0));
  const Comparison found =
      compare(tenants_result({two_tenants("a", 1)}), tenants_result({two_tenants("a", 1)}));
  std::vector<std::string> heads;
  for (const ComparedRow& row : found.rows) heads.push_back(row.head);
  EXPECT_THAT(heads, testing::IsSupersetOf({"web: slowdown p99", "collective: FCT mean us",
                                            "collective: requests mean us"}));
}

TEST(Tenants, OfAFileAreChecked) {
  Json result = tenants_result({two_tenants("a", 1)});
  EXPECT_THAT(check_result_file("f", result), IsEmpty());
  result["runs"][0]["tenants"][0]["requests"] = "many";
  EXPECT_THAT(check_result_file("f", result), ElementsAre(HasSubstr("\"requests\" is string")));
  result["runs"][0]["tenants"] = {3};
  EXPECT_THAT(check_result_file("f", result), ElementsAre(HasSubstr("\"tenants\" holds number")));
}

}  // namespace
}  // namespace eddy::lab
