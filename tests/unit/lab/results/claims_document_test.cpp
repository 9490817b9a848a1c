#include "lab/results/claims_document.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "config/experiment_load.h"
#include "lab/results/claims_sources.h"
#include "lab/results/kept_results.h"
#include "lab/results/result_tables.h"
#include "lab/results/results.h"
#include "tests/unit/lab/run/sample_run.h"

namespace eddy::lab {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

Json sample_result() {
  Json result = {
      {"schema_version", 1}, {"experiment", "sample"}, {"title", "A sample"}, {"size", "ci"}};
  result["runs"] = Json::array();
  for (const char* variant : {"a", "b"})
    for (const uint64_t seed : {1, 2, 3, 7})
      result["runs"].push_back(run_values(sample_run(variant, seed)));
  for (Json& run : result["runs"])
    if (run["variant"] == "a") run["fct_mean_us"] = run["fct_mean_us"].get<double>() / 2;
  result["expect"] = {"fct_mean_us of [a] against [b]: -80 %",
                      "fct_mean_us of [a] against [b]: less",
                      "fct_mean_us of [b] against [a]: at most 50 %",
                      "pfc_events of every []: at most 70",
                      "pfc_events of [a]: at least 11",
                      "rx_packets of every [b]: at most 5",
                      "fct_mean_us of [c] against [a]: less",
                      "nothing_such of [a]: at most 0",
                      "In | words."};
  return result;
}

ClaimsSource source_of(Json result) {
  Json expect = result.at("expect");
  return {.result = std::move(result),
          .expect = std::move(expect),
          .source = "reference E.1",
          .numbers = {},
          .notes = {}};
}

std::vector<Verdict> verdicts(const Json& result) {
  std::vector<Verdict> out;
  for (const JudgedClaim& each : judge_claims(result.at("expect"), by_variant(result)))
    out.push_back(each.verdict);
  return out;
}

// Means of a are half of b's; a run has ten PFC events times its seed, up to 70.
TEST(Claims, AreOfEachKindJudged) {
  const Json result = sample_result();
  EXPECT_THAT(verdicts(result),
              ElementsAre(Verdict::half, Verdict::holds, Verdict::not_at_all, Verdict::holds,
                          Verdict::not_at_all, Verdict::holds, Verdict::not_run, Verdict::no_number,
                          Verdict::in_words));
  const auto judged = judge_claims(result.at("expect"), by_variant(result));
  EXPECT_EQ(judged[3].found.count, 8u);
  EXPECT_EQ(judged[3].found.mean, 70);  // the worst run, not the mean
  EXPECT_EQ(judged[4].found.mean, 10);
  EXPECT_EQ(judged[2].found_text(), "+100 %");
  EXPECT_EQ(judged[2].claimed_text(), "at most 50 %");
  EXPECT_EQ(judged[3].claimed_text(), "at most 70");
}

TEST(Claims, OfOtherFormsAreWords) {
  for (const char* words :
       {"x of [a]: 0", "x of every [a] against [b]: less", "x of [a]: less", "x of [a: at most 0",
        "x of every a: at most 0", "x of [a]: at most", "x of [a] against [b]: at most 5", "of [a]",
        "x of the flows of [a]: at most 0"})
    EXPECT_FALSE(parse_claim(words).has_value()) << words;
}

TEST(ClaimsDocument, HasATableAndASection) {
  const std::string text = claims_markdown({source_of(sample_result())}, {{"other", 3}});
  EXPECT_THAT(
      text,
      AllOf(HasSubstr("8 claims in numbers. holds: 3, half of it or more: 1, not at all: 2, not "
                      "run: 1, no number: 1.\n"),
            HasSubstr("| [sample](#sample) | ci | 1-3,7 | `fct_mean_us` of `a` against `b` | -80 % "
                      "| -50 % | half of it or more |\n"),
            HasSubstr("`pfc_events` of every run | at most 70 | 70 | holds |"),
            HasSubstr("`rx_packets` of every run of `b` | at most 5 | 5 | holds |"),
            HasSubstr(
                "\n### sample\n\nA sample (reference E.1). `eddylab run sample --size ci --seed "
                "1-3,7`, 8 runs.\n"),
            HasSubstr("\n* 8 of 8 runs (the first is [a], seed 1) are censored"),
            HasSubstr("* In words: In | words.\n"),
            testing::EndsWith("\nClaims without results here: other (3).\n"),
            HasSubstr("| variant | seeds | flows | FCT mean us |"), HasSubstr("\n| `a` | 4 | ")));
  EXPECT_THAT(claims_markdown({source_of(sample_result())}, {}), Not(HasSubstr("without results")));
}

TEST(ClaimsDocument, IsAlsoForScripts) {
  const Json rows = claims_json({source_of(sample_result())});
  ASSERT_EQ(rows.size(), 9u);
  EXPECT_EQ(rows[0].at("verdict"), "half of it or more");
  EXPECT_EQ(rows[0].at("found"), -50);
  EXPECT_TRUE(rows[6].at("found").is_null());
}

// More variants than a reader takes in: those that are claimed something of.
TEST(ClaimsDocument, ShowsSomeOfManyVariants) {
  Json result = sample_result();
  for (int i = 0; i < 20; ++i)
    result["runs"].push_back(run_values(sample_run("x" + std::to_string(i), 1)));
  const std::string text = claims_markdown({source_of(std::move(result))}, {});
  EXPECT_THAT(text, AllOf(HasSubstr("\n2 of 22 variants; `eddylab show` of the numbers has all."),
                          HasSubstr("\n| `b` | 4 |"), Not(HasSubstr("`x3`"))));
}

TEST(KeptResults, SayWhatTheWholeOneSays) {
  const Json whole = sample_result();
  const Json kept = kept_result(whole);
  EXPECT_THAT(kept.at("remarks"), testing::SizeIs(1));
  EXPECT_FALSE(kept.at("runs")[0].contains("replay"));
  EXPECT_EQ(kept.at("runs")[0].at("digest"), whole.at("runs")[0].at("digest"));
  EXPECT_EQ(verdicts(kept), verdicts(whole));
  EXPECT_EQ(texts(main_table(by_variant(kept))), texts(main_table(by_variant(whole))));
  EXPECT_EQ(kept_text(kept_result(kept)), kept_text(kept)) << "kept again it is the same";
  const std::string text = kept_text(kept);
  EXPECT_EQ(Json::parse(text), kept);
  EXPECT_EQ(std::ranges::count(text, '\n'), 8 + 8);  // the head, a line a run, and the end
}

// Of one traffic item alone the run has it all.
TEST(KeptResults, HaveTheItemsThatAreClaimedOf) {
  Json whole = sample_result();
  for (Json& run : whole["runs"])
    run["tenants"] = {{{"name", "web"}, {"flows", 3}, {"fairness", 0.5}, {"type", "poisson"}}};
  EXPECT_FALSE(kept_result(whole).at("runs")[0].contains("tenants"));
  whole["expect"] = {"web.fairness of [a]: at least 0.5"};
  const Json kept = kept_result(whole);
  EXPECT_EQ(kept.at("runs")[0].at("tenants")[0].dump(),
            R"({"name":"web","flows":3,"fairness":0.5})");
  EXPECT_THAT(verdicts(kept), ElementsAre(Verdict::holds));
}

TEST(KeptResults, HaveSixDigits) {
  Json whole = sample_result();
  whole["runs"][0]["fct_mean_us"] = 1234.56789;
  EXPECT_EQ(kept_result(whole).at("runs")[0].at("fct_mean_us").dump(), "1234.57");
}

std::vector<fs::path> experiments() {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(EDDY_SOURCE_DIR "/config/experiments"))
    if (entry.path().extension() == ".yaml") files.push_back(entry.path());
  std::ranges::sort(files);
  return files;
}

