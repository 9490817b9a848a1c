// Schemes that spread flows, over leaves that put them back in order, in the lab.
#include <gtest/gtest.h>

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

}  // namespace
}  // namespace eddy::test
