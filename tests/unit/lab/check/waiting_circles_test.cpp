// A ring whose frames wait for each other, in the world, is found; what waits otherwise is not.
#include "lab/check/waiting_circles.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lab/fabric/circle.h"
#include "tests/unit/lab/check/checked_fabric.h"

namespace eddy::test {
namespace {

using lab::circle_in;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(CircleIn, FindsACircleAndNothingElse) {
  using Edges = std::vector<std::vector<uint32_t>>;
  EXPECT_THAT(circle_in(Edges{}), IsEmpty());
  EXPECT_THAT(circle_in(Edges{{1, 2}, {2}, {}}), IsEmpty()) << "two ways to one place";
  EXPECT_THAT(circle_in(Edges{{0}}), ElementsAre(0));
  EXPECT_THAT(circle_in(Edges{{1}, {2, 3}, {}, {1}}), ElementsAre(1, 3))
      << "without what leads there";
  EXPECT_THAT(circle_in(Edges{{}, {2}, {3}, {1}}), ElementsAre(1, 2, 3));
}

// Each sends by the next switch to the one behind it: five links of which each waits for the next.
config::Experiment ring() {
  config::Experiment experiment = plain_experiment(2, 1, 1);
  experiment.switches.watchdog.enabled = false;
  experiment.topology.kind = config::TopologyKind::file;
  experiment.topology.file =
      std::string(EDDY_SOURCE_DIR) + "/config/experiments/topologies/ring.topo";
  return experiment;
}
// Two hosts a switch, each to both of the second next.
std::vector<lab::Flow> flows_around(const lab::Topology& topology) {
  std::vector<lab::Flow> flows;
  const auto hosts = static_cast<uint32_t>(topology.hosts.size());
  for (uint32_t host = 0; host < hosts; ++host)
    for (const uint32_t other : {0u, 1u}) {
      const uint32_t to = (host / 2 * 2 + 4 + other) % hosts;
      flows.push_back(flow_of(host, to, 4_MiB));
      flows.back().source_port = static_cast<uint16_t>(50'000 + 2 * host + other);
    }
  return flows;
}

TEST(WaitingCircles, ARingThatStandsStillIsADeadlock) {
  const config::Experiment experiment = ring();
  CheckedFabric fabric(experiment, flows_around(built(experiment)));
  EXPECT_FALSE(fabric.world->run_to_completion(Instant() + 50_ms));
  EXPECT_THAT(fabric.checker->problems(),
              ElementsAre(AllOf(HasSubstr("deadlock"), HasSubstr("queue 3 > "))));
  EXPECT_LT(fabric.world->now(), Instant() + 10_ms);
}

TEST(WaitingCircles, WhereRoutesAllowOneItIsNoViolation) {
  const config::Experiment experiment = ring();
  const lab::Topology topology = built(experiment);
  EXPECT_TRUE(topology.may_wait_in_circles);
  const lab::CheckRules rules = lab::CheckRules::of(experiment, topology);
  EXPECT_FALSE(rules.deadlock.has_value());
  EXPECT_THAT(rules.exempt, testing::Contains(HasSubstr("deadlock: ")));
}

// One sender after another stands for as long as the storm lasts, and none waits for another's
// room.
TEST(WaitingCircles, AStormOfPausesIsNone) {
  config::Experiment experiment = plain_experiment(2, 1, 4);
  experiment.switches.watchdog.enabled = false;
  experiment.faults.push_back({.type = config::FaultType::pause_storm,
                               .hosts = {"leaf2.host1"},
                               .start = 20_us,
                               .duration = 5_ms,
                               .period = 100_us});
  std::vector<lab::Flow> flows;
  for (const uint32_t host : {0u, 1u, 2u, 3u}) flows.push_back(flow_of(host, 4, 2_MiB));
  flows.push_back(flow_of(5, 0, 2_MiB));
  CheckedFabric fabric(experiment, flows);
  fabric.complete();
}

}  // namespace
}  // namespace eddy::test
