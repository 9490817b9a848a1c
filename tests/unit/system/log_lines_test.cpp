#include "system/log_lines.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <functional>
#include <iostream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

namespace eddy {
namespace {

using testing::ElementsAre;

// What a process writes to stderr that does this.
std::vector<std::string> lines_of(const std::function<void()>& act) {
  std::array<int, 2> ends{};
  EXPECT_EQ(pipe(ends.data()), 0);
  const pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], STDERR_FILENO);
    act();
    _exit(0);
  }
  close(ends[1]);
  std::string text;
  std::array<char, 512> part{};
  for (ssize_t length; (length = read(ends[0], part.data(), part.size())) > 0;)
    text.append(part.data(), static_cast<size_t>(length));
  close(ends[0]);
  waitpid(child, nullptr, 0);
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

// "level: message" of lines that are objects.
std::vector<std::string> objects_of(const std::function<void()>& act) {
  std::vector<std::string> out;
  for (const std::string& line : lines_of(act)) {
    const auto object = nlohmann::json::parse(line, nullptr, false);
    out.push_back(object.is_object() && object.contains("time")
                      ? object.value("level", "") + ": " + object.value("message", "")
                      : "no object: " + line);
  }
  return out;
}

TEST(LogLines, AreForPeopleUnlessObjectsAreAskedFor) {
  EXPECT_THAT(lines_of([] {
                log_line(LogLevel::error, "eddyd: no port");
                log_line(LogLevel::warning, "file.yaml:1:1: warning: few");
              }),
              ElementsAre("eddyd: no port", "file.yaml:1:1: warning: few"));
}

TEST(LogLines, AreObjectsOfTheirText) {
  EXPECT_THAT(objects_of([] {
                log_as_json();
                log_line(LogLevel::info, "a \"quoted\" \\ text");
                log_line(LogLevel::error, "two\nlines \x1b[31m");
              }),
              ElementsAre("info: a \"quoted\" \\ text", "error: two\\nlines \\x1b[31m"));
}

TEST(LogLines, OfOthersAreObjectsToo) {
  EXPECT_THAT(objects_of([] {
                log_as_json();
                std::fprintf(stderr, "from a ");
                std::fprintf(stderr, "library\n\nand \"more\"\n");
                std::fprintf(stderr, R"({"time":"now","level":"info","message":"as it is"})"
                                     "\n");
              }),
              ElementsAre("warning: from a library", "warning: and \"more\"", "info: as it is"));
}

TEST(LogLines, OfStreamsOfCxxAreObjectsToo) {
  EXPECT_THAT(objects_of([] {
                log_as_json();
                std::cerr << "from " << 1 << " stream\n";
              }),
              ElementsAre("warning: from 1 stream"));
}

TEST(LogLines, OfStdoutAreObjectsOnStderrWhereAskedFor) {
  EXPECT_THAT(objects_of([] {
                log_as_json();
                log_stdout_as_json();
                std::printf("usage: %d\n", 1);
                std::cout << "and more\n" << std::flush;
              }),
              ElementsAre("info: usage: 1", "info: and more"));
}

TEST(LogLines, OfATextKeepItsEmptyLinesForPeopleOnly) {
  const auto say = [] { say_lines(LogLevel::error, "one\n\ntwo \x1b[31m\nthree"); };
  EXPECT_THAT(lines_of(say), ElementsAre("one", "", "two \\x1b[31m", "three"));
  EXPECT_THAT(objects_of([&] {
                log_as_json();
                say();
              }),
              ElementsAre("error: one", "error: two \\x1b[31m", "error: three"));
}

TEST(LogLines, TheLastWordsOfAnAbortAreNotLost) {
  EXPECT_THAT(objects_of([] {
                log_as_json();
                std::fprintf(stderr, "broken invariant\n");
                abort();
              }),
              ElementsAre("warning: broken invariant"));
}

TEST(LogLines, AStreamHasALevelOfItsOwn) {
  EXPECT_THAT(objects_of([] {
                std::FILE* stream = json_stream([] { return LogLevel::debug; });
                std::fputs("one\n", stream);
              }),
              ElementsAre("debug: one"));
}

}  // namespace
}  // namespace eddy
