// A patient order guard in the lab: letflow over a slow and a quick path.
#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

#include "tests/unit/lab/check/checked_fabric.h"

namespace eddy::test {
namespace {

constexpr uint32_t kHosts = 4;   // of a leaf
constexpr uint32_t kFlows = 16;  // of a host, which share its line

// One of two spines is at a quarter of the rate; flows pause for longer than a flowlet lasts.
struct Uneven {
  explicit Uneven(Duration patience, Bytes room = 1_MiB) : Uneven(experiment_of(patience, room)) {}
  explicit Uneven(const config::Experiment& experiment) : fabric(experiment, flows()) {
    fabric.complete();
  }
  static config::Experiment experiment_of(Duration patience, Bytes room) {
    config::Experiment experiment = plain_experiment(2, 2, kHosts);
    experiment.topology.degraded = {{{"leaf1-spine1"}, 0, 10_Gbps}};
    experiment.load_balancer.scheme = "letflow";
    experiment.load_balancer.parameters = {{"gap", "2us"}};
    experiment.switches.rlb = config::rlb_preset(config::RlbPreset::standard);
    experiment.switches.rlb.guard.patience = patience;
    experiment.switches.rlb.guard.patience_room = room;
    experiment.switches.rlb.guard.pause = 1_us;
    return experiment;
  }
  // And what goes through crowded ports for long is isolated.
  static config::Experiment isolating(Duration patience) {
    config::Experiment experiment = experiment_of(patience, 1_MiB);
    experiment.switches.isolation.enabled = true;
    experiment.switches.isolation.long_flow = 16_KiB;
    experiment.switches.isolation.crowded = 32_KiB;
    return experiment;
  }
  static std::vector<lab::Flow> flows() {
    std::vector<lab::Flow> all;
    for (uint32_t i = 0; i < kHosts * kFlows; ++i) {
      all.push_back(flow_of(i % kHosts, kHosts + i % kHosts, 128_KiB, Instant() + 1_us * i));
      all.back().source_port = static_cast<uint16_t>(50'000 + i);
    }
    return all;
  }
  uint64_t count(PortCounter which) const { return fabric.port_sum(which); }
  uint64_t out_of_order() const {
    uint64_t packets = 0;
    for (uint32_t i = 0; i < kHosts * kFlows; ++i)
      packets += fabric.world->receive_outcome(i).out_of_order_packets;
    return packets;
  }
  Duration last() const {
    Duration longest{};
    for (size_t i = 0; i < kHosts * kFlows; ++i) longest = std::max(longest, fabric.fct(i));
    return longest;
  }

  CheckedFabric fabric;
};

TEST(PatienceInTheLab, TakesFlowsOffTheSlowPathInOrder) {
  const Uneven without(0_us);
  const Uneven with(1_ms);
  EXPECT_EQ(without.count(PortCounter::guard_drained_flows), 0u);
  EXPECT_GT(with.count(PortCounter::guard_drained_flows), 20u);
  EXPECT_LT(with.count(PortCounter::guard_overdue_flows),
            with.count(PortCounter::guard_drained_flows));
  EXPECT_EQ(with.count(PortCounter::rlb_rounds_1), 0u) << "waiting is no round of the loop";
  EXPECT_EQ(with.out_of_order(), 0u);
  EXPECT_LT(with.last(), without.last());
}

// Packets of both classes are proven to have arrived by what was sent behind both.
TEST(PatienceInTheLab, TakesIsolatedFlowsOffTheSlowPathToo) {
  const Uneven without(Uneven::isolating(0_us));
  const Uneven with(Uneven::isolating(1_ms));
  EXPECT_GT(with.count(PortCounter::isolation_begun_packets), 500u);
  EXPECT_GT(with.count(PortCounter::path_swept), 10u);
  EXPECT_GT(with.count(PortCounter::guard_drained_flows), 20u);
  EXPECT_LT(with.count(PortCounter::guard_overdue_flows),
            with.count(PortCounter::guard_drained_flows));
  EXPECT_EQ(with.out_of_order() + without.out_of_order(), 0u);
  EXPECT_LT(with.last(), without.last());
}

// The flow that finds no room leaves with all that waited of it, by its old path.
TEST(PatienceInTheLab, KeepsOrderWhereItEndsOrRoomIsShort) {
  for (const auto& [patience, room] :
       {std::pair{3_us, Bytes(1_MiB)}, std::pair{1_ms, Bytes(4_KiB)}}) {
    const Uneven with(patience, room);
    EXPECT_GT(with.count(PortCounter::guard_overdue_flows), 5u);
    EXPECT_EQ(with.out_of_order(), 0u);
  }
}

}  // namespace
}  // namespace eddy::test
