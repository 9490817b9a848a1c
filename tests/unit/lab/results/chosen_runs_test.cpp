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

}  // namespace
}  // namespace eddy::lab
