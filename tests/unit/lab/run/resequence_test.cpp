// Schemes that spread flows, over leaves that put them back in order, in the lab.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lab/run/order_tables.h"
#include "lab/run/run.h"
#include "tests/unit/lab/check/checked_fabric.h"

namespace eddy::test {
namespace {

// Four hosts of a leaf send to four of another; the scheme spreads packets over four spines.
struct Spread {
  explicit Spread(const std::string& scheme, bool in_order, double loss = 0)
      : fabric(experiment_of(scheme, in_order, loss), flows()) {
    fabric.complete();
  }
  static config::Experiment experiment_of(const std::string& scheme, bool in_order, double loss) {
    config::Experiment experiment = plain_experiment(2, 4, 4);
    experiment.load_balancer.scheme = scheme;
    experiment.switches.resequence.enabled = in_order;
    if (loss > 0)
      experiment.faults = {
          {.type = config::FaultType::random_drop, .switches = {"spine1"}, .probability = loss}};
    return experiment;
  }
  static std::vector<lab::Flow> flows() {
    std::vector<lab::Flow> all;
    for (uint32_t i = 0; i < 4; ++i) all.push_back(flow_of(i, 4 + i, 1_MiB, Instant() + 1_us * i));
    return all;
  }
  uint64_t out_of_order() const {
    uint64_t packets = 0;
    for (uint32_t i = 0; i < 4; ++i)
      packets += fabric.world->receive_outcome(i).out_of_order_packets;
    return packets;
  }
  uint64_t sent_again() const {
    uint64_t packets = 0;
    for (uint32_t i = 0; i < 4; ++i) packets += fabric.world->send_outcome(i).retransmitted_packets;
    return packets;
  }

  CheckedFabric fabric;
};

TEST(Resequence, HostsSeeNothingOfASchemeThatSprays) {
  for (const std::string scheme : {"spray", "drill", "presto"}) {
    const Spread without(scheme, false);
    EXPECT_GT(without.out_of_order(), 0u) << scheme;
    const Spread with(scheme, true);
    EXPECT_EQ(with.out_of_order(), 0u) << scheme;
    EXPECT_EQ(with.sent_again(), 0u) << scheme;
    EXPECT_GT(with.fabric.port_sum(PortCounter::resequence_held_packets), 0u) << scheme;
    EXPECT_EQ(with.fabric.port_sum(PortCounter::resequence_missed_flows), 0u) << scheme;
    EXPECT_GT(without.sent_again(), 0u) << scheme;
  }
}

TEST(Resequence, WhatIsLostIsSentAgain) {
  const Spread lossy("spray", true, 0.01);
  EXPECT_GT(lossy.fabric.frames(), 0u);
  EXPECT_GT(lossy.sent_again(), 0u);
  EXPECT_GT(lossy.fabric.port_sum(PortCounter::resequence_missed_flows), 0u);
}

// 300 flows from each host of a leaf to one of another.
config::Experiment many_flows() {
  config::Experiment experiment = plain_experiment(2, 4, 4);
  experiment.load_balancer.scheme = "spray";
  experiment.switches.resequence.enabled = true;
  config::TrafficConfig burst{.type = config::TrafficType::burst,
                              .sources = {"leaf1"},
                              .destinations = {"leaf2.host1"},
                              .size = 2_KiB,
                              .count = 300};
  experiment.traffic = {burst};
  experiment.run.warmup = {};
  return experiment;
}

TEST(Resequence, ATableThatWasTooSmallIsSaid) {
  config::Experiment experiment = many_flows();
  experiment.switches.resequence.flows = 64;
  const auto small = lab::run_experiment(experiment, {});
  ASSERT_TRUE(small.ok()) << small.problems().front();
  const uint64_t placeless = small.value().counters.at("resequence_placeless_packets");
  EXPECT_GT(placeless, 1'000u);
  EXPECT_THAT(small.value().warnings,
              testing::Contains("resequence.flows: " + std::to_string(placeless) +
                                " packets found no place in a table of 64 flows and went on in "
                                "whatever order they came; give a larger one"));
  experiment.switches.resequence.flows.reset();
  const auto large = lab::run_experiment(experiment, {});
  EXPECT_EQ(large.value().counters.at("resequence_placeless_packets"), 0u);
  EXPECT_THAT(large.value().warnings, testing::IsEmpty());
}

// What is in RLB's loop is overtaken and not lost, unless its flow waits with it.
TEST(Resequence, PathsProveALossWhileNothingStaysBehindInALoop) {
  config::Experiment experiment = many_flows();
  const auto proof = [&] { return built(experiment).switches[0].resequence.loss_proof; };
  EXPECT_EQ(proof(), config::LossProof::ports);
  experiment.switches.rlb = config::rlb_preset(config::RlbPreset::standard);
  EXPECT_EQ(proof(), config::LossProof::ports);
  experiment.switches.rlb.guard.mode = config::GuardMode::off;
  EXPECT_NE(proof(), config::LossProof::ports);
  experiment.switches.rlb.recirculation.enabled = false;
  EXPECT_EQ(proof(), config::LossProof::ports);
}

TEST(Resequence, TheTableFollowsTheFlows) {
  config::Experiment experiment = many_flows();
  const auto sizes = [&](const std::vector<lab::Flow>& flows) {
    lab::Topology topology = built(experiment);
    lab::size_order_tables(experiment, flows, topology);
    std::vector<int64_t> out;
    for (const auto& each : topology.switches) out.push_back(each.resequence.places());
    return out;
  };
  std::vector<lab::Flow> flows;
  for (int64_t i = 0; i < 10'000; ++i) flows.push_back(flow_of(0, 4, 1_KiB, Instant() + 1_us * i));
  // Leaves, then spines, which remember nobody.
  const int64_t least = config::ResequenceConfig::kFlows;
  using testing::ElementsAre;
  EXPECT_THAT(sizes(flows), ElementsAre(least, 80'000, least, least, least, least));
  experiment.host.queue_pairs = 2;
  EXPECT_THAT(sizes(flows), ElementsAre(least, 160'000, least, least, least, least));
  experiment.host.queue_pairs = 1;
  // Within four times 10 ms; what came before has made room.
  for (size_t i = 0; i < flows.size(); ++i)
    flows[i].start = Instant() + 10_us * static_cast<int64_t>(i);
  EXPECT_EQ(sizes(flows)[1], 8 * 4'001);
  for (lab::Flow& flow : flows) flow.source = 5;  // on the same leaf
  EXPECT_EQ(sizes(flows)[1], least);
  for (lab::Flow& flow : flows) flow.source = 1;
  experiment.switches.resequence.flows = 100;
  EXPECT_EQ(sizes(flows)[1], 100);
}

}  // namespace
}  // namespace eddy::test
