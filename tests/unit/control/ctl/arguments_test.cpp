#include "switch/control/ctl/arguments.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <string>
#include <vector>

namespace eddy::control {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// What is wrong with the options of a line; its first word that is no option is the command.
Problems problems_of(std::vector<std::string> line) {
  CLI::App app;
  Arguments arguments;
  declare(app, arguments);
  std::ranges::reverse(line);
  app.parse(line);
  return check_options(arguments, arguments.words.front());
}

TEST(Options, ThatDoNotConcernTheCommandAreRefused) {
  EXPECT_THAT(problems_of({"reload", "--port", "h1"}),
              ElementsAre("--port does not concern reload; it is for show, clear"));
  EXPECT_THAT(problems_of({"--watch", "2", "reload"}),
              ElementsAre("--watch does not concern reload; it is for show, top"));
  EXPECT_THAT(problems_of({"show", "ports", "--ports", "all"}),
              ElementsAre("--ports does not concern show; it is for healthy"));
  EXPECT_THAT(problems_of({"show", "ports", "--out", "x", "--markdown"}),
              ElementsAre("--out does not concern show; it is for techsupport",
                          "--markdown does not concern show; it is for counters"));
  EXPECT_THAT(problems_of({"set", "port", "h1", "tx", "on", "--all"}),
              ElementsAre("--all does not concern set; it is for show, top, healthy, techsupport"));
  EXPECT_THAT(problems_of({"clear", "counters", "--leaf", "2"}),
              ElementsAre("--leaf does not concern clear; it is for show"));
  EXPECT_THAT(problems_of({"top", "--top", "3"}),
              ElementsAre("--top does not concern top; it is for show"));
  EXPECT_THAT(problems_of({"techsupport", "--json"}),
              ElementsAre("--json does not concern techsupport; it is for show, clear, set, "
                          "reload, top, healthy, explain, trace"));
  EXPECT_THAT(problems_of({"list", "--name", "leaf1"}),
              ElementsAre("--name does not concern list; it is for show, clear, set, reload, top, "
                          "healthy, capture, explain, trace, techsupport"));
  EXPECT_EQ(problems_of({"counters", "--socket", "s"}).size(), 1u);
  EXPECT_EQ(problems_of({"counters", "--dir", "d"}).size(), 1u);
}

TEST(Options, ThatConcernTheCommandAreTaken) {
  EXPECT_THAT(problems_of({"show", "flows", "--json", "--all", "--port", "h1", "--leaf", "1",
                           "--top", "5", "--watch", "1", "--name", "leaf1"}),
              IsEmpty());
  EXPECT_THAT(problems_of({"clear", "counters", "--port", "h1", "--json"}), IsEmpty());
  EXPECT_THAT(problems_of({"healthy", "--all", "--ports", "all", "--json"}), IsEmpty());
  EXPECT_THAT(problems_of({"techsupport", "--out", "-", "--fabric", "lab"}), IsEmpty());
  EXPECT_THAT(problems_of({"trace", "--filter", "udp", "--count", "3", "--json"}), IsEmpty());
  EXPECT_THAT(problems_of({"explain", "src=10.0.0.1", "dst=10.0.0.2", "--json"}), IsEmpty());
  EXPECT_THAT(problems_of({"top", "--all", "--json", "--watch", "1"}), IsEmpty());
  EXPECT_THAT(problems_of({"list", "--dir", "d"}), IsEmpty());
  EXPECT_THAT(problems_of({"counters", "--markdown"}), IsEmpty());
}

}  // namespace
}  // namespace eddy::control
