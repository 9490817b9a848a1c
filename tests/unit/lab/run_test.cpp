#include "lab/run.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace eddy::lab {
namespace {

using namespace eddy::literals;

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

RunResult run(const config::Experiment& experiment) {
  auto result = run_experiment(experiment, {});
  for (const std::string& problem : result ? Problems{} : result.problems())
    ADD_FAILURE() << problem;
  return result ? std::move(*result) : RunResult{};
}

TEST(Run, GoodputIsAllThatWasDeliveredOverTheTimeItTook) {
  const RunResult result = run(three_flows());
  const double bits = 3.0 * 65'536 * 8;
  EXPECT_DOUBLE_EQ(result.goodput_gbps, bits / static_cast<double>(result.simulated.ns()));
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

}  // namespace
}  // namespace eddy::lab
