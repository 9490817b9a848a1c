#include "switch/control/serve/log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/spdlog.h>

#include <nlohmann/json.hpp>
#include <sstream>

namespace eddy::control {
namespace {

using testing::EndsWith;
using testing::HasSubstr;

constexpr const char* kEvil = "\x1b[2J\r\n2026-01-01 00:00:00.000 info all is well\x9b\xff";

std::string said_by(const std::function<void()>& speak) {
  testing::internal::CaptureStderr();
  speak();
  return testing::internal::GetCapturedStderr();
}

TEST(Log, ALineOfTheConsoleIsOneLineAndNoCommand) {
  const Log log(LogFormat::console, [](PortId) { return std::string(kEvil); });
  for (const auto& speak :
       {std::function<void()>([&] { log.info(kEvil); }),
        std::function<void()>([&] { log.error(kEvil); }), std::function<void()>([&] {
          log.event({.event = {Instant{}, 0, PortId(0), Priority(3), EventKind::link_down},
                     .suppressed = 0});
        })}) {
    const std::string line = said_by(speak);
    EXPECT_THAT(line,
                HasSubstr("\\x1b[2J\\x0d\\n2026-01-01 00:00:00.000 info all is well\\x9b\\xff"));
    EXPECT_EQ(std::count(line.begin(), line.end(), '\n'), 1) << line;
    EXPECT_EQ(std::count(line.begin(), line.end(), '\x1b'), 0) << line;
  }
}

TEST(Log, ALineOfJsonIsOneOfJson) {
  const Log log(LogFormat::json, [](PortId) { return std::string(kEvil); });
  const std::string line = said_by([&] { log.error(kEvil); });
  EXPECT_EQ(std::count(line.begin(), line.end(), '\n'), 1) << line;
  for (const char c : line) EXPECT_TRUE(c == '\n' || (c >= ' ' && c < '\x7f')) << line;
  const Json read = Json::parse(line, nullptr, false);
  ASSERT_TRUE(read.is_object()) << line;
  EXPECT_THAT(read.value("message", ""), HasSubstr("all is well"));
}

// The formatter belongs to the logger, and goes on to its sinks.
TEST(Log, TheDefaultOneIsNoCommandEither) {
  std::ostringstream out;
  const auto before = spdlog::default_logger();
  spdlog::set_default_logger(std::make_shared<spdlog::logger>(
      "test", std::make_shared<spdlog::sinks::ostream_sink_mt>(out)));
  make_default_log_printable();
  spdlog::warn("{}", kEvil);
  spdlog::set_default_logger(before);
  EXPECT_THAT(out.str(), HasSubstr("[warning] \\x1b[2J\\x0d\\n2026"));
  EXPECT_THAT(out.str(), EndsWith("\\xff\n"));
}

}  // namespace
}  // namespace eddy::control
