#include "system/say.h"

#include <gtest/gtest.h>

namespace eddy {
namespace {

TEST(Say, ALineStaysOneLine) {
  testing::internal::CaptureStderr();
  say("eddyd: ", {"a", "f.yaml:1:2: '\x1b[2J\neddyd: all is well' is no scheme", ""});
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "eddyd: a\neddyd: f.yaml:1:2: '\\x1b[2J\\neddyd: all is well' is no scheme\neddyd: \n");
}

}  // namespace
}  // namespace eddy
