#include "lab/traffic/traffic_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace eddy::lab {
namespace {

TEST(TrafficFiles, FindsAWorkloadBesideTheExperiments) {
  const auto file = TrafficFiles("config/examples")("solar");
  ASSERT_TRUE(file.ok()) << file.problems().front();
  EXPECT_EQ(file.value().name, "config/workloads/solar.csv");
  EXPECT_NE(file.value().text.find("size_bytes"), std::string::npos);
}

TEST(TrafficFiles, FindsAWorkloadFromTheTopOfTheTree) {
  EXPECT_TRUE(TrafficFiles("/nonexistent")("web_search").ok());
}

TEST(TrafficFiles, APathIsRelativeToTheExperiment) {
  EXPECT_TRUE(TrafficFiles("config/examples")("../workloads/solar.csv").ok());
  EXPECT_FALSE(TrafficFiles("config/examples")("solar.csv").ok());
}

TEST(TrafficFiles, SaysWhereItHasLooked) {
  const std::string said = TrafficFiles("config/examples")("websearch").problems().front();
  EXPECT_THAT(said, testing::StartsWith(
                        "no file for 'websearch', looked for config/examples/websearch.csv, "
                        "config/examples/workloads/websearch.csv, config/workloads/websearch.csv, "
                        "config/workloads/websearch.csv, "));
  EXPECT_THAT(said, testing::EndsWith(", /usr/share/eddy/workloads/websearch.csv"));
}

}  // namespace
}  // namespace eddy::lab
