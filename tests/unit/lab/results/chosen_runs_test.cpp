#include "lab/results/chosen_runs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace eddy::lab {
namespace {

using testing::ElementsAre;

config::LoadedExperiment with_variants(const std::vector<std::string>& names) {
  config::LoadedExperiment loaded;
  for (const std::string& name : names) {
    config::ExperimentRun& run = loaded.runs.emplace_back();
    run.variant = name;
    run.experiment.run.seeds = {1, 2};
  }
  return loaded;
}

TEST(ChosenRun, IsTheOneThatIsNamedOrTheOnlyOne) {
  const auto two = with_variants({"a", "b"});
  EXPECT_EQ(chosen_run(two, {"b"}).value(), &two.runs[1]);
  const auto one = with_variants({""});
  EXPECT_EQ(chosen_run(one, {}).value(), &one.runs[0]);
}

TEST(ChosenRun, SaysWhichThereAre) {
  const auto two = with_variants({"a", "b"});
  EXPECT_THAT(chosen_run(two, {}).problems(),
              ElementsAre("--variant: one has to be named; there are: \"a\", \"b\""));
  EXPECT_THAT(chosen_run(two, {"a", "b"}).problems(),
              ElementsAre("--variant: one has to be named; there are: \"a\", \"b\""));
  EXPECT_THAT(chosen_run(two, {"c"}).problems(),
              ElementsAre("--variant: no variant \"c\"; there are: \"a\", \"b\""));
}

TEST(ChosenVariants, AreThoseThatAreNamedInTheOrderOfTheFile) {
  const auto two = with_variants({"a", "b"});
  EXPECT_THAT(chosen_variants(two, {}).value(), ElementsAre(&two.runs[0], &two.runs[1]));
  EXPECT_THAT(chosen_variants(two, {"b"}).value(), ElementsAre(&two.runs[1]));
  EXPECT_THAT(chosen_variants(two, {"b", "a"}).value(), ElementsAre(&two.runs[0], &two.runs[1]));
  EXPECT_THAT(chosen_variants(two, {"c"}).problems(),
              ElementsAre("no variant \"c\"; there are: \"a\", \"b\""));
  EXPECT_THAT(chosen_variants(with_variants({""}), {"c"}).problems(),
              ElementsAre("no variant \"c\"; the experiment has no variants"));
}

TEST(ChosenItems, AreEveryVariantAndSeedUnlessSomeAreNamed) {
  const auto two = with_variants({"a", "b"});
  EXPECT_THAT(chosen_items(two, {}, "").value(),
              ElementsAre(WorkItem{0, 1}, WorkItem{0, 2}, WorkItem{1, 1}, WorkItem{1, 2}));
  EXPECT_THAT(chosen_items(two, {"b"}, "7-8").value(), ElementsAre(WorkItem{1, 7}, WorkItem{1, 8}));
}

TEST(ChosenItems, NameEveryMistake) {
  const auto two = with_variants({"a", "b"});
  EXPECT_THAT(chosen_items(two, {"c", "a", "d"}, "").problems(),
              ElementsAre("no variant \"c\"; there are: \"a\", \"b\"",
                          "no variant \"d\"; there are: \"a\", \"b\""));
  EXPECT_THAT(chosen_items(two, {}, "x").problems(), ElementsAre(testing::StartsWith("--seed: ")));
}

TEST(ChosenRun, IsNamedByWordsThatItAloneHas) {
  const auto four = with_variants({"s=a rlb=on", "s=a rlb=off", "s=b rlb=on", "s=b"});
  EXPECT_EQ(chosen_run(four, {"rlb=off"}).value(), &four.runs[1]);
  EXPECT_EQ(chosen_run(four, {"rlb=on  s=a"}).value(), &four.runs[0]) << "in any order";
  EXPECT_EQ(chosen_run(four, {"s=b"}).value(), &four.runs[3]) << "the whole name before words";
  EXPECT_THAT(chosen_run(four, {"rlb=on"}).problems(),
              ElementsAre("--variant: \"rlb=on\" is several, one has to be named: s=a rlb=on, s=b "
                          "rlb=on"));
}

TEST(ChosenItems, AreOfAllVariantsThatHaveTheWords) {
  const auto four = with_variants({"s=a rlb=on", "s=a rlb=off", "s=b rlb=on", "s=b rlb=off"});
  EXPECT_THAT(chosen_items(four, {"rlb=on"}, "1").value(),
              ElementsAre(WorkItem{0, 1}, WorkItem{2, 1}));
  EXPECT_THAT(chosen_variants(four, {"s=b", "s=a rlb=off"}).value(),
              ElementsAre(&four.runs[1], &four.runs[2], &four.runs[3]));
}

}  // namespace
}  // namespace eddy::lab
