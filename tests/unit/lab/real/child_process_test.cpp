#include "lab/real/child_process.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <fstream>

#include "tests/support/temp_directory.h"

namespace eddy::lab {
namespace {

using namespace eddy::literals;
using testing::HasSubstr;

constexpr Duration kLong = 30_s;

TEST(ChildProcess, ItsStatusIsItsExitCode) {
  auto child = ChildProcess::start({.words = {"/bin/sh", "-c", "exit 7"}, .log = {}});
  ASSERT_TRUE(child.ok());
  EXPECT_EQ(child->wait(kLong), 7);
  EXPECT_EQ(child->ended(), 7);
}

TEST(ChildProcess, ASignalIsSeenInItsStatus) {
  auto child = ChildProcess::start({.words = {"/bin/sleep", "1000"}, .log = {}});
  ASSERT_TRUE(child.ok());
  EXPECT_FALSE(child->ended());
  child->signal(SIGTERM);
  EXPECT_EQ(child->wait(kLong), 128 + SIGTERM);
}

TEST(ChildProcess, WhatItPrintsIsInItsLog) {
  const test::TempDirectory directory;
  auto child = ChildProcess::start(
      {.words = {"/bin/sh", "-c", "echo said; echo also >&2"}, .log = directory.file("log")});
  ASSERT_TRUE(child.ok());
  EXPECT_EQ(child->wait(kLong), 0);
  std::ifstream log(directory.file("log"));
  std::string first;
  std::string second;
  std::getline(log, first);
  std::getline(log, second);
  EXPECT_EQ(first + "," + second, "said,also");
}

TEST(ChildProcess, AProgramThatIsNotThereSaysSo) {
  const test::TempDirectory directory;
  auto child = ChildProcess::start({.words = {"/nowhere/program"}, .log = directory.file("log")});
  ASSERT_TRUE(child.ok());
  EXPECT_EQ(child->wait(kLong), 127);
  std::ifstream log(directory.file("log"));
  std::string line;
  std::getline(log, line);
  EXPECT_THAT(line, HasSubstr("/nowhere/program: No such file"));
}

TEST(ChildProcess, ItIsGoneWithItsObject) {
  pid_t pid = 0;
  {
    auto child = ChildProcess::start({.words = {"/bin/sleep", "1000"}, .log = {}});
    ASSERT_TRUE(child.ok());
    pid = child->pid();
    EXPECT_TRUE(process_start(pid));
  }
  EXPECT_FALSE(process_start(pid));
}

// The test's own child starts one and dies without a word.
TEST(ChildProcess, ItDoesNotOutliveItsParent) {
  const test::TempDirectory directory;
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const pid_t parent = fork();
  if (parent == 0) {
    close(ends[0]);
    // It keeps the pipe's end, so the pipe ends when both are gone.
    auto child = ChildProcess::start(
        {.words = {"/bin/sh", "-c", "exec sleep 1000"}, .log = directory.file("log")});
    raise(SIGKILL);
  }
  close(ends[1]);
  char nothing = 0;
  EXPECT_EQ(read(ends[0], &nothing, 1), 0);  // at the end of both
  close(ends[0]);
}

TEST(OutputOf, IsWhatACommandPrintsOrWhyItFailed) {
  const auto said = output_of({"/bin/echo", "hello"}, kLong);
  ASSERT_TRUE(said.ok());
  EXPECT_EQ(said.value(), "hello\n");
  const auto failed = output_of({"/bin/sh", "-c", "echo no >&2; exit 1"}, kLong);
  ASSERT_FALSE(failed.ok());
  EXPECT_THAT(failed.problems().front(), HasSubstr("no"));
  const auto late = output_of({"/bin/sleep", "1000"}, 10_ms);
  EXPECT_FALSE(late.ok());
}

}  // namespace
}  // namespace eddy::lab
