#include "lab/import/ns3_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace eddy::lab {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

struct Read {
  explicit Read(const std::string& text, Ns3Dialect dialect = Ns3Dialect::hpcc)
      : file("c", text), config(file, "c", dialect, report) {}
  std::vector<std::string> ignored() const {
    std::vector<std::string> out;
    for (const ImportFinding& finding : report.findings())
      out.push_back(std::to_string(finding.line) + " " + finding.what + ": " + finding.text);
    return out;
  }
  ImportReport report;
  WordLines file;
  Ns3Config config;
};

TEST(Ns3Config, KeysMapsAndComments) {
  Read read(
      "CC_MODE 3 {1: DCQCN, 3: HPCC}\n\n BUFFER_SIZE 32 # MB\nKMAX_MAP 2 25000000000 400 100Gbps "
      "1600 {x}\n"
      "LINK_DOWN 0 1 2\nRP_TIMER 900 \n");
  EXPECT_EQ(read.config.integer("CC_MODE", 0, 10), 3);
  EXPECT_EQ(read.config.integer("BUFFER_SIZE", 0, 100), 32);
  EXPECT_EQ(read.config.real("RP_TIMER", 0, 1e9), 900);
  const auto map = read.config.by_rate("KMAX_MAP");
  ASSERT_TRUE(map);
  EXPECT_EQ(map->size(), 2u);
  EXPECT_EQ(map->at(100'000'000'000).text, "1600");
  EXPECT_EQ(read.config.find("LINK_DOWN")->values.size(), 3u);
  EXPECT_EQ(read.config.find("RATE_AI"), nullptr);
  EXPECT_THAT(read.ignored(), IsEmpty());
  EXPECT_THAT(read.file.problems(), IsEmpty());
}

TEST(Ns3Config, WhatThoseProgramsSkipIsSaid) {
  Read read("CC_MODE 1\nLB_MODE 9\nMAX_RATE 10 x\nCC_MODE 7 behind\n");
  EXPECT_EQ(read.config.integer("CC_MODE", 0, 10), 7);
  EXPECT_THAT(read.ignored(), ElementsAre("2 LB_MODE 9: a key of ConWeave's simulator alone",
                                          "3 MAX_RATE 10 x: no key of HPCC's simulator",
                                          "1 CC_MODE 1: line 4 has this key again, which counts",
                                          "4 behind: no key of HPCC's simulator"));
}

TEST(Ns3Config, TwoKeysOnALine) {
  Read read("ENABLE_QCN 1 CC_MODE 8\n");
  EXPECT_EQ(read.config.integer("CC_MODE", 0, 10), 8);
  EXPECT_EQ(read.config.find("CC_MODE")->key.column, 14);
}

TEST(Ns3Config, WrongValuesHaveTheirPlaces) {
  Read read(
      "BUFFER_SIZE 1e9\nCC_MODE\nKMIN_MAP 2 100Gbps 4\nKMAX_MAP x 1 2\nPMAX_MAP 1 fast 1\nU_TARGET "
      "7\nRATE_AI 4Mx\n"
      "HAS_WIN 1.0\n");
  EXPECT_FALSE(read.config.integer("BUFFER_SIZE", 0, 100));
  EXPECT_FALSE(read.config.by_rate("KMIN_MAP"));
  EXPECT_FALSE(read.config.by_rate("KMAX_MAP"));
  EXPECT_FALSE(read.config.by_rate("PMAX_MAP"));
  EXPECT_FALSE(read.config.real("U_TARGET", 0, 1.5));
  EXPECT_FALSE(read.config.rate("RATE_AI"));
  EXPECT_EQ(read.config.integer("HAS_WIN", 0, 1), 1);  // as those programs read it
  EXPECT_THAT(read.file.problems(),
              ElementsAre("c:2:1: CC_MODE has too few values", "c:3:1: KMIN_MAP has too few values",
                          "c:4:1: KMAX_MAP has too few values",
                          "c:1:13: BUFFER_SIZE '1e9' is no whole number from 0 to 100",
                          HasSubstr("c:5:12: 'fast' is no rate"),
                          "c:6:10: U_TARGET '7' is no number from 0 to 1.5",
                          HasSubstr("c:7:9: '4Mx' is no rate")));
}

TEST(Ns3Config, AForeignFileHasOneProblem) {
  Read read("kind: leaf_spine\n");
  EXPECT_THAT(
      read.file.problems(),
      ElementsAre("c:1:1: there is no key of HPCC's simulator in this file, such as CC_MODE "
                  "or BUFFER_SIZE"));
}

TEST(Ns3Config, ManyUnknownLinesAreCounted) {
  std::string text = "CC_MODE 1\n";
  for (int i = 0; i < 50; ++i) text += "X 1\n";
  EXPECT_EQ(Read(text).ignored().size(), 21u);
  EXPECT_EQ(Read(text).ignored().back(), "0 30 more lines: no keys of HPCC's simulator");
}

}  // namespace
}  // namespace eddy::lab
