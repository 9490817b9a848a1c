#include "net/quantity.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace eddy {
namespace {

using namespace literals;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(Quantity, DurationsAreExactPicoseconds) {
  EXPECT_EQ(parse_duration("50us").value(), 50_us);
  EXPECT_EQ(parse_duration("50 us").value(), 50_us);
  EXPECT_EQ(parse_duration("1.5us").value(), 1'500_ns);
  EXPECT_EQ(parse_duration("0.001ns").value(), 1_ps);
  EXPECT_EQ(parse_duration("2min").value(), 120_s);
  EXPECT_EQ(parse_duration("0ps").value(), 0_ps);
  EXPECT_EQ(parse_duration("1.5000000000000000000000ns").value(), 1'500_ps);
}

TEST(Quantity, SizesKnowBothThousands) {
  EXPECT_EQ(parse_bytes("9MiB").value(), 9_MiB);
  EXPECT_EQ(parse_bytes("256kB").value(), Bytes(256'000));
  EXPECT_EQ(parse_bytes("0.5KiB").value(), Bytes(512));
}

TEST(Quantity, RatesAreBitsPerSecond) {
  EXPECT_EQ(parse_bit_rate("100Gbps").value(), 100_Gbps);
  EXPECT_EQ(parse_bit_rate("2.5Gbps").value(), 2'500_Mbps);
  EXPECT_EQ(parse_bit_rate("1.6Tbps").value(), 1'600_Gbps);
}

TEST(Quantity, EachUnitHasItsScale) {
  const std::pair<const char*, int64_t> times[] = {
      {"7ps", 7},
      {"7ns", 7'000},
      {"7us", 7'000'000},
      {"7ms", 7'000'000'000},
      {"7s", 7'000'000'000'000},
      {"7min", 420'000'000'000'000},
      {"7h", 25'200'000'000'000'000},
  };
  for (const auto& [text, ps] : times) EXPECT_EQ(parse_duration(text).value().ps(), ps) << text;
  const std::pair<const char*, int64_t> sizes[] = {
      {"7B", 7},           {"7kB", 7'000},         {"7KiB", 7'168},         {"7MB", 7'000'000},
      {"7MiB", 7'340'032}, {"7GB", 7'000'000'000}, {"7GiB", 7'516'192'768},
  };
  for (const auto& [text, octets] : sizes)
    EXPECT_EQ(parse_bytes(text).value().count(), octets) << text;
  const std::pair<const char*, int64_t> rates[] = {
      {"7bps", 7},
      {"7kbps", 7'000},
      {"7Mbps", 7'000'000},
      {"7Gbps", 7'000'000'000},
      {"7Tbps", 7'000'000'000'000},
  };
  for (const auto& [text, bps] : rates) EXPECT_EQ(parse_bit_rate(text).value().bps(), bps) << text;
}

// The largest value there is, and the next.
TEST(Quantity, ReachesItsLimitAndNotBeyond) {
  EXPECT_EQ(parse_duration("9223372036854775807ps").value(), Duration::max());
  EXPECT_FALSE(parse_duration("9223372036854775808ps"));
  EXPECT_EQ(parse_duration("9223372036854775.807ns").value(), Duration::max());
  EXPECT_FALSE(parse_duration("9223372036854775.808ns"));
  EXPECT_FALSE(parse_bytes("0.000000000931322574615478515625GiB"))
      << "an octet, but by more digits than are read";
}

TEST(Quantity, NumbersWithoutUnit) {
  EXPECT_EQ(parse_integer("-3").value(), -3);
  EXPECT_DOUBLE_EQ(parse_decimal("0.2").value(), 0.2);
  EXPECT_DOUBLE_EQ(parse_decimal("-1").value(), -1.0);
  EXPECT_TRUE(parse_flag("true").value());
  EXPECT_FALSE(parse_flag("false").value());
}

TEST(Quantity, RefusesWhatIsNotExactlyThat) {
  for (const char* text : {"", "us", "50", "50 ", "50  us", "-1us", "1.us", ".5us", "50US", "1e3us",
                           "0.5ps", "9223373s", "99999999999999999999999999us", "1us "})
    EXPECT_FALSE(parse_duration(text)) << text;
  for (const char* text : {"64K", "64kb", "1.5B", "64KiBx", "9999999999GiB"})
    EXPECT_FALSE(parse_bytes(text)) << text;
  for (const char* text : {"1G", "100gbps", "0x10bps"}) EXPECT_FALSE(parse_bit_rate(text)) << text;
  for (const char* text : {"", "+1", "1.0", "1 ", "9223372036854775808", "0x1"})
    EXPECT_FALSE(parse_integer(text)) << text;
  for (const char* text : {"", "-", "nan", "inf", "1e5", "0x1p3", "1.", "--1"})
    EXPECT_FALSE(parse_decimal(text)) << text;
  for (const char* text : {"", "yes", "True", "1"}) EXPECT_FALSE(parse_flag(text)) << text;
}

TEST(Quantity, SaysWhatWouldBeValid) {
  EXPECT_THAT(
      parse_duration("50").problems(),
      ElementsAre("'50' has no unit: a duration is a number with one of ps ns us ms s min h, such "
                  "as 50us"));
  EXPECT_THAT(parse_bytes("64KB").problems(), ElementsAre(HasSubstr("unknown unit")));
  EXPECT_THAT(parse_bytes("fast").problems(), ElementsAre(HasSubstr("is not a size")));
}

TEST(Quantity, PrintsTheLargestUnitThatLeavesAWholeNumber) {
  EXPECT_EQ(to_string(50_us), "50us");
  EXPECT_EQ(to_string(1'500_ns), "1500ns");
  EXPECT_EQ(to_string(Duration{}), "0ps");
  EXPECT_EQ(to_string(65'536_B), "64KiB");
  EXPECT_EQ(to_string(65'537_B), "65537B");
  EXPECT_EQ(to_string(160'000_B), "160000B");
  EXPECT_EQ(to_string(100_Gbps), "100Gbps");
  EXPECT_EQ(to_string(2'500_Mbps), "2500Mbps");
}

TEST(Quantity, PrintingAndParsingAreInverse) {
  for (int64_t n :
       {int64_t{0}, int64_t{1}, int64_t{999}, int64_t{1'000}, int64_t{1'024}, int64_t{123'456'789},
        int64_t{3'600'000'000'000'000}, std::numeric_limits<int64_t>::max()}) {
    EXPECT_EQ(parse_duration(to_string(Duration::picoseconds(n))).value().ps(), n);
    EXPECT_EQ(parse_bytes(to_string(Bytes(n))).value().count(), n);
    EXPECT_EQ(parse_bit_rate(to_string(BitRate::bits_per_second(n))).value().bps(), n);
  }
}

}  // namespace
}  // namespace eddy
