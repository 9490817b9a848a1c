#include "lab/import/ns3_units.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace eddy::lab {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

int64_t bps(std::string_view text) {
  const auto rate = parse_ns3_rate(text);
  return rate ? rate.value().bps() : -1;
}

int64_t ps(std::string_view text) {
  const auto time = parse_ns3_time(text);
  return time ? time.value().ps() : -1;
}

TEST(Ns3Units, RatesInBitsAndOctets) {
  EXPECT_EQ(bps("100Gbps"), 100'000'000'000);
  EXPECT_EQ(bps("40.0Mb/s"), 40'000'000);
  EXPECT_EQ(bps("5MBps"), 40'000'000);
  EXPECT_EQ(bps("1Kib/s"), 1'024);
  EXPECT_EQ(bps("3kbps"), 3'000);
  EXPECT_EQ(bps("3Kbps"), 3'000);
  EXPECT_EQ(bps("1.6Tbps"), 1'600'000'000'000);
  EXPECT_EQ(bps("8bps"), 8);
  EXPECT_EQ(bps("25000000000"), 25'000'000'000);
}

TEST(Ns3Units, WhatIsNoRate) {
  for (const char* text : {"", "fast", "-1Gbps", "1Gb", "1Xbps", "1Gibibps", "1e400bps", "nan",
                           "inf", "99999999999Gbps", "1 Gbps", "1/s", "ps"})
    EXPECT_EQ(bps(text), -1) << text;
  EXPECT_THAT(parse_ns3_rate("fast").problems(),
              ElementsAre("'fast' is no rate, such as 100Gbps or 40Mb/s would be valid"));
}

TEST(Ns3Units, TimesAndBareSeconds) {
  EXPECT_EQ(ps("1000ns"), 1'000'000);
  EXPECT_EQ(ps("0.001ms"), 1'000'000);
  EXPECT_EQ(ps("2.000000001"), 2'000'000'001'000);
  EXPECT_EQ(ps("2.5e-6s"), 2'500'000);
  EXPECT_EQ(ps("1.5us"), 1'500'000);
  for (const char* text : {"", "soon", "-1ns", "1 s", "1d", "1e300s"})
    EXPECT_EQ(ps(text), -1) << text;
}

TEST(Ns3Units, NumbersWithAnExponent) {
  EXPECT_EQ(parse_real("1e-05").value(), 1e-5);
  EXPECT_EQ(parse_real("0.00390625").value(), 1.0 / 256);
  EXPECT_THAT(parse_real("0.2x").problems(), ElementsAre(HasSubstr("'0.2x' is no number")));
}

TEST(Ns3Units, NumbersAreWrittenWithoutAnExponent) {
  EXPECT_EQ(in_decimals(1e-6), "0.000001");
  EXPECT_EQ(in_decimals(2.5e-9), "0.0000000025");
  EXPECT_EQ(in_decimals(0.25), "0.25");
  EXPECT_EQ(in_decimals(1), "1");
  EXPECT_EQ(parse_real(in_decimals(5e-324)).value(), 5e-324);
  EXPECT_EQ(parse_real(in_decimals(1.7e308)).value(), 1.7e308);
}

}  // namespace
}  // namespace eddy::lab
