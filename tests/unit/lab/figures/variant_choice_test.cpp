#include "lab/figures/variant_choice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace eddy::lab {
namespace {

using testing::HasSubstr;

const std::vector<std::string> kNames = {"scheme=drill rlb=off", "scheme=drill rlb=on",
                                         "scheme=ecmp rlb=off", "path=a:b"};

VariantChoice choice_of(const std::vector<std::string>& variants,
                        const std::vector<std::string>& legends) {
  auto choice = VariantChoice::create(variants, legends, kNames);
  EXPECT_TRUE(choice.ok()) << choice.problems().front();
  return *choice;
}
std::string problem_of(const std::vector<std::string>& variants,
                       const std::vector<std::string>& legends) {
  const auto choice = VariantChoice::create(variants, legends, kNames);
  return choice.ok() ? "" : choice.problems().front();
}

TEST(VariantChoice, TakesThoseWithAllWordsOfAny) {
  EXPECT_TRUE(choice_of({}, {}).takes("whatever"));
  const VariantChoice one = choice_of({"scheme=drill rlb=on"}, {});
  EXPECT_TRUE(one.takes(kNames[1]));
  EXPECT_FALSE(one.takes(kNames[0]));
  const VariantChoice any = choice_of({"scheme=ecmp", "rlb=on"}, {});
  EXPECT_FALSE(any.takes(kNames[0]));
  EXPECT_TRUE(any.takes(kNames[1]));
  EXPECT_TRUE(any.takes(kNames[2]));
  EXPECT_FALSE(choice_of({"scheme=drill"}, {}).takes("scheme=drills")) << "words, no parts of them";
}

// As run and show have it: else no option could mean the first alone.
TEST(VariantChoice, AWholeNameMeansThatVariantAlone) {
  const std::vector<std::string> names = {"ecmp deep off", "ecmp deep bdp off"};
  const auto whole = VariantChoice::create({"ecmp deep off"}, {}, names);
  ASSERT_TRUE(whole.ok());
  EXPECT_TRUE(whole->takes(names[0]));
  EXPECT_FALSE(whole->takes(names[1]));
  const auto words = VariantChoice::create({"off deep"}, {}, names);
  ASSERT_TRUE(words.ok());
  EXPECT_TRUE(words->takes(names[0]) && words->takes(names[1]));
}

TEST(VariantChoice, NamesStandInThePlaceOfWords) {
  const VariantChoice choice =
      choice_of({}, {"scheme=drill rlb=on:DRILL + RLB", "scheme=drill:DRILL", "rlb=off:"});
  EXPECT_EQ(choice.shown("scheme=drill rlb=on"), "DRILL + RLB");
  EXPECT_EQ(choice.shown("scheme=drill rlb=off"), "DRILL");
  EXPECT_EQ(choice.shown("scheme=ecmp rlb=off"), "scheme=ecmp");
  EXPECT_EQ(choice.shown("rlb=off"), "rlb=off") << "something has to be left";
  EXPECT_EQ(choice_of({}, {"path=a:b:A: the way"}).shown("path=a:b"), "A: the way");
}

TEST(VariantChoice, WhatNoRunHasIsNamedWithWhatThereIs) {
  EXPECT_EQ(problem_of({"shceme=drill"}, {}),
            "--variant: \"shceme=drill\": no factor \"shceme\"; there are: scheme, rlb, path");
  EXPECT_EQ(
      problem_of({"scheme=hula"}, {}),
      "--variant: \"scheme=hula\": no run has \"scheme=hula\"; scheme is one of: drill, ecmp");
  EXPECT_EQ(problem_of({"scheme=ecmp rlb=on"}, {}),
            "--variant: \"scheme=ecmp rlb=on\": no run has all of \"scheme=ecmp rlb=on\"");
  EXPECT_THAT(problem_of({""}, {}), HasSubstr("no factor=value"));
  EXPECT_EQ(problem_of({}, {"scheme=hula:HULA"}),
            "--legend: \"scheme=hula:HULA\": no run has \"scheme=hula\"; scheme is one of: drill, "
            "ecmp");
  EXPECT_THAT(problem_of({}, {"scheme=drill"}), HasSubstr("no name in it"));
  EXPECT_THAT(problem_of({}, {"scheme=drill:a\nb"}), HasSubstr("a control character"));
  EXPECT_THAT(problem_of({}, {"scheme=drill:" + std::string(201, 'x')}), HasSubstr("longer than"));
}

TEST(VariantChoice, TwoVariantsAreNotCalledTheSame) {
  EXPECT_EQ(problem_of({}, {"scheme=drill:A", "scheme=ecmp:A"}),
            "--legend: \"scheme=drill rlb=off\" and \"scheme=ecmp rlb=off\" would both be \"A "
            "rlb=off\"");
  EXPECT_EQ(problem_of({"scheme=drill"}, {"scheme=drill:A", "scheme=ecmp:A"}), "");
}

}  // namespace
}  // namespace eddy::lab
