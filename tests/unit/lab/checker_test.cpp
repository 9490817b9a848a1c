// The checker sees each kind of violation, says where and when, and stops the run.
#include "lab/checker.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/lab/checked_fabric.h"

namespace eddy::test {
namespace {

using config::FaultType;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

lab::CheckRules strict() {
  return lab::CheckRules::of(plain_experiment(1, 1, 1));
}

TEST(Checker, PassesARunAndLooksAtEverySwitchThatTookPart) {
  CheckedFabric fabric(plain_experiment(2, 2, 2), {flow_of(0, 2, 100_KiB), flow_of(3, 1, 100_KiB)});
  fabric.complete();
  EXPECT_GT(fabric.checker->checks(), 100u);
}

TEST(Checker, FindsAPacketThatNobodyHolds) {
  CheckedFabric fabric(plain_experiment(2, 1, 1), {flow_of(0, 1, 100_KiB)});
  fabric.world->run_until(Instant() + 10_us);
  ASSERT_NE(fabric.world->pool().get(), nullptr);
  EXPECT_FALSE(fabric.world->run_to_completion(Instant() + 1_s));
  EXPECT_TRUE(fabric.world->stopped());
  EXPECT_THAT(fabric.checker->problems(),
              ElementsAre(AllOf(HasSubstr(" packets: in use "), HasSubstr("again: this test"))));
}

TEST(Checker, FindsALineThatMiscounts) {
  CheckedFabric fabric(plain_experiment(2, 1, 1), {flow_of(0, 1, 100_KiB)});
  fabric.world->run_until(Instant() + 10_us);
  ++fabric.world->lines()[fabric.world->line_of_host(0)].lost;
  EXPECT_FALSE(fabric.world->run_to_completion(Instant() + 1_s));
  EXPECT_THAT(fabric.checker->problems(),
              ElementsAre(AllOf(HasSubstr("leaf1.host1: line "), HasSubstr("entered"))));
}

TEST(Checker, FindsALosslessDrop) {
  config::Experiment experiment = plain_experiment(1, 1, 4);
  experiment.host.window = false;
  experiment.switches.buffer = config::default_switch("").buffer;
  experiment.faults = {{.type = FaultType::pfc_loss, .hosts = {"all"}, .probability = 1}};
  CheckedFabric fabric(
      experiment, {flow_of(0, 3, 1_MiB), flow_of(1, 3, 1_MiB), flow_of(2, 3, 1_MiB)}, strict());
  EXPECT_FALSE(fabric.world->run_to_completion(Instant() + 1_s));
  EXPECT_THAT(fabric.checker->problems(),
              ElementsAre(AllOf(HasSubstr(" leaf1: port host"),
                                HasSubstr("1 packets lost in a lossless group"))));
}

TEST(Checker, FindsAPacketThatWasOvertaken) {
  config::Experiment experiment = plain_experiment(2, 2, 2);
  experiment.load_balancer.scheme = "spray";
  experiment.faults = {{.type = FaultType::slow_link, .links = {"leaf1-spine1"}, .rate = 1_Gbps}};
  CheckedFabric fabric(experiment, {flow_of(0, 2, 100_KiB)}, strict());
  EXPECT_FALSE(fabric.world->run_to_completion(Instant() + 1_s));
  EXPECT_THAT(fabric.checker->problems(),
              ElementsAre(AllOf(HasSubstr(" leaf2.host1: data packet "), HasSubstr(" after "))));
}

TEST(Checker, FindsAPausedQueueThatTheWatchdogForgot) {
  config::Experiment experiment = plain_experiment(2, 1, 1);
  lab::CheckRules rules = strict();
  rules.longest_stall = 2_ms;
  experiment.switches.watchdog.enabled = false;
  experiment.faults = {
      {.type = FaultType::pause_storm, .hosts = {"leaf2.host1"}, .period = 200_us}};
  CheckedFabric fabric(experiment, {flow_of(0, 1, 100_KiB)}, rules);
  EXPECT_FALSE(fabric.world->run_to_completion(Instant() + 1_s));
  EXPECT_THAT(fabric.checker->problems(),
              ElementsAre(AllOf(HasSubstr(" leaf2: port host1, queue 3: paused for"),
                                HasSubstr("watchdog does not act"))));
  EXPECT_LE(fabric.world->now(), Instant() + 3_ms);
}

TEST(CheckRules, SayWhatAnExperimentDoesNotPromiseAndWhy) {
  config::Experiment experiment = plain_experiment(2, 2, 2);
  EXPECT_TRUE(strict().lossless);
  EXPECT_TRUE(strict().in_order);
  EXPECT_GT(strict().longest_stall, 400_ms);
  EXPECT_THAT(strict().exempt, ElementsAre());

  experiment.load_balancer.scheme = "drill";
  experiment.switches.allow_overcommit = true;
  experiment.host.pfc_honour = false;
  experiment.run.poll_model = config::PollModel::busy_poll;
  experiment.faults = {{.type = FaultType::random_drop},
                       {.type = FaultType::pfc_loss},
                       {.type = FaultType::switch_stall},
                       {.type = FaultType::reconfigure, .set = {{"load_balancer.scheme", "ecmp"}}},
                       {.type = FaultType::reconfigure, .set = {{"buffer.size", "1MiB"}}}};
  const lab::CheckRules rules = lab::CheckRules::of(experiment);
  EXPECT_FALSE(rules.lossless);
  EXPECT_FALSE(rules.in_order);
  EXPECT_EQ(rules.longest_stall, Duration{});
  EXPECT_THAT(
      rules.exempt,
      ElementsAre("lossless: switches.allow_overcommit",
                  "lossless: switches.poll_gap is below run.poll_period and run.poll_jitter",
                  "lossless: host.pfc_honour: false", "order: drill does not promise it",
                  "lossless: faults.1: pauses are lost or late",
                  "lossless: faults.2: pauses cannot be sent in time",
                  "order: faults.3 moves flows",
                  "lossless: faults.4: the headroom may no longer fit",
                  "order: faults.4 moves flows", "watchdog: a switch stalls or is reconfigured"));
}

}  // namespace
}  // namespace eddy::test
