#include "switch/control/top/marked_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace eddy::control {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr size_t kWide = 300;

Json drops(std::initializer_list<std::pair<const char*, uint64_t>> rows) {
  Json report{{"report", "drops"}, {"rows", Json::array()}};
  for (const auto& [reason, packets] : rows)
    report["rows"].push_back({{"port", "h1"}, {"reason", reason}, {"dropped_packets", packets}});
  return report;
}

bool is_marked(const std::string& line, const std::string& cell) {
  return line.find("\033[7m" + cell + "\033[0m") != std::string::npos;
}

TEST(MarkedTable, TheFirstReadingHasNoMarks) {
  MarkedTable table;
  for (const std::string& line : table.lines(drops({{"no_route", 5}}), kWide))
    EXPECT_THAT(line, Not(HasSubstr("\033")));
}

TEST(MarkedTable, WhatHasChangedStandsOutAloneAndOnce) {
  MarkedTable table;
  (void)table.lines(drops({{"no_route", 5}, {"bad_mac", 7}}), kWide);
  const auto lines = table.lines(drops({{"no_route", 6}, {"bad_mac", 7}}), kWide);
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_TRUE(is_marked(lines[1], "6")) << lines[1];
  EXPECT_FALSE(is_marked(lines[1], "no_route"));
  EXPECT_THAT(lines[2], Not(HasSubstr("\033")));
  for (const std::string& line : table.lines(drops({{"no_route", 6}, {"bad_mac", 7}}), kWide))
    EXPECT_THAT(line, Not(HasSubstr("\033")));
}

TEST(MarkedTable, ARowIsItsLabelsWhereverItStands) {
  MarkedTable table;
  (void)table.lines(drops({{"no_route", 5}}), kWide);
  const auto lines = table.lines(drops({{"bad_mac", 7}, {"no_route", 5}}), kWide);
  EXPECT_TRUE(is_marked(lines[1], "7")) << "a row that has come: " << lines[1];
  EXPECT_THAT(lines[2], Not(HasSubstr("\033")));
}

TEST(MarkedTable, LinesAreCutByWhatIsSeenOfThem) {
  MarkedTable table;
  (void)table.lines(drops({{"no_route", 5}}), kWide);
  const auto lines = table.lines(drops({{"no_route", 123'456}}), 6);
  EXPECT_EQ(lines[0].size(), 6u);
  EXPECT_THAT(table.lines(Json{{"report", "drops"}, {"rows", Json::array()}}, kWide),
              ElementsAre(HasSubstr("nothing to show")));
}

}  // namespace
}  // namespace eddy::control
