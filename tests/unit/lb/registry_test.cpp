#include "lb/registry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "tests/support/paths.h"

namespace eddy::lb {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(Registry, EverySchemeIsDescribed) {
  std::set<std::string_view> names;
  for (const SchemeInfo& scheme : schemes()) {
    EXPECT_TRUE(names.insert(scheme.name).second) << scheme.name;
    EXPECT_FALSE(scheme.summary.empty()) << scheme.name;
    EXPECT_EQ(find_scheme(scheme.name), &scheme);
    for (const ParameterInfo& parameter : scheme.parameters) {
      EXPECT_FALSE(parameter.help.empty()) << scheme.name << " " << parameter.name;
      EXPECT_FALSE(parameter.source.empty()) << scheme.name << " " << parameter.name;
      EXPECT_NE(parameter.name, "scheme");
      EXPECT_NE(parameter.name, "control") << "a key of load_balancer itself";
    }
  }
}

TEST(Registry, PrintedDefaultsAndLimitsAreTaken) {
  for (const SchemeInfo& scheme : schemes())
    for (const ParameterInfo& parameter : scheme.parameters)
      for (int64_t value : {parameter.fallback, parameter.min, parameter.max}) {
        const ParameterMap map = {{std::string(parameter.name), value_text(parameter, value)}};
        EXPECT_THAT(check_parameters(scheme.name, map), IsEmpty());
        EXPECT_EQ(parse_value(parameter, map.begin()->second).value(), value);
      }
}

TEST(Registry, SaysWhatWouldBeValid) {
  EXPECT_THAT(check_parameters("hedera", {}),
              ElementsAre(AllOf(HasSubstr("'hedera'"), HasSubstr("valid: ecmp"))));
  EXPECT_THAT(check_parameters("ecmp", {{"bucket", "256"}}),
              ElementsAre("bucket: ecmp has no such parameter; valid: buckets"));
  EXPECT_THAT(check_parameters("ecmp", {{"buckets", "1"}}),
              ElementsAre("buckets: '1' is out of range; valid: 64 to 4096"));
  EXPECT_THAT(check_parameters("ecmp", {{"buckets", "many"}}),
              ElementsAre("buckets: 'many' is not a whole number; valid: 64 to 4096"));
}

TEST(Registry, AllProblemsAtOnce) {
  EXPECT_EQ(check_parameters("ecmp", {{"a", "1"}, {"b", "1"}, {"buckets", "x"}}).size(), 3u);
}

TEST(Registry, MakesNothingFromBadInput) {
  test::Paths paths({test::make_set(4)});
  EXPECT_EQ(test::make("hedera", paths), nullptr);
  EXPECT_EQ(test::make("ecmp", paths, {{"buckets", "0"}}), nullptr);
  EXPECT_NE(test::make("ecmp", paths), nullptr);
}

}  // namespace
}  // namespace eddy::lb
