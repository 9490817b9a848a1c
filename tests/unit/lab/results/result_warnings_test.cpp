#include "lab/results/result_warnings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lab/results/result_tables.h"
#include "tests/unit/lab/run/sample_run.h"

namespace eddy::lab {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

// A run of which there is nothing to say.
RunRecord good_run(const std::string& variant, uint64_t seed) {
  RunRecord run = sample_run(variant, seed);
  run.result.unfinished = 0;
  run.result.censored = false;
  for (FlowResult& flow : run.result.flows) flow.finished = true;
  return run;
}

Json merged(const std::vector<RunRecord>& runs) {
  Json result = {{"experiment", "sample"}, {"runs", Json::array()}};
  for (const RunRecord& run : runs) result["runs"].push_back(run_values(run));
  return result;
}

// Of two runs the second has what `change` does to it.
template <class Change>
std::vector<std::string> said_of(Change change) {
  RunRecord changed = good_run("a", 2);
  change(changed.result);
  return result_warnings(merged({good_run("a", 1), changed}));
}

constexpr const char* kSecond = "1 of 2 runs (the first is [a], seed 2)";

TEST(ResultWarnings, OfAGoodResultThereAreNone) {
  const Json result = merged({good_run("a", 1), good_run("a", 2)});
  EXPECT_THAT(result_warnings(result), IsEmpty());
  EXPECT_FALSE(measured_nothing(result));
  EXPECT_THAT(text_of_result(result), StartsWith("sample"));
}

TEST(ResultWarnings, NoMeasuredFlowIsAFailure) {
  const auto nothing = [](RunResult& result) {
    for (FlowResult& flow : result.flows) flow.measured = false;
  };
  EXPECT_THAT(said_of(nothing),
              ElementsAre(StartsWith(std::string("No flow was measured in ") + kSecond)));
  RunRecord empty = good_run("a", 1);
  nothing(empty.result);
  EXPECT_TRUE(measured_nothing(merged({good_run("a", 2), empty})));
  empty.result.interrupted = true;  // before it came to one
  EXPECT_FALSE(measured_nothing(merged({empty})));
}

TEST(ResultWarnings, UnfinishedFlowsAreCounted) {
  EXPECT_THAT(said_of([](RunResult& result) { result.unfinished = 7; }),
              ElementsAre(std::string(kSecond) +
                          " are censored: flows were unfinished at the end, up to 7 in one, and no "
                          "mean or percentile holds them."));
}

TEST(ResultWarnings, LossOfLosslessPacketsIsCounted) {
  EXPECT_THAT(said_of([](RunResult& result) { result.lossless_drops = 17; }),
              ElementsAre(StartsWith(std::string("Lossless packets were dropped in ") + kSecond +
                                     ", up to 17 in one")));
}

TEST(ResultWarnings, ATableThatOverflowedIsNamedWithItsKey) {
  const auto resequencer = [](RunResult& result) {
    result.counters["resequence_placeless_packets"] = 19'257;
    result.warnings = {"resequence.flows: too few"};  // as such a run says itself
  };
  EXPECT_THAT(said_of(resequencer),
              ElementsAre(testing::AllOf(StartsWith("19257 packets found no place"),
                                         HasSubstr(kSecond), HasSubstr("resequence.flows"))));
  const auto guard = [](RunResult& result) { result.counters["guard_placeless_packets"] = 3; };
  EXPECT_THAT(said_of(guard), ElementsAre(HasSubstr("rlb.guard.flows")));
}

TEST(ResultWarnings, FramesOfASchemeThatSomeSwitchesDoNotSpeakAreCounted) {
  EXPECT_THAT(
      said_of([](RunResult& result) { result.counters["agent_frames_unspoken"] = 42; }),
      ElementsAre(testing::AllOf(StartsWith("42 frames of a scheme came to switches that do not"),
                                 HasSubstr("the fabric is mixed"), HasSubstr(kSecond),
                                 HasSubstr("(agent_frames_unspoken)"))));
}

TEST(ResultWarnings, TextsOfTheRunsStandOnce) {
  RunRecord first = good_run("a", 1);
  RunRecord second = good_run("a", 2);
  first.result.warnings = {"switches.allow_overcommit: too little headroom", "traffic.0: late"};
  second.result.warnings = {"switches.allow_overcommit: too little headroom"};
  EXPECT_THAT(result_warnings(merged({first, second})),
              ElementsAre("switches.allow_overcommit: too little headroom (in 2 of 2 runs (the "
                          "first is [a], seed 1))",
                          "traffic.0: late (in 1 of 2 runs (the first is [a], seed 1))"));
}

TEST(ResultWarnings, ManyTextsAreCounted) {
  RunRecord run = good_run("a", 1);
  for (int i = 0; i < 11; ++i) run.result.warnings.push_back("text " + std::to_string(i));
  const std::vector<std::string> said = result_warnings(merged({run}));
  ASSERT_EQ(said.size(), 9u);
  EXPECT_EQ(said.back(), "3 other warnings stand under \"warnings\" of the runs.");
}

TEST(ResultWarnings, ViolationsAndMixturesAreSaid) {
  Json result = merged({good_run("a", 1), good_run("b", 1), good_run("b", 2)});
  result["runs"][0]["violations"] = {"something is lost"};
  result["runs"][1]["interrupted"] = true;
  result["commit"] = "mixed";
  result["config_hashes"] = {{"b", "mixed"}};
  EXPECT_THAT(result_warnings(result),
              ElementsAre(HasSubstr("[b], seed 1) were interrupted."),
                          HasSubstr("[a], seed 1) violated an invariant."),
                          "The runs are of different commits.",
                          "The seeds of \"b\" had different configurations.",
                          "The variants have different numbers of seeds."));
}

}  // namespace
}  // namespace eddy::lab