std::string text_of(const fs::path& file) {
  std::stringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

// `scripts/results --document` brings it up to date.
TEST(ClaimsDocument, InTheTreeIsThatOfTheResultsInTheTree) {
  const auto sources = read_claims_sources({EDDY_SOURCE_DIR "/docs/results"}, experiments());
  ASSERT_TRUE(sources.ok()) << sources.problems().front();
  EXPECT_THAT(text_of(EDDY_SOURCE_DIR "/docs/results.md"),
              HasSubstr(claims_markdown(sources.value(), {})));
}

TEST(ClaimsDocument, NamesExperimentsWithClaimsAndWithoutResults) {
  const fs::path folder = EDDY_SOURCE_DIR "/config/experiments";
  const auto unseen = unseen_experiments({source_of(sample_result())},
                                         {folder / "demo.yaml", folder / "rlb-s2.yaml"});
  ASSERT_EQ(unseen.size(), 1u);
  EXPECT_EQ(unseen[0].id, "rlb-s2");
  EXPECT_EQ(unseen[0].claims, 4u);
}

// Of each result the experiment is known, and it has what today's claims need.
TEST(ClaimsDocument, KeepsWhatTodaysClaimsNeed) {
  const auto sources = read_claims_sources({EDDY_SOURCE_DIR "/docs/results"}, experiments());
  ASSERT_TRUE(sources.ok()) << sources.problems().front();
  ASSERT_THAT(sources.value(), Not(IsEmpty()));
  for (const ClaimsSource& source : sources.value()) {
    const auto id = source.result.at("experiment").get<std::string>();
    EXPECT_TRUE(fs::exists(fs::path(EDDY_SOURCE_DIR "/config/experiments") / (id + ".yaml"))) << id;
    EXPECT_FALSE(source.numbers.empty());
    for (const JudgedClaim& each : judge_claims(source.expect, by_variant(source.result))) {
      if (!each.claim || each.verdict != Verdict::no_number) continue;
      EXPECT_FALSE(value_of(source.result.at("runs")[0], each.claim->key).is_null()) << each.text;
    }
  }
}

std::vector<std::string> variants_of_all_sizes(const fs::path& file) {
  std::vector<std::string> names;
  for (const char* size : {"ci", "reduced", "full"})
    if (const auto loaded = config::load_experiment(file, {.size = size}))
      for (const config::ExperimentRun& run : loaded.value().runs) names.push_back(run.variant);
  return names;
}

// One that names no variant of any size would never be looked up.
TEST(Claims, OfTheExperimentsNameVariantsThatThereAre) {
  for (const fs::path& file : experiments()) {
    const auto loaded = config::load_experiment(file);
    ASSERT_TRUE(loaded.ok()) << loaded.problems().front();
    const std::vector<std::string> names = variants_of_all_sizes(file);
    const auto is_there = [&](const std::string& name, bool part) {
      return std::ranges::any_of(names, [&](const std::string& each) {
        return part ? each.find(name) != std::string::npos : each == name;
      });
    };
    for (const std::string& text : loaded.value().expect) {
      const auto claim = parse_claim(text);
      if (!claim) continue;
      EXPECT_TRUE(is_there(claim->variant, claim->every)) << file << ": " << text;
      EXPECT_TRUE(!claim->compares || is_there(claim->baseline, false)) << file << ": " << text;
    }
  }
}

TEST(ClaimsSources, WhatCannotBeReadIsSaidInALine) {
  const auto nothing = read_claims_sources({"nowhere"}, {});
  ASSERT_FALSE(nothing.ok());
  EXPECT_THAT(nothing.problems(), ElementsAre("nowhere: there is no such file or folder"));
  const auto other = read_claims_sources({EDDY_SOURCE_DIR "/config/eddyd.schema.json"}, {});
  ASSERT_FALSE(other.ok());
  EXPECT_THAT(other.problems(), ElementsAre(HasSubstr("this is no result of schema version 1")));
}

}  // namespace
}  // namespace eddy::lab
