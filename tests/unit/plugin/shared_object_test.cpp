#include "plugin/shared_object.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

namespace eddy::plugin {
namespace {

using testing::AllOf;
using testing::HasSubstr;

std::span<const lb::SchemeInfo> no_list() {
  return {};
}

Result<std::unique_ptr<lb::Selector>> make(const lb::SelectorInit&) {
  return Problems{"not made here"};
}

lb::SchemeInfo named(std::string_view name) {
  return {.name = name, .make = &make, .make_with_rlb = &make};
}

std::string problem_of(const lb::SchemeInfo& scheme) {
  return schemes_problem({&scheme, 1});
}

TEST(PluginHeader, OfThisProgramIsGood) {
  const lb::PluginHeader header = lb::plugin_header(&no_list);
  EXPECT_EQ(header_problem(header, sizeof header), "");
}

TEST(PluginHeader, EachDifferenceIsSaidWithBothNumbers) {
  lb::PluginHeader header = lb::plugin_header(&no_list);
  header.abi = 99;
  EXPECT_THAT(header_problem(header, sizeof header),
              AllOf(HasSubstr("plugin ABI 99"), HasSubstr(std::to_string(lb::kPluginAbi))));
  header = lb::plugin_header(&no_list);
  header.size -= 8;
  EXPECT_THAT(header_problem(header, sizeof header), HasSubstr("its header has"));
  // Every fact is compared: one more in any place is another layout.
  size_t facts = 0;
  for (size_t i = 0; i < lb::kPluginFactPlaces; ++i) {
    header = lb::plugin_header(&no_list);
    const uint32_t own = header.facts[i]++;
    if (own == 0 && header_problem(header, sizeof header).empty()) continue;  // no fact here
    ++facts;
    EXPECT_THAT(header_problem(header, sizeof header),
                AllOf(HasSubstr("is " + std::to_string(own + 1)),
                      HasSubstr("here it is " + std::to_string(own))));
  }
  EXPECT_GT(facts, 20u);
}

TEST(PluginHeader, WhatIsNoneIsNotReadToItsEnd) {
  lb::PluginHeader header = lb::plugin_header(&no_list);
  EXPECT_THAT(header_problem(header, 4), HasSubstr("not what EDDY_PLUGIN makes"));
  EXPECT_THAT(header_problem(header, sizeof header - 1), HasSubstr("its header has"));
  header.magic[7] = 'X';
  EXPECT_THAT(header_problem(header, sizeof header), HasSubstr("not what EDDY_PLUGIN makes"));
  header = lb::plugin_header(nullptr);
  EXPECT_THAT(header_problem(header, sizeof header), HasSubstr("no list"));
}

TEST(PluginSchemes, HaveNamesOfTheirOwn) {
  EXPECT_EQ(problem_of(named("mine_2")), "");
  EXPECT_THAT(problem_of(named("ecmp")), HasSubstr("'ecmp' is one of the program's own"));
  for (const std::string_view name : {"", "Mine", "2nd", "with space", "a-b", "\n"})
    EXPECT_THAT(problem_of(named(name)), HasSubstr("is no name")) << name;
  EXPECT_THAT(problem_of(named(std::string(33, 'a'))), HasSubstr("is no name"));
  const std::array twice = {named("one"), named("two"), named("one")};
  EXPECT_THAT(schemes_problem(twice), HasSubstr("'one' twice"));
}

TEST(PluginSchemes, AreOneToThirtyTwoThatCanBeMade) {
  EXPECT_THAT(schemes_problem({}), HasSubstr("0 schemes"));
  const std::vector<lb::SchemeInfo> many(33, named("one"));
  EXPECT_THAT(schemes_problem(many), HasSubstr("33 schemes"));
  lb::SchemeInfo scheme = named("one");
  scheme.make_with_rlb = nullptr;
  EXPECT_THAT(problem_of(scheme), HasSubstr("no function that makes it"));
  scheme.make_with_rlb = scheme.make;
  scheme.make = nullptr;
  EXPECT_THAT(problem_of(scheme), HasSubstr("no function that makes it"));
}

TEST(PluginSchemes, LeaveTheWordsOfTheConfigurationAlone) {
  for (const std::string_view word : {"scheme", "plugin", "control", "not good"}) {
    const std::array parameters = {lb::ParameterInfo{.name = word}};
    lb::SchemeInfo scheme = named("one");
    scheme.parameters = parameters;
    EXPECT_THAT(problem_of(scheme), HasSubstr("has a parameter '" + std::string(word) + "'"));
  }
}

}  // namespace
}  // namespace eddy::plugin
