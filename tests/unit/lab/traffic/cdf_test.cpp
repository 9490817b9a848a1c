#include "lab/traffic/cdf.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "lab/traffic/exponential.h"
#include "lab/traffic/traffic_files.h"
#include "net/fnv.h"

namespace eddy::lab {
namespace {

using testing::ElementsAre;

const std::string kHeader = "size_bytes,cumulative_probability\n";

SizeCdf cdf_of(const std::string& rows) {
  auto cdf = SizeCdf::parse({"w.csv", kHeader + rows});
  EXPECT_TRUE(cdf.ok()) << cdf.problems().front();
  return cdf.value();
}

Problems problems_of(const std::string& text) {
  const auto cdf = SizeCdf::parse({"w.csv", text});
  return cdf.ok() ? Problems{} : cdf.problems();
}

SizeCdf workload(const std::string& name) {
  return SizeCdf::parse(TrafficFiles("config/workloads")(name).value()).value();
}

double mean_of(const SizeCdf& cdf) {
  return static_cast<double>(cdf.mean_q16()) / 65'536;
}

// The mean and the share of draws of at most `size` octets.
struct Drawn {
  double mean = 0;
  double at_most = 0;
};
Drawn drawn(const SizeCdf& cdf, int64_t size, int draws = 20'000) {
  RandomStream stream(7, 1, 2);
  Drawn sum;
  for (int i = 0; i < draws; ++i) {
    const int64_t one = cdf.draw(stream).count();
    sum.mean += static_cast<double>(one) / draws;
    sum.at_most += (one <= size ? 1.0 : 0.0) / draws;
  }
  return sum;
}

TEST(SizeCdf, MeansAreThoseOfTheFilesHeaders) {
  const std::pair<const char*, double> means[] = {
      {"web_search", 1'711'250}, {"data_mining", 7'487'884}, {"cache_follower", 712'574},
      {"hadoop", 121'849},       {"ali_storage", 40'870},    {"solar", 39'424},
      {"google_rpc", 2'968},     {"enterprise", 157'357},    {"web_server", 66'000}};
  for (const auto& [name, mean] : means)
    EXPECT_NEAR(mean_of(workload(name)) / mean, 1, name == std::string("web_server") ? 0.02 : 0.001)
        << name;
}

TEST(SizeCdf, DrawsFollowTheCurve) {
  const SizeCdf web_search = workload("web_search");
  const Drawn draws = drawn(web_search, 1'000'000);
  EXPECT_NEAR(draws.at_most, 0.7, 0.01);
  EXPECT_NEAR(draws.mean / mean_of(web_search), 1, 0.03);
}

TEST(SizeCdf, ADrawIsAtLeastOneOctetAndAtMostTheLast) {
  const SizeCdf cdf = cdf_of("0,0\n3,1\n");
  RandomStream stream(1, 2, 3);
  int64_t least = 9;
  int64_t most = 0;
  for (int i = 0; i < 1'000; ++i) {
    const int64_t size = cdf.draw(stream).count();
    least = std::min(least, size);
    most = std::max(most, size);
  }
  EXPECT_EQ(least, 1);
  EXPECT_EQ(most, 3);
}

TEST(SizeCdf, AJumpIsAShareOfOneSize) {
  const SizeCdf cdf = cdf_of("100,0.25\n100,0.5\n900,0.5\n900,1\n");
  EXPECT_DOUBLE_EQ(mean_of(cdf), 500);
  const Drawn draws = drawn(cdf, 100);
  EXPECT_NEAR(draws.at_most, 0.5, 0.01);
  EXPECT_NEAR(draws.mean, 500, 10);
}

TEST(SizeCdf, TruncationKeepsShortFlowsAndShortensLongOnes) {
  const SizeCdf cdf = cdf_of("0,0\n1000,0.5\n3000,1\n");
  const SizeCdf cut = cdf.truncated(Bytes(2'000));
  EXPECT_DOUBLE_EQ(mean_of(cdf), 0.5 * 500 + 0.5 * 2'000);
  EXPECT_DOUBLE_EQ(mean_of(cut), 0.5 * 500 + 0.25 * 1'500 + 0.25 * 2'000);
  EXPECT_NEAR(drawn(cut, 1'999).at_most, 0.75, 0.01);
  EXPECT_EQ(cut.digest(), cdf.digest());
  EXPECT_DOUBLE_EQ(mean_of(cdf.truncated(Bytes(3'000))), mean_of(cdf));
  EXPECT_DOUBLE_EQ(mean_of(cdf_of("100,0.5\n200,1\n").truncated(Bytes(50))), 50);
}

TEST(SizeCdf, CountsPackets) {
  // Sizes 1 to 3000 alike: a third each of 1, 2 and 3 packets.
  EXPECT_NEAR(static_cast<double>(cdf_of("0,0\n3000,1\n").mean_packets_q16(1'000)) / 65'536, 2,
              1e-4);
  EXPECT_EQ(cdf_of("1001,1\n").mean_packets_q16(1'000), 2 << 16);
  // Sizes of 500 to 1500: half of them need a second packet.
  EXPECT_NEAR(static_cast<double>(cdf_of("500,0\n1500,1\n").mean_packets_q16(1'000)) / 65'536, 1.5,
              1e-4);
}

TEST(SizeCdf, DigestIsFnvOfTheFile) {
  Fnv64 fnv;
  fnv.add("foobar");
  EXPECT_EQ(fnv.value(), 0x85944171f73967e8);  // a published test vector
  EXPECT_NE(cdf_of("1,1\n").digest(), cdf_of("2,1\n").digest());
}

TEST(SizeCdf, SaysEverythingThatIsWrong) {
  EXPECT_THAT(problems_of("# sizes\nsize,probability\n"),
              ElementsAre("w.csv:2: 'size,probability' is not the header, write "
                          "size_bytes,cumulative_probability"));
  EXPECT_THAT(problems_of(""), ElementsAre("w.csv:1: no table, it begins with the line "
                                           "size_bytes,cumulative_probability"));
  EXPECT_THAT(
      problems_of(kHeader + "100\n-1,0.5\n99999999999999,0.6\n5,1.5\n5,1e-05\n5,nan\n1,2,3\n"),
      ElementsAre("w.csv:2: '100' has not the columns size_bytes,cumulative_probability",
                  "w.csv:8: '1,2,3' has not the columns size_bytes,cumulative_probability",
                  "w.csv:3: '-1' is no size, write whole octets 0 to 1099511627776",
                  "w.csv:4: '99999999999999' is no size, write whole octets 0 to 1099511627776",
                  "w.csv:5: '1.5' is no probability, write 0 to 1 with at most 18 decimals",
                  "w.csv:6: '1e-05' is no probability, write 0 to 1 with at most 18 decimals",
                  "w.csv:7: 'nan' is no probability, write 0 to 1 with at most 18 decimals"));
  EXPECT_THAT(problems_of(kHeader + "100,0.5\n50,0.4\n"),
              ElementsAre("w.csv:3: 50 is below the size of the line before, 100, sizes never fall",
                          "w.csv:3: the probability is below that of the line before, it never "
                          "falls"));
  EXPECT_THAT(problems_of(kHeader + "100,0.5\n200,0.9\n"),
              ElementsAre("w.csv:3: the last probability is not 1"));
  EXPECT_THAT(problems_of(kHeader),
              ElementsAre("w.csv:1: no points, give at least one size with probability 1"));
  EXPECT_THAT(problems_of(kHeader + "0,1\n"),
              ElementsAre("w.csv:2: every flow is 0 octets long, the last size is at least 1"));
}

TEST(SizeCdf, HostileTextIsQuotedTameAndNotForever) {
  const auto problems = problems_of(kHeader + std::string(100, '\x1b') + "\n");
  EXPECT_THAT(problems, ElementsAre("w.csv:2: '" + std::string(40, '?') +
                                    "...' has not the columns size_bytes,cumulative_probability"));
  std::string many = kHeader;
  for (int i = 0; i < 1'000; ++i) many += "x,y\n";
  EXPECT_EQ(problems_of(many).size(), kMaxTableProblems);
}

TEST(Exponential, Log2IsLog2) {
  RandomStream stream(3, 0, 0);
  for (int i = 0; i < 2'000; ++i) {
    const uint64_t x = (stream.next64() >> (stream.next() % 64)) | 1;
    EXPECT_NEAR(static_cast<double>(log2_q32(x)) / 4'294'967'296, std::log2(static_cast<double>(x)),
                1e-9)
        << x;
  }
  EXPECT_EQ(log2_q32(1), 0u);
  EXPECT_EQ(log2_q32(2), uint64_t{1} << 32);
  EXPECT_EQ(log2_q32(uint64_t{1} << 63), uint64_t{63} << 32);
}

TEST(Exponential, IsExponential) {
  constexpr int kDraws = 20'000;
  RandomStream stream(11, 0, 0);
  double mean = 0;
  double above_two = 0;
  for (int i = 0; i < kDraws; ++i) {
    const double x = static_cast<double>(exponential_q32(stream.next64())) / 4'294'967'296;
    mean += x / kDraws;
    above_two += (x > 2 ? 1.0 : 0.0) / kDraws;
  }
  EXPECT_NEAR(mean, 1, 0.025);
  EXPECT_NEAR(above_two, std::exp(-2.0), 0.008);
  EXPECT_EQ(exponential_q32(~uint64_t{0}), 0u);
  EXPECT_NEAR(static_cast<double>(exponential_q32(0)) / 4'294'967'296, 63 * std::log(2.0), 1e-6);
}

}  // namespace
}  // namespace eddy::lab
