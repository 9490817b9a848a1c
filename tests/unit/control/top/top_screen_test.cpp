#include "switch/control/top/top_screen.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace eddy::control {
namespace {

using testing::HasSubstr;
using testing::SizeIs;
using testing::StartsWith;

Json ports(size_t count) {
  Json rows = Json::array();
  for (size_t i = 0; i < count; ++i)
    rows.push_back({{"port", "p" + std::to_string(i)},
                    {"role", i % 2 == 0 ? "host" : "fabric"},
                    {"rx_packets", (i * 7) % count},
                    {"tx_packets", i}});
  return {{"report", "ports"},
          {"switch", "leaf1"},
          {"generation", 2},
          {"rows", rows},
          {"uptime_ns", 81'000'000'000}};
}

std::string row(const Screen& screen, size_t i) {
  return screen.lines[screen.heads + 1 + i];
}

TEST(TopScreen, FillsTheTerminalAndNoMore) {
  for (const ScreenSize size : {ScreenSize{24, 80}, ScreenSize{50, 200}, ScreenSize{6, 20},
                                ScreenSize{2, 3}, ScreenSize{1, 1}})
    for (const bool help : {false, true}) {
      const Screen screen = top_screen({.help = help}, ports(100), "", size);
      EXPECT_THAT(screen.lines, SizeIs(size.rows));
      for (const std::string& line : screen.lines) EXPECT_LE(line.size(), size.columns);
    }
}

TEST(TopScreen, SaysWhoseNumbersTheseAre) {
  const Screen screen = top_screen({}, ports(3), "", {});
  EXPECT_THAT(screen.lines[0], StartsWith("leaf1  up 81.0 s  generation 2  3 rows"));
  EXPECT_THAT(screen.lines[1], HasSubstr("[1 ports]  2 queues"));
  EXPECT_THAT(screen.lines[2], StartsWith("Port  Role"));
  EXPECT_THAT(row(screen, 0), StartsWith("p0    host"));
}

TEST(TopScreen, AProblemIsSaidAndTheNumbersStay) {
  const Screen screen = top_screen({}, ports(3), "leaf1: no answer", {});
  EXPECT_EQ(screen.lines.back(), "leaf1: no answer");
  EXPECT_THAT(row(screen, 2), StartsWith("p2"));
}

TEST(TopScreen, TextsCannotCommandTheTerminal) {
  Json report = ports(1);
  report["rows"][0]["port"] = "\033[2J\x07p\xff";
  const Screen screen = top_screen({}, report, "\033]0;x\x07", {});
  for (const std::string& line : screen.lines)
    for (const char c : line) EXPECT_TRUE(c >= ' ' && c < 0x7f);
  EXPECT_THAT(row(screen, 0), StartsWith("?[2J?p?"));
}

TEST(TopScreen, SortsNumbersFromTheLargestAndTextsFromA) {
  TopState state{.sort_key = "rx_packets"};
  EXPECT_THAT(row(top_screen(state, ports(5), "", {}), 0), StartsWith("p2 "));  // 14 % 5 = 4
  state.reversed = true;
  EXPECT_THAT(row(top_screen(state, ports(5), "", {}), 0), StartsWith("p0 "));
  state = {.sort_key = "role"};
  EXPECT_THAT(row(top_screen(state, ports(5), "", {}), 0), StartsWith("p1    fabric"));
  Json report = ports(3);
  report["rows"][1].erase("tx_packets");
  for (const bool reversed : {false, true})  // what has no value is last
    EXPECT_THAT(
        row(top_screen({.sort_key = "tx_packets", .reversed = reversed}, report, "", {}), 2),
        StartsWith("p1"));
}

TEST(TopKeys, ChooseViewsAndForgetTheSorting) {
  TopState state{.sort_key = "rx_packets", .paused = true, .first_row = 7};
  press(state, "4", ports(9));
  EXPECT_EQ(top_views()[state.view], Report::pfc);
  EXPECT_EQ(state.sort_key, "");
  EXPECT_EQ(state.first_row, 0u);
  EXPECT_TRUE(state.paused);
  press(state, "8", ports(9));
  EXPECT_EQ(top_views()[state.view], Report::workers);
  press(state, "\t", ports(9));
  EXPECT_EQ(state.view, 0u);
  press(state, "9", ports(9));
  EXPECT_EQ(state.view, 0u);
}

TEST(TopKeys, SortByEachColumnInTurn) {
  TopState state;
  press(state, "s", ports(3));
  EXPECT_EQ(state.sort_key, "port");
  press(state, "s", ports(3));
  EXPECT_EQ(state.sort_key, "role");
  press(state, "S", ports(3));
  press(state, "S", ports(3));
  EXPECT_EQ(state.sort_key, "");
  press(state, "S", ports(3));
  EXPECT_EQ(state.sort_key, "pfc_rx_xoff");
  press(state, "o", ports(3));
  EXPECT_EQ(state.sort_key, "");
}

TEST(TopKeys, ScrollWithinTheRows) {
  TopState state;
  const Json report = ports(100);
  for (const char* key : {"\033[A", "\033[5~"}) press(state, key, report);
  EXPECT_EQ(state.first_row, 0u);
  press(state, "\033[B", report);
  press(state, "\033[6~", report);
  EXPECT_EQ(state.first_row, 11u);
  EXPECT_THAT(row(top_screen(state, report, "", {}), 0), StartsWith("p11 "));
  press(state, "\033[F", report);
  EXPECT_EQ(state.first_row, 99u);
  // The rows became fewer meanwhile.
  EXPECT_THAT(row(top_screen(state, ports(3), "", {}), 0), StartsWith("p2 "));
  press(state, "\033[A", ports(3));
  EXPECT_LE(state.first_row, 2u);
}

TEST(TopKeys, ScrollColumnsBesideTheFirst) {
  TopState state;
  press(state, "\033[D", ports(3));
  EXPECT_EQ(state.first_column, 1u);
  for (int i = 0; i < 50; ++i) press(state, "\033[C", ports(3));
  const Screen screen = top_screen(state, ports(3), "", {});
  EXPECT_EQ(screen.lines[2], "Port  PFC rcvd");
}

TEST(TopKeys, AFilterIsTypedAndKept) {
  TopState state{.first_row = 2};
  const Json report = ports(30);
  for (const char* key : {"/", "P", "2", "q"}) press(state, key, report);
  EXPECT_FALSE(state.ended) << "a letter of the filter";
  EXPECT_EQ(top_screen(state, report, "trouble", {}).lines.back(), "/P2q_");
  press(state, "\x7f", report);
  press(state, "\r", report);
  const Screen screen = top_screen(state, report, "", {});
  EXPECT_THAT(screen.lines[0], HasSubstr("11 rows with \"P2\""));  // p2, p20 to p29
  EXPECT_THAT(row(screen, 1), StartsWith("p20"));
  press(state, "\033[F", report);
  EXPECT_EQ(state.first_row, 10u);
  press(state, "2", report);
  EXPECT_EQ(state.view, 1u) << "keys mean views again";
  EXPECT_EQ(state.filter, "P2");
  press(state, "\033", report);
  EXPECT_EQ(state.filter, "");
}

TEST(TopKeys, AFilterThatIsGivenUp) {
  TopState state;
  for (const char* key : {"/", "x", "\033"}) press(state, key, ports(3));
  EXPECT_EQ(state.filter, "");
  EXPECT_FALSE(state.typing);
  for (const char* key : {"/", "\x03"}) press(state, key, ports(3));
  EXPECT_TRUE(state.ended);
}

TEST(TopKeys, ViewsOfAFabric) {
  TopState state{.views = fabric_view_names()};
  press(state, "9", ports(3));
  EXPECT_EQ(fabric_view_names()[state.view], "workers");
  EXPECT_THAT(top_screen(state, ports(3), "", {24, 200}).lines[1], HasSubstr("1 links"));
  press(state, "\t", ports(3));
  EXPECT_EQ(state.view, 0u);
}

TEST(TopScreen, ViewsHaveTheNamesOfTheirReports) {
  for (size_t i = 0; i < top_views().size(); ++i)
    EXPECT_EQ(top_view_names()[i], to_string(top_views()[i]));
  for (const std::string_view name : fabric_view_names().subspan(2))
    EXPECT_TRUE(parse_report(name)) << name;
}

TEST(TopScreen, ATitleAndANoteOfTheReport) {
  Json report = ports(1);
  report["title"] = "lab: 2 switches";
  report["note"] = "leaf2: no answer";
  const Screen screen = top_screen({}, report, "", {});
  EXPECT_THAT(screen.lines[0], StartsWith("lab: 2 switches  1 rows"));
  EXPECT_EQ(screen.lines.back(), "leaf2: no answer");
}

TEST(TopKeys, UnknownOnesDoNothing) {
  TopState state;
  for (const char* key : {"", "x", "\033", "\033[99~", "\xff", "0"}) press(state, key, ports(3));
  EXPECT_EQ(top_screen(state, ports(3), "", {}).lines, top_screen({}, ports(3), "", {}).lines);
  EXPECT_FALSE(state.ended);
  press(state, "q", ports(3));
  EXPECT_TRUE(state.ended);
}

TEST(TopScreen, ReportsWithoutRowsSaySo) {
  const Json report = {{"report", "drops"}, {"switch", "s"}, {"rows", Json::array()}};
  const Screen screen = top_screen({.view = 4}, report, "", {});
  EXPECT_THAT(row(screen, 0), HasSubstr("nothing to show"));
  EXPECT_THAT(top_screen({}, Json::object(), "", {}).lines, SizeIs(24));
}

}  // namespace
}  // namespace eddy::control
