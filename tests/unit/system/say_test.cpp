#include "system/say.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <iostream>

namespace eddy {
namespace {

TEST(Say, ALineStaysOneLine) {
  testing::internal::CaptureStderr();
  say("eddyd: ", {"a", "f.yaml:1:2: '\x1b[2J\neddyd: all is well' is no scheme", ""});
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "eddyd: a\neddyd: f.yaml:1:2: '\\x1b[2J\\neddyd: all is well' is no scheme\neddyd: \n");
}

// A process whose standard output is `file`, with something for it.
void end_with(const char* file, int code) {
  if (std::freopen(file, "w", stdout) == nullptr) std::exit(100);
  std::cout << "some text";
  std::exit(end_of_output("eddyd: ", code));
}

TEST(EndOfOutput, WhatCannotBeWrittenIsAFailure) {
  EXPECT_EXIT(end_with("/dev/full", 0), testing::ExitedWithCode(1),
              "^eddyd: standard output: No space left on device\n$");
  EXPECT_EXIT(end_with("/dev/full", 2), testing::ExitedWithCode(2), "No space left");
  EXPECT_EXIT(end_with("/dev/null", 0), testing::ExitedWithCode(0), "^$");
  EXPECT_EXIT(end_with("/dev/null", 2), testing::ExitedWithCode(2), "^$");
}

}  // namespace
}  // namespace eddy
