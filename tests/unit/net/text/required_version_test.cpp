#include "net/text/required_version.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace eddy {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(RequiredVersion, IsMetByTheSameMajorAndMinor) {
  for (const char* required : {"0.1.0", "0.1", "0.1.7", "0.1.99"})
    EXPECT_THAT(check_required_version("0.1.0", required), IsEmpty()) << required;
}

TEST(RequiredVersion, RefusesAnotherMajorOrMinorAndSaysBoth) {
  EXPECT_THAT(check_required_version("0.1.0", "0.2.0"),
              ElementsAre("version 0.2.0 is required and this is version 0.1.0: they differ in "
                          "more than the last number"));
  for (const char* required : {"0.0.9", "1.1.0", "0.10", "0.11.0"})
    EXPECT_EQ(check_required_version("0.1.0", required).size(), 1u) << required;
}

TEST(RequiredVersion, RefusesWhatIsNoVersion) {
  for (const char* required : {"", "0", "0.", "0.1.", "0.1.0.0", "0.1-rc1", "v0.1", "-1.1", "0.-1",
                               "0.1.0 ", " 0.1", "0.99999999999", "latest"})
    EXPECT_THAT(check_required_version("0.1.0", required),
                ElementsAre(testing::HasSubstr("is no version")))
        << required;
}

}  // namespace
}  // namespace eddy
