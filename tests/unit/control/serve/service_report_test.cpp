#include "switch/control/serve/service_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

namespace eddy::control {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Not;

constexpr int64_t kMs = 1'000'000;
constexpr int64_t kSecond = 1'000 * kMs;

class ServiceReportTest : public testing::Test {
 protected:
  ServiceReport make(int64_t watchdog_ns = 0) {
    return ServiceReport({.ready_within_ns = 10 * kSecond,
                          .watchdog_ns = watchdog_ns,
                          .sink = [this](const std::string& lines) { said_.push_back(lines); }});
  }
  std::vector<std::string> said() { return std::exchange(said_, {}); }
  static std::vector<PortReadiness> ports(bool a, bool b) {
    return {{"a", true, a}, {"b", true, b}, {"off", false, false}};
  }
  std::vector<std::string> said_;
};

TEST_F(ServiceReportTest, ReadyWhenThePortsThatShouldBeUpAreUp) {
  ServiceReport report = make();
  report.start(0);
  report.tick(ports(true, false), {1}, 10 * kMs);
  EXPECT_THAT(said(), ElementsAre("STATUS=starts"));
  report.tick(ports(true, true), {2}, 20 * kMs);
  EXPECT_THAT(said(), ElementsAre("READY=1\nSTATUS=ports up: 2 of 2"));
  report.tick(ports(true, true), {3}, 5 * kSecond);
  EXPECT_THAT(said(), IsEmpty());  // once, and no status twice
}

TEST_F(ServiceReportTest, ReadyWithoutAPeerWhenTheTimeIsOver) {
  ServiceReport report = make();
  report.start(kSecond);
  report.tick(ports(true, false), {1}, 11 * kSecond - 1);
  EXPECT_THAT(said(), Not(Contains(testing::StartsWith("READY"))));
  report.tick(ports(true, false), {2}, 11 * kSecond);
  EXPECT_THAT(said(), ElementsAre("READY=1\nSTATUS=ports up: 1 of 2; down: b"));
}

TEST_F(ServiceReportTest, StatusFollowsThePortsOnceASecond) {
  ServiceReport report = make();
  report.start(0);
  report.tick(ports(true, true), {1}, 0);
  said();
  report.tick(ports(false, true), {2}, 10 * kMs);
  report.tick(ports(true, true), {3}, 20 * kMs);
  report.tick(ports(false, true), {4}, kSecond - 1);
  EXPECT_THAT(said(), IsEmpty());
  report.tick(ports(false, true), {5}, kSecond);
  EXPECT_THAT(said(), ElementsAre("STATUS=ports up: 1 of 2; down: a"));
}

TEST_F(ServiceReportTest, ALongListOfPortsIsCut) {
  ServiceReport report = make();
  std::vector<PortReadiness> many;
  for (int i = 0; i < 10; ++i) many.push_back({"p" + std::to_string(i), true, false});
  report.start(0);
  report.tick(many, {1}, 10 * kSecond);
  EXPECT_THAT(said(), Contains("READY=1\nSTATUS=ports up: 0 of 10; down: p0, p1, p2, p3, p4, p5, "
                               "p6, p7 and 2 more"));
}

TEST_F(ServiceReportTest, SignsOfLifeOnlyWhileEveryWorkerAdvances) {
  ServiceReport report = make(4 * kSecond);
  report.start(0);
  report.tick(ports(true, true), {10, 20}, kSecond - 1);
  EXPECT_THAT(said(), Not(Contains("WATCHDOG=1")));
  report.tick(ports(true, true), {10, 20}, kSecond);
  EXPECT_THAT(said(), Contains("WATCHDOG=1"));
  for (int64_t second = 2; second < 10; ++second)  // worker 1 stands still
    report.tick(ports(true, true), {10 + static_cast<uint64_t>(second), 20}, second * kSecond);
  EXPECT_THAT(said(), ElementsAre("STATUS=ports up: 2 of 2; workers that do not advance: 1"));
  report.tick(ports(true, true), {30, 21}, 10 * kSecond);
  EXPECT_THAT(said(), ElementsAre("WATCHDOG=1", "STATUS=ports up: 2 of 2"));
}

TEST_F(ServiceReportTest, NoSignsOfLifeWhereNoneAreWanted) {
  ServiceReport report = make(0);
  report.start(0);
  for (uint64_t i = 1; i < 100; ++i)
    report.tick(ports(true, true), {i}, static_cast<int64_t>(i) * kSecond);
  EXPECT_THAT(said(), Not(Contains("WATCHDOG=1")));
}

TEST_F(ServiceReportTest, AReloadIsSaidWithItsTimeAndItsOutcome) {
  ServiceReport report = make();
  report.start(0);
  report.tick(ports(true, true), {1}, 0);
  said();
  report.reload_begins(7 * kSecond + 1'999);
  report.reload_ends("generation 2 is in force");
  EXPECT_THAT(said(),
              ElementsAre("RELOADING=1\nMONOTONIC_USEC=7000001\nSTATUS=reloads the configuration",
                          "READY=1\nSTATUS=last reload: generation 2 is in force"));
  report.tick(ports(true, true), {2}, 9 * kSecond);
  EXPECT_THAT(said(),
              ElementsAre("STATUS=ports up: 2 of 2; last reload: generation 2 is in force"));
}

// Its end would be taken for the end of the start.
TEST_F(ServiceReportTest, AReloadBeforeTheSwitchIsReadySaysNothing) {
  ServiceReport report = make();
  report.start(0);
  said();
  report.reload_begins(kMs);
  report.reload_ends("refused");
  EXPECT_THAT(said(), IsEmpty());
  report.tick(ports(true, true), {1}, 2 * kMs);
  EXPECT_THAT(said(), ElementsAre("READY=1\nSTATUS=ports up: 2 of 2; last reload: refused"));
}

TEST_F(ServiceReportTest, NothingIsSaidAfterTheEnd) {
  ServiceReport report = make(kSecond);
  report.start(0);
  said();
  report.stop();
  EXPECT_THAT(said(), ElementsAre("STOPPING=1\nSTATUS=sends XON and drains its queues"));
  report.reload_begins(kSecond);
  report.reload_ends("refused");
  report.tick(ports(true, true), {1}, 20 * kSecond);
  EXPECT_THAT(said(), IsEmpty());
}

}  // namespace
}  // namespace eddy::control
