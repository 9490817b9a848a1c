// A black hole in a fabric: with RLB's failure detector flows get around it, without they do not;
// and a fabric that is merely full of pauses excludes nothing.
#include <gtest/gtest.h>

#include "tests/unit/lab/check/checked_fabric.h"

namespace eddy::test {
namespace {

config::Experiment with_rlb(int leaves, int hosts, std::string_view scheme,
                            config::DetectorMode mode) {
  config::Experiment experiment = plain_experiment(leaves, 3, hosts);
  experiment.load_balancer.scheme = scheme;
  experiment.switches.rlb = config::rlb_preset(config::RlbPreset::standard);
  experiment.switches.rlb.failure_detector.mode = mode;
  return experiment;
}

uint64_t ended(CheckedFabric& fabric, Duration limit) {
  fabric.world->run_to_completion(Instant() + limit);
  return fabric.world->flows_ended();
}

// Whatever goes over spine 1 is lost.
TEST(FailureDetectorInTheLab, FlowsGetAroundABlackHole) {
  for (const std::string_view scheme : {"letflow", "drill"})
    for (const auto mode : {config::DetectorMode::guarded, config::DetectorMode::off}) {
      config::Experiment experiment = with_rlb(2, 6, scheme, mode);
      experiment.faults = {{.type = config::FaultType::black_hole,
                            .switches = {"spine1"},
                            .fraction = 1,
                            .probability = 1,
                            .start = 100_us}};
      std::vector<lab::Flow> flows;
      for (uint32_t host = 0; host < 6; ++host)
        flows.push_back(flow_of(host, 6 + host, 1_MiB, Instant() + 10_us * host));
      CheckedFabric fabric(experiment, flows);
      const uint64_t done = ended(fabric, 10_ms);
      const uint64_t failed = fabric.port_sum(PortCounter::paths_failed);
      if (mode == config::DetectorMode::guarded) {
        EXPECT_EQ(done, flows.size()) << scheme;
        EXPECT_GT(failed, 0u) << scheme;
        fabric.settle();
      } else {
        EXPECT_LT(done, flows.size()) << scheme;
        EXPECT_EQ(failed, 0u) << scheme;
      }
    }
}

// Nobody slows down and every leaf is an incast for two others: milliseconds of pauses everywhere.
TEST(FailureDetectorInTheLab, PausesExcludeNothing) {
  for (const std::string_view scheme : {"ecmp", "drill"}) {
    config::Experiment experiment = with_rlb(4, 4, scheme, config::DetectorMode::guarded);
    experiment.host.window = false;
    experiment.switches.buffer = config::default_switch("").buffer;
    experiment.switches.buffer.profiles["lossless"].xoff = 64_KiB;
    std::vector<lab::Flow> flows;
    for (uint32_t host = 0; host < 16; ++host) {
      flows.push_back(flow_of(host, (host + 4) % 16 / 4 * 4, 2_MiB));
      flows.push_back(flow_of(host, (host + 8) % 16, 1_MiB, Instant() + 1_ms));
      flows.back().source_port = static_cast<uint16_t>(40'000 + host);
    }
    CheckedFabric fabric(experiment, flows);
    fabric.complete();
    EXPECT_GT(fabric.port_sum(PortCounter::path_unanswered), 20u) << scheme;
    EXPECT_EQ(fabric.port_sum(PortCounter::path_suspicious_windows), 0u) << scheme;
    EXPECT_EQ(fabric.port_sum(PortCounter::paths_failed), 0u) << scheme;
  }
}

}  // namespace
}  // namespace eddy::test
