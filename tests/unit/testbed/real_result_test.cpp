#include "testbed/real_result.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace eddy::testbed {
namespace {

using namespace eddy::literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// 10,000 gaps of a microsecond and `late` of 30 ms.
std::vector<std::string> warnings(int late, uint64_t drops) {
  PollGapHistogram gaps;
  for (int i = 0; i < 10'000; ++i) gaps.add(1_us);
  for (int i = 0; i < late; ++i) gaps.add(30_ms);
  lab::RunResult result;
  result.lossless_drops = drops;
  warn_of_gaps(gaps, 20_ms, result);
  return result.warnings;
}

TEST(PollGapWarning, HostsThatAreOftenLateAreSaid) {
  EXPECT_THAT(warnings(0, 0), IsEmpty());
  EXPECT_THAT(warnings(20, 0), ElementsAre(HasSubstr("20000 us are allowed")));
}

TEST(PollGapWarning, OneLongGapIsSaidWhereItExplainsDrops) {
  EXPECT_THAT(warnings(1, 0), IsEmpty());
  EXPECT_THAT(warnings(1, 5), ElementsAre(HasSubstr("the longest 30000 us")));
  EXPECT_THAT(warnings(0, 5), IsEmpty());
}

}  // namespace
}  // namespace eddy::testbed
