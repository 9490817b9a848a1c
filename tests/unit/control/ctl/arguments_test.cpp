#include "switch/control/ctl/arguments.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <string>
#include <vector>

#include "switch/control/ctl/action.h"

namespace eddy::control {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// What is wrong with the options of a line; its first word that is no option is the command.
Problems problems_of(std::vector<std::string> line) {
  CLI::App app;
  Arguments arguments;
  declare(app, arguments);
  std::ranges::reverse(line);
  app.parse(line);
  const Result<Action> action = parse_words(arguments.words);
  const bool of_pfcwd = action.ok() && action.value().request.contains("pfcwd");
  return check_options(arguments, of_pfcwd      ? "set pfcwd"
                                  : action.ok() ? action.value().command()
                                                : arguments.words.front());
}

TEST(Options, ThatDoNotConcernTheCommandAreRefused) {
  EXPECT_THAT(
      problems_of({"reload", "--port", "h1"}),
      ElementsAre("--port does not concern reload; it is for show, watch, clear, set pfcwd"));
  EXPECT_THAT(problems_of({"--watch", "2", "reload"}),
              ElementsAre("--watch does not concern reload; it is for show, watch, top, web"));
  EXPECT_THAT(problems_of({"show", "ports", "--check"}),
              ElementsAre("--check does not concern show; it is for reload"));
  EXPECT_THAT(problems_of({"top", "--listen", "127.0.0.1:80"}),
              ElementsAre("--listen does not concern top; it is for web"));
  EXPECT_THAT(problems_of({"show", "ports", "--ports", "all"}),
              ElementsAre("--ports does not concern show; it is for healthy"));
  EXPECT_THAT(problems_of({"show", "ports", "--out", "x", "--markdown"}),
              ElementsAre("--out does not concern show; it is for techsupport",
                          "--markdown does not concern show; it is for counters"));
  EXPECT_THAT(problems_of({"set", "port", "h1", "tx", "on", "--all"}),
              ElementsAre("--all does not concern set; it is for show, show config, watch, top, "
                          "healthy, techsupport, web"));
  EXPECT_THAT(problems_of({"set", "port", "h1", "tx", "on", "--port", "h1"}),
              ElementsAre("--port does not concern set; it is for show, watch, clear, set pfcwd"));
  EXPECT_THAT(problems_of({"clear", "counters", "--leaf", "2"}),
              ElementsAre("--leaf does not concern clear; it is for show, watch"));
  EXPECT_THAT(problems_of({"top", "--top", "3"}),
              ElementsAre("--top does not concern top; it is for show, watch"));
  EXPECT_THAT(problems_of({"techsupport", "--json"}),
              ElementsAre(HasSubstr("--json does not concern techsupport; it is for show")));
  EXPECT_THAT(problems_of({"list", "--name", "leaf1"}),
              ElementsAre(HasSubstr("--name does not concern list; it is for show")));
  EXPECT_EQ(problems_of({"show", "config", "--watch", "1", "--leaf", "1", "--style", "sonic",
                         "--top", "3", "--port", "h1"})
                .size(),
            5u);
  EXPECT_EQ(problems_of({"counters", "--socket", "s"}).size(), 1u);
  EXPECT_EQ(problems_of({"counters", "--dir", "d"}).size(), 1u);
}

Problems settle(std::vector<std::string> line, Arguments& arguments) {
  CLI::App app;
  declare(app, arguments);
  std::ranges::reverse(line);
  app.parse(line);
  return settle_dirs(arguments);
}

Arguments arguments_of(const std::vector<std::string>& line) {
  Arguments arguments;
  EXPECT_THAT(settle(line, arguments), IsEmpty());
  return arguments;
}

TEST(Options, DirIsADirectionOfCaptureAloneAndElseTheFolderOfSockets) {
  EXPECT_EQ(arguments_of({"capture", "all", "--dir", "drop"}).direction, "drop");
  EXPECT_EQ(arguments_of({"capture", "all", "--dir", "drop"}).folder, "");
  EXPECT_EQ(arguments_of({"--dir", "/x", "capture", "all", "--dir", "in"}).folder, "/x");
  EXPECT_EQ(arguments_of({"--dir", "/x", "capture", "all", "--dir", "in"}).direction, "in");
  EXPECT_EQ(arguments_of({"--socket", "s", "capture", "all", "--dir", "out"}).direction, "out");
  EXPECT_EQ(arguments_of({"capture", "all", "--dir", "./in"}).folder, "./in");
  EXPECT_EQ(arguments_of({"capture", "in", "--dir", "inside"}).folder, "inside");
  EXPECT_EQ(arguments_of({"show", "ports", "--dir", "in"}).folder, "in");
  for (const std::vector<std::string>& line : std::vector<std::vector<std::string>>{
           {"capture", "all", "--dir", "in", "--dir", "out"},
           {"capture", "all", "--dir", "in", "--direction", "drop"},
           {"capture", "all", "--dir", "/x", "--dir", "/y"},
           {"show", "ports", "--dir", "in", "--dir", "out"},
           {"show", "ports", "--dir", "/x", "--socket", "s"},
           {"top", "--dir", "/x", "--fabric", "f"}}) {
    Arguments arguments;
    EXPECT_THAT(settle(line, arguments), ElementsAre(HasSubstr(": one of them")));
  }
}

TEST(Options, CountIsAWholeNumberInTheCommandsRange) {
  const auto count = [](const std::string& said) {
    return count_of(arguments_of({"trace", "--count", said}), 10, 4'000);
  };
  EXPECT_EQ(count_of(arguments_of({"trace"}), 10, 4'000).value(), 10u);
  EXPECT_EQ(count("1").value(), 1u);
  EXPECT_EQ(count("4000").value(), 4'000u);
  for (const char* said : {"0", "4001", "-1", "1.5", "x", "", "18446744073709551616"})
    EXPECT_THAT(count(said).problems(), ElementsAre(HasSubstr("no whole number from 1 to 4000")))
        << said;
  EXPECT_THAT(
      count_of(arguments_of({"capture", "--count", "0"}), UINT64_MAX, UINT64_MAX).problems(),
      ElementsAre("--count 0: no whole number from 1 on"));
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
  EXPECT_THAT(problems_of({"watch", "pfc", "--port", "h1", "--watch", "2", "--json"}), IsEmpty());
  EXPECT_THAT(problems_of({"show", "config", "--all", "--json"}), IsEmpty());
  EXPECT_THAT(problems_of({"set", "pfcwd", "action", "alert", "--port", "h1"}), IsEmpty());
  EXPECT_THAT(problems_of({"reload", "--check", "--json"}), IsEmpty());
  EXPECT_THAT(problems_of({"list", "--dir", "d"}), IsEmpty());
  EXPECT_THAT(problems_of({"counters", "--markdown"}), IsEmpty());
}

// What the words ask for, or what is wrong with them.
std::string asked(const std::vector<std::string>& words) {
  const Result<Action> action = parse_words(words);
  return action.ok() ? action.value().request.dump() : action.problems().front();
}

TEST(Words, ThatSetSomething) {
  EXPECT_EQ(asked({"set", "port", "h1", "admin", "down"}),
            R"({"command":"set","port":"h1","admin":"down"})");
  EXPECT_EQ(asked({"set", "port", "h1", "tx", "off"}),
            R"({"command":"set","port":"h1","tx":"off"})");
  EXPECT_EQ(asked({"set", "pfcwd", "detection_time", "300ms"}),
            R"({"command":"set","pfcwd":{"detection_time":"300ms"}})");
}

TEST(Words, ThatAreWrongSayWhatWouldBeValid) {
  EXPECT_EQ(asked({"set", "port", "h1", "admin", "off"}),
            "\"off\" is not valid after \"admin\"; valid are: up, down");
  EXPECT_EQ(asked({"set", "port", "h1", "speed", "1"}),
            "\"speed\" is not valid after \"h1\"; valid are: tx, admin");
  EXPECT_EQ(asked({"set", "pfcwd", "detection"}),
            "\"detection\" is not valid after \"pfcwd\"; valid are: enabled, action, "
            "detection_time, restoration_time, poll_interval, detect");
  EXPECT_EQ(asked({"set", "pfcwd", "action"}), "a value is missing after \"action\"");
  EXPECT_EQ(asked({"set", "pfcwd", "action", "drop", "now"}), "\"now\" is too much");
  EXPECT_EQ(asked({"watch", "ports", "1"}), "\"1\" is too much");
  EXPECT_THAT(asked({"watch", "config"}), HasSubstr("\"config\" is not valid after \"watch\""));
  EXPECT_THAT(asked({"show", "confg"}), HasSubstr("events, config"));
}

TEST(CtlArguments, WordsOfSonicGoWithTheirStyle) {
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"show", "pfc", "counters"}, {"pfcwd", "show", "stats"}}) {
    const Result<Action> action = parse_words(words);
    ASSERT_FALSE(action.ok());
    EXPECT_THAT(action.problems(),
                testing::ElementsAre("these are words of SONiC: they go with --style sonic"));
  }
}

}  // namespace
}  // namespace eddy::control
