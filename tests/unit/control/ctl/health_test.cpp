#include "switch/control/ctl/health.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace eddy::control {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Json port(const char* name, const char* role, const char* oper, const char* admin = "up") {
  return {{"port", name}, {"role", role}, {"admin", admin}, {"oper", oper}};
}

Json report(std::initializer_list<Json> rows) {
  return {{"rows", Json::array_t(rows)}};
}

Json ports() {
  return report({port("h1", "host", "up"), port("h2", "host", "down"), port("s1", "fabric", "up"),
                 port("s2", "fabric", "no_peer"), port("s3", "fabric", "down"),
                 port("s4", "fabric", "down", "down")});
}

Json worker(uint64_t number, uint64_t polls, const char* of = "h1,s1") {
  return {{"worker", number}, {"polls", polls}, {"ports", of}};
}

TEST(Health, PortsOfTheFabricCountUnlessSaidOtherwise) {
  Health health;
  judge_ports(ports(), PortChoice::fabric, health);
  EXPECT_THAT(health.problems,
              ElementsAre("fabric port s2 has no peer: its link is up, but no switch has named "
                          "itself behind it",
                          "fabric port s3 is down"));
}

TEST(Health, HostsCountWhereAskedFor) {
  Health health;
  judge_ports(ports(), PortChoice::all, health);
  ASSERT_EQ(health.problems.size(), 3u);
  EXPECT_EQ(health.problems.front(), "host port h2 is down");
}

TEST(Health, ASchemeThatFailedIsAProblem) {
  Health health;
  judge_scheme({{"report", "schemes"}, {"plugin", "/opt/mine.so"}}, health);
  EXPECT_TRUE(health.problems.empty());
  judge_scheme({{"plugin", "/opt/mine.so"}, {"failed", "out of ideas"}}, health);
  EXPECT_THAT(health.problems,
              ElementsAre("the scheme of plugin /opt/mine.so has failed, its packets "
                          "go by ecmp: out of ideas"));
}

TEST(Health, PortsAreCountedWhetherTheyCountOrNot) {
  Health health;
  judge_ports(ports(), PortChoice::none, health);
  EXPECT_THAT(health.problems, IsEmpty());
  EXPECT_EQ(health.fabric.up, 1u);
  EXPECT_EQ(health.fabric.all, 3u);  // s4 is down by configuration
  EXPECT_EQ(health.host.up, 1u);
  EXPECT_EQ(health.host.all, 2u);
}

TEST(Health, AWorkerAdvancesWhenItsPollsDiffer) {
  const Json before = report({worker(0, 7), worker(1, 7), worker(2, 7)});
  const Json now = report({worker(2, 3), worker(1, 7, "h2"), worker(0, 8)});  // 2: started anew
  const std::vector<Json> still = still_workers(before, now);
  ASSERT_EQ(still.size(), 1u);
  Health health;
  judge_workers(now, still, 2'003, health);
  EXPECT_THAT(health.problems,
              ElementsAre("worker 1 stands still: it has not polled for 2003 ms (ports h2)"));
  EXPECT_EQ(health.workers, 3u);
  EXPECT_EQ(health.advancing, 2u);
}

TEST(Health, AWorkerThatWasNotThereHasNotAdvanced) {
  EXPECT_EQ(still_workers(report({worker(0, 7)}), report({worker(0, 8), worker(1, 9)})).size(), 1u);
}

TEST(Health, NoPortsAreHealthyAndNoWorkersAreNot) {
  Health health;
  judge_ports(report({}), PortChoice::all, health);
  judge_workers(report({worker(0, 1)}), {}, 0, health);
  EXPECT_THAT(health.problems, IsEmpty());
  EXPECT_TRUE(health_json("a", health).at("healthy"));
  judge_workers(report({}), {}, 0, health);
  EXPECT_THAT(health.problems, ElementsAre("it has no workers"));
}

TEST(Health, LineAndJson) {
  Health health;
  judge_ports(ports(), PortChoice::none, health);
  judge_workers(report({worker(0, 1)}), {}, 0, health);
  EXPECT_EQ(health_line(health),
            "up: 1 of 3 fabric ports, 1 of 2 host ports; advancing: 1 of 1 workers");
  health.problems = {"why"};
  EXPECT_EQ(health_json("leaf1", health).dump(),
            R"({"switch":"leaf1","healthy":false,"fabric_ports":3,"fabric_ports_up":1,)"
            R"("host_ports":2,"host_ports_up":1,"workers":1,"workers_advancing":1,)"
            R"("problems":["why"]})");
}

TEST(Health, ChoicesOfPorts) {
  EXPECT_EQ(parse_port_choice("fabric"), PortChoice::fabric);
  EXPECT_EQ(parse_port_choice("all"), PortChoice::all);
  EXPECT_EQ(parse_port_choice("none"), PortChoice::none);
  EXPECT_EQ(parse_port_choice("host"), std::nullopt);
}

}  // namespace
}  // namespace eddy::control
