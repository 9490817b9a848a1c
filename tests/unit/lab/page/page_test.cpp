#include "lab/page/page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "lab/page/rounded.h"
#include "lab/page/timeline_page.h"
#include "lab/page/words.h"
#include "lab/results/results.h"
#include "tests/unit/lab/run/sample_run.h"

namespace eddy::lab {
namespace {

namespace fs = std::filesystem;
using namespace eddy::literals;
using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class PageTest : public testing::Test {
 public:
  ~PageTest() override { fs::remove_all(folder_); }

 protected:
  PageTest() {
    std::string name = (fs::temp_directory_path() / "eddy-page-XXXXXX").string();
    folder_ = mkdtemp(name.data());
  }

  fs::path write(const RunRecord& run) {
    fs::path folder = run_folder(folder_, run.identity.variant, run.result.seed);
    EXPECT_EQ(write_run(folder, run), Problems{});
    return folder;
  }
  Result<std::vector<PageSource>> sources() const { return read_sources({folder_.string()}); }
  Page page() const {
    auto found = sources();
    EXPECT_TRUE(found.ok()) << found.problems().front();
    return make_page(found.value(), "eddylab report x");
  }

  fs::path folder_;
};

// The JSON between its element's tags.
Json data_of(const std::string& html) {
  const std::string mark = "<script type=\"application/json\" id=\"data\">";
  const size_t at = html.find(mark) + mark.size();
  return Json::parse(html.substr(at, html.find("</script>", at) - at));
}

size_t count(const std::string& text, std::string_view part) {
  size_t found = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

TEST_F(PageTest, HasTheNumbersOfTheRuns) {
  for (const uint64_t seed : {1, 2, 3}) write(sample_run("a", seed));
  const Page made = page();
  EXPECT_THAT(made.problems, IsEmpty());
  const Json result = data_of(made.html).at("results").at(0);
  EXPECT_EQ(result.at("experiment"), "sample");
  EXPECT_EQ(result.at("seeds"), Json({"1", "2", "3"}));
  EXPECT_EQ(result.at("sweeps"), Json({"eddylab run sample.yaml --seed 1,2,3"}));
  const Json summary = result.at("tables").at(0);
  EXPECT_EQ(summary.at("head").at(3), "unfinished");
  EXPECT_EQ(summary.at("head").at(4), "FCT mean us");
  // All seeds together, and each by itself.
  ASSERT_EQ(summary.at("rows").size(), 4u);
  EXPECT_EQ(summary.at("rows").at(0).at("t").at(4), "70 +-24.8");
  EXPECT_EQ(summary.at("rows").at(2).at("s"), "2");
  EXPECT_EQ(summary.at("rows").at(2).at("t").at(4), "70");
  EXPECT_EQ(summary.at("rows").at(2).at("n").at(4), 70);
  EXPECT_EQ(summary.at("kinds").at(1), "count");
  EXPECT_EQ(summary.at("kinds").at(4), "estimate");
  EXPECT_THAT(result.at("warnings").at(0).get<std::string>(), testing::StartsWith("3 of 3 runs"));
  EXPECT_EQ(result.at("variants").at(0).at("runs").at(1).at("marks"), Json({"censored"}));
}

// The page finds a row's variant by its number: its colour, and whether it is chosen.
TEST_F(PageTest, RowsKnowTheirVariant) {
  for (const char* name : {"a", "b"}) write(sample_run(name, 1));
  const Json result = data_of(page().html).at("results").at(0);
  EXPECT_EQ(result.at("variants").at(1).at("name"), "b");
  const Json& rows = result.at("tables").at(0).at("rows");
  ASSERT_EQ(rows.size(), 2u);
  for (const Json& row : rows) EXPECT_EQ(row.at("v"), row.at("t").at(0) == "a" ? 0 : 1);
}

TEST_F(PageTest, FiguresPoolSeedsAndShowEach) {
  for (const uint64_t seed : {1, 2}) write(sample_run("a", seed));
  const Json result = data_of(page().html).at("results").at(0);
  const Json& fct = result.at("figures").at(0);
  EXPECT_EQ(fct.at("id"), "fct_cdf");
  ASSERT_EQ(fct.at("curves").size(), 3u);
  EXPECT_EQ(fct.at("curves").at(0).at("s"), "all");
  EXPECT_EQ(fct.at("curves").at(0).at("x").size(), 2 * 9 + 1u);  // 9 flows a run, and the start
  EXPECT_EQ(fct.at("curves").at(2).at("s"), "2");
  EXPECT_EQ(fct.at("curves").at(2).at("x").back(), 110);  // (9 + 2) * 10 us
}

TEST_F(PageTest, HostileTextIsData) {
  const std::string hostile = "</script><script>alert(1)</script><!--&{{script}}\"'\xe2\x80\xa8";
  RunRecord run = sample_run(hostile, 1);
  run.identity.title = hostile;
  run.identity.experiment = hostile;
  run.identity.expect = {hostile};
  run.identity.replay = hostile;
  run.identity.commit = "{{data}}";
  write(run);
  const std::string html = page().html;
  EXPECT_EQ(count(html, "<script"), 2u);
  EXPECT_EQ(count(html, "</script"), 2u);
  EXPECT_EQ(count(html, "<!--"), 0u);
  EXPECT_THAT(html, Not(HasSubstr("alert(1)</")));
  const Json result = data_of(html).at("results").at(0);
  EXPECT_EQ(result.at("title"), hostile);
  EXPECT_EQ(result.at("variants").at(0).at("name"), hostile);
  EXPECT_EQ(result.at("claims").at("words").at(0), hostile);
}

TEST_F(PageTest, NothingInItLeadsElsewhere) {
  write(sample_run("a", 1));
  const std::string html = page().html;
  EXPECT_THAT(html, HasSubstr("default-src 'none'"));
  for (const char* word : {"src=\"", "@import", "url(", "fetch(", "XMLHttpRequest", "innerHTML",
                           "insertAdjacentHTML", "document.write", "eval("})
    EXPECT_THAT(html, Not(HasSubstr(word)));
  // The namespace of SVG is a name, not an address that is asked.
  EXPECT_EQ(count(html, "http://") + count(html, "https://"), 1u);
}

TEST_F(PageTest, WhatCannotBeReadIsNamedAndTheRestIsShown) {
  write(sample_run("a", 1));
  std::ofstream(write(sample_run("a", 2)) / "run.json") << "{\"schema";
  fs::remove(write(sample_run("a", 3)) / "flows.sqlite");
  fs::create_directories(folder_ / "a" / "seed4");
  const Page made = page();
  EXPECT_THAT(made.problems,
              testing::UnorderedElementsAre(
                  AllOf(HasSubstr("seed2/run.json"), HasSubstr("this is no JSON")),
                  AllOf(HasSubstr("seed4"), HasSubstr("no run.json")),
                  AllOf(HasSubstr("seed3/flows.sqlite"), HasSubstr("unable to open"))));
  const Json result = data_of(made.html).at("results").at(0);
  EXPECT_EQ(result.at("problems").size(), 3u);
  EXPECT_EQ(result.at("variants").at(0).at("runs").size(), 2u);
}

TEST_F(PageTest, ARunOfOtherTypesIsAProblem) {
  const fs::path file = write(sample_run("a", 1)) / "run.json";
  write(sample_run("a", 2));
  std::ifstream stream(file);
  Json run = Json::parse(stream);
  run["run"]["fct_p99_us"] = "fast";
  run["run"]["bins"] = {3};
  std::ofstream(file) << run;
  EXPECT_THAT(page().problems,
              ElementsAre(AllOf(HasSubstr("\"fct_p99_us\" is string, valid is a number"))));
  run["run"]["fct_p99_us"] = 1;
  std::ofstream(file) << run;
  EXPECT_THAT(page().problems, ElementsAre(HasSubstr("\"bins\" holds number")));
  run["run"]["bins"] = Json::array();
  run["run"]["seed"] = 0;
  std::ofstream(file) << run;
  EXPECT_THAT(page().problems, IsEmpty());
  run["run"]["seed"] = -1;
  std::ofstream(file) << run;
  EXPECT_THAT(page().problems, ElementsAre(HasSubstr("\"seed\" is negative")));
  run["run"].erase("seed");
  std::ofstream(file) << run;
  EXPECT_THAT(page().problems, ElementsAre(HasSubstr("\"seed\" is missing")));
}

TEST_F(PageTest, ARunThatIsThereTwiceIsAProblem) {
  const fs::path folder = write(sample_run("a", 1));
  fs::copy(folder, folder_ / "a" / "copy", fs::copy_options::recursive);
  EXPECT_THAT(page().problems, ElementsAre(HasSubstr("the same variant and seed")));
}

TEST_F(PageTest, AnotherSchemaVersionIsRefused) {
  write(sample_run("a", 1));
  const fs::path file = write(sample_run("a", 2)) / "run.json";
  std::ifstream stream(file);
  Json run = Json::parse(stream);
  run["schema_version"] = 7;
  std::ofstream(file) << run;
  const auto found = sources();
  ASSERT_FALSE(found.ok());
  EXPECT_THAT(found.problems(), ElementsAre(AllOf(HasSubstr("schema version 1, but of 7"),
                                                  HasSubstr("eddylab run --fresh"))));
}

TEST_F(PageTest, AFolderAboveTheRunsIsAnsweredByWhereTheyAre) {
  const fs::path above = folder_;
  folder_ = above / "sample" / "ci";
  write(sample_run("a", 1));
  ASSERT_TRUE(write_merged(folder_).ok());
  folder_ = above;
  EXPECT_THAT(sources().problems(),
              ElementsAre(HasSubstr("there are some in " + above.string() + "/sample/ci")));
  EXPECT_THAT(read_sources({(folder_ / "none").string()}).problems(),
              ElementsAre(HasSubstr("there is no such")));
}

TEST_F(PageTest, CurvesAreBounded) {
  RunRecord run = sample_run("a", 1);
  while (run.result.flows.size() < 20'000) run.result.flows.push_back(run.result.flows[1]);
  for (int i = 0; i < 20'000; ++i)
    run.result.samples.push_back({.at = Instant() + Duration::microseconds(i), .max_queue = i});
  run.result.ood_histogram.assign(1'024, 1);
  write(run);
  const std::string html = page().html;
  const Json figures = data_of(html).at("results").at(0).at("figures");
  EXPECT_GE(figures.size(), 3u);
  for (const Json& figure : figures)
    for (const Json& curve : figure.at("curves")) EXPECT_LE(curve.at("x").size(), 401u);
  constexpr size_t kMostOctets = 200'000;
  EXPECT_LT(html.size(), kMostOctets);
}

TEST_F(PageTest, WordsSayWhoWasBestAndWhatWasLost) {
  RunRecord bad = sample_run("slow", 3);
  bad.result.lossless_drops = 4;
  write(bad);
  write(sample_run("quick", 1));
  auto found = sources();
  const std::vector<std::string> words = summary_words(found.value().front());
  EXPECT_THAT(words, Contains(HasSubstr("[quick], the shortest, and 120 us with [slow]")));
  EXPECT_THAT(words, Contains(HasSubstr("dropped in 1 run:")));
  EXPECT_THAT(words, Contains(HasSubstr("2 runs of experiment sample (ci): 2 variants, 2 seeds")));
}

TEST_F(PageTest, WordsNameNobodyWhereAllAreAlike) {
  write(sample_run("one", 1));
  write(sample_run("other", 1));
  auto found = sources();
  const std::vector<std::string> words = summary_words(found.value().front());
  EXPECT_THAT(words, Contains(HasSubstr("within 100 us with every variant.")));
  EXPECT_THAT(words, Contains("PFC pauses begun in a run: 10 with every variant."));
}

TEST_F(PageTest, TwoResultsAreCompared) {
  write(sample_run("a", 1));
  write(sample_run("a", 2));
  auto both = read_sources({folder_.string(), folder_.string()});
  const Json data = data_of(make_page(both.value(), "x").html);
  ASSERT_EQ(data.at("comparisons").size(), 1u);
  EXPECT_THAT(data.at("comparisons").at(0).at("remarks").dump(), HasSubstr("2 of 2 pairs are"));
}

TimelineData timeline_of(int records) {
  TimelineData data;
  data.hops = {{"leaf1", "spine\"1", Duration::microseconds(1)}};
  data.to = Instant() + Duration::microseconds(records);
  for (int i = 0; i < records; ++i)
    data.records.push_back({Instant() + Duration::microseconds(i), 0, TimelineKind::queue_bytes,
                            i == records / 2 ? 99 * 1'024 : i % 7});
  data.records.push_back({data.to, 0, TimelineKind::predicted, 1});
  return data;
}

TEST_F(PageTest, ATimelineIsReadBack) {
  const TimelineData written = timeline_of(5);
  std::ofstream(folder_ / "timeline.json") << timeline_json(written);
  const auto read = read_timeline(folder_ / "timeline.json");
  ASSERT_TRUE(read.ok()) << read.problems().front();
  EXPECT_EQ(timeline_json(read.value()), timeline_json(written));
  ASSERT_EQ(read.value().records.size(), 6u);
  EXPECT_EQ(read.value().records[2].at, Instant::at(2_us));
  EXPECT_EQ(read.value().records[2].value, 99 * 1'024);
  EXPECT_EQ(read.value().records[5].kind, TimelineKind::predicted);
  EXPECT_EQ(read.value().hops[0].to, "spine\"1");
}

TEST_F(PageTest, ABrokenTimelineIsAProblem) {
  constexpr const char* kNoHops = R"({"from_ns": 0, "to_ns": 1, "hops": [], "records": []})";
  constexpr const char* kOtherHop =
      R"({"from_ns": 0, "to_ns": 1, "hops": [{"from": "a", "to": "b", "delay_ns": 1}],
          "records": [[1, 9, "cnm", 1]]})";
  for (const char* text : {"", "[]", "{\"from_ns\": 9e99}", kNoHops, kOtherHop}) {
    std::ofstream(folder_ / "timeline.json") << text;
    EXPECT_FALSE(read_timeline(folder_ / "timeline.json").ok()) << text;
  }
  const fs::path folder = write(sample_run("a", 1));
  fs::copy(folder_ / "timeline.json", folder);
  EXPECT_THAT(page().problems, ElementsAre(HasSubstr("timeline.json")));
}

TEST(TimelinePage, ThinningKeepsTheLargest) {
  const Json page = timeline_page(timeline_of(50'000));
  EXPECT_EQ(page.at("thinned"), true);
  const Json& queue = page.at("panels").at(0).at("curves").at(1);
  EXPECT_LE(queue.at("x").size(), 3'001u) << "and what holds to the end";
  EXPECT_THAT(queue.at("y").dump(), HasSubstr(",99.0,"));
  EXPECT_EQ(page.at("moments").at(0).at("at"), 0.0);  // the axis counts from the prediction
}

// A warning lasts to the next record of it, or to the end of what was recorded.
TEST(TimelinePage, AWarningIsASpan) {
  TimelineData data{.hops = {{"leaf1", "spine1", 1_us}, {"spine1", "leaf2", 1_us}},
                    .from = Instant(),
                    .to = Instant::at(9_us),
                    .records = {}};
  for (const int us : {1, 3, 5})
    data.records.push_back({Instant::at(1_us * us), 0, TimelineKind::warned, us == 3 ? 0 : 20});
  const Json page = timeline_page(data);
  EXPECT_EQ(page.at("path"), "leaf1 to spine1 to leaf2");
  const Json& lanes = page.at("panels").at(2).at("lanes");
  ASSERT_EQ(lanes.size(), 1u) << lanes;
  EXPECT_EQ(lanes.at(0).at("name"), "leaf1 holds a warning");
  EXPECT_EQ(lanes.at(0).at("spans"), Json({{1.0, 3.0}, {5.0, 9.0}}));
}

TEST(TimelinePage, TheOptionRecordsItAgain) {
  const auto spec = parse_timeline(timeline_option(timeline_of(5)).substr(11));
  ASSERT_TRUE(spec.ok());
  EXPECT_THAT(spec.value().switches, ElementsAre("leaf1", "spine\"1"));
  EXPECT_EQ(spec.value().to, Duration::microseconds(5));
}

TEST(Rounded, KeepsSixDigits) {
  EXPECT_DOUBLE_EQ(rounded(1234567.8), 1234570);
  EXPECT_DOUBLE_EQ(rounded(-0.00012345678), -0.000123457);
  EXPECT_EQ(rounded(0), 0);
  EXPECT_EQ(rounded(INFINITY), 0);
}

TEST(ScriptJson, NothingInItEndsAScript) {
  const std::string text = script_json({{"</script>", "a & b <!-- \xff"}});
  EXPECT_THAT(text, Not(testing::AnyOf(HasSubstr("<"), HasSubstr(">"), HasSubstr("&"))));
  EXPECT_EQ(Json::parse(text).begin().key(), "</script>");
}

}  // namespace
}  // namespace eddy::lab
