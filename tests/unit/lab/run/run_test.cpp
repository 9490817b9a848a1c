#include "lab/run/run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace eddy::lab {
namespace {

using namespace eddy::literals;
using config::FaultType;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

// Two flows to one host and one elsewhere, of 64 KiB each.
config::Experiment three_flows() {
  config::Experiment experiment;
  experiment.topology.leaves = 2;
  experiment.topology.spines = 1;
  experiment.topology.hosts_per_leaf = 2;
  experiment.run.warmup = Duration{};
  experiment.run.duration = 1_ms;
  const auto burst = [](const char* from, const char* to) {
    config::TrafficConfig item;
    item.type = config::TrafficType::burst;
    item.size = 64_KiB;
    item.sources = {from};
    item.destinations = {to};
    return item;
  };
  experiment.traffic = {burst("leaf1.host1", "leaf2.host1"), burst("leaf1.host2", "leaf2.host1"),
                        burst("leaf2.host1", "leaf1.host1")};
  return experiment;
}

RunResult run(const config::Experiment& experiment, const RunOptions& options = {}) {
  auto result = run_experiment(experiment, options);
  for (const std::string& problem : result ? Problems{} : result.problems())
    ADD_FAILURE() << problem;
  return result ? std::move(*result) : RunResult{};
}

TEST(Run, GoodputIsAllThatWasDeliveredOverTheTimeItTook) {
  const RunResult result = run(three_flows());
  const double bits = 3.0 * 65'536 * 8;
  EXPECT_DOUBLE_EQ(result.goodput_gbps, bits / static_cast<double>(result.simulated.ns()));
}

// 64 packets on four links of 40 Gb/s: 67 frames' times from the first bit to the last.
TEST(Run, LineOverheadIsOfEveryFrameOnEveryLink) {
  config::Experiment experiment = three_flows();
  experiment.traffic.resize(1);
  const RunResult usual = run(experiment);
  experiment.topology.line_overhead = 0;
  const RunResult bare = run(experiment);
  EXPECT_EQ(usual.flows[0].receiver_fct - bare.flows[0].receiver_fct, 4'800_ps * 67);
  EXPECT_LT(bare.flows[0].ideal, usual.flows[0].ideal);
  EXPECT_NEAR(bare.flows[0].slowdown, usual.flows[0].slowdown, 0.001);
}

// A flow that is alone is as fast as it can be, whatever its packets.
TEST(Run, IdealTimesKnowOddPayloads) {
  for (const int mtu : {256, 1'000, 1'001, 4'096}) {
    config::Experiment experiment = three_flows();
    experiment.traffic.resize(1);
    experiment.host.mtu = mtu;
    EXPECT_NEAR(run(experiment).flows[0].slowdown, 1, 0.004) << mtu;
  }
}

TEST(Run, LoadThatIsNotMeasuredIsInNoStatisticOfFlows) {
  config::Experiment experiment = three_flows();
  const RunResult all = run(experiment);
  experiment.traffic[0].measured = false;
  experiment.traffic[1].measured = false;
  const RunResult some = run(experiment);
  EXPECT_EQ(some.digest, all.digest);
  EXPECT_EQ(std::ranges::count(all.flows, true, &FlowResult::measured), 3);
  EXPECT_EQ(std::ranges::count(some.flows, true, &FlowResult::measured), 1);
  EXPECT_LT(some.fct_us.max, all.fct_us.max);  // the two that share a receiver take longer
}

// A host pauses its leaf from the start to the end, so what two others send to it stops all the way
// back to them: leaf 2 pauses the spine, the spine leaf 1, and leaf 1 both senders. Nobody resumes.
TEST(Run, PausesThatAreInForceAtTheEndHaveBegun) {
  config::Experiment experiment = three_flows();
  experiment.traffic.pop_back();
  for (config::TrafficConfig& item : experiment.traffic) item.size = Bytes::mib(64);
  experiment.host.congestion_control = "none";
  experiment.host.window = false;
  experiment.run.drain = 4_ms;
  experiment.faults = {{.type = FaultType::pause_storm, .hosts = {"leaf2.host1"}, .period = 50_us}};
  const RunResult result = run(experiment);
  EXPECT_EQ(result.unfinished, 2u);
  EXPECT_EQ(result.counters.at("pfc_tx_xon"), 0u);
  EXPECT_EQ(result.pfc_events, 4u);
  EXPECT_GT(result.pfc_paused_us, 2 * 3'000) << "the senders alone, most of the time";
  experiment.run.drain += 7_us;
  const RunResult later = run(experiment);
  ASSERT_GT(later.simulated, result.simulated);
  const auto longer_ps = static_cast<double>((later.simulated - result.simulated).ps());
  EXPECT_NEAR(later.pfc_paused_us - result.pfc_paused_us, 5 * longer_ps * 1e-6, 1e-6)
      << "the ports of leaf 2, spine and leaf 1 that lead there, and both senders";
}

TEST(Run, FaultsAreDoneAndReported) {
  config::Experiment experiment = three_flows();
  const RunResult sound = run(experiment);
  EXPECT_THAT(sound.faults, IsEmpty());
  experiment.faults = {
      {.type = FaultType::random_drop, .links = {"leaf1-spine1"}, .probability = 0.1},
      {.type = FaultType::link_flap,
       .links = {"leaf2-spine1"},
       .start = 5_us,
       .duration = 10_us,
       .period = 130_us}};  // no divisor of the RTO
  const RunResult broken = run(experiment);
  ASSERT_EQ(broken.faults.size(), 2u);
  EXPECT_EQ(broken.faults[0].type, FaultType::random_drop);
  EXPECT_EQ(broken.faults[0].begun, 1u);
  EXPECT_GT(broken.faults[0].frames, 0u);
  EXPECT_EQ(broken.faults[1].type, FaultType::link_flap);
  EXPECT_GT(broken.faults[1].begun, 1u);
  EXPECT_EQ(broken.unfinished, 0u);
  EXPECT_GT(broken.fct_us.max, sound.fct_us.max);
  EXPECT_EQ(broken.trace_digest, sound.trace_digest);
}

TEST(Run, AFaultThatCannotBeIsAProblem) {
  config::Experiment experiment = three_flows();
  experiment.faults = {{.type = FaultType::link_flap, .links = {"leaf1-spine9"}}};
  const auto result = run_experiment(experiment, {});
  ASSERT_FALSE(result.ok());
  EXPECT_THAT(result.problems(), ElementsAre(StartsWith("faults.0.links.0: ")));
}

TEST(Run, AReconfigurationThatIsRefusedInMidRunEndsIt) {
  config::Experiment experiment = three_flows();
  experiment.faults = {{.type = FaultType::reconfigure,
                        .switches = {"leaf1"},
                        .start = 5_us,
                        .set = {{"seed", "7"}}}};
  int calls = 0;  // the first one is before the run
  const auto refuse_later = [&calls](config::SwitchConfig&, const std::string&,
                                     const std::string&) {
    return ++calls == 1 ? Problems{} : Problems{"not now"};
  };
  const RunResult result = run(experiment, {.set_key = refuse_later});
  EXPECT_THAT(result.violations, ElementsAre("leaf1: not now"));
  EXPECT_EQ(result.simulated, 5_us);
  EXPECT_TRUE(result.censored);
}

TEST(Run, TheCheckerWatchesAndChangesNothing) {
  config::Experiment experiment = three_flows();
  experiment.faults = {{.type = FaultType::pfc_loss, .hosts = {"all"}, .probability = 0.5}};
  const RunResult plain = run(experiment);
  const RunResult checked = run(experiment, {.check = true});
  EXPECT_EQ(checked.digest, plain.digest);
  EXPECT_THAT(checked.violations, IsEmpty());
  EXPECT_THAT(checked.exempt, ElementsAre("lossless: faults.0: pauses are lost or late"));
  EXPECT_THAT(plain.exempt, IsEmpty());
}

// Takes a packet out of the pool that nobody will ever hold.
Watcher* lose_a_packet(const BuiltRun& run) {
  run.world.at(Instant() + 10_us, [](World& at) { EXPECT_NE(at.pool().get(), nullptr); });
  return nullptr;
}

TEST(Run, WhatTheCheckerFindsIsAViolationAndEndsTheRun) {
  const RunResult unseen = run(three_flows(), {.built = lose_a_packet});
  EXPECT_THAT(unseen.violations, IsEmpty());
  EXPECT_FALSE(unseen.censored);
  const RunResult seen =
      run(three_flows(), {.check = true, .replay = "say it again", .built = lose_a_packet});
  EXPECT_THAT(seen.violations,
              ElementsAre(AllOf(HasSubstr(" packets: in use "), HasSubstr("again: say it again"))));
  EXPECT_TRUE(seen.censored);
  EXPECT_EQ(seen.unfinished, 3u);
  EXPECT_EQ(seen.simulated, 10_us);
}

class Counting final : public Watcher {
 public:
  void on_frame(uint32_t, Step, const Packet&) override { ++frames; }
  void on_turn(uint32_t) override { ++turns; }
  void on_instant() override { ++instants; }
  uint64_t frames = 0;
  uint64_t turns = 0;
  uint64_t instants = 0;
};

TEST(Run, AWatcherSeesTheSameWithAndWithoutTheChecker) {
  Counting alone;
  Counting beside;
  run(three_flows(), {.built = [&](const BuiltRun&) { return &alone; }});
  const RunResult checked =
      run(three_flows(), {.check = true, .built = [&](const BuiltRun&) { return &beside; }});
  EXPECT_GT(alone.frames, 2 * 3 * 64u);
  EXPECT_EQ(beside.frames, alone.frames);
  EXPECT_EQ(beside.turns, alone.turns);
  EXPECT_EQ(beside.instants, alone.instants);
  EXPECT_THAT(checked.violations, IsEmpty());
}

}  // namespace
}  // namespace eddy::lab
